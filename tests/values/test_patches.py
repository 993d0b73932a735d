"""Patches: functions, methods and modules that are put in the place of others."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_BLOCK, names_with_model

# --- what is put on a class -----------------------------------------------------------------------------

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


# --- wrappers -------------------------------------------------------------------------------------------

AROUND = """
def helper(x): return x
def logged(f, keep=()):
    def outer(*args): return helper(f(*args))
    return outer
def quick(f, mode=None):
    fast = torch.compile(f, mode=mode)
    def outer_of_quick(*args): return helper(fast(*args))
    return outer_of_quick
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
    def decode(self, x): return x
    def forward(self, x): return self.decode(self.block(x))
"""


@pytest.mark.parametrize(
    "put",
    [
        "model.block.forward = logged(torch.compile(model.block.forward))",
        "model.block.forward = logged(torch.compile(model.block.forward, dynamic=True), keep=['x'])",
        "model.block.forward = logged(logged(torch.compile(model.block.forward)))",
        "model.block.forward = logged(torch.compile(dynamic=True)(model.block.forward))",
        "model.block.forward = quick(model.block.forward)",
        "model.block.forward = logged(quick(model.block.forward, mode='max-autotune'))",
        "model.block = logged(torch.compile(model.block))",
    ],
)
def test_a_wrapper_around_what_is_put_back_compiled_is_quiet(put: str) -> None:
    assert set(hot(f"{AROUND}def prepare(model: Model):\n    {put}\n")) == {"Block.forward"}


@pytest.mark.parametrize("made", ["logged(torch.compile(self.decode))", "logged(quick(self.decode))"])
@pytest.mark.parametrize("method", ["__init__", "prepare"])
def test_a_wrapper_around_a_compiled_method_of_its_own_class_is_quiet(made: str, method: str) -> None:
    code = f"class Mine(Model):\n    def {method}(self):\n        self.decode = {made}\n"
    assert set(hot(AROUND + code)) == {"Model.decode"}


@pytest.mark.parametrize(
    "put",
    [
        "model.block.forward = torch.compile(logged(model.block.forward))",
        "model.block.forward = logged(model.block.forward)\n    torch.compile(model.block.forward)(1)",
        "model.block.forward = logged(print)\n    torch.compile(model.block.forward)(1)",
        "model.block.forward = logged(torch.compile(model.decode))\n    torch.compile(model.block.forward)(1)",
    ],
)
def test_a_wrapper_within_what_is_compiled_runs_compiled(put: str) -> None:
    assert {"logged.<locals>.outer", "helper"} <= set(hot(f"{AROUND}def prepare(model: Model):\n    {put}\n"))


# --- closures that are called where they are made -------------------------------------------------------

MADE = """
import inspect
from torch.utils.checkpoint import checkpoint
def kept(part):
    def run(x): return {body}
    return run
class One(nn.Module):
    def forward(self, x): return x
class Two(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = One()
        self.later = kept(self.part)
    def forward(self, x): return {call}
"""
NET = "fast = torch.compile(Net())\n"


@pytest.mark.parametrize("body", ["part(x)", "checkpoint(part, x)"])
@pytest.mark.parametrize(
    "eager",
    [
        "kept(Two())(1)",
        "def eager(x): return kept(Two())(x)",
        "class Eager:\n    def __init__(self): self.two = Two()\n    def ask(self, x): return kept(self.two)(x)",
    ],
)
def test_what_eager_code_gives_a_closure_that_it_calls_at_once_is_quiet(body: str, eager: str) -> None:
    found = set(hot(MADE.format(body=body, call="kept(self.part)(x)") + NET + eager))
    assert "One.forward" in found
    assert "Two.forward" not in found


@pytest.mark.parametrize(
    "more",
    [
        "run = kept(Two())\n@torch.compile\ndef step(x): return run(x)\n",
        "@torch.compile\ndef step(x): return kept(Two())(x)\n",
        "def deeper(part, x): return kept(part)(x)\n@torch.compile\ndef step(x): return deeper(Two(), x)\n",
        "run = kept(Two())\nkept(Two())(1)\n@torch.compile\ndef step(x): return run(x)\n",
        "torch.compile(kept(Two()))(1)\n",
    ],
)
def test_what_a_closure_keeps_runs_where_compiled_code_calls_it(more: str) -> None:
    assert "Two.forward" in set(hot(MADE.format(body="part(x)", call="self.later(x)") + NET + more))


@pytest.mark.parametrize("asked", ["signature", "getsource", "isfunction", "unwrap"])
def test_what_inspect_is_given_is_not_called(asked: str) -> None:
    code = f"import inspect\ndef helper(x): return x\n@torch.compile\ndef step(x): return inspect.{asked}(helper)"
    assert set(hot(code)) == {"step"}


# --- functions that become methods ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import types\nm = Model()\nm.forward = types.MethodType(new, m)\ncompiled = torch.compile(m)",
        "m = Model()\nm.forward = new.__get__(m)\ncompiled = torch.compile(m)",
        "m = Model()\nm.forward = lambda x: new(m, x)\ncompiled = torch.compile(m)",
        "def patch(model):\n    model.forward = new.__get__(model)\n    return model\n"
        "compiled = torch.compile(patch(Model()))",
    ],
)
def test_what_is_assigned_to_the_forward_of_a_compiled_module_is_compiled(code: str) -> None:
    assert {"new", "cold"} <= names_with_model("def new(self, x): return cold(x)\n" + code)


@pytest.mark.parametrize(
    "code",
    [
        "m, n = Block(), Model()\nn.forward = new.__get__(n)\ncompiled = torch.compile(m)",
        "m = Block()\nm.backward = new.__get__(m)\ncompiled = torch.compile(m)",
    ],
)
def test_what_is_assigned_elsewhere_is_not(code: str) -> None:
    assert names_with_model("def new(self, x): return cold(x)\n" + code) == SMALL_BLOCK
