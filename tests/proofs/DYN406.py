"""One program per row of the cost table of DYN406; a probe's docstring is the label of its row."""

import torch
from torch import nn

X = torch.randn(4, 8)


class Block(nn.Module):
    """Two linear layers."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)


@torch.compiler.disable
def clip(x):
    return x.clamp(max=0.5)


class Clipped(Block):
    """Calls a helper that is disabled."""

    def forward(self, x):
        return self.down(clip(self.up(x)))  # expect: DYN406 break


def probe_disabled():
    """a helper under `@torch.compiler.disable`"""
    return torch.compile(Clipped()), [(X,)]


class ClippedRounds(nn.Module):
    """Calls a helper that is disabled, round by round."""

    def forward(self, x):
        for _ in range(3):
            x = clip(x * 2)  # expect: DYN406 eager
        return x


def probe_loop():
    """the same helper in a loop"""
    return torch.compile(ClippedRounds()), [(X,)]


class Handmade(Block):
    """Breaks the graph between its layers."""

    def forward(self, x):
        hidden = self.up(x).relu()
        torch._dynamo.graph_break()  # expect: DYN406 break
        return self.down(hidden)


def probe_graph_break():
    """`torch._dynamo.graph_break()` between two layers"""
    return torch.compile(Handmade()), [(X,)]


class Patched(Block):
    """Changes a setting of Dynamo for its second layer."""

    def forward(self, x):
        hidden = self.up(x).relu()
        with torch._dynamo.config.patch(cache_size_limit=4):  # expect: DYN406 break
            hidden = hidden * 2
        return self.down(hidden)


def probe_patch():
    """`torch._dynamo.config.patch` in the compiled region"""
    return torch.compile(Patched()), [(X,)]


def scale(x):
    return x * 0.5


class Scaled(Block):
    """Disables a helper where it calls it."""

    def forward(self, x):
        return self.down(torch.compiler.disable(scale)(self.up(x)))  # expect: DYN406 break


def probe_at_the_call():
    """disabled at the call: `torch.compiler.disable(scale)(hidden)`"""
    return torch.compile(Scaled()), [(X,)]


@torch.compiler.disable(reason="calls a library that Dynamo cannot trace")
def tune(x):
    return x.clamp(max=0.5)


class Tuned(Block):
    """Calls a helper that is disabled for a reason."""

    def forward(self, x):
        return self.down(tune(self.up(x)))


def probe_reason():
    """disabled with a `reason=`: the same break, but not reported"""
    return torch.compile(Tuned()), [(X,)]


class Recorded(Block):
    """Keeps a disabled method for its caller."""

    @torch.compiler.disable
    def record(self, x):
        return x.mean().item()

    def forward(self, x):
        return self.down(self.up(x).relu())


def probe_outside():
    """a disabled method that only eager code calls"""
    model = Recorded()
    compiled = torch.compile(model)

    def step(x):
        out = compiled(x)
        model.record(out)
        return out

    return step, [(X,)]


class EvalOnly(Block):
    """Calls a disabled helper only where it is not compiled."""

    def forward(self, x):
        hidden = self.up(x)
        if not torch.compiler.is_compiling():
            hidden = clip(hidden).clamp(max=0.5)
        return self.down(hidden.clamp(max=0.5))


def probe_dead():
    """a disabled helper under `if not torch.compiler.is_compiling()`"""
    return torch.compile(EvalOnly()), [(X,)]


@torch._dynamo.assume_constant_result
def width():
    return 0.5


class Constant(Block):
    """Calls a helper whose result counts as a constant."""

    def forward(self, x):
        return self.down(self.up(x) * width())


def probe_constant():
    """a helper under `assume_constant_result`"""
    return torch.compile(Constant()), [(X,)]
