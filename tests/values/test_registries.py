"""Registries of the project: what is registered is what comes out, as one choice or as a library of many."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_MODEL

# --- tables and registries that are one choice ----------------------------------------------------------

MANY = 12
MODELS = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(MANY))
ALL = {f"M{i}.forward" for i in range(MANY)}
TABLE = "R = {" + ", ".join(f"'m{i}': M{i}" for i in range(MANY)) + "}\n"
ROWS = "R = (" + ", ".join(f"('m{i}', M{i})" for i in range(MANY)) + ")\n"
TRAINER = """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.fast = torch.compile(self.model)
"""


def found(source: str) -> set[str]:
    """What is likely or certain."""
    return {name for name, tier in hot(source).items() if tier != "possible"}


def others(count: int) -> str:
    """Models that other places put into the slot."""
    return "".join(
        f"class O{i}(nn.Module):\n    def forward(self, x): return x\ndef f{i}(): Trainer(O{i}())\n"
        for i in range(count)
    )


FACTORY = "def build(name):\n" + "".join(f"    if name == 'm{i}': return M{i}()\n" for i in range(MANY))
DECORATED = """
R = {}
def register(name):
    def put(cls):
        R[name] = cls
        return cls
    return put
""" + "".join(
    f"@register('m{i}')\nclass M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in range(MANY)
)


@pytest.mark.parametrize(
    "source",
    [
        MODELS + TABLE + TRAINER + "Trainer(R[cfg.name]())",
        MODELS + TABLE + TRAINER + "def build(cfg): return R.get(cfg.name)()\nTrainer(build(cfg))",
        MODELS + ROWS + TRAINER + "R2 = {name: cls for name, cls in R}\nTrainer(R2[cfg.name]())",
        MODELS + FACTORY + TRAINER + "Trainer(build(cfg.name))",
        DECORATED + TRAINER + "Trainer(R[cfg.name]())",
        DECORATED
        + TRAINER
        + "def build(cfg):\n    cls = R.get(cfg.name)\n    return cls()\nTrainer(build(cfg))",
    ],
)
def test_what_one_place_names_is_one_choice_however_many_classes_there_are(source: str) -> None:
    assert found(source) == ALL


def test_few_others_beside_what_one_place_names_leave_it_one_choice() -> None:
    source = MODELS + FACTORY + TRAINER + others(2) + "Trainer(build(cfg.name))"
    assert found(source) == ALL | {"O0.forward", "O1.forward"}


@pytest.mark.parametrize(
    "source",
    [
        MODELS + TRAINER + "".join(f"def f{i}(): Trainer(M{i}())\n" for i in range(MANY)),
        MODELS + TRAINER + "".join(f"K{i} = M{i}\nTrainer(K{i}())\n" for i in range(MANY)).replace("K", "k"),
        MODELS + FACTORY + TRAINER + others(MANY) + "Trainer(build(cfg.name))",
    ],
)
def test_a_slot_that_unrelated_places_fill_is_still_only_assumed(source: str) -> None:
    assert found(source) == set()


ENTER = "R = {}\ndef register(name, made): R[name] = made\n"
BY_CLASS = MODELS + ENTER + "".join(f"register('m{i}', M{i})\n" for i in range(MANY))
BY_MAKER = (
    MODELS + ENTER + "".join(f"def m{i}(): return M{i}()\nregister('m{i}', m{i})\n" for i in range(MANY))
)


@pytest.mark.parametrize("models", [BY_CLASS, BY_MAKER])
@pytest.mark.parametrize(
    "use",
    [
        "Trainer(R[cfg.name]())",
        "Trainer(R.get(cfg.name)())",
        "def build(name):\n    make = R.get(name)\n    return make()\nTrainer(build(cfg.name))",
        "def build(name):\n    if name not in R: raise KeyError\n    make = R[name]\n    return make()\n"
        "net = build(cfg.name)\nTrainer(net)",
    ],
)
def test_what_calls_put_into_a_table_is_one_choice_where_it_is_called_out_of_it(
    models: str, use: str
) -> None:
    assert found(models + TRAINER + use) == ALL


@pytest.mark.parametrize(
    "use",
    [
        "def build(make): return make()\n" + "".join(f"Trainer(build(m{i}))\n" for i in range(MANY)),
        "".join(f"Trainer(m{i}())\n" for i in range(MANY)),
        "class Spec:\n    def __init__(self, make): self.make = make\n"
        + "".join(f"s{i} = Spec(m{i})\n" for i in range(MANY))
        + "Trainer(cfg.spec.make())",
        "def build(make):\n    run = make\n    return run()\n"
        + "".join(f"Trainer(build(m{i}))\n" for i in range(MANY)),
    ],
)
def test_makers_that_many_places_pass_are_no_choice(use: str) -> None:
    makers = MODELS + "".join(f"def m{i}(): return M{i}()\n" for i in range(MANY))
    assert found(makers + TRAINER + use) == set()


REGISTRY = """
class Registry:
    def __init__(self, name):
        self.kept = {}
    def register(self):
        def put(made):
            self.kept[made.__name__] = made
            return made
        return put
    def get(self, name):
        return self.kept.get(name)
NETS = Registry("nets")
LOSSES = Registry("losses")
"""
LOSS = "@LOSSES.register()\nclass Loss(nn.Module):\n    def forward(self, x): return x\n"
ENROLLED = REGISTRY + MODELS.replace("class", "@NETS.register()\nclass") + LOSS
FACTORIES = (
    REGISTRY + MODELS + "".join(f"@NETS.register()\ndef m{i}(): return M{i}()\n" for i in range(MANY)) + LOSS
)


@pytest.mark.parametrize("models", [ENROLLED, FACTORIES])
def test_a_registry_of_the_project_holds_what_it_was_given_itself_and_is_one_choice(models: str) -> None:
    assert found(models + TRAINER + "Trainer(NETS.get(cfg.name)())") == ALL
    assert found(models + TRAINER + "Trainer(LOSSES.get(cfg.name)())") == {"Loss.forward"}


@pytest.mark.parametrize(
    "use",
    [
        "NETS.get(cfg.name)()",  # nobody keeps it
        "Trainer(other.get(cfg.name)())",
        "Trainer(NETS.put(cfg.name)())",
        "".join(f"def f{i}(): Trainer(M{i}())\n" for i in range(MANY)) + "Trainer(LOSSES.get(cfg.name)())",
    ],
)
def test_what_a_registry_of_the_project_holds_is_only_what_comes_out_of_it(use: str) -> None:
    assert not ALL & found(FACTORIES + TRAINER + use)


def test_what_a_test_registers_is_for_tests() -> None:
    test = "from nets import NETS\n@NETS.register()\nclass Fake(nn.Module):\n    def forward(self, x): return x\n"
    use = TRAINER + "Trainer(NETS.get(cfg.name)())"
    files = {"nets.py": ENROLLED, "main.py": "from nets import NETS\n" + use}
    assert {name.partition("::")[0] for name in hot({**files, "tests/test_nets.py": test})} == {"nets.py"}
    assert "tests/test_nets.py::Fake.forward" in hot({**files, "tests/test_nets.py": test + use})


def test_a_table_of_more_models_than_anybody_picks_from_is_a_library() -> None:
    many = range(65)
    models = "".join(f"class M{i}(nn.Module):\n    def forward(self, x): return x\n" for i in many)
    table = "R = {" + ", ".join(f"'m{i}': M{i}" for i in many) + "}\n"
    assert found(models + table + TRAINER + "Trainer(R[cfg.name]())") == set()


PAIR = """
@{0}
class A(nn.Module):
    def forward(self, x): return x
@{1}
class B(nn.Module):
    def forward(self, x): return x
"""
LIBRARY = "from mmengine.registry import Registry\nMODELS = Registry('model')\nLOSSES = Registry('loss')\n"
NETS = """
class A(nn.Module):
    def forward(self, x): return x
class B(nn.Module):
    def forward(self, x): return x
class Loss(nn.Module):
    def forward(self, x): return x
"""
OWN_REGISTRY = (
    NETS
    + """
import catalogue
from functools import partial
class Registry(catalogue.Registry):
    def get(self, name): return super().get(name)
class Table:
    def register(self, name, func): ...
    def get(self, name): ...
def create(*names): return {made}(names)
def build(name, registry: Registry, bare=True, **kwargs):
    one = registry.get(name)
    if isinstance(one, type) or callable(one) and not bare: return one(**kwargs)
    return partial(one, **kwargs)
def make_b(): return B()
def act(x): return x
def model_for(name): return build(name, registry={asked}, bare=False)
MODELS = create("models")
LOSSES = create("losses")
OTHERS = create("others")
MODELS.register("a", func=A)
MODELS.register("b", func=make_b)
LOSSES.register("loss", func=Loss)
LOSSES.register("act", func=act)
compiled = torch.compile(model_for(cfg.name))
"""
)


@pytest.mark.parametrize(
    ("made", "asked", "expected"),
    [
        ("Registry", "MODELS", {"A.forward", "B.forward"}),
        ("Registry", "LOSSES", {"Loss.forward", "act"}),
        ("catalogue.Registry", "MODELS", {"A.forward", "B.forward"}),
        ("Registry", "OTHERS", set()),
        ("Registry", "UNKNOWN", set()),
        ("Registry", "(MODELS, LOSSES)", set()),
        ("Table", "MODELS", set()),
        ("Table", "OTHERS", set()),
    ],
)
def test_a_registry_that_a_helper_makes_holds_what_it_is_given_itself(
    made: str, asked: str, expected: set[str]
) -> None:
    assert found(OWN_REGISTRY.replace("{made}", made).replace("{asked}", asked)) == expected


@pytest.mark.parametrize(
    "model", ["LOSSES.build(cfg)", "MODELS.describe(cfg)", "OTHER.build(cfg)", "self.MODELS.build(cfg)"]
)
def test_other_registries_and_other_methods_build_nothing_that_is_registered_here(model: str) -> None:
    code = LIBRARY + PAIR.format("MODELS.register_module()", "MODELS.register_module()")
    assert found(f"{code}torch.compile({model})") == set()


# --- decorators -----------------------------------------------------------------------------------------

REGISTRY_OF_DECORATORS = """
REGISTRY = {}
def register(name):
    def add(cls):
        REGISTRY[name] = cls
        return cls
    return add
@register("first")
class First(nn.Module):
    def forward(self, x): return helper(x)
class Second(nn.Module):
    def forward(self, x): return cold(x)
def build(name): return REGISTRY[name]()
"""


def test_a_registry_holds_what_its_decorator_registers() -> None:
    assert hot(SMALL_MODEL + REGISTRY_OF_DECORATORS + "build('first').compile()") == {
        "First.forward": "likely",
        "helper": "likely",
    }


def test_a_local_dictionary_of_the_same_name_is_no_registry() -> None:
    local = REGISTRY_OF_DECORATORS.replace("    def add(cls):", "    REGISTRY = {}\n    def add(cls):")
    assert hot(SMALL_MODEL + local + "build('first').compile()") == {}


def likely(source: str) -> set[str]:
    return {name for name, tier in hot(source).items() if tier != "possible"}


# --- who is registered beside ---------------------------------------------------------------------------

CELLS = """
import sys
KNOWN = {{}}
def register(kind):
    def enter(cls):
        KNOWN[kind] = cls
        return cls
    return enter
class Cell(nn.Module): pass
{registered}
{beside}
class Block(nn.Module):
    def __init__(self, cell: Cell):
        super().__init__()
        self.cell = cell
    def forward(self, x): return self.cell(x)
def build(kind): return Block(KNOWN[kind]())
{made}
fast = torch.compile(build(sys.argv[1]))
"""


def cells(registered: int, beside: int) -> set[str]:
    """What is likely compiled where so many cells are registered, and so many made beside."""
    enter = "@register('{0}')\n"
    body = "class {0}(Cell):\n    def forward(self, x): return x\n"
    return likely(
        CELLS.format(
            registered="".join((enter + body).format(f"r{n}") for n in range(registered)),
            beside="".join(body.format(f"b{n}") for n in range(beside)),
            made="".join(f"Block(b{n}())\n" for n in range(beside)),
        )
    )


def test_one_beside_many_that_are_registered_is_one_of_them() -> None:
    assert {*(f"r{n}.forward" for n in range(8)), "b0.forward"} <= cells(8, 1)


def test_as_many_beside_as_are_registered_make_a_slot_for_anything() -> None:
    assert not {name for name in cells(6, 6) if name.startswith("b")}


REGISTERED = """
KNOWN = {}
def register(kind):
    def enter(cls):
        KNOWN[kind] = cls
        return cls
    return enter
@register("first")
class First(nn.Module):
    def forward(self, x): return x
@register("second")
class Second(nn.Module):
    def forward(self, x): return x
def build(kind, **options): return KNOWN[kind](**options)
"""


@pytest.mark.parametrize("made", ['KNOWN["first"]()', 'build("first")', 'build("first", wide=True)'])
def test_a_text_that_a_decorator_registers_a_class_under_names_it_alone(made: str) -> None:
    assert hot(REGISTERED + f"fast = torch.compile({made})").keys() == {"First.forward"}


def test_a_key_that_only_the_run_knows_may_name_each_class_that_is_registered() -> None:
    made = "import sys\nfast = torch.compile(build(sys.argv[1]))"
    assert hot(REGISTERED + made).keys() == {"First.forward", "Second.forward"}
