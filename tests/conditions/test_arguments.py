"""Conditions on arguments: what runs or is made only where calls ask for it by a switch or an optional argument."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.programs import hot

if TYPE_CHECKING:
    from tests.translated import Translated

# --- switches that compiled calls leave off -------------------------------------------------------------

SCALE = """
def note(x): return x * 2
class Scale(nn.Module):
    def update(self, x): return note(x)
    def forward(self, x, {parameter}):
        {body}
        return x
class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.other = torch.compile(self._other, backend="eager")
        self.loss = torch.compile(self._loss, backend="eager")
    def _other(self, x): return {other}
    def _loss(self, x): return {call}
    def step(self, x):
        self.other(x)
        self.loss(x)
        {eager}
def main(x): Agent().step(x)
"""
LEFT = {"Agent._other", "Agent._loss", "Scale.forward"}
MADE = {*LEFT, "Scale.update", "note"}


def program(
    call: str = "self.scale(x)",
    *,
    other: str = "x",
    body: str = "if update: self.update(x)",
    eager: str = "pass",
    parameter: str = "update=False",
) -> str:
    return SCALE.format(call=call, other=other, body=body, eager=eager, parameter=parameter)


QUIET = {
    "left to its default": program(),
    "passed as it is": program("self.scale(x, update=False)"),
    "passed by position": program("self.scale(x, False)"),
    "asked for with more": program(body="if update and x.ndim: self.update(x)"),
    "on in eager code alone": program(eager="self.scale(x, update=True)"),
    "annotated": program(parameter="update: bool = False"),
}
MADE_ONCE = {
    "passed": program("self.scale(x, update=True)"),
    "passed by position": program("self.scale(x, True)"),
    "worked out": program("self.scale(x, update=x.ndim > 0)"),
    "on by default": program(parameter="update=True"),
    "asked for the other way": program(body="if not update: self.update(x)"),
    "on for a later caller": program("self.scale(x, update=True)", other="self.scale(x)"),
    "on for an earlier caller": program(other="self.scale(x, update=True)"),
    "set before it is asked for": program(
        body="update = update or x.ndim > 0\n        if update: self.update(x)"
    ),
    "given with all the rest": program("self.scale(x, **{'update': True})"),
    "beside the branch": program(body="if update: pass\n        self.update(x)"),
}


@pytest.mark.parametrize("source", QUIET.values(), ids=QUIET)
def test_what_stands_under_a_switch_that_compiled_calls_leave_off_is_quiet(source: str) -> None:
    assert set(hot(source)) == LEFT


@pytest.mark.parametrize("source", MADE_ONCE.values(), ids=MADE_ONCE)
def test_what_one_compiled_call_may_switch_on_is_compiled(source: str) -> None:
    assert set(hot(source)) == MADE


def test_what_is_compiled_itself_may_be_called_with_anything() -> None:
    source = program().replace("self.scale = Scale()", "self.scale = torch.compile(Scale())")
    assert set(hot(source)) == MADE


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code objects have no qualified name before")
@pytest.mark.parametrize(
    ("source", "expected"),
    [*((source, LEFT) for source in QUIET.values()), *((source, MADE) for source in MADE_ONCE.values())],
    ids=[*(f"off: {name}" for name in QUIET), *(f"on: {name}" for name in MADE_ONCE)],
)
def test_dynamo_traces_what_is_switched_on_alone(
    source: str, expected: set[str], translated: Translated
) -> None:
    assert translated(source) - {"Scale._call_impl"} == expected


EITHER = """
def fancy(x): return x
def plain(x): return x
def helper(x, mask=None):
    return {choice}
@torch.compile
def step(x): return helper(x)
"""


@pytest.mark.parametrize(
    "choice", ["fancy(x) if mask is not None else plain(x)", "plain(x) if mask is None else fancy(x)"]
)
def test_of_a_conditional_expression_only_the_end_runs_that_the_calls_ask_for(choice: str) -> None:
    assert set(hot(EITHER.format(choice=choice))) == {"step", "helper", "plain"}


# --- parts that constructors make where they are asked to -----------------------------------------------

BLOCK = """
class Drop(nn.Module):
    def forward(self, x): return x * 2
class Plain(nn.Module):
    def forward(self, x): return x
class Block(nn.Module):
    def __init__(self, dim, p=0., scale=None, plain=False):
        super().__init__()
        {before}
        {drop}
    def forward(self, x): return self.drop(x)
{others}
net = torch.compile({net})
"""
DROP = "Drop() if p > 0. else Plain()"


def sure(
    net: str = "Block(8)", drop: str = DROP, before: str = "pass", others: str = "", **options: object
) -> tuple[str | None, str | None]:
    found = hot(
        BLOCK.format(net=net, drop=f"self.drop = {drop}" if drop else "pass", before=before, others=others),
        **options,
    )
    return found.get("Drop.forward"), found.get("Plain.forward")


@pytest.mark.parametrize(
    "drop",
    [
        DROP,
        "Drop() if p else Plain()",
        "Drop() if p > 0 else Plain()",
        "Drop() if scale else Plain()",
        "Plain() if not scale else Drop()",
        "Plain() if not p > 0 else Drop()",
    ],
)
def test_what_nobody_asks_for_is_not_made(drop: str) -> None:
    assert sure(drop=drop) == (None, "certain")
    assert sure(drop=drop, guesses=True) == ("possible", "certain")


@pytest.mark.parametrize("net", ["Block(8, 0.1)", "Block(8, p=1)"])
def test_what_everybody_asks_for_is_what_is_made(net: str) -> None:
    assert sure(net) == ("certain", None)


def test_a_default_that_a_parent_hands_down_and_nobody_changes_is_left_off() -> None:
    parent = "class Net(nn.Module):\n    def __init__(self, rate={rate}):\n        super().__init__()\n"
    parent += "        self.block = Block(8, p=rate)\n    def forward(self, x): return self.block(x)"
    assert sure("Net()", others=parent.format(rate="0.")) == (None, "certain")
    assert sure("Net()", others=parent.format(rate="0.2")) == ("certain", None)
    assert sure("Net(0.2)", others=parent.format(rate="0.")) == ("certain", None)


@pytest.mark.parametrize(
    ("net", "others"),
    [
        ("Block(8, p=given)", ""),
        ("Block(8, p=rates[0])", "rates = [0.1]"),
        ("Block(8, **given)", ""),
        ("Block(*given)", ""),
        ("Block(8, -1)", ""),
        ("make(8)", "from functools import partial\nmake = partial(Block, p=given)"),
        ("Block(8)", "import argbind\nBlock = argbind.bind(Block)"),
        ("make()", "def make(p=0.): return Block(8, p)\nmake = argbind.bind(make)"),
        ("Block(8)", "other = Block(8, p=0.5)"),
        ("Block(8)", "class Heir(Block):\n    def __init__(self): super().__init__(8, p=0.5)"),
    ],
    ids=[
        "a name",
        "an item",
        "keywords",
        "positions",
        "less than nothing",
        "a partial",
        "a class bound anew",
        "a function bound anew",
        "another call",
        "an heir",
    ],
)
def test_either_may_be_made_where_calls_differ_or_say_nothing(net: str, others: str) -> None:
    assert sure(net, others=others) == ("likely", "likely")


@pytest.mark.parametrize(
    ("drop", "before"),
    [
        ("Drop() if p > 0. else Plain()", "p = p or find()"),
        ("Drop() if p >= 0. else Plain()", "pass"),
        ("Drop() if p > 0. or scale else Plain()", "pass"),
        ("Drop() if dim > p else Plain()", "pass"),
        ("Drop() if scale is None else Plain()", "pass"),
        ("Drop() if find() else Plain()", "pass"),
    ],
    ids=["bound anew", "at least nothing", "one of two", "compared", "none", "a call"],
)
def test_either_may_be_made_where_the_test_is_of_more_than_a_parameter(drop: str, before: str) -> None:
    assert sure(drop=drop, before=before) == ("likely", "likely")


def test_either_may_be_made_by_a_method_that_is_no_constructor() -> None:
    late = "self.build()\n    def build(self, p=0.):"
    assert sure(before=late) == ("likely", "likely")


def test_a_class_that_nobody_is_seen_to_make_may_make_either() -> None:
    assert sure("given", others="@torch.compile\ndef step(net: Block, x): return net(x)") == (
        "likely",
        "likely",
    )


SLOT = """
        if {test}:
            self.drop = Drop()
        else:
            self.drop = Plain()"""


@pytest.mark.parametrize(
    ("net", "test", "found"),
    [
        ("Block(8)", "plain", (None, "certain")),
        ("Block(8)", "not plain", ("certain", None)),
        ("Block(8, plain=True)", "plain", ("certain", None)),
        ("Block(8, plain=given)", "plain", ("certain", "certain")),
        ("Block(8, **given)", "plain", ("certain", "certain")),
        ("Block(8)", "plain or scale", ("certain", "certain")),
        ("Block(8)", "dim > 4", ("certain", "certain")),
    ],
)
def test_a_flag_that_no_call_passes_fills_no_slot(
    net: str, test: str, found: tuple[str | None, str | None]
) -> None:
    assert sure(net, drop="", before="pass" + SLOT.format(test=test)) == found


# --- modes and switches ---------------------------------------------------------------------------------

OFFERED = """
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    {decorator}
    def compile_blocks(self):
        for block in self.blocks: block.compile()
    def forward(self, x): return self.blocks[0](x)
{use}
"""


@pytest.mark.parametrize("decorator", ["", "@override"])
def test_what_a_method_compiles_that_nothing_calls_is_likely_at_best(decorator: str) -> None:
    assert hot(OFFERED.format(decorator=decorator, use="")) == {"Block.forward": "likely"}


@pytest.mark.parametrize(
    ("decorator", "use"),
    [("", "Net().compile_blocks()"), ("@hook", ""), ("", "run(compile=Net.compile_blocks)")],
)
def test_what_a_method_compiles_that_something_runs_is_certain(decorator: str, use: str) -> None:
    assert hot(OFFERED.format(decorator=decorator, use=use)) == {"Block.forward": "certain"}


MODES = """
class Net(nn.Module):
    def forward(self, x):
        {body}
    def learn(self, x): return x
    def infer(self, x): return x
    def always(self, x): return x
Net().compile()
"""


@pytest.mark.parametrize(
    "body",
    [
        "if self.training: x = self.learn(x)\n        else: x = self.infer(x)\n        return self.always(x)",
        "x = self.always(x)\n        if not self.training: return self.infer(x)\n        return self.learn(x)",
    ],
)
def test_what_runs_only_out_of_training_is_likely_at_best(body: str) -> None:
    found = hot(MODES.format(body=body))
    assert found.pop("Net.infer") == "likely"
    assert found == dict.fromkeys(("Net.forward", "Net.learn", "Net.always"), "certain")


HELPER = """
class Generator(nn.Module):
    def forward(self, x): return x
class Discriminator(nn.Module):
    def forward(self, x): return x
class Model:
    def __init__(self, opt):
        self.generator = self.prepare(Generator(), {on})
        self.discriminator = self.prepare(Discriminator(){off})
    def prepare(self, net, compile=False):
        net = net.to("cuda")
        if compile:
            net = torch.compile(net)
        return net
"""


@pytest.mark.parametrize("on", ["True", "compile=opt.compile"])
@pytest.mark.parametrize("off", ["", ", False", ", compile=False"])
def test_a_helper_compiles_what_those_calls_give_it_that_turn_it_on(on: str, off: str) -> None:
    assert set(hot(HELPER.format(on=on, off=off))) == {"Generator.forward"}


@pytest.mark.parametrize("off", [", opt.more", ", *opt", ", **opt"])
def test_a_helper_may_compile_for_calls_of_which_only_the_run_knows(off: str) -> None:
    assert set(hot(HELPER.format(on="True", off=off))) == {"Generator.forward", "Discriminator.forward"}


GRAPHS = """
class Net(nn.Module):
    def forward(self, x): return self.step(x)
    def step(self, x, capture=True):
        if not capture or x.is_cpu:
            return self.plain(x)
        return self.captured(x)
    def plain(self, x): return x
    def captured(self, x): return x
    def run(self, x, quiet, other):
        graphs = self.can()
        step = torch.compile(self.step, disable={disable})
        return step(x, {passed})
    def can(self): return True
"""
PLAIN = {"Net.step", "Net.plain"}


@pytest.mark.parametrize("disable", ["graphs", "graphs or quiet"])
@pytest.mark.parametrize("passed", ["graphs", "capture=graphs"])
def test_what_runs_only_where_compiling_is_disabled_is_not_compiled(disable: str, passed: str) -> None:
    assert set(hot(GRAPHS.format(disable=disable, passed=passed))) == PLAIN


@pytest.mark.parametrize(
    ("disable", "passed"),
    [
        ("quiet", "graphs"),
        ("graphs", "other"),
        ("graphs", "not graphs"),
        ("graphs", ""),
        ("not graphs", "graphs"),
    ],
)
def test_another_switch_than_that_which_disables_compiling_says_nothing(disable: str, passed: str) -> None:
    assert set(hot(GRAPHS.format(disable=disable, passed=passed))) == {*PLAIN, "Net.captured"}
