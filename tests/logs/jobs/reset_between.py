import os
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.lin(x) * self.calls


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(8):
        if step == 4:
            torch._dynamo.reset()
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
