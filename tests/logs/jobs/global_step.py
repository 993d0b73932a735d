import os
import torch
from torch import nn


STEP = 0


@torch.compile(backend="aot_eager")
def f(x):
    return x * STEP


def main():
    global STEP
    for step in range(6):
        STEP = step
        f(torch.randn(2, 8))


if __name__ == "__main__":
    main()
