"""Regions: registries and tables that objects hold, names that are bound anew, and what a sibling passes."""

from __future__ import annotations

import pytest

from tests.programs import hot

FACTORY = """
class Factory:
    def __init__(self):
        self._makers = dict()
    def register_maker(self, name, maker):
        self._makers[name] = maker
    def create(self, name, **options):
        return self._makers.get(name)(**options)
class Part(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
"""
RUNNER = (
    FACTORY
    + """
class Runner:
    def __init__(self):
        self.nets = Factory()
        self.nets.register_maker("net", lambda part, **options: Net(part))
        self.parts = Factory()
        self.parts.register_maker("part", lambda **options: Part())
        self.others = Factory()
        self.others.register_maker("other", lambda **options: Other())
    def run(self, cfg):
        {made}
        return torch.compile(model)
"""
)
WHOLE = {"Net.forward": "likely", "Part.forward": "likely"}


@pytest.mark.parametrize(
    "made",
    [
        "model = self.nets.create(cfg.net, part=self.parts.create(cfg.part))",
        "model = Runner().nets.create(cfg.net, part=Runner().parts.create(cfg.part))",
        "nets = self.nets\n        model = nets.create(cfg.net, part=self.parts.create(cfg.part))",
        "part = self.parts.create(cfg.part)\n        model = self.nets.create(cfg.net, part=part)",
    ],
)
def test_a_registry_that_an_object_holds_gives_what_it_was_given_itself_made_with_what_is_passed(
    made: str,
) -> None:
    assert hot(RUNNER.format(made=made)) == WHOLE


def test_what_makes_something_for_a_registry_may_be_registered_from_elsewhere() -> None:
    added = 'def plug(runner):\n    runner.parts.register_maker("more", lambda **options: Other())\n'
    made = "model = self.parts.create(cfg.part)"
    assert set(hot(RUNNER.format(made=made) + added)) == {"Part.forward", "Other.forward"}


@pytest.mark.parametrize(
    "held",
    [
        "model.register_forward_hook(lambda *given: Other())",  # of a module that is a registry of nothing
        "self.parts.register_forward_hook(lambda *given: Other())",
        'kept = {}\n        kept["other"] = Other()',
    ],
)
def test_what_is_registered_with_something_else_is_not_what_a_registry_gives(held: str) -> None:
    made = f"model = self.parts.create(cfg.part)\n        {held}"
    assert "Other.forward" not in hot(RUNNER.format(made=made))


AGENT = (
    FACTORY
    + """
class Agent:
    def __init__(self, params):
        {kept}
        self.load(params)
        self.net = {read}
        self.net.compile()
    def load(self, params):
        self.config["net"] = Net(Part())
"""
)


@pytest.mark.parametrize(
    "kept",
    [
        "config = params['config']\n        self.config = config",
        "self.config = config = params['config']",
        "config = dict(params)\n        self.config = config",
    ],
)
def test_a_local_table_that_self_has_as_well_holds_what_other_methods_put_there(kept: str) -> None:
    assert set(hot(AGENT.format(kept=kept, read="config['net']"))) == set(WHOLE)


@pytest.mark.parametrize(
    "kept",
    [
        "config = params['config']\n        self.config = {}",
        "config = params['config']\n        self.other = config\n        self.config = {}",
    ],
)
def test_a_local_table_that_self_does_not_have_holds_nothing_of_it(kept: str) -> None:
    assert hot(AGENT.format(kept=kept, read="config['net']")) == {}


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


def test_what_torch_jit_has_scripted_is_not_traced() -> None:
    """Dynamo calls a ScriptModule or ScriptFunction as it is (torch/_dynamo/variables/script_object.py)."""
    scripted = SCRIPTED.format(helper="torch.jit.script(helper)", inner="torch.jit.script(Inner())")
    assert set(hot(scripted)) == {"Net.forward"}


def test_what_is_not_scripted_is_traced() -> None:
    plain = SCRIPTED.format(helper="helper", inner="Inner()")
    assert set(hot(plain)) == {"Net.forward", "Inner.forward", "helper"}


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


REPLACED = """
class Other(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def forward(self, x): return x
{lines}
"""


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Net = Other", {"Other.forward"}),
        ("if fast: Net = Other", {"Other.forward", "Net.forward"}),
        ("try:\n    Net = Other\nexcept ImportError: pass", {"Other.forward", "Net.forward"}),
        ("class Below(Net): pass\nNet = Other", {"Other.forward", "Net.forward"}),
        ("first = Net()\nNet = Other", {"Other.forward", "Net.forward"}),
    ],
)
def test_a_class_whose_name_means_another_at_the_end_of_its_file_is_never_made(
    lines: str, expected: set[str]
) -> None:
    train = "from nets import Net\nnet = torch.compile(Net())"
    files = {"nets.py": REPLACED.format(lines=lines), "train.py": train}
    assert {name.partition("::")[2] for name in hot(files)} == expected


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


SIBLINGS = """
class One(nn.Module):
    def forward(self, x): return x
class Two(nn.Module):
    def forward(self, x): return x
class Base(nn.Module):
    def keep(self, part): self.part = part
    def forward(self, x): return self.part(x)
class Left(Base):
    def __init__(self):
        super().__init__()
        self.keep(One())
    def keep(self, part): super().keep(part)
class Right(Base):
    def __init__(self):
        super().__init__()
        self.keep(Two())
    def keep(self, part): super().keep(part)
{compiled}
"""


def test_what_a_sibling_hands_on_to_their_base_is_not_for_this_class() -> None:
    found = hot(SIBLINGS.format(compiled="net = torch.compile(Left())"))
    assert set(found) == {"Base.forward", "One.forward"}


CONSTRUCTED = """
class One(nn.Module):
    def forward(self, x): return x
class Two(nn.Module):
    def forward(self, x): return x
class Base(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
    def forward(self, x): return self.part(x)
class Left(Base):
    def __init__(self): {up}.__init__(One())
class Right(Base):
    def __init__(self): super().__init__(Two())
class Plain(Base): pass
net = torch.compile({made})
"""


@pytest.mark.parametrize("up", ["super()", "super(Left, self)"])
def test_what_a_sibling_gives_the_constructor_of_their_base_is_not_for_this_class(up: str) -> None:
    assert set(hot(CONSTRUCTED.format(up=up, made="Left()"))) == {"Base.forward", "One.forward"}


def test_what_others_give_the_constructor_of_a_base_is_not_for_a_class_without_its_own() -> None:
    assert set(hot(CONSTRUCTED.format(up="super()", made="Plain(One())"))) == {"Base.forward", "One.forward"}


@pytest.mark.parametrize("heirs", ["Left, Right", "Right, Left"])
def test_what_a_mixin_hands_on_is_for_the_class_that_it_is_mixed_into(heirs: str) -> None:
    both = f"class Both({heirs}): pass\nnet = torch.compile(Both())"
    assert {"Base.forward", "One.forward", "Two.forward"} <= set(hot(SIBLINGS.format(compiled=both)))


BY_NAME = """
class Layer(nn.Module):
    def norm(self, x): return x
    def scale(self, x): return x
    def unused(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()
    def forward(self, x): return self.run("norm", self.run({other}, x))
    def run(self, method: str, x): return getattr(self.layer, method)(x)
net = torch.compile(Net())
"""


def test_a_method_is_looked_up_by_what_all_callers_write_out_though_it_is_declared_as_a_text() -> None:
    found = hot(BY_NAME.format(other='"scale"'))
    assert found == {
        "Net.forward": "certain",
        "Net.run": "certain",
        "Layer.norm": "likely",
        "Layer.scale": "likely",
    }


def test_a_method_of_which_one_caller_only_knows_the_name_is_not_known() -> None:
    assert set(hot(BY_NAME.format(other="x.name"))) == {"Net.forward", "Net.run"}


PIPELINE = """
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block()])
    def forward(self, x): return self.blocks[0](x)
class Pipeline:
    def __init__(self):
        self.net: Net = Net()
        self.compile()
    {own}
Pipeline()
"""


def test_an_object_with_a_compile_of_its_own_compiles_what_that_compiles() -> None:
    own = "def compile(self):\n        for block in self.net.blocks: block.compile()"
    assert set(hot(PIPELINE.format(own=own))) == {"Block.forward"}


def test_a_compile_of_its_own_that_does_something_else_compiles_nothing() -> None:
    assert hot(PIPELINE.format(own="def compile(self): self.pattern = 1")) == {}


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


OPERATOR = """
from torch.library import infer_schema
def kernel(x): return helper(x)
def helper(x): return x
@torch.compile
def run(x):
    infer_schema(kernel, mutates_args=())
    return x
"""


def test_a_function_that_an_operator_is_made_of_is_not_traced() -> None:
    assert set(hot(OPERATOR)) == {"run"}


def test_a_function_that_another_library_is_given_is_traced() -> None:
    assert set(hot(OPERATOR.replace("torch.library", "torch.utils.checkpoint"))) == {
        "run",
        "kernel",
        "helper",
    }


DIFFUSERS = """
from diffusers import FluxPipeline, FluxTransformer2DModel
class Processor:
    def __call__(self, attn, x): return x
class Other:
    def __call__(self, attn, x): return x
class Wrapper(FluxTransformer2DModel):
    def __init__(self):
        super().__init__()
        self.processor = Other()
        for block in self.transformer_blocks:
            block.attn.processor = Processor()
    def forward(self, x):
        for block in self.transformer_blocks: x = block(x)
        return x
def main(path):
    pipe = FluxPipeline.{made}(path, transformer=Wrapper.from_pretrained(path), width=2)
    pipe.transformer = torch.compile(pipe.transformer)
"""


@pytest.mark.parametrize("made", ["from_pretrained", "from_single_file"])
def test_a_pipeline_keeps_what_it_is_made_of_and_runs_the_processors_it_is_given(made: str) -> None:
    expected = {"Wrapper.forward", "Processor.__call__"} if made == "from_pretrained" else set()
    assert set(hot(DIFFUSERS.format(made=made))) == expected


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


def test_a_class_that_gives_its_parts_itself_to_run_ends() -> None:
    own = DIFFUSERS.format(made="from_pretrained").replace("= Processor()", "= Wrapper()")
    assert set(hot(own)) == {"Wrapper.forward"}


TRAINER = """
from hydra.utils import instantiate
class Net(nn.Module):
    def forward(self, x): return x
def main(cfg):
    trainer = instantiate(cfg.trainer, model=Net(), {given})
"""


@pytest.mark.parametrize("given", ["compile_config={}", "compile_config={} if cfg.fast else None"])
def test_a_trainer_of_composer_that_a_configuration_describes_compiles_its_model(given: str) -> None:
    assert hot(TRAINER.replace("{given}", given)) == {"Net.forward": "likely"}


def test_a_trainer_that_something_else_makes_is_not_known() -> None:
    code = TRAINER.replace("{given}", "compile_config={}").replace("hydra.utils", "elsewhere")
    assert hot(code) == {}


@pytest.mark.parametrize("given", ["compile_config=None", "compile=True", ""])
def test_what_else_a_configuration_describes_compiles_nothing(given: str) -> None:
    assert hot(TRAINER.replace("{given}", given)) == {}
