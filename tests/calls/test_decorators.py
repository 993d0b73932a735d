"""Decorators of the project: what compiles what it decorates, keeps it out, or wraps it."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import names_with_model

# --- decorators -----------------------------------------------------------------------------------------

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


# --- wrappers -------------------------------------------------------------------------------------------

KEPT = """
def helper(x): return x * 2
def other(x): return x + 1
class Op:
    def __init__(self, fn, name):
        self.fn = fn
        self.name = name
    @property
    def real(self): return logged(self.fn)
def logged(fn=None, level=0):
    if level == 0: return fn
    def deco(f): return f
    return deco(fn)
def register(fn=None, name=""):
    def deco(f):
        made = Op(f, name)
        return made.real
    if fn is not None: return deco(fn)
    return deco
{wraps}
@torch.compile
def step(x): return {calls}
"""
BOTH = "mine = register(helper)\nyours = register(other)"


@pytest.mark.parametrize("calls", ["mine(x)", "logged(helper)(x)"])
def test_what_is_kept_of_another_function_is_quiet(calls: str) -> None:
    found = hot(KEPT.format(wraps=BOTH, calls=calls))
    assert "other" not in found
    assert "helper" in found


def test_what_decorated_functions_keep_is_quiet_where_a_wrapped_one_is_called() -> None:
    found = hot(
        KEPT.format(wraps="@register()\ndef third(x): return x\nmine = register(helper)", calls="mine(x)")
    )
    assert "third" not in found
    assert "helper" in found


def test_what_nobody_knows_is_not_what_others_hand_over() -> None:
    wraps = f"{BOTH}\nlibrary = register(torch.ops.mine.add)"
    assert not {"helper", "other"} & hot(KEPT.format(wraps=wraps, calls="library(x)")).keys()


@pytest.mark.parametrize(
    ("wraps", "calls"),
    [
        (BOTH, "mine(x) + yours(x)"),
        (f"{BOTH}\npicked = register(helper if torch.rand(1) > 0 else other)", "picked(x)"),
        (
            "TABLE = {'a': helper, 'b': other}\ndef pick(name, fn=None): return TABLE[name]",
            "pick('c', helper)(x)",
        ),
    ],
)
def test_what_is_handed_over_or_stands_in_a_table_is_found(wraps: str, calls: str) -> None:
    assert {"helper", "other"} <= hot(KEPT.format(wraps=wraps, calls=calls)).keys()


# --- closures of decorators -----------------------------------------------------------------------------


@pytest.mark.parametrize("used", ["@document", "@document(intro='does it')"])
def test_a_decorator_that_gives_back_what_it_decorates_has_run_before_anything_is_compiled(used: str) -> None:
    code = f"""
        def document(fn=None, *, intro=None):
            def decorator(fn):
                return describe(fn, intro)
            if fn:
                return decorator(fn)
            return decorator
        def describe(fn, intro):
            fn.__doc__ = intro
            return fn
        {used}
        def step(x): return x
        @torch.compile
        def f(x): return step(x)
    """
    assert set(hot(code)) == {"f", "step"}


# --- classes that decorate ------------------------------------------------------------------------------

LAZY_OF_OBJECTS = """
class Lazily:
    def __init__(self, function):
        self.function, self.compiled = function, None
    def __call__(self, *arguments):
        if self.compiled is None:
            self.compiled = torch.compile(self.function)
        return self.compiled(*arguments)
class Once:
    def __init__(self, **options): self.options = options
    def __call__(self, function): return torch.compile(function, **self.options)
class Plainly:
    def __init__(self, function): self.function = function
    def __call__(self, *arguments): return self.function(*arguments)
"""


@pytest.mark.parametrize("decorator", ["Lazily", "Once(dynamic=True)"])
def test_a_class_that_compiles_what_it_decorates_compiles_it(decorator: str) -> None:
    assert names_with_model(f"{LAZY_OF_OBJECTS}@{decorator}\ndef f(x): return helper(x)") == {"f", "helper"}


def test_a_class_that_only_holds_what_it_decorates_compiles_nothing() -> None:
    assert names_with_model(LAZY_OF_OBJECTS + "@Plainly\ndef f(x): return helper(x)\nf(1)") == set()


GUARD = """
import functools
class Guard:
    def __init__(self, fn, names=()): self.fn = fn
    def __call__(self, x): return self._run(x)
    def _run(self, x): return self.fn(checked(x))
def checked(x): return x
def guarded(*names): return functools.partial(Guard, names=names)
def plain(fn): return Guard(fn)
"""
AROUND_OF_OBJECTS = {"Guard.__call__", "Guard._run", "checked"}


@pytest.mark.parametrize(
    "decorator", ["Guard", "guarded('a')", "functools.partial(Guard, names=())", "plain"]
)
def test_the_object_that_a_decorator_puts_around_a_function_runs_with_it(decorator: str) -> None:
    code = f"""{GUARD}
@{decorator}
def inner(x): return helper(x)
@{decorator}
def other(x): return cold(x)
@torch.compile
def f(x): return inner(x)
"""
    assert names_with_model(code) == {"f", "inner", "helper"} | AROUND_OF_OBJECTS


@pytest.mark.parametrize(
    "decorator",
    ["Registry('a')", "Plain", "kept", "Layer", "documented", "documented('b')"],
)
def test_a_decorator_that_puts_no_object_around_a_function_adds_nothing(decorator: str) -> None:
    code = f"""{GUARD}
class Registry:
    def __init__(self, name): self.name = name
    def __call__(self, fn): return fn
class Plain:
    def __init__(self, fn): self.fn = fn
    def checks(self, x): return cold(x)
class Layer(nn.Module):
    def __init__(self, fn): super().__init__()
    def __call__(self, x): return cold(x)
def kept(fn):
    Guard(fn)
    return fn
def documented(what=None):
    def note(what): return what
    return note(what)
@documented
class Processor:
    def __call__(self, x): return cold(x)
documented(Processor())
@{decorator}
def inner(x): return helper(x)
@torch.compile
def f(x): return inner(x)
"""
    assert names_with_model(code) == {"f", "inner", "helper"}


def test_an_object_that_decorates_only_eager_functions_is_cold() -> None:
    code = GUARD + "@Guard\ndef inner(x): return helper(x)\n@torch.compile\ndef f(x): return helper(x)\n"
    assert names_with_model(code) == {"f", "helper"}


# --- decorators that compile at the first call ----------------------------------------------------------

LAZY_OF_FIRST_CALL = """
def lazily(fn):
    compiled = None
    def wrapped(*args):
        nonlocal compiled
        if compiled is None:
            compiled = torch.compile(fn)
        return compiled(*args)
    return wrapped
@lazily
def fast(x): return helper(x)
def slow(x): return cold(x)
"""


def test_a_decorator_that_compiles_at_the_first_call_compiles_what_it_decorates() -> None:
    assert names_with_model(LAZY_OF_FIRST_CALL) == {"fast", "helper"}
    assert names_with_model(LAZY_OF_FIRST_CALL.replace("torch.compile(fn)", "torch.jit.script(fn)")) == set()
    assert names_with_model(LAZY_OF_FIRST_CALL.replace("@lazily", "@other")) == set()
