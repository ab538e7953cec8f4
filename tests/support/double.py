"""`python -m tests.support.double agents.train ...`: a command with weights of float64, in which the
order of sums, which differs between one process and two, changes next to nothing."""

import importlib
import sys

import torch

if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    importlib.import_module(sys.argv[1]).main(sys.argv[2:])
