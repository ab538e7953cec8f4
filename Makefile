# The README's commands are `make demo`, `make test` and `make docs`. Each installs first, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: install demo test quick oldest compare report docs clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else f"Python 3.11 or newer is needed; {sys.executable} is {v.major}.{v.minor}. Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv $(VENV)
	@# Dependency groups need pip 25.1.
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e . --group dev
	@# opencv-python needs the system's libGL, which servers lack; its headless twin needs nothing.
	@$(BIN)/python -c 'import cv2' 2>/dev/null || { \
	  $(BIN)/pip uninstall --quiet --yes opencv-python; \
	  $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt opencv-python-headless; }
	touch $(INSTALLED)

demo: install
	$(BIN)/python -m agents.demo

test: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal
	$(MAKE) oldest

# The environments under the oldest Gymnasium that is supported.
OLDEST := $(VENV)/gymnasium-1.1.0
oldest: install
	@test -f $(OLDEST)/.installed || { \
	  $(BIN)/pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $(OLDEST) gymnasium==1.1.0 && \
	  touch $(OLDEST)/.installed; }
	PYTHONPATH=$(OLDEST) OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal -p no:cacheprovider -m "not learning" \
	  tests/test_env.py tests/test_plain_environments.py tests/test_suite.py tests/core tests/episodes tests/evaluation tests/tasks

# Tests without training: under a minute on two cores, once kernels are compiled.
quick: install
	OMP_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal -m "not learning"

compare: install
	$(BIN)/python -m benchmarks.comparison

report: install
	$(BIN)/python -m report

# The site, from docs/ and the docstrings, into docs/_build/html; warnings are errors.
docs: install
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going docs docs/_build/html

clean:
	rm -rf $(VENV) demo docs/_build docs/api .mypy_cache .ruff_cache .pytest_cache
	find glimpse_envs -name '*.nb[ic]' -delete
