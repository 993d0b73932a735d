"""Regions: which modules of a loop are compiled, told by tests of their names and classes."""

from __future__ import annotations

import pytest

from tests.programs import hot

TREE = """
class Attn(nn.Module):
    def forward(self, x): return x
class MLP(nn.Module):
    def forward(self, x): return x
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn, self.mlp = Attn(), MLP()
    def forward(self, x): return self.mlp(self.attn(x))
class Head(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(n)])
        self.head = Head()
    def forward(self, x): return self.head(x)
"""
BLOCK = {"Block.forward", "Attn.forward", "MLP.forward"}
PARTS = {"Attn.forward", "Head.forward"}


def found(source: str) -> set[str]:
    """What is likely or certain in a program with that tree of modules."""
    return {name for name, tier in hot(TREE + source).items() if tier != "assumed"}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('"blocks" in name and name.split(".")[-1].isdigit()', BLOCK),
        ('"blocks" in name and str.isdigit(name.split(".")[-1])', BLOCK),
        ('name.endswith("mlp")', {"MLP.forward"}),
        ('name.startswith("head")', {"Head.forward"}),
        ('name.rsplit(".", 1)[-1] == "attn"', {"Attn.forward"}),
        ('name == "blocks.0.mlp"', {"MLP.forward"}),
        ('any(word in name for word in ["attn", "head"])', PARTS),
        ("any(name.endswith(word) for word in NAMES)", PARTS),
        ('re.match(r"^blocks\\.\\d+$", name)', BLOCK),
        ("PATTERN.fullmatch(name)", BLOCK),
        ('fnmatch.fnmatch(name, "*.attn")', {"Attn.forward"}),
        ('type(part).__name__.endswith("Block")', BLOCK),
        ('"Block" in part.__class__.__name__', BLOCK),
        ("type(part).__name__ in CLASSES", BLOCK),
        ("is_block(name, part)", BLOCK),
        ("is_attention(part)", {"Attn.forward"}),
        ('name and not name.startswith("blocks")', {"Head.forward"}),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        "for name, part in model.named_modules():\n    if {}:\n        part.compile()",
        "for name, part in list(model.named_modules()):\n    if not ({}):\n        continue\n    part.compile()",
        "[part.compile() for name, part in model.named_modules() if {}]",
        "for i, (name, part) in enumerate(model.named_modules()):\n"
        "    if {}:\n        part.forward = torch.compile(part.forward)",
    ],
)
def test_a_test_of_a_name_or_class_chooses_among_modules(loop: str, test: str, expected: set[str]) -> None:
    helpers = """
import re, fnmatch
NAMES = ("attn", "head")
CLASSES = {"Block"}
PATTERN = re.compile(r"blocks\\.\\d+")
def is_block(n, m):
    last = n.split(".")[-1]
    if not last.isdigit():
        return False
    return "blocks" in n
def is_attention(m): return isinstance(m, Attn)
model = Model()
"""
    assert found(helpers + loop.format(test)) == expected


@pytest.mark.parametrize(
    "test",
    [
        'name == "tail"',
        'name.endswith("block")',
        '"Mixer" in type(part).__name__',
        "name.isdigit()",
        "never(name)",
    ],
)
def test_what_no_module_is_called_chooses_none(test: str) -> None:
    never = 'def never(n): return n == "x"\nmodel = Model()\n'
    assert (
        found(f"{never}for name, part in model.named_modules():\n    if {test}:\n        part.compile()")
        == set()
    )


@pytest.mark.parametrize("test", ["name in settings.parts", "wanted(name, part)", "settings.test(part)"])
def test_a_test_that_only_the_run_can_answer_is_no_evidence_for_one_of_several_modules(test: str) -> None:
    code = (
        f"model = Model()\nfor name, part in model.named_modules():\n    if {test}:\n        part.compile()"
    )
    assert found(code) == set()
    code = f"model = Model()\nfor name, part in model.blocks.named_children():\n    if {test}:\n        part.compile()"
    assert found(code) == BLOCK  # there is nothing else that it may choose


CONDITIONS = """
def is_block(n, m): return "blocks" in n and str.isdigit(n.split(".")[-1])
class Chosen(Model):
    conditions = [is_block]
class Other(Model):
    conditions = [lambda n, m: isinstance(m, Head)]
class Silent(Model):
    conditions = []
"""
APPLY = """
def apply(model: nn.Module):
    conditions = getattr(model, "conditions", None)
    for name, part in model.named_modules():
        if any(one(name, part) for one in conditions):
            part.forward = torch.compile(part.forward)
"""


@pytest.mark.parametrize(
    "apply",
    [
        APPLY,
        APPLY.replace("in conditions", "in model.conditions"),
        APPLY.replace(
            "any(one(name, part) for one in conditions)", "any([one(name, part) for one in conditions])"
        ),
        APPLY.replace("(model: nn.Module)", "(model)"),
    ],
)
def test_each_class_says_by_its_own_conditions_what_of_it_is_compiled(apply: str) -> None:
    assert found(CONDITIONS + apply) == BLOCK | {"Head.forward"}


def test_conditions_may_stand_in_the_configuration_of_a_class() -> None:
    config = """
from dataclasses import dataclass, field
@dataclass
class Config:
    conditions: list = field(default_factory=lambda: [lambda n, m: n.endswith("mlp")])
class Configured(Model):
    conditions = Config().conditions
"""
    assert found(config + APPLY) == {"MLP.forward"}


def test_a_list_of_class_names_chooses_below_the_class_that_has_it() -> None:
    names = 'class Named(Model):\n    repeated = ["Block"]\n'
    apply = """
def apply(model):
    repeated = getattr(model, "repeated", None)
    for part in model.modules():
        if part.__class__.__name__ in repeated:
            part.compile()
"""
    assert found(names + apply) == BLOCK


@pytest.mark.parametrize(
    "apply",
    [
        APPLY.replace('"conditions"', '"rules"'),
        APPLY.replace("torch.compile(part.forward)", "checked(part.forward)"),
        APPLY.replace("part.forward = torch.compile(part.forward)", "part.is_chosen = True"),
    ],
)
def test_conditions_that_nothing_compiles_by_compile_nothing(apply: str) -> None:
    assert found(CONDITIONS + apply) == set()


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "a?" * 40 + "a" * 40, ".*" * 12 + "b"])
def test_a_pattern_that_matches_for_ages_is_not_tried(pattern: str) -> None:
    source = f"""
class Part(nn.Module):
    def forward(self, x): return x
class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.{"a" * 60}c = Part()
def prepare(model: Whole):
    for name, part in model.named_modules():
        if re.match({pattern!r}, name):
            part.compile()
"""
    assert "Part.forward" not in found(source)


def test_a_loop_over_a_table_of_the_file_chooses_no_module_that_somebody_hands_in() -> None:
    source = """
    TABLE = {}
    def run(model, key):
        for name, part in TABLE.items():
            if is_wanted(part, key):
                part.compile()
                return torch.compile(part)
    """
    assert hot(source) == {}


ROWS = """
from dataclasses import dataclass
class Plain(nn.Module):
    def forward(self, x): return x
class Gated(nn.Module):
    def forward(self, x): return x
ROWS = {{"plain": Plain, "gated": Gated}}
@dataclass
class Config:
    dim: int
    row: str = "plain"
class Net(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.row = ROWS[config.row]()
    def forward(self, x): return self.row(x)
net = torch.compile(Net(Config({given})))
"""


@pytest.mark.parametrize("given", ["8, row=args.row", "8, args.row"])
def test_a_field_that_is_passed_what_only_the_run_knows_may_be_any_key_of_a_table(given: str) -> None:
    assert set(hot(ROWS.format(given=given))) == {"Net.forward", "Plain.forward", "Gated.forward"}


@pytest.mark.parametrize("given", ["8", 'dim=args.dim, row="plain"'])
def test_a_field_that_is_known_picks_its_row(given: str) -> None:
    assert set(hot(ROWS.format(given=given))) == {"Net.forward", "Plain.forward"}


PARTLY = """
class Plain(nn.Module):
    def forward(self, x): return x
class Gated(nn.Module):
    def forward(self, x): return x
ROWS = {{"plain": Plain, "gated": Gated}}
def build(config):
    kind = {kind}
    return ROWS[kind]()
net = torch.compile(build(load()))
"""


def test_a_key_that_is_known_in_part_may_be_any_of_a_table() -> None:
    found = hot(PARTLY.format(kind='"gated" if config.fed else config.kind'))
    assert set(found) == {"Plain.forward", "Gated.forward"}


@pytest.mark.parametrize(
    "kind", ['"gated" if config.fed else "gated"', '"gated" if config.fed else None', '"gated"']
)
def test_a_key_that_is_known_picks_its_row(kind: str) -> None:
    assert set(hot(PARTLY.format(kind=kind))) == {"Gated.forward"}
