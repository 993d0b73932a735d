"""How much is asked to find regions, counted and not timed: a rule that finds more must not ask for all."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from dynamo_lint.index.ir import MODULE_KEY, Name
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Regions
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.values.model import EMPTY, Context
from dynamo_lint.values.points_to import evaluate, glimpse, points_to_of
from dynamo_lint.values.solver import Solver
from tests.programs import facts_of
from tests.truths import FOLDER

SETTLED = """
from other import Part as Renamed
class Part: pass
class Twice: pass
Twice = wrap(Twice)
"""
CONFIGURED = """
class Config:
    def __init__(self, **rest):
        for key, value in rest.items():
            setattr(self, key, value)
        self.kind = rest.pop("kind", None)
        self.block = rest.pop("block", None)
class Block(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.block = config.block
    def forward(self, x): return self.block(x)
compiled = torch.compile(Model(Config(block=Block())))
"""
COLD = """
class Part{i}:
    def __init__(self, size): self.size = size
class Config{i}(Config):
    def __init__(self, size, **rest):
        self.part = Part{i}(size)
        super().__init__(kind=self.part, size=size, **rest)
class Use{i}:
    def __init__(self, config: Config{i}): self.config = config
    def run(self): return self.config.kind
"""
OUTPUT = """
class Output:
    def __init__(self, *parts):
        for part in parts:
            part.check()
class Part:
    def check(self): return self
"""
HEIR = """
class Output{i}(Output):
    pass
@torch.compile
def step{i}(x): return Output{i}(Part(), x)
"""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str], str], tuple[int, Regions]]:
    """How many different questions it takes to resolve some files, and what is found."""

    def count(files: dict[str, str], assume: str = "none") -> tuple[int, Regions]:
        keys: set[object] = set()
        ask = Solver.ask

        def noted(self: Solver, key: object, *rest: object) -> object:
            keys.add((id(self), key))  # an answer that is known costs next to nothing
            return ask(self, key, *rest)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(Solver, "ask", noted)
            _, regions = resolve(facts_of(files), RegionOptions(assume=assume))
        return len(keys), regions

    return count


Asked = Callable[..., tuple[int, Regions]]


def test_a_hot_function_takes_a_bounded_number_of_questions(asked: Asked) -> None:
    files = {}
    for path in sorted(FOLDER.glob("*.py")):
        if path.stem == "entries":
            continue  # beside methods called `compile` each `.compile()` of all these programs may run one
        shared, *programs = re.split(r"(?m)^(?=# %% )", path.read_text())
        files |= {f"{path.stem}_{number}.py": shared + one for number, one in enumerate(programs)}
    questions, regions = asked(files, "modules")
    hot = {one.function for one in regions.hot}
    assert len(hot) > 1000
    assert questions <= 3.2 * len(hot)


def test_cold_heirs_of_a_class_that_takes_anything_cost_next_to_nothing(asked: Asked) -> None:
    few, alone = asked({"m.py": CONFIGURED})
    many, beside = asked({"m.py": CONFIGURED + "".join(COLD.format(i=i) for i in range(10))})
    names = [{one.function.key for one in regions.hot} for regions in (alone, beside)]
    assert names[0] == names[1] == {"Model.forward", "Block.forward"}
    assert many - few <= 120


def test_what_a_base_is_given_is_asked_once_for_all_its_heirs(asked: Asked) -> None:
    few, _ = asked({"m.py": OUTPUT + "".join(HEIR.format(i=i) for i in range(5))})
    many, regions = asked({"m.py": OUTPUT + "".join(HEIR.format(i=i) for i in range(40))})
    assert "Part.check" in {one.function.key for one in regions.hot}
    assert many <= 8 * few * 1.2


REPLACED = """
class Quick(nn.Module):
    def forward(self, x): return x
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        {parts}
class Model(Base):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 2)
    def forward(self, x): return self.head(x)
def replace(model: Base):
    for name, part in model.named_modules():
        if isinstance(part, nn.Linear):
            model.set_submodule(name, Quick())
compiled = torch.compile(Model())
"""


def test_the_base_of_many_models_is_not_searched_for_what_is_replaced_in_them(asked: Asked) -> None:
    heirs = "".join(f"class Model{i}(Base): ...\n" for i in range(9))
    parts = [f"self.part{i} = make(kind{i})" for i in range(40)]
    few, alone = asked({"m.py": REPLACED.format(parts="pass") + heirs})
    many, beside = asked({"m.py": REPLACED.format(parts="\n        ".join(parts)) + heirs})
    names = [{one.function.key for one in regions.hot} for regions in (alone, beside)]
    assert names[0] == names[1] == {"Model.forward", "Quick.forward"}
    assert many - few <= 40


def test_a_hot_function_is_found_in_a_table_without_a_look_at_its_chain() -> None:
    class Step:
        __hash__ = None  # type: ignore[assignment]

    one = CompiledFunction(FunctionRef("m.py", "f"), None, Confidence.CERTAIN, (0,), (Step(),))  # type: ignore[arg-type]
    assert {one: "found"}[one] == "found"


CHOSEN = """
class Block{i}(nn.Module):
    def forward(self, x): return x
class Model{i}(nn.Module):
    conditions = [lambda n, m: "blocks" in n and n.split(".")[-1].isdigit()]
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block{i}() for _ in range(3)])
    def forward(self, x): return x
"""
APPLY = """
def apply(model: nn.Module):
    for name, part in model.named_modules():
        if any(one(name, part) for one in model.conditions):
            part.forward = torch.compile(part.forward)
"""


def test_what_classes_say_of_their_modules_is_asked_once_for_each_of_them(asked: Asked) -> None:
    few, _ = asked({"m.py": "".join(CHOSEN.format(i=i) for i in range(5)) + APPLY})
    many, regions = asked({"m.py": "".join(CHOSEN.format(i=i) for i in range(40)) + APPLY})
    assert {one.function.key for one in regions.hot} == {f"Block{i}.forward" for i in range(40)}
    assert many <= 8 * few * 1.2


@pytest.mark.parametrize(("name", "known"), [("Part", True), ("Renamed", True), ("Twice", False)])
def test_a_name_that_definitions_alone_bind_is_known_however_little_may_be_asked(
    name: str, known: bool
) -> None:
    project, _ = resolve(facts_of({"m.py": SETTLED, "other.py": "class Part: pass"}), RegionOptions())
    ev, scope = points_to_of(project), Context(FunctionRef("m.py", MODULE_KEY))
    found = ev.ask_within("one question", lambda: ev.value(Name(name), scope), EMPTY, within=1)
    assert bool(found) is known


@pytest.mark.parametrize(("helpers", "seen"), [(1, True), (10, False)])
def test_a_glimpse_sees_through_a_helper_but_not_through_ten(helpers: int, seen: bool) -> None:
    chain = "".join(f"def give{i}(): return give{i + 1}()\n" for i in range(helpers))
    source = f"{chain}def give{helpers}(): return Part()\nclass Part: pass\npart = give0()\n"
    project, _ = resolve(facts_of({"m.py": source}), RegionOptions())
    part, scope = Name("part"), Context(FunctionRef("m.py", MODULE_KEY))
    assert bool(glimpse(project, part, scope)) is seen
    assert evaluate(project, part, scope), "it is there for who has the time"
