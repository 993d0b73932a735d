import torch
from torch import nn

torch._dynamo.config.automatic_dynamic_shapes = False


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x)
# %% a mark in compiled code
@torch.compile
def scale(x):
    torch._dynamo.mark_dynamic(x, 0)  # expect: DYN523
    return x * 2
# %% another, called by compiled code and imported by name
from torch._dynamo import maybe_mark_dynamic

def prepare(x):
    maybe_mark_dynamic(x, 0)  # expect: DYN523
    return x

@torch.compile
def scale(x):
    return prepare(x) * 2
# %% an axis that a layer fixes
net = torch.compile(Net())
x = torch.randn(3, 4)
torch._dynamo.mark_dynamic(x, 1)  # expect: DYN523
net(x)
# %% one of several axes, behind arithmetic
class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(x * 2)

def main():
    net = Deep()
    net.compile()
    x = torch.randn(3, 5, 4)
    torch._dynamo.mark_dynamic(x, [0, 2])  # expect: DYN523
    net(x)

main()
# %% the channels of a convolution
class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        return self.conv(x)

net = torch.compile(Image())
x = torch.randn(2, 3, 8, 8)
torch._dynamo.mark_dynamic(x, 1)  # expect: DYN523
net(x)
# %% other axes than those of the contract
# contract: dynamic-axes = ["program:x#0"]
net = torch.compile(Net())
x, y = torch.randn(3, 4), torch.randn(3, 5, 4)
torch._dynamo.mark_dynamic(x, 0)
torch._dynamo.mark_dynamic(y, 1)  # expect: DYN523
net(x)
wide = torch.compile(Net(), dynamic=True)  # expect: DYN523
# %% torch makes sizes dynamic by itself
# file: other.py
# contract: dynamic-axes = ["other:step.x#0"]
import torch

@torch.compile  # expect: DYN523
def scale(x):
    return x * 2

def step(x):
    torch._dynamo.maybe_mark_dynamic(x, 0)
    return scale(x)
# file: program.py
import torch
# %% quiet: the batch
net = torch.compile(Net())
x = torch.randn(3, 4)
torch._dynamo.mark_dynamic(x, 0)
net(x)
# %% quiet: a mark that asks for nothing
net = torch.compile(Net())
x = torch.randn(3, 4)
torch._dynamo.maybe_mark_dynamic(x, 1)
net(x)
# %% quiet: an axis from behind, which torch does not find
net = torch.compile(Net())
x = torch.randn(3, 4)
torch._dynamo.mark_dynamic(x, -1)
net(x)
# %% quiet: a copy has no mark
net = torch.compile(Net())
x = torch.randn(3, 4)
torch._dynamo.mark_dynamic(x, 1)
net(x.clone())
# %% quiet: static sizes may be marked in compiled code
@torch.compile
def scale(x):
    torch._dynamo.mark_static(x, 0)
    return x * 2
# %% quiet: not where it is compiled
@torch.compile
def scale(x):
    if not torch.compiler.is_compiling():
        torch._dynamo.mark_dynamic(x, 0)
    return x * 2
# %% quiet: nothing but what the contract says
# contract: dynamic-axes = ["program:step.x#0", "program:tokens#1"]
net = torch.compile(Net())

def step(x, batch):
    torch._dynamo.maybe_mark_dynamic(x, 0)
    torch._dynamo.mark_dynamic(batch.tokens, 1)
    return net(x)
# %% quiet: sizes are static by an option
# contract: dynamic-axes = ["program:x#0"]
net = torch.compile(Net(), dynamic=False)
x = torch.randn(3, 4)
torch._dynamo.mark_dynamic(x, 0)
net(x)
# %% quiet: the height of an image
class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)

    def forward(self, x):
        return self.conv(x)

net = torch.compile(Image())
x = torch.randn(2, 3, 8, 8)
torch._dynamo.mark_dynamic(x, 2)
net(x)
