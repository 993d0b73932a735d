import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.lin(x)) * 2


@torch.compile
def helper(x):
    return x.sin() + x.cos()


def main():
    net = Net()
    net.compile(dynamic=False)
    for size in (2, 3, 4):
        net(torch.randn(size, 8)).sum().backward()
    helper(torch.randn(4))


if __name__ == "__main__":
    main()
