import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.act = torch.relu

    def forward(self, x):
        return self.act(self.lin(x))


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(6):
        net.act = lambda t, k=step: t * k
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
