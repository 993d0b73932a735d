"""Selection: which modules a test of names, classes and keys chooses in a loop."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_BLOCK, SMALL_WHOLE, names_with_model

# --- names and classes ----------------------------------------------------------------------------------

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
    return {name for name, tier in hot(TREE + source).items() if tier != "possible"}


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


# --- blocks that the class of a model names -------------------------------------------------------------

NETS = """
import types
class TextLayer(nn.Module):
    def forward(self, x): return x * 2
class ImageTower(nn.Module):
    def forward(self, x): return x + 1
class Model(nn.Module):
    blocks = ["TextLayer", "ImageTower"]
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([TextLayer(), TextLayer()])
        self.tower = ImageTower()
    def forward(self, x): return self.layers[0](self.tower(x))
class Whole(nn.Module):
    def forward(self, x): return x - 1
"""
NAMES = """
def names_of(model):
    names = getattr(model, "blocks", None) or getattr(type(model), "blocks", None)
    if names is None: return set()
    return {name for name in names if isinstance(name, str) and name.endswith("Layer")}
def is_block(module, names=None):
    if names is None: names = names_of(module)
    return type(module).__name__ in names
"""
APPLY_OF_BLOCKS = """
def apply(model: nn.Module):
    names = names_of(model)
    for _, module in model.named_modules():
        if not is_block(module, names): continue
        forward = module.forward
        module.forward = types.MethodType(torch.compile(forward.__func__), module)
"""
EACH = """
def apply(pipeline):
    for name in pipeline.models:
        model = getattr(pipeline, name, None)
        blocks = getattr(model, "blocks", None)
        if {test}:
            for module in model.modules():
                if module.__class__.__name__ in blocks: module.compile()
        else:
            model.compile()
class Pipeline:
    models = ["first", "second"]
    def __init__(self):
        self.first, self.second = Model(), Whole()
    def prepare(self): apply(self)
"""
BLOCKS = {"TextLayer.forward", "ImageTower.forward"}
MODEL = "\ndef main(x):\n    model = Model()\n    apply(model)\n    model(x)\n"
PIPELINE = (
    "\ndef main(x):\n    pipeline = Pipeline()\n    pipeline.prepare()\n"
    "    pipeline.first(x)\n    pipeline.second(x)\n"
)
PROGRAMS = {
    "names that a helper selects, and another looks for": (
        NETS + NAMES + APPLY_OF_BLOCKS + MODEL,
        {"TextLayer.forward"},
    ),
    "blocks where there are some, else the whole": (
        NETS + EACH.format(test="blocks is not None") + PIPELINE,
        {*BLOCKS, "Whole.forward"},
    ),
    "the same asked for truth": (NETS + EACH.format(test="blocks") + PIPELINE, {*BLOCKS, "Whole.forward"}),
}


def likely(source: str | dict[str, str]) -> set[str]:
    return {name for name, tier in hot(source).items() if tier != "possible"}


@pytest.mark.parametrize(("source", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_blocks_are_chosen_as_their_class_names_them(source: str, expected: set[str]) -> None:
    assert likely(source) == expected


def test_the_class_tells_also_of_a_model_that_nobody_can_see() -> None:
    assert likely(NETS + NAMES + APPLY_OF_BLOCKS + "apply(load())\n") == {"TextLayer.forward"}


def test_what_only_a_test_hands_in_is_not_all_there_is() -> None:
    files = {
        "nets.py": NETS,
        "apply.py": "import types\n" + NAMES + APPLY_OF_BLOCKS,
        "tests/test_apply.py": (
            "from apply import apply\nclass ToyLayer(nn.Module):\n    def forward(self, x): return x\n"
            "class Toy(nn.Module):\n    blocks = ['ToyLayer']\n    def __init__(self):\n"
            "        super().__init__()\n        self.layer = ToyLayer()\n"
            "def test_it():\n    apply(Toy())\n"
        ),
    }
    assert "nets.py::TextLayer.forward" in likely(files)


@pytest.mark.parametrize(
    "change",
    [
        ('"blocks", None) or', '"others", None) or'),  # another attribute comes first
        ('name.endswith("Layer")', 'name.endswith("Block")'),  # no name is left
        ('name.endswith("Layer")', "name in known()"),  # nobody knows which
        ("type(module).__name__ in names", "type(module).__name__ in other(names)"),
        ("    names = names_of(model)\n", "    names = names_of(other(model))\n"),
    ],
)
def test_names_that_are_others_or_unknown_choose_nothing_of_a_model_nobody_sees(
    change: tuple[str, str],
) -> None:
    source = NAMES + APPLY_OF_BLOCKS
    assert change[0] in source
    changed = NETS.replace("blocks =", "kinds =") if "others" in change[1] else NETS
    assert likely(changed + source.replace(*change) + "apply(load())\n") == set()


def test_names_that_a_method_sets_are_not_those_of_the_class() -> None:
    setting = NETS.replace(
        "super().__init__()\n        self.layers",
        "super().__init__()\n        self.blocks = load()\n        self.layers",
    )
    assert setting != NETS
    assert likely(setting + NAMES + APPLY_OF_BLOCKS + "apply(load())\n") == set()


@pytest.mark.parametrize("literal", ["None", "[]", "load()", "[*load()]", "[name for name in load()]"])
def test_a_model_whose_blocks_are_none_or_unknown_may_be_compiled_whole(literal: str) -> None:
    nets = NETS.replace('["TextLayer", "ImageTower"]', literal)
    found = likely(nets + EACH.format(test="blocks") + "Pipeline().prepare()\n")
    assert {"Model.forward", "Whole.forward"} <= found


def test_a_test_of_something_else_leaves_both_ways_open() -> None:
    source = NETS + EACH.format(test="blocks is not Whole") + "Pipeline().prepare()\n"
    assert {"Model.forward", "Whole.forward"} <= likely(source)


@pytest.mark.parametrize("shown", ["isinstance(module, TextLayer)", "hasattr(module, 'mixed')"])
def test_what_another_test_leaves_out_stays_out_of_what_a_class_names(shown: str) -> None:
    nets = NETS.replace("class TextLayer(nn.Module):\n", "class TextLayer(nn.Module):\n    mixed = True\n")
    left_out = EACH.format(test="blocks").replace(
        "                if module.__class__",
        f"                if {shown}: continue\n                if module.__class__",
    )
    assert left_out.count("continue") == 1
    found = likely(nets + left_out + "Pipeline().prepare()\n")
    assert "TextLayer.forward" not in found
    assert "ImageTower.forward" in found


@pytest.mark.parametrize("loop", ["module in model.children()", "_, module in model.named_children()"])
def test_blocks_further_down_are_not_chosen_by_a_loop_over_children(loop: str) -> None:
    children = EACH.format(test="blocks").replace("module in model.modules()", loop)
    assert loop in children
    assert likely(NETS + children + "Pipeline().prepare()\n") == {"ImageTower.forward", "Whole.forward"}


# --- keys -----------------------------------------------------------------------------------------------

PAIR = """
class Head(nn.Module):
    def forward(self, x): return cold(x)
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = Model(), Head()
    def forward(self, x): return x
made = {}
made["body"] = Model()
made["head"] = Head()
named = nn.ModuleDict(made)
"""
HEAD = {"Head.forward", "cold"}


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ('key == "head"', HEAD),
        ('key != "head"', SMALL_WHOLE),
        ('key in ("head", "tail")', HEAD),
        ('not key == "body"', HEAD),
        ('key == "head" or key == "body"', SMALL_WHOLE | HEAD),
        ('other == "head"', SMALL_WHOLE | HEAD),
    ],
)
@pytest.mark.parametrize(
    "loop",
    [
        "for key in named.keys():\n    if {}:\n        named[key].compile()",
        "for key, part in named.items():\n    if {}:\n        part.compile()",
        "for key in named:\n    if {}:\n        named[key] = torch.compile(named[key])",
    ],
)
def test_a_test_of_the_key_in_a_loop_tells_what_is_compiled(loop: str, test: str, expected: set[str]) -> None:
    assert names_with_model(PAIR + loop.format(test)) == expected


def test_what_is_left_over_is_compiled_in_the_other_branch() -> None:
    loop = 'for key in named:\n    if key == "body":\n        pass\n    else:\n        named[key].compile()'
    assert names_with_model(PAIR + loop) == HEAD


def test_a_child_is_known_by_its_name() -> None:
    loop = 'for name, part in Both().named_children():\n    if name == "head":\n        part.compile()'
    assert names_with_model(PAIR + loop) == HEAD


def test_a_key_that_is_assigned_again_says_nothing() -> None:
    loop = 'for key in named:\n    if key == "head":\n        key = other()\n        named[key].compile()'
    assert names_with_model(PAIR + loop) == SMALL_WHOLE | HEAD


def test_what_is_put_under_one_key_is_not_under_another() -> None:
    assert names_with_model(PAIR + 'made["head"].compile()') == HEAD
    assert names_with_model(PAIR + 'made[other] = Model()\nmade["head"].compile()') == HEAD | SMALL_WHOLE


# --- names of classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "test",
    [
        "type(m).__name__ == 'Block'",
        "m.__class__.__name__ == 'Block'",
        "type(m).__name__ in ('Block', 'Other')",
        "not m.__class__.__name__ != 'Block'",
    ],
)
def test_a_test_of_the_name_of_a_class_tells_which_modules_are_compiled(test: str) -> None:
    assert (
        names_with_model(f"for m in Model().modules():\n    if {test}:\n        m.compile()") == SMALL_BLOCK
    )
    assert (
        names_with_model(
            f"def run(model: nn.Module):\n    for m in model.modules():\n        if {test}:\n            m.compile()"
        )
        == SMALL_BLOCK
    )


@pytest.mark.parametrize(
    "test", ["type(m).__name__ == 'Other'", "m.__class__.__name__ not in ('Block', 'Model')"]
)
def test_other_names_leave_no_module(test: str) -> None:
    assert names_with_model(f"for m in Model().modules():\n    if {test}:\n        m.compile()") == set()
