import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.scale = 1

    def forward(self, x):
        return self.lin(x) * self.scale


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(7):
        net.scale = step + 2
        net(torch.randn(2, 8, requires_grad=step % 2 == 1)).sum().backward()


if __name__ == "__main__":
    main()
