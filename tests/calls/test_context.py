"""Call context: what a function is handed by the caller that is compiled, and not by others."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- helpers with many callers --------------------------------------------------------------------------

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
    return {name for name, tier in hot(MANY + code).items() if tier != "possible"} - {"Net.forward", "run"}


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


# --- callers that pass on what they are given -----------------------------------------------------------

NETS = """
class A(nn.Module):
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
def run(part, x): return part(x)
def through(part, x): return run(part, x)
def further(other, x): return through(other, x)
"""
COMPILED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = A()
    def forward(self, x): return {call}
fast = torch.compile(Net())
"""


@pytest.mark.parametrize("name", ["run", "through", "further"])
def test_a_helper_runs_the_modules_that_compiled_code_hands_it(name: str) -> None:
    eager = "".join(f"def eager_{one}(x): return {one}(B(), x)\n" for one in ("run", "through", "further"))
    found = set(hot(NETS + COMPILED.format(call=f"{name}(self.part, x)") + eager))
    assert "A.forward" in found
    assert "B.forward" not in found


@pytest.mark.parametrize("name", ["run", "through", "further"])
def test_a_helper_that_eager_code_enters_runs_whatever_it_is_handed(name: str) -> None:
    found = set(hot(NETS + f"fast = torch.compile({name})\n{name}(B(), 1)\n{name}(A(), 1)\n"))
    assert {"A.forward", "B.forward"} <= found


@pytest.mark.parametrize(
    "helper",
    [
        "def helper(x, part=B()): return part(x)\n",
        "def helper(x, part=None):\n    part = part or B()\n    return part(x)\n",
        "def helper(x, part: B = None): return part(x)\n",
    ],
)
def test_what_no_caller_hands_over_needs_none(helper: str) -> None:
    assert "B.forward" in set(hot(NETS + helper + COMPILED.format(call="helper(x)")))


OPTIONAL = """
def scale(x): return x
def attend(x, cache=None, *, mask=None):
    if {test}: x = scale(x)
    return x
def attend_more(x, cache=None): return attend(x, cache)
class Net(nn.Module):
    def forward(self, x): return {call}
fast = torch.compile(Net())
"""


@pytest.mark.parametrize(
    ("test", "call"),
    [
        ("cache is not None", "attend(x, x)"),
        ("cache is not None", "attend(x, cache=x)"),
        ("cache is not None", "attend(*x)"),
        ("cache is not None", "attend(x, **x)"),
        ("cache is not None", "attend_more(x, x)"),
        ("cache is not None and x.any()", "attend(x, x)"),
        ("not (cache is None or x.any())", "attend(x, x)"),
        ("mask is not None", "attend(x, mask=x)"),
        ("cache is None", "attend(x)"),
        ("cache is not None or x.any()", "attend(x)"),
        ("x is not None", "attend(x)"),
    ],
)
def test_what_runs_if_something_is_given_is_compiled_where_it_is(test: str, call: str) -> None:
    assert "scale" in set(hot(OPTIONAL.format(test=test, call=call)))


@pytest.mark.parametrize(
    ("test", "call"),
    [
        ("cache is not None", "attend(x)"),
        ("cache is not None", "attend(x, None)"),
        ("cache is not None", "attend(x, mask=x)"),
        ("cache is not None", "attend_more(x)"),
        ("cache is not None and x.any()", "attend(x)"),
        ("not (cache is None or x.any())", "attend(x)"),
        ("mask is not None", "attend(x, x)"),
        ("cache is not None", "attend(x) if torch.compiler.is_compiling() else attend(x, x)"),
    ],
)
@pytest.mark.parametrize("eager", ["", "def other(x): return attend(x, x, mask=x) + attend_more(x, x)\n"])
def test_what_runs_only_if_something_is_given_is_not_compiled_for_eager_callers(
    test: str, call: str, eager: str
) -> None:
    assert "scale" not in set(hot(OPTIONAL.format(test=test, call=call) + eager))


LEFT_OUT = """
def scale(x): return x
@torch.compile
def attend(x, cache=None, *, mask=None):
    {body}
    return x
"""


def test_what_eager_code_may_give_a_compiled_function_counts() -> None:
    assert "scale" in set(
        hot(OPTIONAL.format(test="cache is not None", call="x") + "torch.compile(attend)(1)\n")
    )


@pytest.mark.parametrize("method", ["forward", "__call__"])
def test_a_method_that_runs_without_being_named_may_be_given_anything(method: str) -> None:
    source = f"""
    def scale(x): return x
    class Rope({"nn.Module" if method == "forward" else "object"}):
        def {method}(self, x, place=None): return self.turn(x, place)
        def turn(self, x, place=None):
            if place is not None: x = scale(x)
            return x
    class Short(Rope):
        def {method}(self, x): return super().{method}(x)
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rope = Rope()
        def forward(self, x): return self.rope(x, x)
    fast = torch.compile(Net())
    """
    assert "scale" in set(hot(source))


BOUND = """
from functools import partial
def smooth(x): return x
def sharp(x): return x
def loss(x, fn=None):
    if fn is not None: x = fn(x)
    return x
def train(x, compiled=True):
    bound = {bound}
    def step(x): return bound(x)
    if compiled: step = torch.compile(step)
    return step(x)
"""


@pytest.mark.parametrize("fn", ["smooth", "smooth if x else sharp"])
def test_what_eager_code_binds_beforehand_runs_in_compiled_code(fn: str) -> None:
    found = set(hot(BOUND.format(bound=f"partial(loss, fn={fn})")))
    assert "smooth" in found
    assert ("sharp" in found) is ("sharp" in fn)


@pytest.mark.parametrize("bound", ["loss", "partial(loss)", "partial(loss, fn=None)"])
def test_what_eager_code_hands_over_itself_does_not(bound: str) -> None:
    assert "smooth" not in set(hot(BOUND.format(bound=bound) + "loss(1, smooth)\nloss(1, fn=smooth)\n"))


@pytest.mark.parametrize(
    "body",
    [
        "if cache is None: x = scale(x)",
        "if not (cache is not None or x.any()): x = scale(x)",
        "if mask is None and x.any(): x = scale(x)",
        "x = x if mask is not None else scale(x)",
        "if x.any(): x = x\n    elif cache is not None: x = x\n    else: x = scale(x)",
        "if cache is not None: return x\n    x = scale(x)",
        "if cache is None: return x\n    x = scale(x)",
    ],
)
def test_what_runs_only_if_something_is_left_out_or_after_it_is_given_is_likely(body: str) -> None:
    assert hot(LEFT_OUT.format(body=body)) == {"attend": "certain", "scale": "likely"}


@pytest.mark.parametrize(
    "body",
    [
        "x = scale(x)",
        "if cache is None: x = x\n    x = scale(x)",
        "if cache is None or x.any(): x = scale(x)",
        "if not (cache is not None and x.any()): x = scale(x)",
        "if torch.compiler.is_compiling(): x = scale(x)",
        "if x.grad is None: x = scale(x)",
        "bias = x.grad\n    if bias is None: x = scale(x)",
        "if mask is not None: raise ValueError\n    x = scale(x)",
        "if mask is None: raise ValueError\n    x = scale(x)",
        "if x.any():\n        if mask is not None: return x\n    x = scale(x)",
    ],
)
def test_what_runs_whatever_is_given_or_unless_it_is_refused_is_certain(body: str) -> None:
    assert hot(LEFT_OUT.format(body=body)) == {"attend": "certain", "scale": "certain"}


MAPPED = """
def project(x, f):
    return {call}
def plain(x):
    return project(x, lambda y: y + 1)
@torch.compile
def quick(x):
    return project(x, lambda y: y - 1)
"""


@pytest.mark.parametrize("call", ["torch.vmap(f)(x)", "torch.func.grad(torch.vmap(f))(x)", "f(x)"])
def test_what_eager_code_hands_to_a_helper_that_maps_it_is_quiet(call: str) -> None:
    assert set(hot(MAPPED.format(call=call))) == {"quick", "project", "quick.<locals>.<lambda>"}
