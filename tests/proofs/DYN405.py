"""One program per row of the cost table of DYN405; a probe's docstring is the label of its row."""

import ctypes

import torch
from torch import nn

LIBC = ctypes.CDLL(None)
X = torch.randn(4, 8)


class Block(nn.Module):
    """A linear layer."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.proj = nn.Linear(dim, dim)


class Cleared(nn.Module):
    """Clears its output by a function of a C library."""

    def forward(self, x):
        out = x * 2
        LIBC.memset(ctypes.c_void_p(out.data_ptr()), 0, 0)  # expect: DYN405 eager
        return out + 1


def probe_ctypes():
    """a function of a C library that gets `out.data_ptr()`"""
    return torch.compile(Cleared()), [(X,)]


class Aligned(torch.autograd.Function):
    """Looks at the address of its input."""

    @staticmethod
    def forward(ctx, x):
        aligned = x.data_ptr() % 16 == 0  # expect: DYN405 eager
        return x * 2 if aligned in (True, False) else x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Launcher(nn.Module):
    """Runs a function that looks at an address."""

    def forward(self, x):
        return Aligned.apply(x + 1) * 3


def probe_address():
    """`x.data_ptr() % 16` in an `autograd.Function`"""
    return torch.compile(Launcher()), [(X,)]


class Cube(torch.autograd.Function):
    """A cube with a derivative in both directions."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x * x

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * 3 * x * x


class Cubed(Block):
    """Applies a function with a forward derivative."""

    def forward(self, x):
        return Cube.apply(self.proj(x)) * 2  # expect: DYN405 break


def probe_jvp():
    """an `autograd.Function` with a `jvp`"""
    return torch.compile(Cubed()), [(X,)]


class Scripted(nn.Module):
    """Holds a layer that TorchScript compiled."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.proj = torch.jit.script(nn.Linear(dim, dim))

    def forward(self, x):
        return self.proj(x * 2) + 1  # expect: DYN405 eager


def probe_script():
    """a layer of `torch.jit.script`"""
    return torch.compile(Scripted()), [(X,)]


@torch.library.custom_op("proofs::cleared", mutates_args=())
def cleared(x: torch.Tensor) -> torch.Tensor:
    """The function of the C library as an operator."""
    out = x.clone()
    LIBC.memset(ctypes.c_void_p(out.data_ptr()), 0, 0)
    return out


@cleared.register_fake
def _(x):
    return torch.empty_like(x)


class Registered(nn.Module):
    """Clears its output by a registered operator."""

    def forward(self, x):
        return cleared(x * 2) + 1


def probe_custom_op():
    """the same function of the C library in a `torch.library.custom_op`"""
    return torch.compile(Registered()), [(X,)]


class Swish(torch.autograd.Function):
    """An activation with a backward of its own."""

    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return x * torch.sigmoid(beta * x)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        gate = torch.sigmoid(ctx.beta * x)
        return grad * (gate + x * gate * (1 - gate)), None


class Activated(Block):
    """Applies a function with a backward of its own."""

    def forward(self, x):
        return Swish.apply(self.proj(x), 1.0)


def probe_backward():
    """an `autograd.Function` with a `forward` and a `backward` only"""
    return torch.compile(Activated()), [(X,)]


class ThroughNumpy(nn.Module):
    """Does a part of its work in NumPy."""

    def forward(self, x):
        table = (x * 2).numpy()
        return torch.from_numpy(table.clip(-1.0, 1.0)) + 1


def probe_numpy():
    """a detour through NumPy: `x.numpy()` and `torch.from_numpy`"""
    return torch.compile(ThroughNumpy()), [(X,)]
