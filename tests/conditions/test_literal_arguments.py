"""Conditions on texts and flags that calls write out: only what they ask for is made."""

from __future__ import annotations

import pytest

from tests.programs import hot

# --- texts that pick a class or a function --------------------------------------------------------------

CODE = """
class Layer(nn.Module):
    def forward(self, x): return x
class Group(nn.Module):
    def forward(self, x): return x
class Plain(nn.Module):
    def forward(self, x): return x
def build(size, norm="none", *more, **others):
    if {test}:
        return Layer(size)
    elif norm == "group":
        return Group(size)
    else:
        return Plain()
class Conv(nn.Module):
    def __init__(self, size, norm="none", **others):
        super().__init__()
        self.norm = {made}
    def forward(self, x): return self.norm(x)
class Outer(nn.Module):
    def __init__(self, size, norm="none"):
        super().__init__()
        self.conv = Conv(size, norm=norm)
    def forward(self, x): return self.conv(x)
{use}
compiled = torch.compile(net)
"""
MADE = "build(size, norm)"
TEST = "norm == 'layer'"
EVERY = {"Layer", "Group", "Plain"}


def found(use: str, made: str = MADE, test: str = TEST) -> set[str]:
    tiers = hot(CODE.format(use=use, made=made, test=test))
    return {name.partition(".")[0] for name, tier in tiers.items() if tier != "possible"} & EVERY


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("net = Outer(3, 'group')", {"Group", "Plain"}),
        ("net = Outer(3, norm='weight')", {"Plain"}),
        ("net = Outer(3)", {"Plain"}),
        ("net = Conv(3)", {"Plain"}),
        (
            "kind = Conv\nnet = nn.Sequential(kind(3, norm='layer'), kind(3, norm='weight'))",
            {"Layer", "Plain"},
        ),
        ("net = nn.Sequential(Outer(3), Conv(3, 'layer'), Conv(3, 'group'))", EVERY),
    ],
)
def test_what_no_call_asks_for_by_its_text_is_not_made(use: str, expected: set[str]) -> None:
    assert found(use) == expected


@pytest.mark.parametrize(
    "use",
    [
        "net = Outer(3, cfg.norm)",
        "net = Outer(3, NORM)",
        "net = Outer(3, f'{kind}')",
        "net = Outer(3, 'weight' if cfg.small else cfg.norm)",
        "net = Outer(3, **cfg)",
        "net = Outer(*cfg)",
        "import functools\nmake = functools.partial(Outer, 3)\nnet = make(norm=cfg.norm)",
        "net = nn.Sequential(Outer(3), Outer(3, cfg.norm))",
        "def make(norm='none'):\n    norm = cfg.get(norm)\n    return Outer(3, norm)\nnet = make()",
    ],
)
def test_what_a_configuration_may_ask_for_is_made(use: str) -> None:
    assert found(use) == EVERY


@pytest.mark.parametrize(
    "made",
    ["build(size, norm.lower())", "build(size, self.kind)", "build(size, **others)", "build(*others)"],
)
def test_a_text_that_is_worked_out_may_be_any(made: str) -> None:
    assert found("net = Outer(3)", made) == EVERY


@pytest.mark.parametrize("test", ["norm != 'layer'", "norm.startswith('l')", "size == 'layer'", "not norm"])
def test_other_tests_leave_what_they_guard(test: str) -> None:
    assert "Layer" in found("net = Outer(3)", "build(cfg.size, norm)", test)


@pytest.mark.parametrize("test", ["norm in ('layer', 'rms')", "norm == 'layer' and size > 3"])
def test_lists_of_texts_and_parts_of_tests_count(test: str) -> None:
    assert found("net = Outer(3)", test=test) == {"Plain"}
    assert "Layer" in found("net = Outer(3, 'layer')", test=test)


NAMED = """
class Small(nn.Module):
    def forward(self, x): return x
class Large(nn.Module):
    def forward(self, x): return x
def get(name):
    if name == "small": return Small
    {other}
fast = torch.compile(get(input())())
"""


@pytest.mark.parametrize(
    ("other", "tiers"),
    [
        ("if name == 'large': return Large", {"Small.forward": "likely", "Large.forward": "likely"}),
        ("return Small", {"Small.forward": "certain"}),
    ],
)
def test_one_of_several_classes_that_a_text_picks_is_no_more_than_likely(
    other: str, tiers: dict[str, str]
) -> None:
    assert hot(NAMED.format(other=other)) == tiers


TYPES = """
def one(x): return x
def each(x): return x
@torch.compile
def step(x, cache):
    {lines}
"""


@pytest.mark.parametrize(
    "lines",
    [
        "if isinstance(x, list): return each(x)",
        "if cache is None or not isinstance(x, tuple): return each(x)",
        "if isinstance(x, torch.Tensor): return x\n    return each(x)",
        "if isinstance(x, dict): pass\n    elif isinstance(x, list): return each(x)",
    ],
)
def test_what_runs_for_some_types_of_an_argument_is_likely(lines: str) -> None:
    assert hot(TYPES.format(lines=lines)) == {"step": "certain", "each": "likely"}


@pytest.mark.parametrize(
    "lines",
    [
        "if isinstance(x, list): raise ValueError\n    return one(x)",
        "if isinstance(LIMIT, int): return one(x)",
        "if x.sum() > 0: return one(x)",
        "if isinstance(x, list): x = x[0]\n    return one(x)",
    ],
)
def test_what_runs_whatever_the_type_of_an_argument_is_certain(lines: str) -> None:
    assert hot(TYPES.format(lines=lines)) == {"step": "certain", "one": "certain"}


# --- flags ----------------------------------------------------------------------------------------------

NETS = """
class Encoder(nn.Module):
    def forward(self, x): return x
class Decoder(nn.Module):
    def forward(self, x): return x
class Whole(nn.Module):
    def forward(self, x): return x
"""
PICKED = """
def make(name, encoder_only=False, decoder_only=False, **options):
    if encoder_only:
        cls = Encoder
    elif decoder_only:
        cls = Decoder
    else:
        cls = Whole
    return cls(**options)
"""
RETURNED = """
def make(name, encoder_only=False, decoder_only=False, **options):
    if not encoder_only:
        if decoder_only:
            return Decoder(**options)
        return Whole(**options)
    return Encoder(**options)
"""
THROUGH = """
def build(**more):
    options = dict(layers=4)
    options.update(**more)
    return make('t5', **options)
"""
EVERY_OF_FLAGS = {"Encoder", "Decoder", "Whole"}


def found_of_flags(use: str, make: str = PICKED) -> set[str]:
    """The classes of which one is certainly or likely compiled."""
    tiers = hot(f"{NETS}{make}{use}\nfast = torch.compile(net)\n")
    return {name.partition(".")[0] for name, tier in tiers.items() if tier != "possible"} & EVERY_OF_FLAGS


@pytest.mark.parametrize("make", [PICKED, RETURNED])
@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("net = make('t5', encoder_only=True)", {"Encoder"}),
        ("net = make('t5', True)", {"Encoder"}),
        ("net = make('t5', encoder_only=False, decoder_only=True)", {"Decoder"}),
        ("net = make('t5', encoder_only=False, decoder_only=False)", {"Whole"}),
        (
            "def build(encoder_only): return make('t5', encoder_only=encoder_only)\nnet = build(True)",
            {"Encoder"},
        ),
        ("def build(**more): return make('t5', **more)\nnet = build(encoder_only=True)", {"Encoder"}),
        (f"{THROUGH}net = build(encoder_only=True, layers=8)", {"Encoder"}),
    ],
)
def test_what_no_call_asks_for_by_its_flag_is_not_made(make: str, use: str, expected: set[str]) -> None:
    assert found_of_flags(use, make) == expected


@pytest.mark.parametrize("make", [PICKED, RETURNED])
@pytest.mark.parametrize(
    "use",
    [
        "net = make('t5')",  # a default is there for others to change
        "net = make('t5', encoder_only=cfg.encoder_only, decoder_only=cfg.decoder_only)",
        "net = make('t5', **cfg)",
        "net = make(*cfg)",
        "nets = [make('t5', encoder_only=True), make('t5')]\nnet = nets[cfg.which]",
        "def build(**more): return make('t5', **more)\nnet = [build(encoder_only=True), build()][cfg.which]",
        f"{THROUGH}net = [build(encoder_only=True), build(layers=8)][cfg.which]",
        "def build(encoder_only=True): return make('t5', encoder_only=encoder_only)\nnet = build()",
        "import functools\nbuild = functools.partial(make, 't5')\nnet = build(encoder_only=cfg.only)",
    ],
)
def test_a_flag_that_a_call_leaves_open_rules_nothing_out(make: str, use: str) -> None:
    assert found_of_flags(use, make) == EVERY_OF_FLAGS


@pytest.mark.parametrize(
    "options",
    [
        "dict(more)",
        "dict(layers=4)\n    if more.get('layers'): options.update(**more)",
        "dict(layers=4)\n    change(options)\n    options.update(**more)",
        "dict(layers=4)\n    options.update(**more)\n    options['encoder_only'] = cfg.only",
        "dict(layers=4)\n    options.update(**more)\n    options.pop('encoder_only')",
        "{**more}",
        "more or {}",
    ],
)
def test_options_that_may_be_changed_on_the_way_rule_nothing_out(options: str) -> None:
    build = f"def build(**more):\n    options = {options}\n    return make('t5', **options)\n"
    assert found_of_flags(f"{build}net = build(encoder_only=True)") == EVERY_OF_FLAGS


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("encoder_only and cfg.small", EVERY_OF_FLAGS),
        ("encoder_only or cfg.small", {"Encoder"}),
        ("not encoder_only or cfg.small", EVERY_OF_FLAGS),
        ("cfg.small", EVERY_OF_FLAGS),
        ("name", EVERY_OF_FLAGS),
    ],
)
def test_a_test_that_asks_for_more_than_the_flag_rules_out_what_the_flag_alone_decides(
    test: str, expected: set[str]
) -> None:
    make = PICKED.replace("if encoder_only:", f"if {test}:")
    assert found_of_flags("net = make('t5', encoder_only=True, decoder_only=cfg.small)", make) == expected


def test_a_flag_that_is_worked_out_anew_rules_nothing_out() -> None:
    make = PICKED.replace("    if enc", "    encoder_only = encoder_only and cfg.small\n    if enc", 1)
    assert found_of_flags("net = make('t5', encoder_only=True)", make) == EVERY_OF_FLAGS


def test_a_number_counts_as_on_or_off() -> None:
    assert found_of_flags("net = make('t5', encoder_only=2)") == {"Encoder"}
    assert found_of_flags("net = make('t5', encoder_only=0, decoder_only=None)") == {"Whole"}


@pytest.mark.parametrize(
    "kept",
    [
        "TABLE = {'t5': build, 'other': None}\nother = TABLE[cfg.name](cfg.only)",
        "TABLE = [build, make]\nother = TABLE[cfg.number](cfg.only)",
        "spec = Spec(build=build)\nother = spec.build(cfg.only)",
    ],
)
def test_a_function_that_is_kept_to_be_called_from_elsewhere_may_be_given_anything(kept: str) -> None:
    build = "def build(only): return make('t5', encoder_only=only)\n"
    assert found_of_flags(f"{build}net = build(True)\n{kept}") == EVERY_OF_FLAGS
    assert found_of_flags(f"{build}net = build(True)\n") == {"Encoder"}


def test_a_function_that_a_decorator_keeps_may_be_given_anything() -> None:
    assert (
        found_of_flags("net = make('t5', encoder_only=True)", PICKED.replace("def", "@register\ndef", 1))
        == EVERY_OF_FLAGS
    )


def test_a_text_that_a_table_of_functions_is_called_with_leaves_what_it_names() -> None:
    make = PICKED.replace("encoder_only=False", "kind='whole'").replace("if encoder_only", "if kind == 'enc'")
    table = "def t5(kind='whole'): return make('t5', kind=kind)\nTABLE = {'t5': t5}\n"
    assert found_of_flags(f"{table}net = TABLE[cfg.name](kind='enc')", make) >= {"Encoder", "Whole"}


SCRIPT = "from nets.build import *\nfast = torch.compile({made})\n"


@pytest.mark.parametrize("script", ["examples/run.py", "run.py", "nets/test_run.py"])
def test_what_a_script_beside_a_package_passes_is_one_use_among_others(script: str) -> None:
    package = {"nets/__init__.py": "", "nets/build.py": NETS + PICKED}
    tiers = hot({**package, script: SCRIPT.format(made="make('t5', encoder_only=True)")})
    assert {name.partition("::")[2].partition(".")[0] for name in tiers} == EVERY_OF_FLAGS


def test_what_one_function_of_a_package_passes_to_another_settles_it_for_all_scripts() -> None:
    build = f"{NETS}{PICKED}def t5(): return make('t5', encoder_only=True)\n"
    package = {"nets/__init__.py": "", "nets/build.py": build}
    tiers = hot({**package, "examples/run.py": SCRIPT.format(made="t5()")})
    assert set(tiers) == {"nets/build.py::Encoder.forward"}


# --- parts that depend on a text ------------------------------------------------------------------------

PARTS = """
class Up(nn.Module):
    def forward(self, x): return x
class Down(nn.Module):
    def forward(self, x): return x
class Sample(nn.Module):
    def __init__(self, mode):
        super().__init__()
        if mode == "up":
            self.part = Up()
        else:
            self.part = Down()
        self.same = Down()
    def forward(self, x): return self.part(x)
fast = torch.compile(Sample({given}))
"""


@pytest.mark.parametrize("given", ["'down'", "load()"])
def test_a_part_that_only_another_text_asks_for_is_no_certainty(given: str) -> None:
    assert hot(PARTS.format(given=given)).get("Up.forward") != "certain"


def test_a_part_of_every_instance_stays_certain() -> None:
    source = PARTS.replace("return self.part(x)", "return self.same(x)").format(given="load()")
    assert hot(source)["Down.forward"] == "certain"
