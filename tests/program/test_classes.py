"""Classes: which are modules by their bases, and which a base that is made at run time makes modules."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- bases of libraries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["ModelMixin", "MessagePassing", "SomeStrangeBase"])
def test_a_class_with_a_forward_and_a_base_of_a_library_is_a_module(base: str) -> None:
    code = f"""
        from library import {base}
        class Conv({base}):
            def forward(self, x): return x
        Conv().compile()
        class Twice(nn.Module):
            def __init__(self): self.conv = Conv()
            def forward(self, x): return self.conv(x)
        """
    assert set(hot(code)) == {"Conv.forward"}
    assert set(hot(code + "compiled = torch.compile(Twice())\n")) == {"Conv.forward", "Twice.forward"}


@pytest.mark.parametrize(
    "head",
    [
        "import abc\nclass Conv(abc.ABC):",
        "import enum\nclass Conv(enum.Enum):",
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass Conv(Generic[T]):",
        "class Conv(dict):",
        "class Conv:",
    ],
)
def test_a_forward_alone_makes_no_module(head: str) -> None:
    code = f"{head}\n    def forward(self, x): return x\n    def compile(self): ...\nConv().compile()\n"
    assert set(hot(code)) == set()
    use = "@torch.compile\ndef step(conv: Conv, x): return conv(x)\n"
    assert set(hot(code + use)) == {"step"}


# --- bases that are only called like modules ------------------------------------------------------------


def found(source: str) -> set[str]:
    """What is likely or certain."""
    return {name for name, tier in hot(source).items() if tier != "possible"}


@pytest.mark.parametrize(
    "base", ["import tensorflow as tf\nBase = tf.keras.Model", "from pydantic import BaseModel as Base"]
)
def test_a_base_that_is_only_called_a_model_makes_no_module(base: str) -> None:
    code = (
        f"{base}\nclass K(Base):\n    def forward(self, x): return x\nk = K()\nk.compile(optimizer='adam')\n"
    )
    assert found(code) == set()


def test_a_class_that_is_a_module_by_the_name_of_its_base_is_never_certain() -> None:
    code = "class K(Base):\n    def forward(self, x): return x\ncompiled = torch.compile(K())\n"
    assert hot("from elsewhere import BaseModel as Base\n" + code) == {"K.forward": "likely"}
    assert hot("Base = nn.Module\n" + code) == {"K.forward": "certain"}


# --- classes made at run time ---------------------------------------------------------------------------

GIVEN = """
def helper(x): return x
def make({parameters}):
    class Head({base}):
        def {method}(self, x): return helper(x)
    return Head
"""


@pytest.mark.parametrize(
    "code",
    [
        "compiled = torch.compile(make(load())())",
        "Head = make(load())\nhead = Head()\nhead.compile()",
        "def build():\n    cls = make(load())\n    return cls.from_pretrained('x')\ncompiled = torch.compile(build())",
    ],
)
def test_a_class_made_of_a_base_that_a_function_is_given_is_a_module_if_it_has_a_forward(code: str) -> None:
    source = GIVEN.format(parameters="base", base="base", method="forward")
    assert set(hot(source + code)) == {"make.<locals>.Head.forward", "helper"}


@pytest.mark.parametrize(
    ("parameters", "base", "method"),
    [
        ("base", "base", "run"),  # nothing that a call would run
        ("other", "object", "forward"),
        ("other", "dict", "forward"),
        ("base", "list[base]", "forward"),
    ],
)
def test_any_other_class_made_in_a_function_is_no_module(parameters: str, base: str, method: str) -> None:
    source = GIVEN.format(parameters=parameters, base=base, method=method)
    assert hot(source + "head = make(load())()\nhead.compile()") == {}
