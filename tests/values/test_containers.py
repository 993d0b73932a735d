"""Containers: what lists, dictionaries and objects of the project hold under which key."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_BLOCK, SMALL_MODEL, names_with_model

# --- objects that keep modules --------------------------------------------------------------------------

NETS = """
import torch.utils.checkpoint
class A(nn.Module):
    def __init__(self, width=1): super().__init__()
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""
KEPT = """
class Nets:
    def __init__(self, nets, other=None):
        self.nets, self.other = nets, other
    {method}
nets = Nets([A(), B()], Other())
for i, net in enumerate({loop}): {compiling}
"""


def found(source: str) -> set[str]:
    return {name.partition(".")[0] for name in hot(NETS + source)}


@pytest.mark.parametrize(
    ("method", "loop", "compiling"),
    [
        ("def __iter__(self): return iter(self.nets)", "nets", "net.compile()"),
        ("def __iter__(self): yield from self.nets", "nets", "net.compile()"),
        ("def __iter__(self):\n        for net in self.nets: yield net", "nets", "torch.compile(net)(1)"),
        ("def __iter__(self): return (net for net in self.nets)", "zip(nets, nets)", "net[0].compile()"),
        ("def __getitem__(self, at): return self.nets[at]", "range(2)", "nets[i].compile()"),
        (
            "def __iter__(self): return self\n    def __next__(self): return self.nets.pop()",
            "nets",
            "net.compile()",
        ),
    ],
)
def test_what_an_object_keeps_and_gives_by_syntax_is_compiled(method: str, loop: str, compiling: str) -> None:
    assert found(KEPT.format(method=method, loop=loop, compiling=compiling)) == {"A", "B"}


@pytest.mark.parametrize(
    ("method", "loop", "compiling"),
    [
        ("def __iter__(self): return iter(range(2))", "nets", "net.compile()"),
        ("def __iter__(self): return self", "nets", "net.compile()"),
        ("def __next__(self): return self.nets.pop()", "nets", "net.compile()"),
        ("def __getitem__(self, at): return len(self.nets)", "range(2)", "nets[i].compile()"),
        ("def __getitem__(self, at): return getattr(self, at)", "range(2)", "nets[i].compile()"),
        ("def __getitem__(self, at): return self.nets[at]", "range(2)", "nets['a'].compile()"),
        ("def __len__(self): return len(self.nets)", "nets", "net.compile()"),
    ],
)
def test_what_it_only_counts_or_looks_up_by_any_name_is_not(method: str, loop: str, compiling: str) -> None:
    assert found(KEPT.format(method=method, loop=loop, compiling=compiling)) == set()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("build(mode)", {"A", "B"}),
        ("build('a')", {"A"}),
        ("load(mode)", set()),
        ("build", set()),
        ("Nets", set()),
    ],
)
def test_what_an_object_keeps_is_found_however_far_away_it_is_made(given: str, expected: set[str]) -> None:
    source = f"""
TABLE = {{"a": A, "b": B}}
class Kept:
    def __init__(self, nets: list[nn.Module]): self.nets = nets
    def __iter__(self):
        for net in self.nets: yield net
class Nets(Kept):
    def eval(self): return self
def pick(mode): return TABLE[mode]
def make(mode): return pick(mode)(width=1)
def build(mode):
    nets = []
    for _ in range(2): nets.append(make(mode))
    return Nets(nets)
def prepare(nets):
    for net in nets: yield net.to("cpu")
def train(nets):
    for i, net in enumerate(prepare(nets)): torch.compile(net)(1)
train({given})
"""
    assert found(source) == expected


@pytest.mark.parametrize(
    ("held", "call", "expected"),
    [
        ("nn.Sequential(A())", "torch.utils.checkpoint.checkpoint(self.held, x)", {"A"}),
        ("nn.Sequential(*[A() for _ in range(2)])", "torch.utils.checkpoint.checkpoint(self.held, x)", {"A"}),
        (
            "nn.Sequential(A(), B())",
            "torch.utils.checkpoint.checkpoint_sequential(self.held, 2, x)",
            {"A", "B"},
        ),
        ("nn.Sequential(A())", "len(self.held)", set()),
        ("nn.Sequential(nn.ReLU())", "torch.utils.checkpoint.checkpoint(self.held, x)", set()),
        ("nn.TransformerEncoder(A(), 2)", "self.held(x)", {"A"}),
        ("nn.TransformerDecoder(decoder_layer=A(), num_layers=2)", "self.held(x)", {"A"}),
        ("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 1), 2)", "self.held(x)", set()),
        ("nn.TransformerEncoder(A(), 2)", "self.other(x)", set()),
    ],
)
def test_a_library_calls_the_modules_that_it_is_given(held: str, call: str, expected: set[str]) -> None:
    source = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.held = {held}
    def forward(self, x): return {call}
net = torch.compile(Net())
"""
    assert found(source) == {"Net", *expected}


# --- dictionaries that a loop fills ---------------------------------------------------------------------

OPTIMIZER = """
class Part:
    def update(self, x): return x
class Other:
    def update(self, x): return x
KEY = "part"
class Optimizer:
    def __init__(self, groups):
        self.states = [{{}} for _ in groups]
        self.others = [{{}} for _ in groups]
        {fill}
        self.fast = torch.compile(self.slow) if groups else self.slow
    def step(self, x):
        for state in self.states:
            {step}
    def run(self, state, x, step): step(state, x)
    def skip(self, state, x, step): return state
    def slow(self, state, x): return state[KEY].update(x)
"""
FILL = "for state in self.states: state[KEY] = Part()"
STEP = "self.fast(state, x)"


def found_of_loops(fill: str = FILL, step: str = STEP) -> dict[str, str]:
    return hot(OPTIMIZER.format(fill=fill, step=step))


@pytest.mark.parametrize(
    "fill",
    [
        FILL,
        "for state, group in zip(self.states, groups): state[KEY] = Part()",
        "for group, state in zip(groups, self.states, strict=True): state['part'] = Part()",
        "for state in self.states: state[KEY], state['other'] = Part(), Other()",
        "for state in self.states: state[groups[0]] = Part()",  # any key it may be
    ],
)
def test_what_a_loop_puts_into_each_dictionary_of_an_attribute_is_found_under_its_key(fill: str) -> None:
    assert found_of_loops(fill) == {"Optimizer.slow": "certain", "Part.update": "likely"}


@pytest.mark.parametrize(
    "fill",
    [
        "for state in self.states: state[KEY], state['other'] = Part(), Other()",
        "for other in self.others: other[KEY] = Other()",
        "for group, state in zip(self.states, groups): state[KEY] = Other()",
        "for state in groups: state[KEY] = Other()",
        "for state in self.states: state = {KEY: Other()}",
        "for state in self.states: state.name[KEY] = Other()",
    ],
)
def test_other_keys_and_other_dictionaries_hold_nothing_for_it(fill: str) -> None:
    assert "Other.update" not in found_of_loops(fill)


@pytest.mark.parametrize(
    "step",
    [
        STEP,
        "self.run(state, x, self.fast)",
        "self.run(state, x, step=self.fast)",
    ],
)
def test_a_compiled_method_is_called_by_its_new_name_and_by_that_of_a_parameter(step: str) -> None:
    assert found_of_loops(step=step) == {"Optimizer.slow": "certain", "Part.update": "likely"}


@pytest.mark.parametrize(
    "step",
    [
        "self.skip(state, x, self.fast)",  # handed over and not called
        "self.run(state, x, print)",
        "self.run(x, x, self.fast)",
        "self.fast(x, state)",
        "print(state, x, self.fast)",
    ],
)
def test_what_is_handed_over_and_not_called_is_given_nothing(step: str) -> None:
    assert found_of_loops(step=step) == {"Optimizer.slow": "certain"}


ENGINE = """
class Net(nn.Module):
    def forward(self, x): return x
    def draft(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
class Engine:
    def __init__(self, sizes):
        self.model, self.other = Net(), Other()
        self.steps, self.slow = {{}}, {{}}
        for size in sizes:
            {put}
    def compile(self):
        for key in self.steps: self.steps[key] = torch.compile(self.steps[key])
    def run(self, x, size):
        {call}
"""
PUT = "self.steps[size] = lambda model, x: model.draft(x)"
CALL = "self.steps[size](model=self.model, x=x)"


def given(put: str = PUT, call: str = CALL) -> set[str]:
    return {name for name in hot(ENGINE.format(put=put, call=call)) if not name.endswith("<lambda>")}


@pytest.mark.parametrize(
    ("put", "call"),
    [
        (PUT, CALL),
        (PUT, "self.steps[size](self.model, x)"),
        (PUT, "return self.steps[x.shape[1]](self.model, x)"),
        ("self.steps['one'] = lambda model, x: model.draft(x)", "self.steps['one'](self.model, x)"),
        ("self.steps.update({'one': lambda model, x: model.draft(x)})", "self.steps['one'](self.model, x)"),
    ],
)
def test_a_lambda_in_a_table_of_compiled_functions_is_given_what_the_table_is_called_with(
    put: str, call: str
) -> None:
    assert given(put, call) == {"Net.draft"}


@pytest.mark.parametrize(
    "call",
    [
        "self.slow[size](self.other, x)",
        "self.model(x); self.other(x)",
        "self.steps.get(size); self.other(x)",
        "other = {'one': self.other}; other['one'](self.other, x)",
        "self.steps[size](x, self.other)",  # as the second argument, which is not called
    ],
)
def test_calls_of_other_tables_give_it_nothing(call: str) -> None:
    assert not given(call=call)


def test_what_is_put_into_another_table_is_not_compiled() -> None:
    assert not given("self.slow[size] = lambda model, x: model.draft(x)", "self.slow[size](self.model, x)")


WAYS = """
def outside(x): return x
class Norm(nn.Module):
    def __init__(self, kind=None):
        super().__init__()
        self.ways = {{"first": self.first, "second": self.second, "third": outside}}
        self.kind = "first"
        {more}
    def first(self, x): return x
    def second(self, x): return x
    def forward(self, x): return self.ways[{index}](x)
fast = torch.compile(Norm())
"""


@pytest.mark.parametrize(
    ("more", "index", "expected"),
    [
        ("if kind in self.ways: self.kind = kind", "self.kind", {"Norm.first", "Norm.second"}),
        ("if kind: self.kind = kind.lower()", "self.kind", {"Norm.first", "Norm.second"}),
        ("pass", "self.kind", {"Norm.first"}),
        ("if kind: self.kind = 'second'", "self.kind", {"Norm.first", "Norm.second"}),
        ("if kind: self.other = kind", "self.kind", {"Norm.first"}),
        ("if kind: self.kind = kind", "'second'", {"Norm.second"}),
    ],
)
def test_a_text_that_an_attribute_may_hold_besides_others_picks_any_method_of_a_table(
    more: str, index: str, expected: set[str]
) -> None:
    assert set(hot(WAYS.format(more=more, index=index))) == {"Norm.forward", *expected}


# --- registries and tables in attributes ----------------------------------------------------------------

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


# --- tables that several files fill ---------------------------------------------------------------------

REGISTRY = "TABLE = {}\ndef register(name):\n    def put(f):\n        TABLE[name] = f\n        return f\n    return put\n"
USE = "def run(name):\n    f = torch.compile(TABLE[name])\n    return f(1)\n"
FOUND = {"quant.py::fast": "likely"}


def found_of_files(
    quant: str, use: str = f"from registry import TABLE\n{USE}", **files: str
) -> dict[str, str]:
    return hot(
        {"registry.py": REGISTRY, "quant.py": f"{quant}\ndef fast(x): return x\n", "use.py": use}
        | {f"{name}.py": text for name, text in files.items()}
    )


@pytest.mark.parametrize(
    "put",
    [
        "from registry import TABLE\ndef fill(): TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill():\n    for bits in (4, 8): TABLE[f'fast{bits}'] = fast",
        "import registry\ndef fill(): registry.TABLE['fast'] = fast",
        "def fill():\n    from registry import TABLE\n    TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill(): TABLE.update({'fast': fast})",
        "from again import TABLE\ndef fill(): TABLE['fast'] = fast",
    ],
)
def test_what_another_file_puts_into_a_table_is_in_it(put: str) -> None:
    assert found_of_files(put, again="from registry import TABLE") == FOUND


@pytest.mark.parametrize(
    "put",
    [
        "TABLE = {}\ndef fill(): TABLE['fast'] = fast",
        "from other import TABLE\ndef fill(): TABLE['fast'] = fast",
        "import other\ndef fill(): other.TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill(TABLE): TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill():\n    TABLE = {}\n    TABLE['fast'] = fast",
        "from registry import TABLE\ndef fill(): TABLE['fast'] = fast(1)",
        "from registry import TABLE\ndef fill(): return TABLE['fast'] == fast",
        "from library import TABLE\ndef fill(): TABLE['fast'] = fast",
    ],
)
def test_what_is_put_into_another_table_is_not(put: str) -> None:
    assert found_of_files(put, other="TABLE = {}") == {}


TABLES = """
class Device:
    def compiled(self, f): return torch.compile(f)
def compile_late(f): return Device().compiled(f)
{functions}
TABLE = {{{rows}}}
def use(name):
    first = compile_late(TABLE[name])
    last = compile_late(final)
def final(x): return x
"""


@pytest.mark.parametrize("number", [2, 30])
def test_a_large_table_that_a_helper_of_a_helper_is_given_leaves_room_for_what_else_it_is_given(
    number: int,
) -> None:
    functions = "\n".join(f"def f{i}(x): return x" for i in range(number))
    rows = ", ".join(f"'f{i}': f{i}" for i in range(number))
    assert set(hot(TABLES.format(functions=functions, rows=rows))) == {
        *(f"f{i}" for i in range(number)),
        "final",
    }


# --- modules that are only a place ----------------------------------------------------------------------

PLACE = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        {body}
    def forward(self, x): return {call}
class Cold(nn.Module):
    def forward(self, x): return cold(x)
other = nn.Module()
other.block = Cold()
compiled = torch.compile(Encoder())
"""


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("self.mid = nn.Module(); self.mid.block = Block()", "self.mid.block(x)"),
        (
            "down = nn.Module(); down.block = nn.ModuleList([Block()]); self.down = nn.ModuleList([down])",
            "self.down[0].block[0](x)",
        ),
        (
            "self.down = nn.ModuleList(); down = nn.Module(); block = nn.ModuleList(); "
            "block.append(Block()); down.block = block; self.down.insert(0, down)",
            "self.down[1].block[0](x)",
        ),
        (
            "self.mid = nn.Module(); self.mid.block = nn.ModuleList(); self.mid.block.append(Block())",
            "self.mid.block[0](x)",
        ),
    ],
)
def test_a_bare_module_holds_what_is_hung_on_it_and_not_what_is_hung_on_others(body: str, call: str) -> None:
    assert hot(SMALL_MODEL + PLACE.format(body=body, call=call)) == {
        "Encoder.forward": "certain",
        "Block.forward": "certain",
        "helper": "certain",
    }


def test_what_is_called_on_a_bare_module_but_never_hung_on_it_is_cold() -> None:
    code = PLACE.format(body="self.mid = nn.Module()", call="self.mid.block(x)")
    assert names_with_model(code) == {"Encoder.forward"}


# --- containers of a class of their own -----------------------------------------------------------------


def test_containers_of_modules_of_a_class_of_their_own_hold_what_each_is_given() -> None:
    code = """
    class List(nn.ModuleList): ...
    class Other(nn.Module):
        def forward(self, x): return cold(x)
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = List([Block() for _ in range(2)])
            self.others = List([Other()])
    for block in Twice().blocks: block.compile()
    """
    assert names_with_model(code) == SMALL_BLOCK
    assert names_with_model(code.replace("blocks: block", "others: block")) == {"Other.forward", "cold"}
    assert names_with_model(code.replace("nn.ModuleList", "object")) == set()
