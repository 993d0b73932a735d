"""Protocols: methods that syntax runs, such as `__getattr__`, `__iter__`, `__call__` and properties."""

from __future__ import annotations

import pytest

from tests.programs import ASKING_WRAPPER, hot
from tests.small_model import SMALL_BLOCK, SMALL_WHOLE, names_with_model

# --- `__getattr__` --------------------------------------------------------------------------------------

WRAPPER = """
from elsewhere import Library
class Part(nn.Module):
    def forward(self, x): return x
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.part, self.size = Part(), 3
class Base({base}):
    shared = 2
    noted: int
    def own(self, x): return x
class Wrapper(Base):
    def __init__(self, inner):
        super().__init__()
        self.inner = [inner]
        self.part = inner.part
        self.linear = nn.Linear(4, 4)
        self.parts = nn.ModuleList([nn.Linear(4, 4)])
        self.width = 2
        self.told()
    def told(self): {told}
    def __getattr__(self, name): return getattr(self.inner[0], name)
    def forward(self, x): return {read}
wrapper = Wrapper(Inner())
wrapper.late = 2
fast = torch.compile(wrapper)
"""
ASKS = "Wrapper.__getattr__"


@pytest.mark.parametrize(
    "read",
    [
        "x * self.size",
        "self.part(x)",
        "self.linear(x)",
        "self.parts[0](x)",
        "self.linear.weight + x",
        "x + sum(len(self.size) for _ in x)",
    ],
)
def test_what_is_not_in_an_instance_is_asked_for(read: str) -> None:
    found = hot(WRAPPER.format(base="nn.Module", told="pass", read=read))
    assert found["Wrapper.forward"] == "certain"
    assert found[ASKS] == "likely"


@pytest.mark.parametrize(
    "read",
    [
        "x * self.width",
        "x * self.shared",
        "x * self.noted",
        "x * self.late",
        "x * len(self.inner)",
        "self.own(x)",
        "x * self.training",
        "x * len(self._parameters)",
        "x * self.__class__.shared",
        "x * x.size",
    ],
)
def test_what_is_in_an_instance_or_its_class_is_not_asked_for(read: str) -> None:
    assert ASKS not in hot(WRAPPER.format(base="nn.Module", told="pass", read=read))


@pytest.mark.parametrize(
    "told",
    [
        "setattr(self, 'size', 3)",
        "self.__dict__.update(size=3)",
        "object.__setattr__(self, 'size', 3)",
    ],
)
def test_an_instance_that_may_hold_anything_is_not_asked(told: str) -> None:
    assert ASKS not in hot(WRAPPER.format(base="nn.Module", told=told, read="x * self.size"))


def test_a_library_may_give_what_an_heir_does_not_have() -> None:
    assert ASKS not in hot(WRAPPER.format(base="nn.Module, Library", told="pass", read="x * self.size"))


PLAIN = """
class Inner:
    def __init__(self): self.size = 3
class Plain:
    def __init__(self):
        self.inner, self.part = Inner(), nn.Linear(4, 4)
    def __getattr__(self, name): return getattr(self.inner, name)
    def grow(self, x): return {read}
plain = Plain()
@torch.compile
def run(x): return plain.grow(x)
"""


@pytest.mark.parametrize(("read", "asked"), [("x * self.size", True), ("self.part(x)", False)])
def test_an_object_that_is_no_module_keeps_modules_like_anything_else(read: str, asked: bool) -> None:
    assert ("Plain.__getattr__" in hot(PLAIN.format(read=read))) is asked


# --- wrappers that pass attributes on -------------------------------------------------------------------

WRAPPER_OF_WRAPPERS = (
    ASKING_WRAPPER
    + """
    def forward(self, x): return cold(self.module(x))
wrapped = Wrapper(Model())
"""
)


def test_what_a_wrapper_passes_on_by_getattr_is_that_of_what_it_wraps() -> None:
    assert (
        names_with_model(WRAPPER_OF_WRAPPERS + "for layer in wrapped.layers: layer.compile()") == SMALL_BLOCK
    )
    plain = WRAPPER_OF_WRAPPERS.replace("nn.Module", "object").replace("super().__init__()", "pass")
    assert names_with_model(plain + "for layer in wrapped.layers: layer.compile()") == SMALL_BLOCK


def test_a_wrapper_without_getattr_passes_nothing_on() -> None:
    opaque = WRAPPER_OF_WRAPPERS.replace("def __getattr__", "def other")
    assert names_with_model(opaque + "for layer in wrapped.layers: layer.compile()") == set()


def test_what_every_module_has_is_the_wrappers_own() -> None:
    asked = {"Wrapper.__getattr__"}  # nn.Module keeps `module` where only that finds it
    assert names_with_model(WRAPPER_OF_WRAPPERS + "wrapped.compile()") == SMALL_WHOLE | asked | {
        "Wrapper.forward",
        "cold",
    }
    inner = "class Inner(nn.Module):\n    def train(self, mode): return cold(mode)\nw = Wrapper(Inner())\n"
    assert names_with_model(WRAPPER_OF_WRAPPERS + inner + "@torch.compile\ndef f(): w.train(True)") == {"f"}


CALLING = """
class Odd(nn.Module):
    def __call__(self, x): return super().__call__(cold(x))
    def forward(self, x): return helper(x)
class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.odd = Odd()
    def forward(self, x): return self.odd(x)
"""


def test_an_overridden_call_is_compiled_unless_its_module_is_compiled_in_place() -> None:
    assert names_with_model(CALLING + "fast = torch.compile(Odd())") == {
        "Odd.__call__",
        "Odd.forward",
        "helper",
        "cold",
    }
    assert names_with_model(CALLING + "odd = Odd()\nodd.compile()") == {"Odd.forward", "helper"}
    outer = {"Outer.forward", "Odd.__call__", "Odd.forward", "helper", "cold"}
    assert names_with_model(CALLING + "outer = Outer()\nouter.compile()") == outer


# --- methods that syntax runs ---------------------------------------------------------------------------

PLAIN_OF_SYNTAX = """
class Parts:
    def __init__(self, parts): self.parts = parts
    def __iter__(self): return iter(helper(self.parts))
    def __getitem__(self, index): return cold(index)
    def __len__(self): return len(self.parts)
@torch.compile
def f(x, other):
    parts = Parts(x)
    {}
"""
ALWAYS = {"f", "Parts.__init__"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("for part in parts: x = part", {"Parts.__iter__", "helper"}),
        ("x = [part for part in parts]", {"Parts.__iter__", "helper"}),
        ("x = list(parts)", {"Parts.__iter__", "helper"}),
        ("x = parts[0]", {"Parts.__getitem__", "cold"}),
        ("return g(parts[0])", {"Parts.__getitem__", "cold"}),
        ("return len(parts)", {"Parts.__len__"}),
        ("for part in other: x = part", set()),
        ("return len(other) + other[0]", set()),
        ("return parts.parts[0]", set()),
        ("if not torch.compiler.is_compiling():\n        x = parts[0]", set()),
    ],
)
def test_special_methods_of_plain_classes_are_traced_where_syntax_runs_them(
    code: str, expected: set[str]
) -> None:
    assert names_with_model(PLAIN_OF_SYNTAX.format(code)) == ALWAYS | expected


def likely(source: str) -> set[str]:
    return {name for name, tier in hot(source).items() if tier != "possible"}


# --- a function that a property gives -------------------------------------------------------------------

GIVING = """
class Layer(nn.Module):
    def forward(self, x): return x
class OtherLayer(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([OtherLayer()])
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer()])
    {kind}
    def parallel(self):
        return {value}
def fast(model):
    for layer in model.layers: layer.compile()
def slow(model): return model
def train(model: Model):
    fast(Other())
    parallel, _ = model.parallel
    parallel(model)
"""


def test_a_function_that_a_property_gives_is_called_by_its_name() -> None:
    assert likely(GIVING.format(kind="@property", value="fast, self")) == {
        "Layer.forward",
        "OtherLayer.forward",
    }


@pytest.mark.parametrize(("kind", "value"), [("@property", "slow, self"), ("@property", "self, fast")])
def test_what_a_property_gives_elsewhere_or_instead_compiles_nothing(kind: str, value: str) -> None:
    assert likely(GIVING.format(kind=kind, value=value)) == {"OtherLayer.forward"}
