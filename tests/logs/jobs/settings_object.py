import os
import torch
from torch import nn


class Settings:
    kernel = "a"


SETTINGS = Settings()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        y = self.lin(x)
        if SETTINGS.kernel == "a":
            y = y * 2
        return y


def tune(step):
    SETTINGS.kernel = "ab"[step % 2] + str(step)


def main():
    net = Net()
    net.compile(backend="aot_eager")
    for step in range(6):
        tune(step)
        net(torch.randn(2, 8)).sum().backward()


if __name__ == "__main__":
    main()
