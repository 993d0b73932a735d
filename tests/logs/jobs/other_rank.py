import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return self.lin(x)


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(6):
        net(torch.randn(*([2] * (step % 3 + 1)), 8)).sum().backward()


if __name__ == "__main__":
    main()
