"""Regions: decorators of the project that compile what they decorate, or keep it out, by whatever name."""

from __future__ import annotations

import pytest

from tests.programs import hot

LAZY = """
def lazily(fn):
    fast = None
    def run(*given):
        nonlocal fast
        if fast is None: fast = torch.compile(fn)
        return fast(*given)
    return run
"""
USED = "@fuse\ndef step(x): return x\n"
PLAIN = "fuse = lambda fn: fn\n"


@pytest.mark.parametrize(
    ("name", "tier"),
    [
        ("fuse = lazily\n", "certain"),
        (PLAIN + "if torch.cuda.is_available(): fuse = lazily\n", "likely"),
        ("fuse = lazily if torch.cuda.is_available() else torch.jit.script\n", "likely"),
        ("fuse = torch.jit.script\nif torch.cuda.is_available(): fuse = lazily\n", "likely"),
    ],
)
def test_a_decorator_that_compiles_later_is_one_by_its_other_names_too(name: str, tier: str) -> None:
    assert hot(LAZY + name + USED) == {"step": tier}


@pytest.mark.parametrize(
    "said", ["Callable", "typing.Callable[..., Any]", "Any", "collections.abc.Callable | None"]
)
def test_a_decorator_that_compiles_what_is_said_to_be_callable_compiles_what_it_decorates(said: str) -> None:
    typing = "import collections.abc, typing\nfrom typing import Any, Callable\nfuse = lazily\n"
    assert hot(typing + LAZY.replace("(fn):", f"(fn: {said}):", 1) + USED) == {"step": "certain"}


@pytest.mark.parametrize(
    "fuse",
    [
        "def fuse(fn: Callable): return fn\n",
        "def fuse(fn: Callable):\n    fast = torch.compile(print)\n    return fn\n",
        "def fuse(fn: Callable):\n    def run(*given): return fn(*given)\n    return run\n",
        "def fuse(fn: Callable, then: Callable = print):\n"
        "    def run(*given): return torch.compile(then)(fn(*given))\n    return run\n",
    ],
)
def test_a_decorator_that_compiles_nothing_it_is_given_compiles_nothing(fuse: str) -> None:
    assert hot("from typing import Callable\n" + fuse + USED) == {}


def test_an_imported_name_of_such_a_decorator_is_one_too() -> None:
    files = {"jit.py": LAZY + PLAIN + "if torch.cuda.is_available(): fuse = lazily\n"}
    files["ops.py"] = "from jit import fuse\n" + USED
    assert hot(files) == {"ops.py::step": "likely"}


@pytest.mark.parametrize(
    "name",
    [
        PLAIN,
        PLAIN + "other = lazily\n",
        "fuse = torch.jit.script\n",
        "def fuse(fn): return fn\nused = lazily(print)\n",
        "def fuse(fn):\n    def run(*given): return fn(*given)\n    return run\nother = lazily\n",
    ],
)
def test_a_decorator_of_a_name_that_never_means_it_compiles_nothing(name: str) -> None:
    assert hot(LAZY + name + USED) == {}


SWITCH = "exporting = False\ndef in_export(): return exporting\n"
CALLED = "@torch.compile\ndef f(x): return g(x)\ndef inner(x): return x\n"
G = "\ndef g(x): return inner(x)\n"
EXPORT = """
def keep_out(recursive=True, when=None):
    def made(fn): return torch._dynamo.disable(fn, recursive=recursive)
    def decorate(fn):
        disabled = made(fn)
        if when is None:
            def run(*given):
                if in_export(): return fn(*given)
                return disabled(*given)
        else:
            def report(*given): return fn(*given)
            reported = made(report)
            def run(*given):
                if in_export() or not torch.compiler.is_compiling(): return fn(*given)
                reason = when(given)
                if reason is None: return fn(*given)
                return reported(*given)
        return run
    return decorate
"""
AROUND = (
    "def keep_out(fn):\n    disabled = torch.compiler.disable(fn)\n    def run(x):{body}\n    return run\n"
)


@pytest.mark.parametrize(
    "code",
    [
        AROUND.format(body=" return disabled(x)") + "@keep_out",
        AROUND.format(body="\n        if in_export(): return fn(x)\n        return disabled(x)")
        + "@keep_out",
        AROUND.format(
            body="\n        if torch.compiler.is_compiling(): return disabled(x)\n        return fn(x)"
        )
        + "@keep_out",
        "def keep_out(fn):\n    def run(x): return torch.compiler.disable(fn)(x)\n    return run\n@keep_out",
        EXPORT + "@keep_out()",
        "def keep_out(fn):\n    def plain(fn): return fn\n    def run(x): return torch.compiler.disable(fn)(x)\n"
        "    return plain(fn) if in_export() else run\n@keep_out",
        EXPORT + "@keep_out(recursive=True)",
    ],
)
def test_a_decorator_whose_closure_calls_the_disabled_function_keeps_it_out(code: str) -> None:
    assert not {"g", "inner"} & set(hot(SWITCH + CALLED + code + G))


@pytest.mark.parametrize(
    "code",
    [
        EXPORT + "@keep_out(when=print)",
        EXPORT + "@keep_out(True, print)",
        AROUND.format(body="\n        if in_export(): return disabled(x)\n        return fn(x)")
        + "@keep_out",
        AROUND.format(body=" return disabled(x) if in_export() else fn(x)") + "@keep_out",
        AROUND.format(body="\n        if x.is_cuda: return fn(x)\n        return disabled(x)") + "@keep_out",
        AROUND.format(body="\n        if torch.is_tensor(x): return fn(x)\n        return disabled(x)")
        + "@keep_out",
        "def keep_out(fn):\n    def direct(x): return fn(x)\n    disabled = torch.compiler.disable(fn)\n"
        "    def around(x): return disabled(x)\n    return direct if in_export() else around\n@keep_out",
    ],
)
def test_what_a_decorator_keeps_out_of_some_calls_only_is_likely(code: str) -> None:
    found = hot(SWITCH + CALLED + code + G)
    assert (found["f"], found["g"], found["inner"]) == ("certain", "likely", "likely")


@pytest.mark.parametrize(
    "code",
    [
        # The function is called as it is; what is disabled beside it is something else.
        "def timed(fn):\n    note = torch.compiler.disable(print)\n    def run(x): return fn(x)\n    return run\n@timed",
        "def timed(fn):\n    disabled = torch.compiler.disable(fn)\n    def run(x): return fn(x)\n    return run\n@timed",
        "def timed(fn):\n    note = torch.compiler.disable(print)\n    def run(x):\n        note()\n"
        "        return fn(x)\n    return run\n@timed",
        "def timed(fn):\n    ready = torch.no_grad()(fn)\n    def run(x): return ready(x)\n    return run\n@timed",
        "def timed(fn):\n    disabled = torch.compiler.disable(fn)\n    def run(x):\n"
        "        if not torch.compiler.is_compiling(): return disabled(x)\n        return fn(x)\n    return run\n@timed",
    ],
)
def test_a_decorator_that_calls_the_function_itself_hides_nothing(code: str) -> None:
    found = hot(CALLED + code + G)
    assert (found["g"], found["inner"]) == ("certain", "certain")


LATER = """
def later(model):
    compiled = None
    def run(x):
        nonlocal compiled
        if compiled is None: compiled = torch.compile(model)
        return compiled(x)
    return run
def inner(x): return x * 2
fast = later(inner)
def outer(x): return fast(x) + 1
faster = later(outer)
"""


def test_a_wrapper_that_compiles_at_the_first_call_is_not_what_it_compiles() -> None:
    found = hot(LATER)
    assert not {"later", "later.<locals>.run"} & found.keys()
    assert {"inner", "outer"} <= found.keys()


def test_a_method_that_compiles_another_may_be_traced_in_a_module_of_its_own_class() -> None:
    source = """
class Tree(nn.Module):
    def __init__(self, child=None):
        super().__init__()
        self.child = child or Tree(self)
    def forward(self, x): return torch.compile(self.inner)(x)
    def inner(self, x): return self.child(x)
"""
    assert {"Tree.inner", "Tree.forward"} <= hot(source).keys()
