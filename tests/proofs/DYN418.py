"""One program per row of the cost table of DYN418; a probe's docstring is the label of its row."""

import torch
import torch.nn.functional as F
from torch import nn

try:
    from no_such_kernels import fused_norm
except ImportError:
    fused_norm = None

X = torch.randn(4, 8)


class Block(nn.Module):
    """A residual layer that would like the kernels of a package."""

    def __init__(self, dim: int = 8):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)


class FromImport(Block):
    """Tries the import in each call."""

    def forward(self, x):
        try:
            from no_such_kernels import fused_norm as norm  # expect: DYN418 eager
        except ImportError:
            norm = self.norm
        return x + self.proj(norm(x)).relu()


def probe_from_import():
    """`from no_such_kernels import ...` under `try`, at the top of `forward`"""
    return torch.compile(FromImport()), [(X,)]


class PlainImport(Block):
    """Tries the import and asks for the other error."""

    def forward(self, x):
        try:
            import no_such_kernels.ops as ops  # expect: DYN418 eager
        except ModuleNotFoundError:
            ops = None
        h = self.norm(x) if ops is None else ops.fused_norm(x)
        return x + self.proj(h).relu()


def probe_plain_import():
    """`import no_such_kernels.ops` with `except ModuleNotFoundError`"""
    return torch.compile(PlainImport()), [(X,)]


class LoopImport(Block):
    """Tries the import in each round."""

    def forward(self, x):
        for _ in range(2):
            try:
                from no_such_kernels import fused_gelu as gelu  # expect: DYN418 eager
            except ImportError:
                gelu = F.gelu
            x = x + gelu(self.proj(x))
        return x


def probe_loop_import():
    """the same in a loop of `forward`"""
    return torch.compile(LoopImport()), [(X,)]


class MethodImport(Block):
    """Tries the import in a method."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        return x + self.activated(h) * 2

    def activated(self, h):
        try:
            from no_such_kernels import fused_gelu  # expect: DYN418 break
        except ImportError:
            return F.gelu(h)
        return fused_gelu(h)


def probe_method_import():
    """the same in a method that `forward` calls"""
    return torch.compile(MethodImport()), [(X,)]


def has_kernels():
    try:
        import no_such_kernels  # noqa: F401  # expect: DYN418 break
    except ImportError:
        return False
    return True


class Asking(Block):
    """Asks in each call whether the package is there."""

    def forward(self, x):
        h = self.proj(self.norm(x))
        return x + h.relu() if has_kernels() else x + F.gelu(h)


def probe_asking():
    """a function that says whether a package is there"""
    return torch.compile(Asking()), [(X,)]


class Present(Block):
    """Tries imports that work."""

    def forward(self, x):
        try:
            import math

            from torch.nn.functional import silu
        except ImportError:
            return x
        return x + silu(self.proj(self.norm(x))) / math.sqrt(8)


def probe_present():
    """imports under `try` that work: the standard library, torch"""
    return torch.compile(Present()), [(X,)]


class TopImport(Block):
    """The import was tried when the file was loaded."""

    def forward(self, x):
        h = self.norm(x) if fused_norm is None else fused_norm(x)
        return x + self.proj(h)


def probe_top_import():
    """the same failing import at the top of the file, and `if fused_norm is None` in `forward`"""
    return torch.compile(TopImport()), [(X,)]


class SetUpImport(Block):
    """The import was tried when the model was built."""

    def __init__(self):
        super().__init__()
        try:
            from no_such_kernels import fused_gelu
        except ImportError:
            fused_gelu = F.gelu
        self.activation = fused_gelu

    def forward(self, x):
        return x + self.activation(self.proj(self.norm(x)))


def probe_set_up_import():
    """the same failing import in `__init__`"""
    return torch.compile(SetUpImport()), [(X,)]
