"""Narrowing: what tests by `hasattr` and `isinstance` leave of what a name may hold."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- attributes -----------------------------------------------------------------------------------------

SOURCE = """
class Plain(nn.Module):
    def forward(self, x): return x
class Base(nn.Module):
    def __init__(self, fast):
        super().__init__()
        {sets}
class Heavy(Base):
    def __init__(self, fast=True):
        super().__init__(fast)
    def forward(self, x): return x
def build(which, fast):
    loss = {{"plain": Plain, "heavy": Heavy}}[which]()
    {site}
    return loss
"""
WITHOUT = 'if not hasattr(loss, "sht"): loss = torch.compile(loss)'
WITH = 'if hasattr(loss, "sht"): loss.compile()'
ALWAYS = "self.sht = 1"
EITHER_WAY = """if fast:
            self.sht = 1
        elif fast is None:
            raise ValueError
        else:
            self.sht = 2"""
SOMETIMES = "if fast: self.sht = 1"


def compiled(site: str, sets: str = ALWAYS) -> dict[str, str]:
    return hot(SOURCE.format(site=site, sets=sets))


@pytest.mark.parametrize("sets", [ALWAYS, EITHER_WAY, f"{ALWAYS}\n        {SOMETIMES}"])
@pytest.mark.parametrize(
    "site",
    [
        WITHOUT,
        'if fast and not hasattr(loss, "sht"): loss = torch.compile(loss)',
        'if hasattr(loss, "sht"): return loss\n    loss = torch.compile(loss)',
        'if not (hasattr(loss, "sht") or hasattr(loss, "vsht")): loss.compile()',
        'heavy = hasattr(loss, "sht") or hasattr(loss, "vsht")\n    if fast and not heavy: loss.compile()',
        'light = not hasattr(loss, "sht")\n    if light: loss = torch.compile(loss)',
        'if hasattr(loss, "sht"): pass\n    else: loss.forward = torch.compile(loss.forward)',
    ],
)
def test_what_has_an_attribute_is_not_compiled_where_it_must_lack_it(site: str, sets: str) -> None:
    found = compiled(site, sets)
    assert "Heavy.forward" not in found
    assert "Plain.forward" in found


@pytest.mark.parametrize(
    "site",
    [
        WITH,
        'if hasattr(loss, "sht") and fast: loss = torch.compile(loss)',
        'if hasattr(loss, "vsht") or hasattr(loss, "sht"): loss = torch.compile(loss)',
        'if not hasattr(loss, "sht"): return loss\n    loss = torch.compile(loss)',
    ],
)
def test_what_lacks_an_attribute_is_not_compiled_where_it_must_have_it(site: str) -> None:
    assert compiled(site).keys() == {"Heavy.forward"}


@pytest.mark.parametrize("site", [WITH, WITHOUT])
def test_what_has_the_attribute_in_some_constructions_is_likely_to_be_compiled_either_way(site: str) -> None:
    assert compiled(site, SOMETIMES)["Heavy.forward"] == "likely"


@pytest.mark.parametrize(
    "site",
    [
        'if not hasattr(loss, "other"): loss = torch.compile(loss)',
        'if hasattr(loss, "other"): loss = torch.compile(loss)',
        "if not hasattr(loss, fast): loss = torch.compile(loss)",
        'if not hasattr(which, "sht"): loss = torch.compile(loss)',
        'if fast or not hasattr(loss, "sht"): loss = torch.compile(loss)',
        'if not (fast and hasattr(loss, "sht")): loss = torch.compile(loss)',
        'light = not hasattr(loss, "sht")\n    loss = build(0, 0)\n    if light: loss = torch.compile(loss)',
        'heavy = hasattr(loss, "sht") or fast\n    if not heavy: print(loss)\n    loss = torch.compile(loss)',
        'if hasattr(loss, "sht") or isinstance(loss, Plain): loss = torch.compile(loss)',
        'if not hasattr(loss, "sht"): print(loss)\n    loss = torch.compile(loss)',
    ],
)
def test_a_test_that_tells_none_apart_leaves_all(site: str) -> None:
    assert compiled(site).keys() == {"Plain.forward", "Heavy.forward"}


@pytest.mark.parametrize(
    "gives",
    [
        "self.register_buffer('sht', None)",
        "setattr(self, fast, 1)",
        "nn.Module.register_buffer(self, 'sht', None)",
    ],
)
def test_what_a_call_may_set_is_not_known_to_be_lacked(gives: str) -> None:
    source = SOURCE.format(site=WITH, sets=ALWAYS).replace(
        "class Plain(nn.Module):",
        f"class Plain(nn.Module):\n    def __init__(self, fast=0):\n        {gives}",
    )
    assert hot(source).keys() == {"Plain.forward", "Heavy.forward"}


@pytest.mark.parametrize("base", ["Unknown", "nn.Linear"])
def test_what_a_library_defines_is_not_known_to_lack_anything(base: str) -> None:
    source = SOURCE.format(site=WITH, sets=ALWAYS).replace("Plain(nn.Module)", f"Plain({base})")
    source = source.replace("class Plain", "from library import Unknown\nclass Plain", 1)
    assert "Plain.forward" in hot(source)


def test_what_answers_for_any_attribute_is_not_known_to_lack_one() -> None:
    source = SOURCE.format(site=WITH, sets=ALWAYS).replace(
        "def forward", "def __getattr__(self, name): return 1\n    def forward", 1
    )
    assert "Plain.forward" in hot(source)


def test_another_constructor_that_is_not_called_sets_nothing() -> None:
    source = SOURCE.format(site=WITHOUT, sets=ALWAYS).replace("super().__init__(fast)", "pass")
    assert "Heavy.forward" in hot(source)


def test_a_name_that_is_assigned_after_the_test_may_have_it_again() -> None:
    site = 'if not hasattr(loss, "sht"):\n        loss = Heavy()\n        loss = torch.compile(loss)'
    assert "Heavy.forward" in compiled(site)


@pytest.mark.parametrize("site", ["net = torch.compile(net)", "net.compile()", "net = torch.compile()(net)"])
def test_a_test_of_torch_itself_tells_nothing_of_what_is_compiled(site: str) -> None:
    net = "class Net(nn.Module):\n    def forward(self, x): return x\nnet = Net()\n"
    assert hot(f"{net}if hasattr(torch, 'compile') and hasattr(torch, '_dynamo'): {site}\n").keys() == {
        "Net.forward"
    }


# --- names that hold the answer of a test ---------------------------------------------------------------

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


def compiled_of_answers(*lines: str) -> set[str]:
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
    assert compiled_of_answers(ASKED, *use) == INNER


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
    assert "Actor.forward" in compiled_of_answers(*lines)


def test_the_answer_is_that_of_its_own_function() -> None:
    lines = (
        ASKED,
        "def inner(model): return torch.compile(model if not is_actor else None)",
        "return inner(model)",
    )
    assert "Actor.forward" in compiled_of_answers(*lines)


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
