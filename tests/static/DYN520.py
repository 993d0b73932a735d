# contract: mutable-state = "forbid"
import torch
from torch import nn
# %% an attribute that nothing reads
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        self.last = x.shape  # expect: DYN520
        return x * 2

net = torch.compile(Net())
# %% a global table
SEEN = {}

@torch.compile
def scale(x):
    SEEN["dtype"] = x.dtype  # expect: DYN520
    return x * 2
# %% quiet: a buffer
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return x * 2

net = torch.compile(Net())
# %% quiet: a buffer that is bound again
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        self.mean = self.mean * 0.9 + x.mean(0) * 0.1
        return x * 2

net = torch.compile(Net())
# %% quiet: locals
@torch.compile
def scale(x):
    found = []
    for part in x.unbind():
        found.append(part * 2)
    total = {}
    total["sum"] = sum(found)
    return total["sum"]
# %% quiet: written outside of compiled code
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x):
        return x * 2

net = torch.compile(Net())

def train(batches):
    for batch in batches:
        net(batch)
        net.step = 1
# %% quiet: nothing is compiled
class Net(nn.Module):
    def forward(self, x):
        self.last = x.shape
        return x * 2
# %% quiet: an object made in the call
class Result:
    def __init__(self, value):
        self.value = value

@torch.compile
def scale(x):
    result = Result(x)
    result.value = x * 2
    return result.value
