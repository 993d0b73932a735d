import os
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.norm = nn.LayerNorm(8) if kind else nn.Identity()

    def forward(self, x):
        return self.norm(self.lin(x))


def main():
    layers = [Block(k % 2) for k in range(4)]
    for layer in layers:
        layer.compile(backend="aot_eager")
    x = torch.randn(2, 8, requires_grad=True)
    for step in range(3):
        for layer in layers:
            layer(x).sum().backward()


if __name__ == "__main__":
    main()
