import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.cfg = {}

    def forward(self, x):
        y = self.lin(x)
        if "scale" in self.cfg:
            y = y * self.cfg["scale"]
        return y


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(6):
        if step == 3:
            net.cfg["scale"] = 2.0
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
