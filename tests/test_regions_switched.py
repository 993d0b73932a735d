"""Regions: what a function makes of a model where a flag is on or off, and calls write out which it is."""

from __future__ import annotations

import pytest

from tests.programs import hot

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
EVERY = {"Encoder", "Decoder", "Whole"}


def found(use: str, make: str = PICKED) -> set[str]:
    """The classes of which one is certainly or likely compiled."""
    tiers = hot(f"{NETS}{make}{use}\nfast = torch.compile(net)\n")
    return {name.partition(".")[0] for name, tier in tiers.items() if tier != "assumed"} & EVERY


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
    assert found(use, make) == expected


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
    assert found(use, make) == EVERY


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
    assert found(f"{build}net = build(encoder_only=True)") == EVERY


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("encoder_only and cfg.small", EVERY),
        ("encoder_only or cfg.small", {"Encoder"}),
        ("not encoder_only or cfg.small", EVERY),
        ("cfg.small", EVERY),
        ("name", EVERY),
    ],
)
def test_a_test_that_asks_for_more_than_the_flag_rules_out_what_the_flag_alone_decides(
    test: str, expected: set[str]
) -> None:
    make = PICKED.replace("if encoder_only:", f"if {test}:")
    assert found("net = make('t5', encoder_only=True, decoder_only=cfg.small)", make) == expected


def test_a_flag_that_is_worked_out_anew_rules_nothing_out() -> None:
    make = PICKED.replace("    if enc", "    encoder_only = encoder_only and cfg.small\n    if enc", 1)
    assert found("net = make('t5', encoder_only=True)", make) == EVERY


def test_what_nobody_asks_for_is_still_a_guess() -> None:
    tiers = hot(f"{NETS}{PICKED}net = make('t5', True)\nfast = torch.compile(net)\n", guesses=True)
    assert tiers == {"Encoder.forward": "certain", "Decoder.forward": "assumed", "Whole.forward": "assumed"}


def test_a_number_counts_as_on_or_off() -> None:
    assert found("net = make('t5', encoder_only=2)") == {"Encoder"}
    assert found("net = make('t5', encoder_only=0, decoder_only=None)") == {"Whole"}


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
    assert found(f"{build}net = build(True)\n{kept}") == EVERY
    assert found(f"{build}net = build(True)\n") == {"Encoder"}


def test_a_function_that_a_decorator_keeps_may_be_given_anything() -> None:
    assert found("net = make('t5', encoder_only=True)", PICKED.replace("def", "@register\ndef", 1)) == EVERY


def test_a_text_that_a_table_of_functions_is_called_with_leaves_what_it_names() -> None:
    make = PICKED.replace("encoder_only=False", "kind='whole'").replace("if encoder_only", "if kind == 'enc'")
    table = "def t5(kind='whole'): return make('t5', kind=kind)\nTABLE = {'t5': t5}\n"
    assert found(f"{table}net = TABLE[cfg.name](kind='enc')", make) >= {"Encoder", "Whole"}


SCRIPT = "from nets.build import *\nfast = torch.compile({made})\n"


@pytest.mark.parametrize("script", ["examples/run.py", "run.py", "nets/test_run.py"])
def test_what_a_script_beside_a_package_passes_is_one_use_among_others(script: str) -> None:
    package = {"nets/__init__.py": "", "nets/build.py": NETS + PICKED}
    tiers = hot({**package, script: SCRIPT.format(made="make('t5', encoder_only=True)")})
    assert {name.partition("::")[2].partition(".")[0] for name in tiers} == EVERY


def test_what_one_function_of_a_package_passes_to_another_settles_it_for_all_scripts() -> None:
    build = f"{NETS}{PICKED}def t5(): return make('t5', encoder_only=True)\n"
    package = {"nets/__init__.py": "", "nets/build.py": build}
    tiers = hot({**package, "examples/run.py": SCRIPT.format(made="t5()")})
    assert set(tiers) == {"nets/build.py::Encoder.forward"}


def test_what_a_file_passes_when_it_is_run_is_one_use_among_others() -> None:
    guarded = "if __name__ == '__main__':\n    net = make('t5', encoder_only=True)\n"
    assert found(f"net = None\n{guarded}") == EVERY
