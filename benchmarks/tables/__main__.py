"""The command `python -m benchmarks.tables`; its work is in a module of its own, because
processes that are spawned cannot import a package's `__main__`."""

from benchmarks.tables.command import main

if __name__ == "__main__":
    main()
