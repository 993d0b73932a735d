import os
import torch
from torch import nn


@torch.compile(backend="aot_eager")
def scale(x, mode, step):
    if mode == "train":
        x = x + step
    return x * 2


def main():
    for step in range(6):
        scale(torch.randn(2, 8), "train" if step < 2 else "eval" + str(step), 1)


if __name__ == "__main__":
    main()
