import os
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        return self.drop(self.lin(x))


def main():
    layers = [Block(k / 10) for k in range(4)]
    for layer in layers:
        layer.compile(backend="aot_eager")
    x = torch.randn(2, 8, requires_grad=True)
    for layer in layers:
        layer(x).sum().backward()


if __name__ == "__main__":
    main()
