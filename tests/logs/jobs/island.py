import os
import torch
from torch import nn


@torch.compiler.disable
def island(x):
    return x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return island(self.lin(x)) * 2


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(3):
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
