"""Regions: the blocks that a model's class names, compiled one by one by code for any model."""

from __future__ import annotations

import pytest

from tests.programs import hot

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
APPLY = """
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
        NETS + NAMES + APPLY + MODEL,
        {"TextLayer.forward"},
    ),
    "blocks where there are some, else the whole": (
        NETS + EACH.format(test="blocks is not None") + PIPELINE,
        {*BLOCKS, "Whole.forward"},
    ),
    "the same asked for truth": (NETS + EACH.format(test="blocks") + PIPELINE, {*BLOCKS, "Whole.forward"}),
}


def likely(source: str | dict[str, str]) -> set[str]:
    return {name for name, tier in hot(source).items() if tier != "assumed"}


@pytest.mark.parametrize(("source", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_blocks_are_chosen_as_their_class_names_them(source: str, expected: set[str]) -> None:
    assert likely(source) == expected


def test_the_class_tells_also_of_a_model_that_nobody_can_see() -> None:
    assert likely(NETS + NAMES + APPLY + "apply(load())\n") == {"TextLayer.forward"}


def test_what_only_a_test_hands_in_is_not_all_there_is() -> None:
    files = {
        "nets.py": NETS,
        "apply.py": "import types\n" + NAMES + APPLY,
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
    source = NAMES + APPLY
    assert change[0] in source
    changed = NETS.replace("blocks =", "kinds =") if "others" in change[1] else NETS
    assert likely(changed + source.replace(*change) + "apply(load())\n") == set()


def test_names_that_a_method_sets_are_not_those_of_the_class() -> None:
    setting = NETS.replace(
        "super().__init__()\n        self.layers",
        "super().__init__()\n        self.blocks = load()\n        self.layers",
    )
    assert setting != NETS
    assert likely(setting + NAMES + APPLY + "apply(load())\n") == set()


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


def test_a_method_bound_in_a_loop_is_bound_to_the_module_that_has_it() -> None:
    source = """
import types
class Stepping(nn.Module):
    def step(self, x): return x
    def forward(self, x): return self.step(x)
class Still(nn.Module):
    def step(self, x): return x
    def forward(self, x): return x
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Stepping(), Still()
        for part in self.children(): part.run = types.MethodType(part.forward.__func__, part)
fast = torch.compile(Pair().first.run)
"""
    found = likely(source)
    assert "Stepping.step" in found
    assert "Still.step" not in found
