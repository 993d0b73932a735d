"""Regions: helpers that call what they are handed, by many callers of which only some are compiled."""

from __future__ import annotations

import pytest

from tests.programs import hot

MANY = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(12))
EAGER = "".join(f"def eager{i}(x): return run(M{i}(), x)\n" for i in range(12))
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = M3(), M4()
    def forward(self, x): return {call}
compiled = torch.compile(Net())
"""
RUN = "def run(module, x): return module(x)\n"


def found(code: str) -> set[str]:
    return {name for name, tier in hot(MANY + code).items() if tier != "assumed"} - {"Net.forward", "run"}


@pytest.mark.parametrize(
    ("run", "call", "expected"),
    [
        (RUN, "run(self.a, x)", {"M3.forward"}),
        (RUN, "run(self.a, run(self.b, x))", {"M3.forward", "M4.forward"}),
        (RUN, "run(x=x, module=self.b)", {"M4.forward"}),
        (
            "from torch.utils.checkpoint import checkpoint\ndef run(module, x): return checkpoint(module, x)\n",
            "run(self.a, x)",
            {"M3.forward"},
        ),
        ("def run(module: nn.Module, x): return module(x)\n", "run(self.a, x)", {"M3.forward"}),
    ],
)
def test_a_helper_with_many_callers_runs_what_its_compiled_callers_hand_it(
    run: str, call: str, expected: set[str]
) -> None:
    assert found(run + EAGER + NET.format(call=call)) == expected


@pytest.mark.parametrize(
    ("run", "call"),
    [
        (RUN, "x"),  # no compiled caller
        (RUN, "other(self.a, x)"),
        ("def run(module, x): return x\n", "run(self.a, x)"),  # handed over and not called
        ("def run(module, x):\n    module = make()\n    return module(x)\n", "run(self.a, x)"),
        ("def run(module, x): return module.other(x)\n", "run(self.a, x)"),
        (RUN, "x if torch.compiler.is_compiling() else run(self.a, x)"),
        ("@torch.compiler.disable\n" + RUN, "run(self.a, x)"),
    ],
)
def test_other_helpers_and_other_callers_run_none_of_many(run: str, call: str) -> None:
    assert found(run + EAGER + NET.format(call=call)) == set()


def test_what_a_compiled_helper_is_handed_by_eager_callers_stays_a_guess() -> None:
    assert found(RUN + EAGER + "fast = torch.compile(run)") == set()


LATER = """
def later(*args, **options):
    model = args[0] if args else options.pop("model", None)
    if model is None:
        return lambda model: later(model, **options)
    fast = model
    def first(*given):
        nonlocal fast
        fast = torch.compile(model)
        return fast(*given)
    return first
class Loop:
    def __init__(self, step): self.step = self.prepare(step)
    def prepare(self, step): return later(step)
    def again(self): return Loop(self.step)
"""


def test_the_closure_of_a_helper_that_compiles_later_is_not_what_it_compiles() -> None:
    code = LATER + "def step(x): return x\nLoop(step).again()"
    assert set(hot(code)) == {"step"}


@pytest.mark.parametrize(
    "code",
    [
        "def decorate(fn):\n    def inner(x): return fn(x)\n    return torch.compile(inner)\n",
        "def decorate(fn):\n    def inner(x): return fn(x)\n    inner = torch.compile(inner)\n    return inner\n",
        "def decorate(fn, fast):\n    def inner(x): return fn(x)\n    if fast:\n        inner = wrap(inner, fast)\n"
        "        inner = torch.compile(inner)\n    return inner\n",
        "from functools import partial\ndef decorate(fn):\n    def inner(x): return fn(x)\n"
        "    ready = partial(inner)\n    return torch.compile(ready)\n",
    ],
)
def test_a_closure_that_a_helper_compiles_itself_is_compiled(code: str) -> None:
    code += (
        "def step(x): return x\nfast = decorate(step)\n" if "fast)" not in code else "decorate(print, True)\n"
    )
    assert "decorate.<locals>.inner" in set(hot(code))


@pytest.mark.parametrize("way", ["(one, two)[i]", "one if i else two", "{0: one, 1: two}[i]"])
def test_a_closure_that_is_picked_by_an_argument_is_compiled(way: str) -> None:
    picked = way.replace("one", "(lambda x: first(x))").replace("two", "(lambda x: second(x))")
    code = f"""
def first(x): return x
def second(x): return x
def runner(i):
    run = {picked}
    return torch.compile(run)
"""
    assert {"first", "second"} <= set(hot(code))


# --- functions without a name ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "fuse = lambda f: torch.compile(f)\nfast = fuse(M1())",
        "def main():\n    fuse = lambda f: torch.compile(f, dynamic=False)\n    return fuse(M1())",
        "def main(flag):\n    fuse = torch.compile if flag else lambda f: torch.compile(f)\n    return fuse(M1())",
        "def main():\n    fuse = lambda f: torch.compile(f)\n    quick = fuse\n    return quick(M1())",
        "TABLE = {'on': lambda f: torch.compile(f)}\ndef main(kind): return TABLE[kind](M1())",
        "class Maker:\n    def __init__(self): self.fuse = lambda f: torch.compile(f)\n"
        "    def main(self): return self.fuse(M1())",
    ],
)
def test_a_lambda_that_compiles_is_called_by_the_names_that_it_is_bound_to(code: str) -> None:
    assert found(code) == {"M1.forward"}


@pytest.mark.parametrize(
    "code",
    [
        "fuse = lambda f: f\nfast = fuse(M1())",
        "fuse = lambda f: torch.compile(f)\nfast = M1()",
        "fuse = lambda f: torch.compile(f)\ndef main(fuse): return fuse(M1())",
        "def other():\n    fuse = lambda f: torch.compile(f)\ndef main():\n    fuse = print\n    fuse(M1())",
        "def main():\n    fuse = lambda f: torch.compile(f)\n    plain = lambda f: f\n    return plain(M1())",
        "TABLE = {'on': lambda f: torch.compile(f), 'off': lambda f: f}\nfast = TABLE['off'](M1())",
        "fuse = [lambda f: torch.compile(f)]\nfast = len(M1())",
        "fuse = lambda f: torch.compiler.disable(f)\nfast = fuse(M1())",
    ],
)
def test_other_lambdas_and_other_names_compile_nothing(code: str) -> None:
    assert found(code) == set()


# --- calls of what another call gives -------------------------------------------------------------------

WRAP = """
import importlib, pydoc
class Wrap(nn.Module):
    def __init__(self, inner, wide=False):
        super().__init__()
        self.inner = torch.compile(inner)
class Plain(nn.Module):
    def __init__(self, inner, wide=False):
        super().__init__()
        self.inner = inner
def default(given, otherwise): return otherwise if given is None else given
def find(path):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)
def pick(wide): return Wrap if wide else Plain
def fuse(dynamic):
    def compiling(module): return torch.compile(module, dynamic=dynamic)
    return compiling
def plain(dynamic):
    def keeping(module): return module
    return keeping
NAME = "m.Wrap"
"""


@pytest.mark.parametrize(
    "call",
    [
        "find('m.Wrap')(M1())",
        "find(default(given, NAME))(M1(), wide=True)",
        "find('m.Wrap')(inner=M1())",
        "pydoc.locate('m.Wrap')(M1())",
        "pick(wide=True)(M1())",
        "fuse(dynamic=True)(M1())",
    ],
)
def test_a_call_of_what_another_call_gives_hands_its_arguments_over(call: str) -> None:
    assert found(WRAP + f"def main(given): return {call}") == {"M1.forward"}


@pytest.mark.parametrize(
    "call",
    [
        "find('m.Plain')(M1())",
        "find('m.Wrap')",
        "find('other.Wrap')(M1())",
        "find(given)(M1())",
        "pydoc.locate('m.Plain')(M1())",
        "given(find('m.Wrap'))(M1())",
        "find('m.Wrap')(given)(M1())",  # an instance that is called runs no constructor
        "plain(dynamic=True)(M1())",
        "fuse(M1())(given)",
    ],
)
def test_what_another_call_gives_takes_nothing_else(call: str) -> None:
    assert found(WRAP + f"def main(given): return {call}") == set()
