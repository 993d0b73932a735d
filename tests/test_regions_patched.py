"""Regions: what other code puts on a class is what its instances have."""

from __future__ import annotations

import pytest

from tests.programs import hot

CODE = """
def quick(self, x): return inner(self, x)
def inner(self, x): return x
class Block(nn.Module):
    def mix(self, x): return x
    def forward(self, x): return self.mix(x)
class Heir(Block):
    pass
class Own(Block):
    def mix(self, x): return x
class Other(nn.Module):
    def mix(self, x): return x
    def forward(self, x): return self.mix(x)
"""


@pytest.mark.parametrize(
    "patch",
    [
        "Block.mix = quick",
        "def patch():\n    def quick_one(self, x): return inner(self, x)\n    Block.mix = quick_one",
        "def patch(fast):\n    if fast: Block.mix = quick",
        "def patch():\n    kind = Block\n    kind.mix = quick",
        "def patch():\n    for kind in (Other, Block): kind.mix = quick",
        "Block.mix = lambda self, x: inner(self, x)",
        "Block.forward = quick",
    ],
)
@pytest.mark.parametrize("compiled", ["Block", "Heir"])
def test_what_is_put_on_a_class_runs_for_its_instances(patch: str, compiled: str) -> None:
    assert hot(f"{CODE}{patch}\nfast = torch.compile({compiled}())\n")["inner"] == "likely"


def test_it_runs_with_the_instance() -> None:
    code = CODE.replace("class Heir(Block):\n    pass", "class Heir(Block):\n    def more(self, x): return x")
    code += "def ask(self, x): return self.more(x)\nHeir.mix = ask\nfast = torch.compile(Heir())\n"
    assert "Heir.more" in set(hot(code))


@pytest.mark.parametrize(
    ("patch", "compiled"),
    [
        ("Block.mix = quick", "Own"),  # which has its own
        ("Block.forward = quick", "Other"),
        ("Heir.mix = quick", "Block"),
        ("Own.mix = quick", "Heir"),
        ("Block.other = quick", "Block"),
        ("Block.mix = torch.relu", "Block"),
        ("def patch():\n    was = Block.mix\n    Block.mix = quick\n    Block.mix = was", "Block"),
    ],
)
def test_what_is_put_elsewhere_does_not_run(patch: str, compiled: str) -> None:
    assert "inner" not in set(hot(f"{CODE}{patch}\nfast = torch.compile({compiled}())\n"))


def test_what_a_test_puts_on_a_class_is_compiled_for_no_other_code() -> None:
    test = "from lib import Block\ndef test_it():\n    def fake(self, x): return x\n    Block.mix = fake\n"
    found = set(hot({"lib.py": CODE + "fast = torch.compile(Block())\n", "test_lib.py": test}))
    assert found == {"lib.py::Block.forward", "lib.py::Block.mix"}


PROBED = """
import types
class Head(nn.Module):
    def forward(self, x): return x
class Block(nn.Module):
    def forward(self, x): return x
def wrap_head(forward):
    def head(self, x): return forward(x)
    return head
def wrap_block(forward):
    def block(self, x): return forward(x)
    return block
def probe(model):
    for name, module in model.named_modules():
        if isinstance(module, Head):
            wrapped = wrap_head(module.forward)
            module.forward = types.MethodType({head}, module)
        elif isinstance(module, Block):
            {before}
            module.forward = types.MethodType(wrapped, module)
probe(nn.Sequential(Head(), Block()))
net = torch.compile(Block())
"""
ANEW = "wrapped = wrap_block(module.forward)"


def test_what_another_branch_of_a_loop_puts_there_is_quiet_where_the_name_is_bound_anew() -> None:
    found = set(hot(PROBED.format(head="wrapped", before=ANEW)))
    assert found == {"Block.forward", "wrap_block.<locals>.block"}


@pytest.mark.parametrize("before", ["pass", f"if model: {ANEW}", f"for _ in name: {ANEW}"])
def test_what_another_turn_of_a_loop_has_left_there_counts(before: str) -> None:
    assert "wrap_head.<locals>.head" in hot(PROBED.format(head="wrapped", before=before))
