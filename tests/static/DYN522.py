import torch
from torch import nn
# %% the decorator is gone
# contract: eager-islands = ["program:Net.decay"]
class Net(nn.Module):
    def decay(self, x):  # expect: DYN522
        return x * 0.5

    def forward(self, x):
        return self.decay(x)

net = torch.compile(Net())
# %% a function in another file, two calls down
# file: model.py
# contract: eager-islands = ["hooks:dash"]
import torch

@torch.compile
def step(x):
    return inner(x)

def inner(x):
    from hooks import dash
    return dash(x)
# file: hooks.py
# contract: eager-islands = ["hooks:dash"]
def dash(x):  # expect: DYN522
    return x + 1
# %% another function of that name is disabled
# contract: eager-islands = ["program:dash"]
def dash(x):  # expect: DYN522
    return x + 1

class Other:
    @torch.compiler.disable(reason="talks to the host")
    def dash(self, x):
        return x

@torch.compile
def step(x):
    return dash(x)
# %% a disabled twin, and compiled code calls the original
# contract: eager-islands = ["program:dash"]
def dash(x):  # expect: DYN522
    return x + 1

quiet = torch.compiler.disable(dash)

@torch.compile
def step(x):
    return dash(x)
# %% nobody calls it, and nothing disables it
# contract: eager-islands = ["program:dash", "program:scan"]
def dash(x):  # expect: DYN522
    return x + 1

@torch.compiler.disable(reason="talks to the host")
def scan(x):
    return x

@torch.compile
def step(x):
    return scan(x) * 2
# %% no function of a pattern is one
# contract: eager-islands = ["program:Net.d*"]
class Net(nn.Module):
    def dash(self, x):  # expect: DYN522
        return x * 0.5

    def forward(self, x):
        return self.dash(x)

net = torch.compile(Net())
# %% compiled by itself
# contract: eager-islands = ["program:dash"]
@torch.compile
def dash(x):  # expect: DYN522
    return x + 1
# %% the class of a module that is called
# contract: eager-islands = ["program:Router"]
class Router(nn.Module):
    def forward(self, x):  # expect: DYN522
        return x.softmax(-1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        return self.router(x)

net = torch.compile(Net())
# %% a comment that torch does not read
class Net(nn.Module):
    scale = 0.5

    # dynamo-lint: eager
    def decay(self, x):  # expect: DYN522
        return x * 0.5

    def forward(self, x):
        return self.decay(x)

net = torch.compile(Net())
# %% the comment on a class
# dynamo-lint: eager
class Router(nn.Module):
    def forward(self, x):  # expect: DYN522
        return x.softmax(-1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        return self.router(x)

net = torch.compile(Net())
# %% quiet: a decorator
# contract: eager-islands = ["program:Net.decay"]
class Net(nn.Module):
    @torch.compiler.disable
    def decay(self, x):
        return x * 0.5

    def forward(self, x):
        return self.decay(x)

net = torch.compile(Net())
# %% quiet: a decorator of the older name, by an alias
# contract: eager-islands = ["program:dash"]
import torch._dynamo as dynamo

@dynamo.disable(recursive=False)
def dash(x):
    return x + 1

@torch.compile
def step(x):
    return dash(x)
# %% quiet: a decorator of the project that disables
# contract: eager-islands = ["program:dash"]
def eager(function):
    return torch.compiler.disable(function, reason="house policy")

@eager
def dash(x):
    return x + 1

@torch.compile
def step(x):
    return dash(x)
# %% quiet: disabled in place of the method
# contract: eager-islands = ["program:Net.decay"]
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.decay = torch.compiler.disable(self.decay)

    def decay(self, x):
        return x * 0.5

    def forward(self, x):
        return self.decay(x)

net = torch.compile(Net())
# %% quiet: disabled in place of the function
# contract: eager-islands = ["program:dash"]
def dash(x):
    return x + 1

dash = torch.compiler.disable(dash, reason="talks to the host")

@torch.compile
def step(x):
    return dash(x)
# %% quiet: disabled under another name
# contract: eager-islands = ["program:dash"]
def dash(x):
    return x + 1

quietly = torch.compiler.disable(reason="talks to the host")(dash)

@torch.compile
def step(x):
    return quietly(x)
# %% quiet: disabled by an older name
# contract: eager-islands = ["program:dash"]
from torch._dynamo import disable as eager

@eager
def dash(x):
    return x + 1

@torch.compile
def step(x):
    return dash(x)
# %% quiet: some functions of the pattern are
# contract: eager-islands = ["program:Net.*"]
class Net(nn.Module):
    @torch.compiler.disable
    def decay(self, x):
        return x * 0.5

    def forward(self, x):
        return self.decay(x)

net = torch.compile(Net())
# %% quiet: nothing calls it, and it is disabled
# contract: eager-islands = ["program:dash"]
@torch.compiler.disable
def dash(x):
    return x + 1

@torch.compile
def step(x):
    return x * 2
# %% quiet: the class is disabled
# contract: eager-islands = ["program:Router"]
@torch.compiler.disable
class Router(nn.Module):
    def forward(self, x):
        return x.softmax(-1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        return self.router(x)

net = torch.compile(Net())
# %% quiet: a comment, and a disable
class Net(nn.Module):
    scale = 0.5

    # dynamo-lint: eager
    @torch.compiler.disable
    def decay(self, x):
        return x * 0.5

    def forward(self, x):
        return self.decay(x)

net = torch.compile(Net())
# %% quiet: a comment on what only eager code calls
# dynamo-lint: eager
def dash(x):
    return x + 1

@torch.compile
def step(x):
    return x * 2

def main(x):
    return dash(step(x))
# %% quiet: in a test
# file: tests/test_step.py
# contract: eager-islands = ["tests.test_step:dash"]
import torch

def dash(x):
    return x + 1

@torch.compile
def step(x):
    return dash(x)
