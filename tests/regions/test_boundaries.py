"""Boundaries: where tracing stops, by `disable` and other decorators, in libraries and operators."""

from __future__ import annotations

import pytest

from tests.programs import hot, resolve_text
from tests.small_model import names_with_model, with_mixed_model

# --- decorators -----------------------------------------------------------------------------------------

CALLED = """
@torch.compile
def f(x): return g(x)
def inner(x): return x
"""


@pytest.mark.parametrize(
    "code",
    [
        "def eager(fn): return torch.compiler.disable(fn)\n@eager\ndef g(x): return inner(x)",
        "def eager(fn):\n    @torch.compiler.disable\n    def run(*a): return fn(*a)\n    return run\n"
        "@eager\ndef g(x): return inner(x)",
        "def eager(recursive=True):\n    return lambda fn: torch._dynamo.disable(fn, recursive=recursive)\n"
        "@eager()\ndef g(x): return inner(x)",
        "def g(x): return inner(x)\ng = torch.compiler.disable(g)",
        "@torch.library.custom_op('a::g', mutates_args=())\ndef g(x): return inner(x)",
        "@torch.compiler.assume_constant_result\ndef g(x): return inner(x)",
    ],
)
def test_disabled_and_opaque_code_is_cold_however_it_is_spelt(code: str) -> None:
    assert set(hot(CALLED + code + "\n")) == {"f"}


@pytest.mark.parametrize(
    "code",
    [
        "def timed(fn):\n    def run(*a): return fn(*a)\n    return run\n@timed\ndef g(x): return inner(x)",
        "@torch.no_grad()\ndef g(x): return inner(x)",
        "@torch.jit.ignore\ndef g(x): return inner(x)",
        "import functools\n@functools.lru_cache\ndef g(x): return inner(x)",
    ],
)
def test_other_decorators_hide_nothing(code: str) -> None:
    assert {"f", "g", "inner"} <= set(hot(CALLED + code + "\n"))


def test_allow_in_graph_hides_a_function_class_but_not_a_module_class() -> None:
    source = """
        @torch.compiler.allow_in_graph
        class Block({base}):
            @staticmethod
            def forward(ctx, x): return x
        @torch.compile
        def f(x, block: Block): return {call}
    """
    assert set(hot(source.format(base="torch.autograd.Function", call="Block.apply(x)"))) == {"f"}
    assert "Block.forward" in hot(source.format(base="nn.Module", call="block(x)"))


# --- disabled and opaque functions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "decorator",
    [
        "@torch.compiler.disable",
        "@torch._dynamo.disable",
        "@torch.compiler.disable()",
        "@torch.compiler.allow_in_graph",
    ],
)
def test_disabled_and_opaque_functions_and_what_only_they_call_are_cold(decorator: str) -> None:
    assert set(
        hot(f"""
        class A(nn.Module):
            def forward(self, x):
                self.log(x)
                return x
            {decorator}
            def log(self, x): write(x)
        def write(x): ...
        m = torch.compile(A())
    """)
    ) == {"A.forward"}


def test_compile_with_disable_true_is_no_entry() -> None:
    assert hot(with_mixed_model("m = torch.compile(Model(), disable=True)")) == {}


@pytest.mark.parametrize(
    "decorator",
    [
        "@torch.compile(disable=True)",
        "@partial(torch.compile, disable=True)",
    ],
)
@pytest.mark.parametrize(
    "what", ["def f(x): return x", "class F(nn.Module):\n    def forward(self, x): return x"]
)
def test_a_decorator_with_disable_true_is_no_entry(decorator: str, what: str) -> None:
    text = f"from functools import partial\n{decorator}\n{what}\n"
    assert hot(text) == {}
    assert hot(text.replace("True", "False")) != {}


def test_a_disable_expression_is_kept_as_the_condition() -> None:
    _, regions = resolve_text(with_mixed_model("m = torch.compile(Model(), disable=not cfg.fast)"))
    assert [e.condition for e in regions.entries] == ["disable=not cfg.fast"]


# --- torch.jit and torch.library ------------------------------------------------------------------------

SCRIPTED = """
class Inner(nn.Module):
    def forward(self, x): return x
def helper(x): return x
fast = {helper}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {inner}
    def forward(self, x): return fast(self.inner(x))
net = torch.compile(Net())
"""


@pytest.mark.parametrize("script", ["script({})", "trace({}, example)"])
def test_of_what_torch_jit_has_scripted_functions_are_traced_and_modules_are_not(script: str) -> None:
    """A scripted function keeps the Python that Dynamo runs instead (`_torchdynamo_inline`)."""
    made = [f"torch.jit.{script.format(one)}" for one in ("helper", "Inner()")]
    assert set(hot(SCRIPTED.format(helper=made[0], inner=made[1]))) == {"Net.forward", "helper"}


def test_what_is_not_scripted_is_traced() -> None:
    plain = SCRIPTED.format(helper="helper", inner="Inner()")
    assert set(hot(plain)) == {"Net.forward", "Inner.forward", "helper"}


# --- calls of what is disabled --------------------------------------------------------------------------


def test_what_a_call_keeps_dynamo_from_looking_into_is_cold() -> None:
    code = "{call}(helper)\n@torch.compile\ndef f(x): return cold(helper(x))\n"
    assert names_with_model(code.format(call="torch._dynamo.allow_in_graph")) == {"f", "cold"}
    assert names_with_model(code.format(call="torch.compiler.assume_constant_result")) == {"f", "cold"}
    assert names_with_model(code.format(call="print")) == {"f", "cold", "helper"}
    assert names_with_model(code.format(call="mine.allow_in_graph")) == {"f", "cold", "helper"}
