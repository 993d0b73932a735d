import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, xs, extra=None):
        y = sum(self.lin(x) for x in xs)
        return y if extra is None else y + extra["bias"]


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(5):
        net([torch.randn(2, 8)] * (step + 1), {"bias": step} if step > 2 else None).sum().backward()


if __name__ == "__main__":
    main()
