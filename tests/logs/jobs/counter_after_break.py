import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.calls = 0

    def forward(self, x):
        x = self.lin(x)
        print("here")
        self.calls += 1
        return x * self.calls


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(6):
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
