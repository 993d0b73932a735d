"""How far the interpreter gets into programs that check what they are given, and code that nobody calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.config import Settings, override
from dynamo_lint.discovery import discover
from dynamo_lint.report import Report
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

MODEL = """\
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.stats = {"calls": 0}

    def forward(self, x):
        self.stats["calls"] += 1
        return x * self.stats["calls"]

"""
LOOP = """
    for _ in range(12):
        model(torch.ones(2))
"""
COUNTER = 'self.stats["calls"] += 1'
CHECKS = {
    "an option whose default is off": f"""
def main(compile: bool = False):
    model = Model(4)
    if compile:
        model = torch.compile(model)
{LOOP}
""",
    "a check of the environment": f"""
def main():
    if not os.environ.get("MASTER_ADDR"):
        raise RuntimeError("start it with torchrun")
    model = torch.compile(Model(4))
{LOOP}
main()
""",
    "a check that returns if all is well": f"""
def verify(folder):
    files = {{"a": (folder / "a").is_file()}}
    if folder.is_dir():
        if all(files.values()):
            return
    print(files, file=sys.stderr)
    raise SystemExit(1)


def main():
    verify(Path(sys.argv[1]))
    model = torch.compile(Model(4))
{LOOP}
main()
""",
    "an assertion about what is filled in later": f"""
@dataclass
class Config:
    width: int | None = None
    names: list = field(default_factory=list)

    def __post_init__(self):
        if self.width is None:
            self.width = 8
        self.names.append("a")


def main():
    config = Config()
    assert config.width is not None
    assert len(config.names) == 1
    model = torch.compile(Model(config.width))
{LOOP}
main()
""",
    "a library that sets the model up": f"""
import lightning


def main():
    fabric = lightning.Fabric()
    model = fabric.setup_module(torch.compile(Model(4)))
{LOOP}
main()
""",
    "a configuration that is walked to its ends": f"""
def built(node):
    if isinstance(node, dict):
        return {{key: built(value) for key, value in node.items()}}
    if isinstance(node, list):
        return [built(value) for value in node]
    return node


def main():
    import yaml
    options = built(yaml.safe_load(open(sys.argv[1])))
    model = torch.compile(Model(options["width"]))
{LOOP}
main()
""",
}


def linted(folder: Path, program: str) -> Report:
    """The report of a program that is the only file of its folder."""
    (folder / "program.py").write_text(program)
    found = discover((folder,), [], force_exclude=False)
    settings = override(Settings(), torch_version=(2, 13))
    return check(settings, found, catalogue(), Sources(found.root))


@pytest.mark.parametrize("title", CHECKS)
def test_a_program_goes_on_behind(title: str, tmp_path: Path) -> None:
    program = MODEL + CHECKS[title]
    report = linted(tmp_path, program)
    line = next(number for number, text in enumerate(program.splitlines(), 1) if COUNTER in text)
    said = [(one.code, one.severity, one.effect) for one in report.findings if one.span.line == line]
    assert ("DYN101", "error", "storm") in said


def test_what_nobody_calls_is_called_as_any_caller_may(tmp_path: Path) -> None:
    program = MODEL + "\nmodel = torch.compile(Model(4))\n"
    report = linted(tmp_path, program)
    assert any(one.code == "DYN101" for one in report.findings)


def test_what_a_presumed_call_shows_is_never_loud(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn


class Held:
    def __init__(self):
        self.steps = {"n": 0}


class Model(nn.Module):
    def __init__(self, held: Held, limit):
        super().__init__()
        self.held, self.limit = held, limit

    def forward(self, x):
        counts = self.held.steps
        counts.update(n=counts["n"] + 1)
        return x + counts["n"]


def compiled(held, limit):
    return torch.compile(Model(held, limit))
"""
    report = linted(tmp_path, program)
    assert [(one.code, one.severity) for one in report.findings] == [("DYN101", "note")]


COUNTING = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.counts = True
        self.n = 0

    def forward(self, x):
        if self.counts and self.training:
            self.n, *rest = [self.n + 1, x]
        return x * self.n


"""
COMPILED = {
    "in the file": ("model = torch.compile(Model())", "error"),
    "in a function that asks for nothing": ("def build():\n    return torch.compile(Model(2))", "error"),
    "in place": ("model = Model()\nmodel.compile()", "error"),
    "behind a switch that is off": ("model = Model()\nmodel.counts = False\nrun = torch.compile(model)", ""),
    "without training": ("run = torch.compile(Model().eval())", ""),
    "by a caller's leave": ("def build(model: Model):\n    return torch.compile(model)", "note"),
}


@pytest.mark.parametrize("where", COMPILED)
def test_what_every_call_changes_is_loud_if_the_object_is_known(where: str, tmp_path: Path) -> None:
    site, severity = COMPILED[where]
    report = linted(tmp_path, f"{COUNTING}{site}\n")
    assert [one.severity for one in report.findings if one.code == "DYN101"] == [severity] * bool(severity)


REPEATED = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        return x * self.scale


model = torch.compile(Model())
for number in range(12):
    model(torch.ones(2))
    if number == 7:
        model.scale = 2
"""


def test_a_change_behind_many_calls_that_change_nothing_is_seen(tmp_path: Path) -> None:
    findings = linted(tmp_path, REPEATED).findings
    assert [(one.code, one.effect) for one in findings] == [("DYN102", "once")]


def changes(folder: Path, program: str) -> list[tuple[str, str, str, str]]:
    """What is said about state that compiled code changes: code, severity, effect and subject."""
    findings = linted(folder, program).findings
    return [(one.code, one.severity, one.effect, one.subject) for one in findings]


ONE_OF_MANY = (
    """\
import torch
from torch import nn


class Part(nn.Module):
    pass


class First(Part):
    def __init__(self):
        super().__init__()
        self.width = None

    def forward(self, x):
        if self.width is None:
            self.width = x.shape[-1]
        return x

"""
    + "".join(
        f"""
class Other{number}(Part):
    def forward(self, x):
        return x + {number}

"""
        for number in range(16)
    )
    + """
KINDS = {"first": First, """
    + ", ".join(f'"{number}": Other{number}' for number in range(16))
    + """}


class Model(nn.Module):
    def __init__(self, names):
        super().__init__()
        self.parts = nn.ModuleList(KINDS[name]() for name in names)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


def build(names):
    return torch.compile(Model(names))
"""
)


def test_one_of_many_parts_that_a_configuration_picks_is_called_by_itself(tmp_path: Path) -> None:
    assert changes(tmp_path, ONE_OF_MANY) == [("DYN104", "note", "once", "First.width")]


OTHER_METHOD = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.begun = False

    def forward(self, x):
        return x

    @torch.compile
    def decode(self, x: torch.Tensor):
        if not self.begun:
            self.begun = True
        return x + 1
"""


def test_a_method_is_called_and_not_the_forward_of_its_module(tmp_path: Path) -> None:
    assert changes(tmp_path, OTHER_METHOD) == [("DYN104", "note", "once", "Model.begun")]


SWITCHED_OFF = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, counting):
        super().__init__()
        self.counting, self.begun = counting, False

    def forward(self, x):
        if self.counting:
            x = self.counted(x)
        return x

    def counted(self, x: torch.Tensor):
        if not self.begun:
            self.begun = True
        return x + 1


def build():
    return torch.compile(Model(False))
"""


def test_a_part_that_is_switched_off_is_not_called(tmp_path: Path) -> None:
    assert changes(tmp_path, SWITCHED_OFF) == []


UNKNOWN_KEYS = """\
import inspect

import torch
from torch import nn


class Wrapped(nn.Module):
    def __init__(self, model, methods):
        super().__init__()
        self.model, self.methods, self.signatures = model, methods, {}

    def forward(self, features):
        name = self.methods[features.get("kind", "text")]
        method = getattr(self.model, name)
        named = self.signatures.get(name)
        if named is None:
            named = set(inspect.signature(method).parameters)
            self.signatures[name] = named
        return method(**{key: value for key, value in features.items() if key in named})


def build(model, methods):
    return torch.compile(Wrapped(model, methods))
"""


def test_a_cache_is_filled_also_under_a_key_that_is_not_known(tmp_path: Path) -> None:
    found = [one for one in changes(tmp_path, UNKNOWN_KEYS) if one[0] == "DYN105"]
    assert [one[1:3] for one in found] == [("note", "once")]


LONG = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(8))

    def scaled(self, x, number):
        return x * number + number * number - number

    def forward(self, x):
        for number in range(900):
            for layer in self.layers:
                x = self.scaled(layer(x), number)
        return x


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return x * self.n


def build():
    return torch.compile(Model()), torch.compile(Small())
"""


def test_what_is_called_behind_calls_that_do_not_end_has_steps_of_its_own(tmp_path: Path) -> None:
    assert ("DYN101", "error", "storm", "Small.n") in changes(tmp_path, LONG)
