import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.lin = nn.Linear(8, 8)
        self.index = index

    def forward(self, x):
        return self.lin(x) * self.index


def main():
    torch._dynamo.config.recompile_limit = 4
    layers = [Block(k + 2) for k in range(7)]
    for layer in layers:
        layer.compile(backend="aot_eager")
    x = torch.randn(2, 8, requires_grad=True)
    for layer in layers:
        layer(x).sum().backward()


if __name__ == "__main__":
    main()
