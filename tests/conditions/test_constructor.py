"""Conditions on attributes and globals that constructors and files set: flags that all pass alike, and what is off at first."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- flags that all constructions pass alike ------------------------------------------------------------

CODE = """
def quick(x): return x
def slow(x): return x
class Attention(nn.Module):
    def __init__(self, size, fast=True):
        super().__init__()
        self.size = size
        self.fast = {kept}
    def forward(self, x):
        if self.fast:
            return quick(x)
        else:
            return slow(x)
class Block(nn.Module):
    def __init__(self, size, fast: bool = True):
        super().__init__()
        self.attention = {attention}
    def forward(self, x): return self.attention(x)
"""
PASSED = "Attention(size, fast=fast)"


def found(made: str, attention: str = PASSED, kept: str = "fast", more: str = "") -> set[str]:
    code = CODE.format(attention=attention, kept=kept)
    return set(hot(f"{code}net = torch.compile({made})\n{more}")) & {"quick", "slow"}


@pytest.mark.parametrize(
    ("made", "attention"),
    [
        ("Block(8, fast=True)", PASSED),
        ("Block(8, True)", PASSED),
        ("Block(8, True)", "Attention(size, fast)"),
        ("nn.Sequential(Block(8, fast=True), Block(16, fast=True))", PASSED),
        ("Block(8)", "Attention(size, fast=True)"),
        ("Attention(8, fast=True)", "None"),
    ],
)
def test_what_runs_only_with_a_flag_off_that_all_pass_on_is_quiet(made: str, attention: str) -> None:
    assert found(made, attention) == {"quick"}


@pytest.mark.parametrize("made", ["Block(8, fast=False)", "Block(8, False)"])
def test_what_runs_only_with_a_flag_on_that_all_pass_off_is_quiet(made: str) -> None:
    assert found(made) == {"slow"}


@pytest.mark.parametrize(
    ("made", "attention", "kept", "more"),
    [
        ("Block(8)", PASSED, "fast", ""),  # a default is there for others to change
        ("Block(8, fast=True)", PASSED, "fast", "other = Block(8, fast=False)"),
        ("Block(8, fast=True)", PASSED, "fast", "other = Block(8)"),
        ("Block(8, fast=True)", PASSED, "fast", "def make(fast): return Block(8, fast=fast)"),
        ("Block(8, fast=True)", PASSED, "fast", "def make(given): return Block(8, **given)"),
        ("Block(8, fast=True)", PASSED, "fast", "def slower(net: Attention): net.fast = False"),
        ("Block(8, fast=True)", PASSED, "fast and size > 4", ""),
        ("Block(8, fast=True)", "Attention(size, fast=not fast)", "fast", ""),
        ("Block(8, fast=True)", "Attention(size)", "fast", ""),
        ("Block(8, fast=True)", PASSED, "fast", "TABLE = {'a': Block}\nother = TABLE[cfg.name](8, cfg.fast)"),
        ("Block(8, fast=True)", PASSED, "fast", "spec = Spec(block=Block)\nother = spec.block(8, cfg.fast)"),
    ],
)
def test_a_flag_that_may_be_either_settles_nothing(made: str, attention: str, kept: str, more: str) -> None:
    assert found(made, attention, kept, more) == {"quick", "slow"}


def test_a_flag_that_the_constructor_may_leave_as_the_class_has_it_is_either() -> None:
    code = CODE.format(attention=PASSED, kept="fast").replace(
        "self.fast = fast", "if size > 9: self.fast = fast"
    )
    body = code.replace("class Attention(nn.Module):", "class Attention(nn.Module):\n    fast = False")
    assert {"quick", "slow"} <= set(hot(f"{body}net = torch.compile(Block(8, fast=True))"))


@pytest.mark.parametrize("script", ["examples/run.py", "run.py"])
def test_a_flag_that_a_script_beside_a_package_passes_settles_nothing(script: str) -> None:
    package = {"nets/__init__.py": "", "nets/net.py": CODE.format(attention=PASSED, kept="fast")}
    run = "from nets.net import *\nnet = torch.compile(Block(8, fast=True))\n"
    assert {"nets/net.py::quick", "nets/net.py::slow"} <= set(hot({**package, script: run}))


def test_a_flag_that_a_function_of_its_package_passes_is_settled_for_all_scripts() -> None:
    code = CODE.format(attention=PASSED, kept="fast") + "def block(size): return Block(size, fast=True)\n"
    run = "from nets.net import *\nnet = torch.compile(block(8))\n"
    found = hot({"nets/__init__.py": "", "nets/net.py": code, "examples/run.py": run})
    assert "nets/net.py::quick" in found
    assert "nets/net.py::slow" not in found


def test_a_flag_that_a_file_passes_when_it_is_run_settles_nothing() -> None:
    code = CODE.format(attention=PASSED, kept="fast")
    assert {"quick", "slow"} <= set(
        hot(f"{code}if __name__ == '__main__':\n    net = torch.compile(Block(8, fast=True))\n")
    )


def test_a_flag_of_one_heir_settles_nothing_of_another() -> None:
    heirs = (
        "class Fast(Attention):\n    def __init__(self): super().__init__(8, fast=True)\n"
        "class Slow(Attention):\n    def __init__(self): super().__init__(8, fast=False)\n"
    )
    code = CODE.format(attention=PASSED, kept="fast") + heirs
    both = "def build(fast): return torch.compile(Fast() if fast else Slow())\n"
    assert {"quick", "slow"} <= set(hot(code + both))


def test_a_base_that_only_heirs_construct_otherwise_is_either() -> None:
    heir = "class Slow(Attention):\n    def __init__(self): super().__init__(8, fast=False)\n"
    use = (
        "def run(part: Attention): return torch.compile(part)(1)\nrun(Slow())\nrun(Attention(8, fast=True))\n"
    )
    assert {"quick", "slow"} <= set(hot(CODE.format(attention=PASSED, kept="fast") + heir + use))


RATE = """
def quick(x): return x
def slow(x): return x
class Block(nn.Module):
    def __init__(self, size=8, rate=0.0, fast=False):
        super().__init__()
        self.rate, self.fast = rate, fast
    def forward(self, x):
        if {test}:
            return slow(x)
        return quick(x)
class Net(nn.Module):
    def __init__(self, given=0.0, on=False):
        super().__init__()
        self.block = Block(8, given, on)
    def forward(self, x): return self.block(x)
net = torch.compile({made})
"""
TESTS = ["self.rate > 0", "self.rate > 0.0", "self.training and self.rate > 0", "self.fast"]


def sure(test: str, made: str) -> str | None:
    return hot(RATE.format(test=test, made=made)).get("slow")


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("made", ["Block()", "Block(16)", "Net()", "nn.Sequential(Block(), Net())"])
def test_what_runs_only_for_what_nobody_here_turns_on_is_likely(test: str, made: str) -> None:
    assert sure(test, made) == "likely"


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    "made", ["Block(8, 0.1, True)", "Net(0.1, True)", "nn.Sequential(Block(), Net(1, True))"]
)
def test_what_somebody_turns_on_is_certain(test: str, made: str) -> None:
    assert sure(test, made) == "certain"


@pytest.mark.parametrize("made", ["Block(8, 0.0, False)", "Block(8, 0, fast=False)"])
@pytest.mark.parametrize("test", TESTS)
def test_what_all_turn_off_themselves_does_not_run(test: str, made: str) -> None:
    alone = RATE[: RATE.index("class Net")] + RATE[RATE.index("net = ") :]
    assert "slow" not in hot(alone.format(test=test, made=made))


@pytest.mark.parametrize("test", ["self.rate > 1", "self.rate >= 0", "not self.rate", "x.sum() > 0"])
def test_tests_of_another_sort_leave_it_certain(test: str) -> None:
    assert sure(test, "Block()") == "certain"


CONSTANT = CODE.replace("{kept}", "True").replace("{attention}", "Attention(8)")


@pytest.mark.parametrize(
    ("more", "tier"),
    [
        ("", "likely"),
        ("def slower(net: Attention): net.fast = False\n", "certain"),
        ("class Slow(Attention):\n    pass\n", "certain"),
    ],
)
def test_what_runs_only_if_somebody_changes_a_constant_is_no_more_than_likely(more: str, tier: str) -> None:
    found = hot(f"{CONSTANT}{more}net = torch.compile(Block(8))\n")
    assert (found["quick"], found["slow"]) == ("certain", tier)


MADE_BY = "def make(size, fast{default}): return Attention(size, fast=fast)\n"


@pytest.mark.parametrize(
    ("default", "calls", "expected"),
    [
        ("", ["make(8, True)"], {"quick"}),
        ("", ["make(8, fast=False)"], {"slow"}),
        ("", ["make(8, fast=False)", "make(8, True)"], {"quick", "slow"}),
        ("", ["make(8, cfg.fast)"], {"quick", "slow"}),
        ("=True", ["make(8)"], {"quick", "slow"}),  # a default is there for others to change
        ("=True", ["make(8, **cfg)"], {"quick", "slow"}),
    ],
)
def test_a_flag_that_a_function_hands_on_is_what_its_callers_pass(
    default: str, calls: list[str], expected: set[str]
) -> None:
    code = CODE.format(attention=PASSED, kept="fast") + MADE_BY.format(default=default)
    uses = "".join(f"net{number} = torch.compile({call})\n" for number, call in enumerate(calls))
    assert set(hot(code + uses)) & {"quick", "slow"} == expected


BODY = """
def quick(x): return x
def slow(x): return x
class Net(nn.Module):
    fast: bool = True
    {more}
    def forward(self, x):
        if self.fast:
            return quick(x)
        return slow(x)
net = torch.compile(Net())
"""


@pytest.mark.parametrize(
    ("more", "tier"),
    [
        ("pass", "likely"),
        ("fast = cfg.fast", "certain"),
        ("def __init__(self, fast): self.fast = fast", "certain"),
        ("def slower(self): self.fast = False", "certain"),
    ],
)
def test_a_constant_of_the_class_body_that_nobody_changes_leaves_the_other_branch_likely(
    more: str, tier: str
) -> None:
    found = hot(BODY.format(more=more))
    assert (found["quick"], found["slow"]) == ("certain", tier)


# --- globals --------------------------------------------------------------------------------------------

PROBED = """
def log(x): return x
{flag}
@torch.compile
def step(x):
    {body}
    return x
"""
SWITCHED = "probing = False\ndef probe():\n    global probing\n    probing = True"
IF = "if probing: x = log(x)"


@pytest.mark.parametrize(
    ("flag", "body"),
    [
        (SWITCHED, IF),
        (SWITCHED, "if probing and x.any(): x = log(x)"),
        (SWITCHED, "if not (not probing or x.any()): x = log(x)"),
        (SWITCHED, "if not probing: return x\n    x = log(x)"),
        (SWITCHED, "x = log(x) if probing else x"),
        ("probing = False", IF),
        ("probing = None", IF),
        ("probing = None", "if probing is not None: x = log(x)"),
    ],
)
def test_what_runs_only_while_a_switch_is_on_that_starts_off_is_likely(flag: str, body: str) -> None:
    assert hot(PROBED.format(flag=flag, body=body)) == {"log": "likely", "step": "certain"}


@pytest.mark.parametrize(
    ("flag", "body"),
    [
        (SWITCHED, "x = log(x)"),
        (SWITCHED, "if not probing: x = log(x)"),
        (SWITCHED, "if probing or x.any(): x = log(x)"),
        (SWITCHED, "if x.any(): x = log(x)"),
        (SWITCHED, "if probing: x = x + 1\n    x = log(x)"),
        (SWITCHED, "if probing: return x\n    x = log(x)"),
        (SWITCHED, "if x.any():\n        if not probing: return x\n    x = log(x)"),
        (SWITCHED, "probing = x.any()\n    if probing: x = log(x)"),
        ("probing = True", IF),
        ("probing = False\nif torch.cuda.is_available(): probing = True", IF),
        ("probing = torch.cuda.is_available()", IF),
        ("from settings import probing", IF),
        ("", IF),
    ],
)
def test_what_runs_whatever_the_switch_or_with_one_that_may_be_on_at_first_is_certain(
    flag: str, body: str
) -> None:
    assert hot(PROBED.format(flag=flag, body=body)) == {"log": "certain", "step": "certain"}


# --- attributes that start off --------------------------------------------------------------------------

LATER = """
def special(x): return x
class Block(nn.Module):
    {body}
    def __init__(self, given, deep):
        super().__init__()
        {made}
    def turn_on(self):
        self.cache = True
    def forward(self, x, cfg):
        {local}
        if {test}:
            x = special(x)
        return x
net = torch.compile(Block(given, 3))
"""


def sure_of_starts_off(
    test: str, *, made: str = "pass", local: str = "pass", body: str = "pass"
) -> str | None:
    return hot(LATER.format(test=test, made=made, local=local, body=body)).get("special")


OFF = ["self.cache = None", "self.cache = False", "self.cache = 0"]
ON = ["self.cache = given", "self.cache = 4", "self.cache = None\n        if deep: self.cache = given"]
NEEDED = ["self.cache", "self.cache is not None", "not (self.cache is None)", "x > 0 and self.cache"]


@pytest.mark.parametrize("made", OFF)
@pytest.mark.parametrize("test", NEEDED)
def test_what_waits_for_a_method_to_turn_an_attribute_on_is_likely(test: str, made: str) -> None:
    assert sure_of_starts_off(test, made=made) == "likely"


def test_an_attribute_that_the_class_body_sets_off_is_off_at_first_too() -> None:
    assert sure_of_starts_off("self.cache is not None", body="cache = None") == "likely"


@pytest.mark.parametrize("made", ON)
@pytest.mark.parametrize("test", NEEDED)
def test_what_the_constructor_may_turn_on_leaves_it_certain(test: str, made: str) -> None:
    assert sure_of_starts_off(test, made=made) == "certain"


@pytest.mark.parametrize("test", ["not self.cache", "self.cache is None", "x > 0 or self.cache"])
def test_what_runs_while_an_attribute_is_off_is_certain(test: str) -> None:
    assert sure_of_starts_off(test, made="self.cache = None") == "certain"


@pytest.mark.parametrize("test", ['getattr(self, "cache", False)', 'not (not getattr(cfg, "cache", None))'])
def test_what_needs_an_attribute_that_need_not_be_there_is_likely(test: str) -> None:
    assert sure_of_starts_off(test) == "likely"


@pytest.mark.parametrize("test", ['getattr(cfg, "cache", True)', 'not getattr(cfg, "cache", False)', "x > 0"])
def test_what_runs_without_such_an_attribute_is_certain(test: str) -> None:
    assert sure_of_starts_off(test) == "certain"


LOCALS = ["some = cfg.blocks if x > 0 else None", 'some = getattr(cfg, "some", 0) and x > 0', "some = None"]


@pytest.mark.parametrize("local", LOCALS)
@pytest.mark.parametrize("test", ["some", "some is not None", "some and x > 0"])
def test_what_needs_a_local_that_may_be_nothing_is_likely(test: str, local: str) -> None:
    assert sure_of_starts_off(test, local=local) == "likely"


@pytest.mark.parametrize("local", [*LOCALS, "some = cfg.blocks", "some = 4"])
@pytest.mark.parametrize("test", ["not some", "some is None", "some or x > 0"])
def test_what_needs_no_local_to_be_anything_is_certain(test: str, local: str) -> None:
    assert sure_of_starts_off(test, local=local) == "certain"


@pytest.mark.parametrize("local", ["some = cfg.blocks", "some = 4", "some = x if x > 0 else cfg"])
def test_a_local_that_its_own_words_do_not_leave_empty_leaves_it_certain(local: str) -> None:
    assert sure_of_starts_off("some is not None", local=local) == "certain"


CHOSEN = """
class Plain(nn.Module):
    def forward(self, x): return x
class Extra(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        {made}
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
net = torch.compile(Net(cfg))
"""


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        ("self.layers = nn.ModuleList([Plain() if n < cfg.n else Extra() for n in range(cfg.m)])", "likely"),
        (
            "kind = Plain if cfg.plain else Extra\n"
            "        self.layers = nn.ModuleList([kind() for _ in range(cfg.m)])",
            "likely",
        ),
        ("self.layers = nn.ModuleList([Plain(), Plain() if cfg.plain else Extra()])", "certain"),
    ],
)
def test_of_the_two_ends_of_a_conditional_expression_each_is_likely(made: str, plain: str) -> None:
    found = hot(CHOSEN.format(made=made))
    assert (found["Plain.forward"], found["Extra.forward"]) == (plain, "likely")


@pytest.mark.parametrize("made", ["Plain(1) if cfg.plain else Plain(2)", "Plain() if cfg.plain else None"])
def test_what_a_conditional_expression_makes_in_any_case_or_not_at_all_is_certain(made: str) -> None:
    assert hot(CHOSEN.format(made=f"self.layers = [{made}]"))["Plain.forward"] == "certain"
