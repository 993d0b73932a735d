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
# %% quiet: keys in a buffer, and a local list
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 4), persistent=False)

    def forward(self, x, position):
        self.keys[position] = x
        parts = [x, self.keys]
        parts.append(x * 2)
        return torch.cat([one.reshape(-1) for one in parts])

attention = torch.compile(Attention())
# %% quiet: a data class made in the call
from dataclasses import dataclass, field

@dataclass
class Output:
    value: object = None
    parts: list = field(default_factory=list)

@torch.compile
def step(x):
    out = Output()
    out.value = x * 2
    out.parts.append(x + 1)
    return out.value + out.parts[0]
