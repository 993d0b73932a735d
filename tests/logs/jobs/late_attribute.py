import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        y = self.lin(x)
        if hasattr(self, "gain"):
            y = y * self.gain
        return y


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(6):
        if step == 3:
            net.gain = 3
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
