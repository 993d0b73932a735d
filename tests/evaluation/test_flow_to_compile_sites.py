"""Ways by which models come to where they are compiled, each as Dynamo sees it, and what must stay quiet."""

from __future__ import annotations

import pytest

from tests.calls.test_protocols import GIVING
from tests.conditions.test_constructor import RATE, TESTS
from tests.conditions.test_select import PROGRAMS as BLOCKS
from tests.programs import hot
from tests.translated import NAMED, OURS, Translated
from tests.values.test_reflection import ITSELF

pytest.importorskip("torch")

NETS = """
class Net(nn.Module):
    def forward(self, x): return helper(x)
class Other(nn.Module):
    def forward(self, x): return other(x)
"""
NET = {"Net.forward", "helper"}
BOTH = {*NET, "Other.forward", "other"}
KEEPING = """
class Keeper:
    def __init__(self, model, unused):
        {put}
    def run(self, x): return torch.compile(self.model)(x)
def main(x): Keeper(Net(), Other()).run(x)
"""
SPREAD = """
class Keeper:
    def __init__(self, **given):
        {put}
    def run(self, x): return torch.compile(self.model)(x)
def main(x): Keeper(model=Net(), unused=Other()).run(x)
"""
PREPARING = """
class Plugin:
    def prepare(self, model): return model
class Fast(Plugin):
    def prepare(self, model): return torch.compile(model)
def run(plugins: list[Plugin], x):
    model = Net()
    for plugin in plugins: model = plugin.prepare(model)
    return model(x)
def main(x):
    run([Fast()], x)
    Other()(x)
"""
KEEPING_PLAIN = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Net()
    def forward(self, x): return self.part.plain(x)
class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Other()
    def forward(self, x): return self.part.plain(x)
def keep(model):
    for part in model.children(): {store}
def main(x):
    model, unused = Model(), Unused()
    keep(model)
    keep(unused)
    torch.compile(model)(x)
"""
CHECKED = """
class Kind:
    def __init__(self, parent=None): self.parent = parent or self
NUMBER = Kind()
class Encoder(nn.Module):
    kinds = {NUMBER}
    def forward(self, x): return self.encode(x)
class Linear(Encoder):
    def encode(self, x): return helper(x)
class Unused(Encoder):
    def encode(self, x): return other(x)
class Model(nn.Module):
    def __init__(self, encoders, known):
        super().__init__()
        self.parts = nn.ModuleDict()
        for kind, encoder in encoders.items():
            if kind != kind.parent: raise ValueError(kind)
            if kind not in encoder.kinds: raise ValueError(kind)
            if kind in known: self.parts[str(id(kind))] = encoder
    def forward(self, x):
        for part in self.parts.values(): x = part(x)
        return x
def main(x):
    torch.compile(Model({NUMBER: Linear()}, [NUMBER]))(x)
    Unused()
"""
RULES = (
    "".join(f"def rule{i}(x): return x + {i}\n" for i in range(40))
    + "class Rule:\n    def __init__(self, run, name=''): self.run = run\n"
    + "def fast(rule): return torch.compile(rule.run)\n"
    + "def main(x):\n    for rule in ("
    + ", ".join(f"Rule(rule{i})" for i in range(40))
    + "): fast(rule)(x)\n"
)
OPENED = """
LAYERS = {"plain": Net, "fast": Other}
def pick(said, fast):
    kind = said.strip()
    if fast and kind == "plain": kind = "fast"
    return LAYERS[kind]()
def main(x): torch.compile(pick("plain ", False))(x)
"""
HANDED_CLASS = """
class Block(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part()
    def forward(self, x): return self.part(x)
class Apart(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part()
    def forward(self, x): return self.part(x)
class Model(nn.Module):
    def __init__(self, block={default}):
        super().__init__()
        {check}
        self.blocks = nn.Sequential(*[block(part=Net) for _ in range(2)])
    def forward(self, x): return self.blocks(x)
def main(x):
    Apart(Other)(x)
    torch.compile(Model({given}))(x)
"""
NEWLY = """
class Made(nn.Module):
    def __new__(cls, kind):
        {body}
    def __init__(self, kind): super().__init__()
    def forward(self, x): return helper(x)
def main(x):
    torch.compile({run})(x)
    torch.compile(Made("other"))(x)
"""
SUMMED = """
class Model(nn.Module):
    def __init__(self, count=1):
        super().__init__()
        first = [Net() for _ in range(count)]
        second = [Other() for _ in range(count)]
        self.blocks = {made}
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return x
def main(x): torch.compile(Model())(x)
"""
LEAVING = """
def make(kind):
    if kind == "other":
        model = Other()
        {leave}
    else:
        model = Net()
    model = model.eval()
    model = torch.compile(model)
    {after}
    return model
def main(x):
    make("net")(x)
    make("other"){run}
"""
TABLE = "\ndef main(x, name='net'): torch.compile({table}[name]())(x)\n"
PROGRAMS = {
    "set past the class": (KEEPING.format(put="object.__setattr__(self, 'model', model)"), NET),
    "put into its dictionary": (KEEPING.format(put="self.__dict__['model'] = model"), NET),
    "put into its vars": (KEEPING.format(put="vars(self)['model'] = model"), NET),
    "its dictionary completed": (KEEPING.format(put="self.__dict__.update(model=model)"), NET),
    "a dictionary that takes in another": (
        "A = {'net': Net}\nALL = {**A}" + TABLE.format(table="ALL"),
        NET,
    ),
    "a row beside what is taken in": (
        "A = {'other': Other}\nALL = {'net': Net, **A}\ndef main(x): torch.compile(ALL['net']())(x)",
        NET,
    ),
    "rows of a dictionary that are checked": (
        CHECKED,
        {"Model.forward", "Encoder.forward", "Linear.encode", "helper"},
    ),
    "a function for each of many rules": (RULES, {f"rule{i}" for i in range(40)}),
    "a branch that returns before the others compile": (
        LEAVING.format(leave="return model", after="pass", run="(x)"),
        NET,
    ),
    "a branch that goes on": (LEAVING.format(leave="pass", after="pass", run="(x)"), BOTH),
    "what a name holds after it was compiled": (
        LEAVING.format(leave="return model", after="model, fast = Other(), model; return fast", run="(x)"),
        NET,
    ),
    "what a name holds in the next round": (
        "def main(x):\n    model = Net()\n    for _ in range(2):\n"
        "        torch.compile(model)(x)\n        model = Other()",
        BOTH,
    ),
    "what a name holds before and after": (
        "def main(x):\n    nets = Net(), Other()\n    model = nets[0]\n    torch.compile(model)(x)\n"
        "    model = nets[1]\n    model(x)\n    model = nets[0]",
        NET,
    ),
    "a class that is the default of what is called": (
        HANDED_CLASS.format(default="Block", given="", check="pass"),
        {*NET, "Model.forward", "Block.forward"},
    ),
    "a class that is passed by another name": (
        HANDED_CLASS.format(default="None", given="block=Block", check="pass"),
        {*NET, "Model.forward", "Block.forward"},
    ),
    "a class that is checked before it is called": (
        HANDED_CLASS.format(default="Block", given="", check="assert isinstance(block, type)"),
        {*NET, "Model.forward", "Block.forward"},
    ),
    "a class that makes another": (
        NEWLY.format(body="return Net() if kind == 'net' else Other()", run="Made('net')"),
        BOTH,
    ),
    "a class that makes a container": (
        NEWLY.format(
            body="parts = nn.ModuleList([Net()])\n        return nn.Sequential(*parts)", run="Made('net')"
        ),
        NET,
    ),
    "a class that makes itself": (
        NEWLY.format(body="return super().__new__(cls)", run="Made('net')"),
        {"Made.forward", "helper"},
    ),
    "blocks of two lists": (
        SUMMED.format(made="nn.ModuleList(first + second)"),
        {*BOTH, "Model.forward"},
    ),
    "blocks of two lists in a row": (
        SUMMED.format(made="nn.Sequential(*(first + second))"),
        {*BOTH, "Model.forward"},
    ),
    "blocks of a list and one more": (
        SUMMED.format(made="nn.ModuleList([*second] + first)"),
        {*BOTH, "Model.forward"},
    ),
    "blocks of one list beside a sum of numbers": (
        SUMMED.format(made="nn.ModuleList(first); self.size = len(first) + len(second)"),
        {*NET, "Model.forward"},
    ),
    "a forward kept under another name": (
        KEEPING_PLAIN.format(store="part.plain = part.forward"),
        {*NET, "Model.forward"},
    ),
    "a forward kept by setattr": (
        KEEPING_PLAIN.format(store="setattr(part, 'plain', part.forward)"),
        {*NET, "Model.forward"},
    ),
    "the file under its own name": (
        "import sys\ndef main(x): torch.compile(getattr(sys.modules[__name__], 'Net')())(x)",
        NET,
    ),
    "a class asked of the globals": ("def main(x): torch.compile(globals().get('Net')())(x)", NET),
    "a table in the body of a class": (
        "class Models:\n    known = {}\n    @classmethod\n    def add(cls, name, model): cls.known[name] = model\n"
        "Models.add('net', Net)" + TABLE.format(table="Models.known"),
        NET,
    ),
    "heirs that enter themselves": (
        "class Base(nn.Module):\n    known = {}\n"
        "    def __init_subclass__(cls): Base.known[cls.__name__] = cls\n"
        "class Heir(Base):\n    def forward(self, x): return helper(x)\n"
        "def main(x, name='Heir'): torch.compile(Base.known[name]())(x)",
        {"Heir.forward", "helper"},
    ),
    "a class that is a dictionary": (
        "class Models(dict):\n    def build(self, name): return self[name]()\n"
        "MODELS = Models()\nMODELS['net'] = Net\ndef main(x, name='net'): torch.compile(MODELS.build(name))(x)",
        NET,
    ),
    "a class that is a dictionary and fills itself": (
        "class Models(dict):\n    def add(self, model):\n        self[model.__name__] = model\n        return model\n"
        "MODELS = Models()\nMODELS.add(Net)\ndef main(x, name='Net'): torch.compile(MODELS[name]())(x)",
        NET,
    ),
    "an object that builds when it is called": (
        "class Maker:\n    def __call__(self): return Net()\nmake = Maker()\ndef main(x): torch.compile(make())(x)",
        NET,
    ),
    "put into a dictionary inside of another": (
        "def step(nets, x): return nets.student.backbone(x)\n"
        "def main(x):\n    nets = nn.ModuleDict({'student': nn.ModuleDict({}), 'teacher': nn.ModuleDict({})})\n"
        "    nets.student['backbone'] = Net()\n    nets['teacher']['backbone'] = Other()\n"
        "    torch.compile(step)(nets, x)",
        {*NET, "step"},
    ),
    "handed to what is picked where the table stands": (
        "class First(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n"
        "    def forward(self, x): return self.inner(x)\n"
        "def main(x, name='first'):\n    kind = {'first': First}[name]\n    torch.compile(kind(Net()))(x)",
        {*NET, "First.forward"},
    ),
    "handed at once to what is picked": (
        "class First(nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n"
        "    def forward(self, x): return self.inner(x)\n"
        "def main(x, name='first'): torch.compile({'first': First}[name](Net()))(x)",
        {*NET, "First.forward"},
    ),
    "handed to what is compiled and called at once": (
        "def step(net, x): return net(x)\ndef main(x):\n    torch.compile(step)(Net(), x)\n    Other()(x)",
        {*NET, "step"},
    ),
    "the value of a member": (
        "import enum\nclass Kind(enum.Enum):\n    NET = (Net,)\n"
        "def main(x, name='NET'): torch.compile(Kind[name].value[0]())(x)",
        NET,
    ),
    "an attribute by its path": (
        "import functools\nclass Inner(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.net, self.beside = Net(), Other()\n"
        "class Outer(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.inner = Inner()\n"
        "def main(x): torch.compile(functools.reduce(getattr, 'inner.net'.split('.'), Outer()))(x)",
        NET,
    ),
    "a plugin that overrides": (PREPARING, NET),
    "work for a thread": (
        "import threading\ndef work(model, x): torch.compile(model)(x)\n"
        "def main(x):\n    one = threading.Thread(target=work, args=(Net(), x))\n    one.start()\n    one.join()",
        NET,
    ),
    "work for an executor": (
        "from concurrent.futures import ThreadPoolExecutor\ndef work(model, x): torch.compile(model)(x)\n"
        "def main(x):\n    with ThreadPoolExecutor(1) as pool: pool.submit(work, Net(), x).result()",
        NET,
    ),
    "work for each": (
        "def work(model): return torch.compile(model)\n"
        "def main(x):\n    for model in map(work, [Net()]): model(x)\n    Other()(x)",
        NET,
    ),
}


@NAMED
@pytest.mark.parametrize(("source", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_dynamo_translates_what_is_carried_to_a_compile_site(
    source: str, expected: set[str], translated: Translated
) -> None:
    assert set(hot(OURS + NETS + source)) == translated(OURS + NETS + source) == expected


COMPILERS = {
    "an attribute that holds torch.compile": (
        "class Trainer:\n    def __init__(self, fast):\n"
        "        self.comp = torch.compile if fast else (lambda model: model)\n"
        "def main(x):\n    Trainer(True).comp(Net())(x)\n    Other()(x)",
        NET,
    ),
    "a default that is torch.compile": (
        "def build(comp=torch.compile): return comp(Net())\ndef main(x):\n    build()(x)\n    Other()(x)",
        NET,
    ),
    "torch.compile out of a table": (
        "KNOWN = {'none': lambda model: model, 'fast': torch.compile}\n"
        "def main(x, kind='fast'):\n    KNOWN[kind](Net())(x)\n    Other()(x)",
        NET,
    ),
    "torch.compile that is looked up": (
        "def main(x):\n    comp = getattr(torch, 'compile', None)\n    comp(Net())(x)\n    Other()(x)",
        NET,
    ),
    "torch.compile that a helper gives": (
        "from functools import partial\n"
        "def compiler(fast):\n    if not fast: return lambda model: model\n"
        "    return partial(torch.compile, dynamic=False)\n"
        "def main(x):\n    comp = compiler(True)\n    comp(Net())(x)\n    Other()(x)",
        NET,
    ),
    "torch.compile that is mapped over models": (
        "def main(x):\n    for one in list(map(torch.compile, [Net()])): one(x)\n    Other()(x)",
        NET,
    ),
    "an object that compiles when it is called": (
        "class Compiler:\n    def __call__(self, model): return torch.compile(model)\n"
        "def main(x):\n    comp = Compiler()\n    comp(Net())(x)\n    Other()(x)",
        NET,
    ),
    "a helper of the convention's name that compiles a part": (
        "class Whole(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.net = Net()\n"
        "    def forward(self, x): return self.net(other(x))\n"
        "def regional_compile(model):\n    model.net = torch.compile(model.net)\n    return model\n"
        "def main(x): regional_compile(Whole())(x)",
        NET,
    ),
    "a decorator that is disabled, on what compiled code calls": (
        "@torch.compile(disable=True)\ndef alone(x): return other(x)\n"
        "@torch.compile(disable=True)\ndef inner(x): return helper(x)\n"
        "@torch.compile\ndef step(x): return inner(x)\ndef main(x):\n    step(x)\n    alone(x)",
        {"step", "inner", "helper"},
    ),
    "a name that is evaluated": (
        "def main(x, name='Net'):\n    torch.compile(eval('Net')())(x)\n    Other()(x)",
        NET,
    ),
    "a name that is evaluated with its call": (
        "def main(x):\n    torch.compile(eval(f\"{'Net'}()\"))(x)\n    Other()(x)",
        NET,
    ),
    "a class method that an heir inherits": (
        "class Base(nn.Module):\n    @classmethod\n    def build(cls): return cls()\n"
        "    def forward(self, x): return other(x)\n"
        "class Heir(Base):\n    def forward(self, x): return helper(x)\n"
        "def main(x): torch.compile(Heir.build())(x)",
        {"Heir.forward", "helper"},
    ),
    "a class method that makes another class": (
        "class Base(nn.Module):\n    @classmethod\n    def build(cls): return Net()\n"
        "    def forward(self, x): return other(x)\nclass Heir(Base):\n    pass\n"
        "def main(x): torch.compile(Heir.build())(x)",
        NET,
    ),
}


@NAMED
@pytest.mark.parametrize(("source", "expected"), COMPILERS.values(), ids=COMPILERS)
def test_dynamo_translates_what_is_compiled_under_other_names(
    source: str, expected: set[str], translated: Translated
) -> None:
    assert set(hot(OURS + NETS + source)) == translated(OURS + NETS + source) == expected


@NAMED
@pytest.mark.parametrize(("source", "expected"), BLOCKS.values(), ids=BLOCKS)
def test_dynamo_translates_the_blocks_that_a_class_names(
    source: str, expected: set[str], translated: Translated
) -> None:
    assert translated(source) == expected


RUN = "def main(x):\n    model = Model()\n    train(model)\n    for part in (*model.layers, OtherLayer()): part(x)\n"
GIVEN = {
    "asked of a loaded file": (ITSELF.format(asked="build_net"), {"Net.forward"}),
    "asked of it by another name": (ITSELF.format(asked="build_other"), {"Other.forward"}),
    "given by a property": (GIVING.format(kind="@property", value="fast, self") + RUN, {"Layer.forward"}),
    "another given by it": (GIVING.format(kind="@property", value="slow, self") + RUN, set()),
}


@NAMED
@pytest.mark.parametrize(("source", "expected"), GIVEN.values(), ids=GIVEN)
def test_dynamo_translates_what_a_file_or_a_property_gives(
    source: str, expected: set[str], translated: Translated
) -> None:
    assert translated(source) == expected
    assert {name for name in hot(source) if not name.startswith("OtherLayer")} == expected


def likely(source: str) -> set[str]:
    return {name for name, tier in hot(OURS + NETS + source).items() if tier != "possible"}


@pytest.mark.parametrize(
    "put",
    [
        "object.__setattr__(self, 'other', model)",
        "object.__setattr__(unused, 'model', model)",
        "self.__dict__['other'] = model",
        "unused.__dict__['model'] = model",
        "self.options['model'] = model",
        "self.__dict__.update(other=model)",
        "self.options.update(model=model)",
    ],
)
def test_what_is_kept_under_another_name_or_elsewhere_is_quiet(put: str) -> None:
    assert likely(KEEPING.format(put=put)) == set()


@pytest.mark.parametrize(
    "put",
    [
        "for k, v in given.items(): setattr(self.options, k, v)",
        "for k, v in given.items(): setattr(self, 'other', v)",
        "self.options.update(given)",
        "self.given = given",
        "pass",
    ],
)
def test_keywords_that_are_not_set_on_the_object_are_quiet(put: str) -> None:
    assert likely(SPREAD.format(put=put)) == set()


@pytest.mark.parametrize(
    "source",
    [
        "A = {'net': Net}\nALL = {'other': 1, **{'more': A}}\ndef main(x): torch.compile(ALL['other']())(x)",
        "import sys\ndef main(x): torch.compile(getattr(sys.modules['torch'], 'Net')())(x)",
        "class Models:\n    known = {}\n    @classmethod\n    def add(cls, model): cls.others[0] = model\n"
        "Models.add(Net)" + TABLE.format(table="Models.known"),
        "class Models:\n    known = {}\nclass Apart:\n    known = {}\n    @classmethod\n"
        "    def add(cls, name, model): cls.known[name] = model\nApart.add('net', Net)"
        + TABLE.format(table="Models.known"),
        "class Models(dict):\n    pass\nMODELS, REST = Models(), {}\nREST['net'] = Net"
        + TABLE.format(table="MODELS"),
        "class Maker:\n    def build(self): return Net()\nmake = Maker()\ndef main(x): torch.compile(make())(x)",
        "class Kind:\n    NET = (Net,)\ndef main(x, kind): torch.compile(Kind(kind).value[0]())(x)",
        "nets = nn.ModuleDict({'student': nn.ModuleDict({})})\nnets.student['net'] = Net()\n"
        "def main(x): torch.compile(nets.student.other)(x)",
        "def main(x, nets):\n    nets.student['net'] = Net()\n    torch.compile(nets.net)(x)",
        "import threading\ndef work(model, x): torch.compile(model)(x)\n"
        "def main(x): threading.Thread(target=print, args=(Net(), x)).start()",
        "def work(model): return torch.compile(model)\ndef main(x): list(map(print, [Net()]))",
    ],
)
def test_what_only_looks_like_carrying_is_quiet(source: str) -> None:
    assert likely(source) == set()


def test_a_method_that_others_have_too_is_not_called_by_its_name_alone() -> None:
    apart = "class Apart:\n    def prepare(self, model): return model\n"
    unknown = PREPARING.replace("list[Plugin]", "list").replace("run([Fast()], x)", "run(load(), x)")
    assert likely(unknown) == NET
    assert likely(apart + unknown) == set()


@NAMED
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize(
    ("made", "runs"), [("Block()", False), ("Block(8, 0.0, False)", False), ("Net(0.1, True)", True)]
)
def test_dynamo_translates_what_a_rate_or_a_flag_turns_on(
    test: str, made: str, runs: bool, translated: Translated
) -> None:
    source = RATE.format(test=test, made=made) + "def main(x): net(x)\n"
    assert ("slow" in translated(source)) is runs


def test_a_key_that_is_also_bound_to_what_only_the_run_knows_picks_any_class() -> None:
    assert likely(OPENED) == BOTH
    assert likely(OPENED.replace("said.strip()", "'plain'")) == BOTH
    assert likely(OPENED.replace('kind = "fast"', "pass")) == BOTH
    assert likely(OPENED.replace("said.strip()", "'plain'").replace('kind = "fast"', "pass")) == NET


def test_a_key_may_be_worked_out_of_itself() -> None:
    chain = "NEXT = {'plain': 'fast', 'fast': 'plain'}\n"
    itself = OPENED.replace("kind = said.strip()", "kind = 'plain'\n    kind = NEXT[kind]")
    assert likely(chain + itself.replace('kind = "fast"', "pass")) == BOTH


@pytest.mark.parametrize(("count", "found"), [(5, 5), (60, 0)])
def test_a_closure_around_any_of_very_many_functions_says_nothing_of_each(count: int, found: int) -> None:
    logged = "def logged(fn):\n    def around(x): return fn(x)\n    return around\n"
    many = "".join(f"def run{i}(x): return x + {i}\n" for i in range(count))
    use = f"ALL = [{', '.join(f'logged(run{i})' for i in range(count))}]\n"
    use += "class Runs(nn.Module):\n    def forward(self, x, i): return ALL[i](x)\nfast = torch.compile(Runs())\n"
    assert len([name for name in likely(logged + many + use) if name.startswith("run")]) == found


def test_of_functions_a_key_picks_those_that_it_is_known_to_name() -> None:
    functions = OPENED.replace('"plain": Net, "fast": Other', '"plain": helper, "fast": other')
    functions = functions.replace("LAYERS[kind]()", "LAYERS[kind]")
    assert likely(functions) == {"other"}
    assert likely(functions.replace('kind = "fast"', 'kind = "plain"')) == {"helper"}


def test_what_many_families_in_a_table_hold_is_not_mixed() -> None:
    families = "".join(f"class F{i}:\n    def __init__(self): self.net = Net()\n" for i in range(12))
    table = "class Families:\n    known = {}\n    @classmethod\n    def add(cls, family): cls.known[family.__name__] = family\n"
    use = "def main(x, name): torch.compile(Families.known[name]().net)(x)\n"
    added = "".join(f"Families.add(F{i})\n" for i in range(12))
    assert likely(families + table + added + use) == set()
    assert likely(families + table + added.partition("\n")[0] + "\n" + use) == NET


INHERITED = """
class Base(nn.Module):
    @torch.compile
    def forward(self, x): return self.scaled(x)
    def scaled(self, x): return x
    def outside(self, x): return other(x)
class Heir(Base):
    def scaled(self, x): return helper(x)
"""


@NAMED
def test_dynamo_translates_what_a_decorated_method_runs_of_heirs_that_inherit_it(
    translated: Translated,
) -> None:
    source = f"{INHERITED}def main(x):\n    Base()(x)\n    Heir()(x)\n"
    expected = {"Base.forward", "Base.scaled", "Heir.scaled", "helper"}
    assert set(hot(OURS + source)) == translated(OURS + source) == expected


@pytest.mark.parametrize("override", ["return helper(x)", "return self.outside(x)"])
def test_what_an_heir_has_beside_a_decorated_method_that_it_overrides_is_quiet(override: str) -> None:
    source = INHERITED.replace(
        "class Heir(Base):", f"class Heir(Base):\n    def forward(self, x): {override}"
    )
    assert likely(source) == {"Base.forward", "Base.scaled"}


def test_an_heir_that_calls_the_decorated_method_by_super_runs_it_for_itself() -> None:
    call = "class Heir(Base):\n    def forward(self, x): return super().forward(x)"
    assert likely(INHERITED.replace("class Heir(Base):", call)) >= {"Base.forward", "Heir.scaled", "helper"}
