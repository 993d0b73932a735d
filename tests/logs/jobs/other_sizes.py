import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        if x.shape[0] > 4:
            return self.lin(x) * 2
        return self.lin(x)


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for size in (2, 3, 5, 6, 7, 1, 9):
        net(torch.randn(size, 8)).sum().backward()


if __name__ == "__main__":
    main()
