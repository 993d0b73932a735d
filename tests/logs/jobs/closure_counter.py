import os
import torch
from torch import nn


def make():
    state = {"n": 0}

    @torch.compile(backend="aot_eager")
    def f(x):
        state["n"] += 1
        return x * state["n"]

    return f


def main():
    f = make()
    for step in range(6):
        f(torch.randn(2, 8))


if __name__ == "__main__":
    main()
