"""Regions: what flags, modes and switches leave out, or leave no more than likely."""

from __future__ import annotations

import pytest

from tests.programs import hot

PARTLY = """
class Actor(nn.Module):
    def forward(self, x): return x
class Critic(nn.Module):
    def __init__(self, {given}):
        super().__init__()
        self.actor = actor
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x
class Agent:
    def __init__(self, model):
        self.model = model
def prepare(agent):
    actor = getattr(agent.model, "actor", None)
    if actor is not None:
        actor.compile()
    else:
        agent.model.compile()
prepare(Agent(Net()))
prepare(Agent(Critic(Actor())))
"""


def test_the_model_of_an_object_is_compiled_whole_if_it_has_no_part_to_compile() -> None:
    assert set(hot(PARTLY.format(given="actor"))) == {"Actor.forward", "Net.forward"}


def test_a_part_that_may_be_none_leaves_the_whole_in_doubt() -> None:
    assert set(hot(PARTLY.format(given="actor=None"))) == {"Actor.forward", "Net.forward", "Critic.forward"}


FLAGGED = """
def plain(x): return x
def fast(x): return x
def pick(x, quick=False):
    if quick:
        step = fast
    else:
        step = plain
    return step(x)
@torch.compile
def run(x, cfg): return pick(x, quick={quick})
"""


def test_which_of_two_functions_a_flag_picks_that_only_the_run_knows_is_likely_at_best() -> None:
    found = hot(FLAGGED.format(quick="cfg.quick"))
    assert found == {"run": "certain", "pick": "certain", "fast": "likely", "plain": "likely"}


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


def test_what_a_helper_compiles_of_self_is_that_of_its_own_class_whatever_others_leave_off() -> None:
    found = hot("""
        class Net(nn.Module):
            def prepare(self, fast=False):
                if fast: self.run = torch.compile(self.run)
            def run(self, x): return x
        class Below(Net):
            def run(self, x): return x
        Net().prepare(True)
        Net().prepare()
        Below().prepare(True)
    """)
    assert set(found) == {"Net.run", "Below.run"}


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
