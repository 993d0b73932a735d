"""Models of two blocks, to which tests of idioms add the few lines they are about."""

from __future__ import annotations

import textwrap

from tests.programs import hot

SMALL_MODEL = """
class Block(nn.Module):
    def forward(self, x): return helper(x)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
    @classmethod
    def unused(cls): ...
def helper(x): return x
def cold(x): return x
"""
SMALL_BLOCK = {"Block.forward", "helper"}
SMALL_WHOLE = SMALL_BLOCK | {"Model.forward"}


def names_with_model(code: str, **options: object) -> set[str]:
    """What is compiled of the small model and the code below it."""
    return set(hot(SMALL_MODEL + textwrap.dedent(code), **options))


MIXED_MODEL = """
class Block(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
    def forward(self, x):
        return self._mix(x)
    def _mix(self, x):
        return helper(self.lin(x))
    def unused(self, x):
        return setup(x)

def helper(x): return x * 2
def setup(x): return x

class Model(nn.Module):
    def __init__(self, n=2):
        super().__init__()
        self.layers = nn.ModuleList([Block() for _ in range(n)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
MIXED_BLOCK = {"Block.forward", "Block._mix", "helper"}
MIXED_WHOLE = MIXED_BLOCK | {"Model.forward"}


def with_mixed_model(compile_code: str) -> str:
    """The source of the mixed model and the code below it."""
    return textwrap.dedent(MIXED_MODEL) + textwrap.dedent(compile_code)
