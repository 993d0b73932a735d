"""Guess: the one family of modules that has a list of this name is the model whose blocks are compiled."""

from __future__ import annotations

import pytest

from tests.programs import hot

MODEL = """
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(3)])
        self.head = nn.Linear(2, 2)
    def forward(self, x): return x
"""
HEIR = "class Larger(Model):\n    def forward(self, x): return x\n"
BLOCK = {"Block.forward"}


def found(source: str) -> set[str]:
    """What is likely or certain."""
    return {name for name, tier in hot(source).items() if tier != "assumed"}


@pytest.mark.parametrize("model", [MODEL, MODEL + HEIR], ids=["alone", "with a heir"])
@pytest.mark.parametrize(
    "code",
    [
        "def apply(model: nn.Module):\n    for b in model.blocks: b.compile()",
        "def apply(model):\n    for b in model.blocks: b.compile(fullgraph=True)",
        "def apply(model):\n    for i, b in enumerate(model.blocks): model.blocks[i] = torch.compile(b)",
        "def apply(patcher):\n    inner = patcher.model.diffusion_model\n"
        "    for i, b in enumerate(inner.blocks): inner.blocks[i] = torch.compile(b)",
        "def apply(model):\n    for name, b in model.blocks.named_children():\n"
        "        model.blocks.register_module(name, torch.compile(b))",
        "def apply(pipe):\n    for i in range(3): pipe.model.blocks[i].compile(dynamic=False)",
    ],
)
def test_a_list_that_one_family_of_modules_has_tells_what_is_compiled(model: str, code: str) -> None:
    assert found(model + code) == BLOCK


@pytest.mark.parametrize(
    "code",
    [
        "def apply(model):\n    for b in model.layers: b.compile()",
        "def apply(model):\n    for b in model.head: b.compile()",
        "from diffusers import Pipe\npipe = Pipe.from_pretrained('x')\nfor b in pipe.blocks: b.compile()",
        "from diffusers import Pipe\ndef apply(pipe):\n    for b in pipe.blocks: b.compile(fullgraph=True)\n"
        "apply(Pipe.from_pretrained('x'))",
        "class Kernels:\n    def build(self):\n        for b in self.blocks: b.compile()",
        "def apply(model):\n    for b in model.blocks: b.compile_kernel()",
        "import re\ndef apply(blocks):\n    for b in blocks: re.compile(b)",
    ],
)
def test_what_a_library_made_and_other_lists_say_nothing(code: str) -> None:
    assert found(MODEL + code) == set()


def test_the_heirs_that_a_class_lists_are_built() -> None:
    heirs = "class Base(nn.Module): pass\nclass X(Base):\n    def forward(self, x): return x\n"
    pick = "def pick(name):\n    for cls in Base.__subclasses__():\n        if cls.__name__ == name: return cls()\n"
    assert found(heirs + pick + "compiled = torch.compile(pick('X'))") == {"X.forward"}
    assert (
        found(heirs + pick.replace("__subclasses__", "known") + "compiled = torch.compile(pick('X'))")
        == set()
    )


@pytest.mark.parametrize("kinds", ["(Block, Model)", "[Block]", "{Block}"])
def test_a_variable_lists_the_classes_that_a_test_leaves(kinds: str) -> None:
    wanted = BLOCK | ({"Model.forward"} if "Model" in kinds else set())
    loop = "for m in Model().modules():\n    if isinstance(m, tuple(KINDS)): m.compile()"
    direct = loop.replace("tuple(KINDS)", "KINDS")
    assert found(f"{MODEL}KINDS = {kinds}\n{direct}") == wanted
