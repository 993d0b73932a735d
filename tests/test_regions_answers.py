"""Regions: a name that holds the answer of an isinstance test narrows like the test itself."""

from __future__ import annotations

import pytest

from tests.programs import hot

CODE = """
class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Net()
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x
class Critic(nn.Module):
    def forward(self, x): return x
def prepare(model, other):
{body}
prepare(Actor(), Actor())
prepare(Critic(), Critic())
"""
INNER = {"Net.forward", "Critic.forward"}


def compiled(*lines: str) -> set[str]:
    return set(hot(CODE.format(body="\n".join(f"    {line}" for line in lines))))


ASKED = "is_actor = isinstance(model, Actor)"


@pytest.mark.parametrize(
    "use",
    [
        ("return torch.compile(model.model if is_actor else model)",),
        ("if not is_actor: return torch.compile(model)", "else: return torch.compile(model.model)"),
        ("if is_actor:", "    return torch.compile(model.model)", "return torch.compile(model)"),
        ("if is_actor and other: model.model.compile()", "if not is_actor: model.compile()"),
        ("for _ in range(2): pass", "return torch.compile(model.model if is_actor else model)"),
    ],
)
def test_the_answer_of_a_test_narrows_like_the_test(use: tuple[str, ...]) -> None:
    assert compiled(ASKED, *use) == INNER


@pytest.mark.parametrize(
    "lines",
    [
        (ASKED, "model = other", "if not is_actor: return torch.compile(model)"),
        (ASKED, "is_actor = not other", "if not is_actor: return torch.compile(model)"),
        ("is_actor = False", f"if other: {ASKED}", "if not is_actor: return torch.compile(model)"),
        (ASKED, "while other:", "    if not is_actor: torch.compile(model)(1)", "    model = other"),
        (ASKED, "for one in other:", "    if not is_actor: torch.compile(model)(1)", "    model = one"),
        ("is_actor = isinstance(other, Actor)", "if not is_actor: return torch.compile(model)"),
        ("is_actor = type(model)", "if not is_actor: return torch.compile(model)"),
    ],
)
def test_what_no_longer_answers_for_a_name_says_nothing_of_it(lines: tuple[str, ...]) -> None:
    assert "Actor.forward" in compiled(*lines)


def test_the_answer_is_that_of_its_own_function() -> None:
    lines = (
        ASKED,
        "def inner(model): return torch.compile(model if not is_actor else None)",
        "return inner(model)",
    )
    assert "Actor.forward" in compiled(*lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            (
                "if isinstance(model, tuple): model[1].compile()",
                "else:",
                "    for one in model: one.compile()",
            ),
            INNER,
        ),
        (
            ("if not isinstance(model, tuple):", "    for one in model: one.compile()"),
            {"Critic.forward"},
        ),
        (
            ("if isinstance(model, tuple):", "    for one in model: one.compile()"),
            {"Actor.forward", "Net.forward"},
        ),
        (
            ("if isinstance(model, nn.ModuleList):", "    for one in model: one.compile()"),
            {"Critic.forward"},
        ),
        (("for one in model: one.compile()",), {"Actor.forward", *INNER}),
    ],
)
def test_a_test_for_a_tuple_tells_tuples_from_modules(lines: tuple[str, ...], expected: set[str]) -> None:
    code = CODE.format(body="\n".join(f"    {line}" for line in lines)).partition("prepare(Actor()")[0]
    assert (
        set(hot(code + "prepare((Actor(), Net()), 1)\nprepare(nn.ModuleList([Critic()]), 2)\n")) == expected
    )
