"""Odd input: whatever the files, folders and settings are like, a run ends with a clear line and a true status."""

from __future__ import annotations

import cProfile
import json
import os
import random
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_lint import cli

MODEL = """\
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        {body}
        self.n += 1
        return x * self.n

compiled = torch.compile(Model())
"""
EVERYTHING = ("--assume-compiled", "--pedantic", "--select", "ALL", "--min-confidence", "possible")


def lint(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[str], str]:
    """Exit status, codes found and what was said, with every rule on and every module assumed."""
    status = cli.run([".", "--output-format", "json", "--no-cache", "--quiet", *EVERYTHING, *options])
    said = capsys.readouterr()
    assert "internal error" not in said.err, said.err
    return status, [one["code"] for one in json.loads(said.out)["findings"]], said.err


def model(body: str = "pass") -> str:
    return MODEL.format(body=body.replace("\n", "\n        "))


def chain(count: int) -> str:
    links = [f"def f{i}(m, x):\n    return f{i + 1}(m, x)" for i in range(count)]
    return "\n".join([model("f0(self, x)"), *links, f"def f{count}(m, x):\n    return x"])


# --- sources --------------------------------------------------------------------------------------------

DEEP = {
    "attributes": model("y = self" + ".a" * 300),
    "calls on calls": model("y = x" + ".relu()" * 150),
    "subscripts": model("y = self" + "[0]" * 150),
    "parentheses": model("y = " + "(" * 90 + "self.n" + ")" * 90),
    "lists": model("y = " + "[" * 90 + "self.n" + "]" * 90),
    "nested calls": model("y = " + "f(" * 80 + "self.n" + ")" * 80),
    "minus": model("y = " + "-" * 500 + "self.n"),
    "not": model("y = " + "not " * 150 + "self.n"),
    "lambdas": model("y = " + "lambda: " * 90 + "self.n"),
    "sums": model("y = " + " + ".join(["self.n"] * 200)),
    "and": model("y = " + " and ".join(["self.n"] * 200)),
    "comparisons": model("y = " + " < ".join(["self.n"] * 300)),
    "conditions": model("y = " + "1 if self.n else " * 150 + "2"),
    "elif": model(
        "if x:\n    pass\n" + "\n".join(f"elif self.n == {i}:\n    self.n = {i}" for i in range(200))
    ),
    "if in if": model(
        "\n".join("    " * i + "if x:" for i in range(60)) + "\n" + "    " * 60 + "self.n += 1"
    ),
    "functions": "\n".join("    " * i + f"def f{i}():" for i in range(90)) + "\n" + "    " * 90 + "pass\n",
    "classes": "\n".join("    " * i + f"class C{i}:" for i in range(90)) + "\n" + "    " * 90 + "pass\n",
    "a thousand calls deep": chain(1000),
    "heirs of heirs": "import torch\nclass C0(torch.nn.Module):\n    def forward(self, x): return x\n"
    + "\n".join(f"class C{i + 1}(C{i}): pass" for i in range(300))
    + "\nc = torch.compile(C300())\n",
    "a thousand names": "import torch\na0 = torch.compile\n"
    + "\n".join(f"a{i + 1} = a{i}" for i in range(1000))
    + "\n@a1000\ndef f(x): return x\n",
    "heirs of themselves": "class A(B): pass\nB = A\nclass B(A):\n    def forward(self, x): return x\nclass B(B): pass\n",
    "a huge number": model("self.n = 0x" + "f" * 9000),
    "infinity": model("self.n = 1e999"),
    "lone surrogates": model("self.s = '\\udfff'"),
    "unicode names": model("ｓｅｌｆ.größe = 1\nself.größe += 1\nself.ключ = 'é𝔘'"),
    "an attribute of a function": "import torch\ndef helper(x): return x\nhelper._tag = 3\n@torch.compile\n"
    "def step(x):\n    return x if getattr(helper, '_tag', None) else helper(x)\n",
    "names bound to each other": model("a = self.n\n" + "a = (a, a)\n" * 60 + "self.a = a")
    + "class Other(Model):\n    def __init__(self):\n        a = 1\n"
    + "        a = (a, a)\n" * 60
    + "        self.n = a\n",
    "sums of the same": model("a0 = self.n\n" + "\n".join(f"a{i + 1} = a{i} + a{i}" for i in range(60))),
    "many writes": model("\n".join("self.n += x.shape[0]" for _ in range(300))),
}


@pytest.mark.parametrize("source", DEEP.values(), ids=DEEP)
def test_deep_and_odd_code_is_linted_or_named(
    here: Path, capsys: pytest.CaptureFixture[str], source: str
) -> None:
    (here / "a.py").write_text(source)
    status, _, said = lint(capsys)
    assert status in (0, 1)
    assert said == ""


UNREADABLE = {
    "a zero byte": b"x = 1\0\n",
    "zero bytes": b"\0" * 1000,
    "utf-16": "x = 1\n".encode("utf-16"),
    "an unknown encoding": b"# coding: klingon\nx = 1\n",
    "an encoding that is no text": b"# coding: hex\n00\n",
    "bytes that are not utf-8": b"x = '\xff\xfe'\n",
    "control-z": b"x = 1\x1a\n",
    "half a statement": b"def f(\n",
    "too many parentheses": b"x = " + b"(" * 300 + b")" * 300,
    "a tab and eight spaces": b"if x:\n\ty\n        z\n",
}


@pytest.mark.parametrize("source", UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_parsed_is_a_finding_and_the_others_are_linted(
    here: Path, capsys: pytest.CaptureFixture[str], source: bytes
) -> None:
    (here / "bad.py").write_bytes(source)
    (here / "good.py").write_text(model())
    status, codes, said = lint(capsys)
    assert (status, said) == (1, "")
    assert {"DYN901", "DYN101"} <= set(codes)


READABLE = {
    "utf-8 with a mark": b"\xef\xbb\xbf" + model("self.größe = 1").encode(),
    "latin-1": ("# coding: latin-1\n" + model("self.größe = 1")).encode("latin-1"),
    "carriage returns": model().replace("\n", "\r").encode(),
    "both line ends": model().replace("\n", "\r\n").encode(),
    "tabs": model().replace("    ", "\t").encode(),
    "a form feed": model().replace("class", "\x0cclass").encode(),
}


@pytest.mark.parametrize("source", READABLE.values(), ids=READABLE)
def test_encodings_and_line_ends_do_not_hide_a_finding(
    here: Path, capsys: pytest.CaptureFixture[str], source: bytes
) -> None:
    (here / "a.py").write_bytes(source)
    status, codes, said = lint(capsys)
    assert (status, said) == (1, "")
    assert "DYN101" in codes
    assert "DYN901" not in codes


LONG = {
    "a sum": " + ".join(["self.n"] * 3000),
    "calls": "x" + ".relu()" * 1500,
    "items": "self" + "[0]" * 1500,
}


@pytest.mark.parametrize("expression", LONG.values(), ids=LONG)
def test_a_function_that_is_nested_too_deeply_is_named_and_the_others_are_linted(
    here: Path, capsys: pytest.CaptureFixture[str], expression: str
) -> None:
    (here / "a.py").write_text(model(f"y = {expression}"))
    (here / "b.py").write_text(model())
    status, codes, said = lint(capsys)
    assert (status, said) == (1, "")
    assert {"DYN101", "DYN906"} <= set(codes)


@pytest.mark.parametrize(
    "expression", ["index" + " + 1" * 9000, "index" + ".bit_length()" * 150], ids=["a sum", "calls"]
)
def test_a_long_expression_beside_a_compile_entry_is_linted(
    here: Path, capsys: pytest.CaptureFixture[str], expression: str
) -> None:
    looped = "            block.compile()\n"
    (here / "a.py").write_text(BLOCKS.replace(looped, f"{looped}            index = {expression}\n"))
    assert lint(capsys)[1] == ["DYN107"]


def test_instances_whose_comparison_nests_too_deeply_are_named(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def deep(*_: object) -> None:
        raise RecursionError

    (here / "a.py").write_text(BLOCKS)
    monkeypatch.setattr("dynamo_lint.instances.find.compare", deep)
    assert lint(capsys)[1] == ["DYN906"]


def test_a_field_of_a_global_that_nobody_here_defines_is_passed_over(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
held = None

def get(size):
    global held
    n = size.hint()
    if held is None or held.group != size or held.n < n:
        held = Buffer(size, n)
    return held
"""
    (here / "m.py").write_text(f"{text}\n{model('get(x)')}")
    status, codes, _ = lint(capsys)
    assert (status, "DYN101" in codes) == (1, True)


def test_a_test_of_three_thousand_terms_is_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(model("if " + " and ".join(["self.n"] * 3000) + ":\n    pass"))
    assert {"DYN101"} == set(lint(capsys)[1])


def test_texts_that_a_program_makes_ever_longer_are_given_up(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "longer.py").write_text(
        "import torch\n"
        "LONG = 'x' * 400\n"
        "WIDE = '%s' * 200_000 % ((LONG,) * 200_000)\n"
        "run = torch.compile(lambda x, text: x + len(text))\n"
        "for _ in range(9):\n"
        "    text = 'x'\n"
        "    for _ in range(40):\n"
        "        text = LONG.join([text.replace('x', LONG), text, text])\n"
        "    run(torch.ones(2), text)\n"
    )
    assert lint(capsys)[0] in {0, 1}


def test_a_file_that_takes_too_many_steps_is_named_and_the_others_are_linted(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynamo_lint.state import tables

    (here / "a.py").write_text(model() + "\n" + model().replace("Model", "Another"))
    (here / "b.py").write_text(model())
    monkeypatch.setattr(tables, "_STEPS", 0)
    codes = lint(capsys)[1]
    assert codes.count("DYN101") == 3  # one of them by a presumed call
    assert codes.count("DYN906") == 1


BLOCKS = """\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, dim, index):
        super().__init__()
        self.index = index
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        return self.proj(x) * self.index

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.blocks = nn.ModuleList([make(dim, i) for i in range(5)])
        for block in self.blocks:
            block.compile()

def make(dim, index):
    return Block(dim, index)
"""


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        (
            "find.MAX_RUNS construct.MAX_RUNS",
            "the modules that `Model.__init__` creates were not all analysed",
        ),
        ("differences.MAX_TERMS find.MAX_TERMS", "the instances of `Block` were not all compared"),
    ],
)
def test_instances_that_are_not_all_compared_are_named(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bound: str, said: str
) -> None:
    (here / "a.py").write_text(BLOCKS)
    assert lint(capsys)[1].count("DYN906") == 0
    for name in bound.split():
        monkeypatch.setattr(f"dynamo_lint.instances.{name}", 1)
    cli.run([".", "--output-format", "json", "--no-cache", "--quiet", *EVERYTHING])
    found = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["code"] == "DYN906"]
    assert [one["message"].startswith(said) for one in found] == [True]
    assert "more than 1 " in found[0]["message"]


def test_what_a_model_does_to_itself_when_its_parts_are_made_is_not_followed(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "        self.post_init()\n\n    def post_init(self):\n" + "        self.settle()\n" * 9
    more += "\n    def settle(self):\n        self.done = True\n"
    (here / "a.py").write_text(
        BLOCKS.replace("            block.compile()\n", f"            block.compile()\n{more}")
    )
    for name in ("find.MAX_RUNS", "construct.MAX_RUNS"):
        monkeypatch.setattr(f"dynamo_lint.instances.{name}", 6)
    assert lint(capsys)[1] == ["DYN107"]


LENGTHENED = {
    "a list": ("parts = []", "parts.append(nn.Linear(cfg.n{i}, 4))", "self.parts = nn.Sequential(*parts)"),
    "a list added to": ("parts = []", "parts += [cfg.n{i}]", "self.parts = tuple(parts)"),
    "a module list": ("self.parts = nn.ModuleList()", "self.parts.append(nn.Linear(cfg.n{i}, 4))", "pass"),
    "a dict": ("parts = {{}}", "parts['n{i}'] = cfg.n{i}", "self.parts = nn.Linear(**parts)"),
    "a list in two loops": (
        "parts = []",
        "for a in cfg.all{i}:\n                for b in a.parts():\n                    parts.append(b)",
        "self.parts = parts",
    ),
}
"""What a constructor grows under one condition after the other: how it begins, a step, and its end."""


@pytest.mark.parametrize("kind", LENGTHENED)
def test_what_thirty_conditions_add_to_is_not_told_apart_for_ever(
    here: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    start, step, end = LENGTHENED[kind]
    steps = [f"if cfg.has{i}:\n            {step.format(i=i)}" for i in range(30)]
    body = "\n        ".join([start.format(), *steps, end])
    (here / "m.py").write_text(
        f"""\
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, cfg, number):
        super().__init__()
        {body}
        self.number = number

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x * self.number

class Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.blocks = nn.ModuleList([Block(cfg, i) for i in range(4)])
        for block in self.blocks:
            block.compile()
"""
    )
    assert lint(capsys)[1] == ["DYN107"]


def test_fifty_thousand_lines_are_linted(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(model() + "x = 1\n" * 50_000)
    assert "DYN101" in lint(capsys)[1]


def blocks(count: int) -> str:
    """A file with many compiled classes that are alike, a list of them, and what compiles and calls each."""
    parts = [
        f"class Block{i}(nn.Module):\n    def __init__(self, index):\n        super().__init__()\n"
        "        self.index = index\n        self.calls = 0\n\n    def forward(self, x):\n"
        "        self.calls += 1\n        return x * self.index + self.calls\n\n"
        f"model{i} = torch.compile(Block{i}({i}))\n\n"
        f"def train{i}(xs):\n    for x in xs:\n        model{i}(x)\n"
        for i in range(count)
    ]
    layers = ", ".join(f"Block{i}({i}), Block{i}({i + 1})" for i in range(count))
    parts.append(
        "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.layers = nn.ModuleList([{layers}])\n\n    def forward(self, x):\n"
        "        for layer in self.layers:\n            x = layer(x)\n        return x\n"
    )
    return "\n".join(["import torch\nfrom torch import nn\n", *parts])


def layers(count: int) -> str:
    """Functions in layers, each of which hands what it is given to all of the next layer."""
    parts = []
    for layer in range(count):
        calls = "".join(f"        self.f{layer + 1}_{i}(a)\n" for i in range(6))
        parts += [f"    def f{layer}_{i}(self, a):\n{calls}" for i in range(6)]
    parts += [f"    def f{count}_{i}(self, a):\n        self.kept = a\n" for i in range(6)]
    return model("self.f0_0(x)").replace("    def forward", "\n".join([*parts, "    def forward"]))


def test_what_goes_through_layers_of_functions_is_asked_of_each_once(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # There are six to the power of twelve ways through them.
    (here / "a.py").write_text(layers(12))
    cli.run([".", "--output-format", "json", "--no-cache", "--quiet"])
    told = json.loads(capsys.readouterr().out)["unresolved"]
    assert any("a run of more than" in one["why"] for one in told)


GROWING = {
    "compiled classes": blocks,
    # Along a chain that is followed through a hundred links, work still grows a little with its length.
    "calls behind each other": lambda count: model("y = x" + "".join(f".m{i}()" for i in range(7 * count))),
    "the same call behind itself": lambda count: model("y = x" + ".relu()" * 7 * count),
    "reads of the environment": lambda count: (
        "import os\n" + model("\n".join(f"y{i} = os.environ.get('A{i}')" for i in range(count)))
    ),
    "conditions in each other": lambda count: model("y = " + "1 if x else " * 16 * count + "2"),
    "conditions that are passed": lambda count: (
        model() + "for x in range(9):\n    compiled(" + "1 if x else " * 16 * count + "2)\n"
    ),
    "calls that make a part": lambda count: BLOCKS.replace(
        "make(dim, i) for", f"make(dim{'.a()' * 16 * count}, i) for"
    ),
}


@pytest.mark.parametrize("source", GROWING.values(), ids=GROWING)
def test_the_work_grows_with_the_length_of_a_file_and_no_faster(
    here: Path, capsys: pytest.CaptureFixture[str], source: Callable[[int], str]
) -> None:
    def work(count: int) -> int:
        """How often Python code of ours, or what walks trees for it, is entered or resumed."""
        (here / "many.py").write_text(source(count))
        profiles = []

        def begin(*_: object) -> None:
            """Count in this thread as well, in C: a function of Python's own would take most of the time."""
            profiles.append(cProfile.Profile(builtins=False))
            profiles[-1].enable()

        threading.setprofile(begin)
        begin()
        try:
            lint(capsys)
        finally:
            profiles[0].disable()
            threading.setprofile(None)  # type: ignore[arg-type]
        entries = [entry for profile in profiles for entry in profile.getstats()]
        paths = [(entry.code.co_filename, entry.callcount) for entry in entries]
        return sum(count for path, count in paths if "dynamo_lint" in path or path.endswith("/ast.py"))

    work(5)
    assert work(60) < (4.4 if source is blocks else 6) * work(15)


DEFINITIONS = {
    "functions": "def f{i}(x):\n    return x + {i}\n\ng{i} = torch.compile(f{i})\n",
    "classes": "class C{i}:\n    number = {i}\n\ng{i} = torch.compile(C{i}())\n",
}


@pytest.mark.parametrize("source", DEFINITIONS.values(), ids=DEFINITIONS)
def test_the_interpreter_takes_as_many_steps_for_a_definition_in_a_longer_file(
    here: Path, capsys: pytest.CaptureFixture[str], source: str
) -> None:
    def work(count: int) -> int:
        """How many lines of the interpreter are run; a search begins its line anew for all it passes over."""
        (here / "many.py").write_text("import torch\n" + "".join(source.format(i=i) for i in range(count)))
        lines = 0

        def note(frame: types.FrameType, event: str, argument: object) -> Callable[..., object] | None:
            nonlocal lines
            lines += event == "line"
            return note if "interpreter" in frame.f_code.co_filename else None

        threading.settrace(note)
        sys.settrace(note)
        try:
            lint(capsys)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]
        return lines

    work(5)
    assert work(160) < 4.4 * work(40)


def test_a_chain_that_is_not_followed_to_its_end_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(model("y = x" + ".relu()" * 90))
    assert "DYN906" not in lint(capsys)[1]
    (here / "a.py").write_text(model("y = x" + ".relu()" * 190))
    assert {"DYN101", "DYN906"} <= set(lint(capsys)[1])


def test_a_line_of_ten_megabytes_is_passed_over_unless_it_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(model() + "text = '" + "x" * 10_000_000 + "'\n")
    assert lint(capsys)[1] == ["DYN901"]
    assert cli.run(["a.py", "--no-cache", "--output-format", "concise", "--quiet"]) == 1
    assert len(capsys.readouterr().out) < 1000


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files_never_crash(here: Path, capsys: pytest.CaptureFixture[str], seed: int) -> None:
    from tools.fuzz import mutated

    chance = random.Random(seed)
    originals = [path.read_bytes() for path in (Path(__file__).parent.parent / "cases").glob("*.py")]
    for number in range(25):  # each night has three thousand of them
        (here / f"m{number}.py").write_bytes(mutated(chance.choice(originals), chance))
    status, _, said = lint(capsys)
    assert status in (0, 1)
    assert said == ""


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_generated_programs_never_crash(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import hypothesmith

    from tools.fuzz import examples

    made = json.loads((Path(__file__).parent / "generated.json").read_text())  # see bench/generated.py
    assert len(made) == 200
    fresh = examples(hypothesmith.from_grammar(), 12, seed=2)
    for number, text in enumerate([*(one.encode("utf-8", "surrogatepass") for one in made), *fresh]):
        (here / f"g{number}.py").write_bytes(text)
    status, _, said = lint(capsys)
    assert status in (0, 1)
    assert said == ""


@pytest.mark.skipif(os.name != "posix", reason="makes pipes and devices")
@pytest.mark.parametrize("family", ["fixes", "cache", "tree", "inputs", "formats"])
def test_attacks_find_nothing(family: str) -> None:
    from tools.fuzz import attacked

    assert attacked(family, 10, seed=1) == 0


# --- files and folders ----------------------------------------------------------------------------------


def test_a_file_that_vanishes_during_the_run_is_named(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynamo_lint.run import inputs

    (here / "a.py").write_text(model())
    (here / "b.py").write_text("x = 1\n")
    discover = inputs.discover

    def discover_and_remove(*arguments: object) -> object:
        found = discover(*arguments)  # type: ignore[arg-type]
        (here / "b.py").unlink()
        return found

    monkeypatch.setattr(inputs, "discover", discover_and_remove)
    status, codes, _ = lint(capsys)
    assert status == 1
    assert {"DYN101", "DYN901"} <= set(codes)


def test_a_file_that_changes_during_the_run_stays_what_it_was(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynamo_lint.regions import resolve as stage

    (here / "a.py").write_text(model())
    before = lint(capsys)
    resolve = stage.resolve

    def edit_and_resolve(*arguments: object) -> object:
        (here / "a.py").write_text("\n\n\nnothing = here\n")
        return resolve(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(stage, "resolve", edit_and_resolve)
    assert lint(capsys) == before


def test_links_in_circles_end(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(model())
    (here / "loop").symlink_to(here)
    (here / "self.py").symlink_to(here / "self.py")
    (here / "dangling.py").symlink_to(here / "missing.py")
    status, codes, _ = lint(capsys)
    assert status == 1
    assert codes.count("DYN101") == 1


def test_a_pipe_and_a_folder_called_like_a_file_are_passed_over(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if hasattr(os, "mkfifo"):
        os.mkfifo(here / "pipe.py")
    (here / "folder.py").mkdir()
    assert lint(capsys) == (0, [], "")


@pytest.mark.skipif(os.name != "posix", reason="a plain file is no folder here either, but says so otherwise")
def test_a_cache_that_cannot_be_made_is_one_warning(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.py").write_text(model())
    (here / "file").write_text("")
    command = [".", "--quiet", "--output-format", "concise", "--cache-dir", str(here / "file" / "cache")]
    assert cli.run(command) == 1  # the finding, and not a 2 for the cache
    said = capsys.readouterr()
    assert "DYN101" in said.out
    assert len(said.err.splitlines()) == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_tree_that_is_read_only_is_linted_with_one_warning(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(model())
    here.chmod(0o555)
    try:
        assert cli.run([".", "--quiet", "--output-format", "concise"]) == 1
        assert len(capsys.readouterr().err.splitlines()) == 1
    finally:
        here.chmod(0o755)


# --- settings and signals -------------------------------------------------------------------------------


def test_nothing_in_a_hostile_project_runs(here: Path) -> None:
    mark = here / "ran"
    code = f"open({str(mark)!r}, 'w').close()\n"
    for name in ("conftest", "sitecustomize", "setup", "libcst", "click", "dynamo_lint", "json"):
        (here / f"{name}.py").write_text(code)
    comment = '[tool.dynamo-lint]\nregion-comment = "(a+)+$"\n'
    regions = "regions = [\"__import__('os'):system\"]\n"
    wrappers = "compile-wrappers = [\"eval:open('ran', 'w')#0\"]\n"
    (here / ".dynamo_lint_cache").mkdir()
    (here / ".dynamo_lint_cache" / "entries.db").write_bytes(b"cos\nsystem\n(S'touch ran'\ntR.")
    (here / "a.py").write_text(
        model() + code.replace("open", "compiled and open") + "# (a+)+$\ndef f(): ...\n"
    )
    program = Path(sys.executable).parent / "dynamo-lint"
    start = "import sys; sys.path[:0] = [sys.argv.pop(1)]; from dynamo_lint.cli import main; main()"
    command = [str(program)] if program.exists() else [sys.executable, "-P", "-c", start]
    root = str(Path(cli.__file__).parent.parent)
    if command[0] != str(program):
        if sys.version_info < (3, 11):
            command.remove(
                "-P"
            )  # then sys.path begins with the folder we are in, and Python itself is fooled
            pytest.skip("needs Python 3.11")
        command.append(root)
    for settings, status in ((comment, 1), (comment + regions, 2), (comment + wrappers, 2)):
        (here / "pyproject.toml").write_text(settings)
        done = subprocess.run([*command, "."], cwd=here, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        assert not mark.exists()


def test_run_as_a_module_nothing_of_the_folder_it_is_started_in_runs(here: Path) -> None:
    for name in ("click", "libcst", "__future__", "dataclasses"):
        (here / f"{name}.py").write_text("raise SystemExit('code of the project ran')\n")
    (here / "a.py").write_text(model())
    root = str(Path(cli.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "dynamo_lint", "a.py", "--no-cache"],
        cwd=here,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "DYN101" in done.stdout, done.stderr
