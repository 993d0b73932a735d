import torch
# %% only a comment for a tool stands beside it
@torch.compiler.disable  # noqa: F811  # expect: DYN406
def route(x):
    return x[x > 0]

@torch.compile
def block(x):
    return route(x)
# %% quiet: a reason beside a comment for a tool
# Sizes depend on the data.
@torch.compiler.disable  # noqa: F811
def route(x):
    return x[x > 0]

@torch.compile
def block(x):
    return route(x)
# %% quiet: a reason as an argument, and a comment for a tool
@torch.compiler.disable(reason="sizes depend on the data")  # type: ignore[misc]
def route(x):
    return x[x > 0]

@torch.compile
def block(x):
    return route(x)
# %% quiet: a comment for a tool, and only eager code calls it
@torch.compiler.disable  # noqa: F811
def route(x):
    return x[x > 0]

@torch.compile
def block(x):
    return x * 2

def step(x):
    return route(block(x))
# %% the contract lists another
# contract: eager-islands = ["program:scan"]
@torch.compiler.disable(reason="sizes depend on the data")  # expect: DYN406
def route(x):
    return x[x > 0]

@torch.compiler.disable
def scan(x):
    return x.cumsum(0)

@torch.compile
def block(x):
    return route(x) + scan(x).sum()
# %% quiet: the contract lists them all
# contract: eager-islands = ["program:Mixer.*", "program:attend"]
class Mixer(torch.nn.Module):
    @torch.compiler.disable
    def scan(self, x):
        return x.cumsum(0)

    @torch.compiler.disable(reason="calls a kernel by pointer")
    def mix(self, x):
        return x.roll(1)

    def forward(self, x):
        return attend(self.mix(self.scan(x)))

def attend(x):
    return torch.compiler.disable(torch.sort)(x)[0]

mixer = torch.compile(Mixer())
# %% quiet: the contract says nothing of one that only eager code calls
# contract: eager-islands = ["program:scan"]
@torch.compiler.disable(reason="talks to the host")
def log(x):
    return x.tolist()

@torch.compiler.disable
def scan(x):
    return x.cumsum(0)

@torch.compile
def block(x):
    return scan(x).sum()

def step(x):
    log(block(x))
# %% quiet: in tests anything may be an island
# file: tests/test_block.py
# contract: eager-islands = ["program:scan"]
import torch

@torch.compiler.disable(reason="sizes depend on the data")
def route(x):
    return x[x > 0]

@torch.compile
def block(x):
    return route(x)
