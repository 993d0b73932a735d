"""Each kind of statement, expression and pattern of Python is run, by the interpreter and by the rules.

A counter that changes inside of it is a storm under Dynamo however it is spelled. What none of them understands
is told, and refutes nothing.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from dynamo_lint.config import Settings, override
from dynamo_lint.discovery import discover
from dynamo_lint.report import Report
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

HEAD = """\
import torch
from torch import nn


class Held:
    def __init__(self, n=0):
        self.n = n


class Counted(Held):
    pass


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.held = Held()

    def bump(self, *rest):
        self.n += 1
        return True

    def forward(self, x):
"""
DRIVER = """

model = torch.compile(Model())
for _ in range(12):
    model(torch.ones(2))
"""
SITE = """

model = torch.compile(Model())
"""

STATEMENTS = {
    "FunctionDef": "def inner():\n    self.n += 1\ninner()",
    "AsyncFunctionDef": "async def inner():\n    return 1\nself.n += 1",
    "ClassDef": "class Inner:\n    pass\nself.n += 1",
    "Return": "self.n += 1\nreturn x * self.n",
    "Delete": "held = {1: 2}\ndel held[1]\nself.n += 1",
    "Assign": "self.n = self.n + 1",
    "AugAssign": "self.n += 1",
    "AnnAssign": "self.n: int = self.n + 1",
    "TypeAlias": "type Alias = int\nself.n += 1",
    "For": "for _ in range(1):\n    pass\nelse:\n    self.n += 1",
    "AsyncFor": None,
    "While": "while False:\n    pass\nelse:\n    self.n += 1",
    "If": "if True:\n    self.n += 1",
    "With": "with torch.no_grad():\n    self.n += 1",
    "AsyncWith": None,
    "Match": "match self.n:\n    case int(k) if k >= 0:\n        self.n = k + 1",
    "Raise": "try:\n    raise ValueError\nexcept ValueError:\n    self.n += 1",
    "Try": "try:\n    pass\nfinally:\n    self.n += 1",
    "TryStar": "try:\n    self.n += 1\nexcept* ValueError:\n    pass",
    "Assert": "assert self.bump()",
    "Import": "import math\nself.n += 1",
    "ImportFrom": "from math import pi\nself.n += 1",
    "Global": "global _unused\nself.n += 1",
    "Nonlocal": "k = self.n\ndef inner():\n    nonlocal k\n    k += 1\ninner()\nself.n = k",
    "Expr": "self.bump()",
    "Pass": "pass\nself.n += 1",
    "Break": "for _ in range(3):\n    self.n += 1\n    break",
    "Continue": "for _ in range(1):\n    self.n += 1\n    continue",
}
EXPRESSIONS = {
    "BoolOp": "self.n >= 0 and self.bump()",
    "NamedExpr": "self.n = (k := self.n + 1)",
    "BinOp": "self.n = self.n + 1",
    "UnaryOp": "not self.bump()",
    "Lambda": "(lambda: setattr(self, 'n', self.n + 1))()",
    "IfExp": "self.bump() if True else None",
    "Dict": "self.n = {**{'k': self.n + 1}}['k']",
    "Set": "{self.bump()}",
    "ListComp": "[self.bump() for _ in range(1)]",
    "SetComp": "{self.bump() for _ in range(1)}",
    "DictComp": "{k: self.bump() for k in range(1)}",
    "GeneratorExp": "all(self.bump() for _ in range(1))",
    "Await": None,
    "Yield": "def made():\n    yield self.n + 1\nself.n = next(made())",
    "YieldFrom": "def made():\n    yield from [self.n + 1]\nself.n = next(made())",
    "Compare": "True is self.bump()",
    "Call": "self.bump()",
    "FormattedValue": "f'{self.bump()}'",
    "JoinedStr": "f'{self.bump()}'",
    "TemplateStr": None,
    "Interpolation": None,
    "Constant": "self.n += 1",
    "Attribute": "self.n += 1",
    "Subscript": "self.n = [self.n + 1][0]",
    "Starred": "first, *self.rest = [1, self.n + 1]\nself.n = self.rest[0]",
    "Name": "k = self.n\nself.n = k + 1",
    "List": "[self.n] = [self.n + 1]",
    "Tuple": "self.n, _ = self.n + 1, 0",
    "Slice": "self.n = [0, self.n + 1][1:][0]",
}
PATTERNS = {
    "MatchValue": "match 1:\n    case 1:\n        self.n += 1",
    "MatchSingleton": "match None:\n    case None:\n        self.n += 1",
    "MatchSequence": "match (1, self.n):\n    case (1, k):\n        self.n = k + 1",
    "MatchMapping": "match {'k': self.n}:\n    case {'k': k}:\n        self.n = k + 1",
    "MatchClass": "match self.held:\n    case Held(n=_):\n        self.n += 1",
    "MatchStar": "match [0, self.n]:\n    case [_, *rest]:\n        self.n = rest[0] + 1",
    "MatchAs": "match self.n:\n    case k:\n        self.n = k + 1",
    "MatchOr": "match 2:\n    case 1 | 2:\n        self.n += 1",
}
"""By kind, statements of compiled code in which a counter changes; None where Dynamo does not trace the kind."""
NEWER = {"TryStar": (3, 11), "TypeAlias": (3, 12), "TemplateStr": (3, 14), "Interpolation": (3, 14)}
"""The Python from which a kind exists."""
SPELLED = {
    name: text for kinds in (STATEMENTS, EXPRESSIONS, PATTERNS) for name, text in kinds.items() if text
}


@pytest.mark.parametrize(
    ("base", "kinds"), [(ast.stmt, STATEMENTS), (ast.expr, EXPRESSIONS), (ast.pattern, PATTERNS)]
)
def test_each_kind_has_an_example(base: type[ast.AST], kinds: dict[str, str | None]) -> None:
    there = {kind.__name__ for kind in base.__subclasses__()}
    assert there == {name for name in kinds if sys.version_info[:2] >= NEWER.get(name, (3, 10))}


def report(folder: Path, body: str, end: str) -> Report:
    lines = [f"        {line}" for line in [*body.splitlines(), "return x * self.n"]]
    (folder / "program.py").write_text(HEAD + "\n".join(lines) + end)
    found = discover((folder,), [], force_exclude=False)
    settings = override(Settings(), torch_version=(2, 13))
    return check(settings, found, catalogue(), Sources(found.root))


def exists(name: str) -> bool:
    return sys.version_info[:2] >= NEWER.get(name, (3, 10))


@pytest.mark.parametrize("name", sorted(SPELLED))
def test_a_run_sees_what_changes_in_each_kind(tmp_path: Path, name: str) -> None:
    if not exists(name):
        pytest.skip("a newer Python has it")
    told = report(tmp_path, SPELLED[name] or "", DRIVER).findings
    assert ("DYN101", "storm", "error") in {(one.code, one.effect, one.severity) for one in told}


@pytest.mark.parametrize("name", sorted(SPELLED))
def test_each_kind_is_an_error_also_where_nobody_calls_it(tmp_path: Path, name: str) -> None:
    if not exists(name):
        pytest.skip("a newer Python has it")
    told = report(tmp_path, SPELLED[name] or "", SITE).findings
    assert ("DYN101", "storm", "error") in {(one.code, one.effect, one.severity) for one in told}


@pytest.mark.parametrize("name", sorted(SPELLED))
def test_no_kind_makes_a_harmless_module_loud(tmp_path: Path, name: str) -> None:
    if not exists(name):
        pytest.skip("a newer Python has it")
    quiet = (
        (SPELLED[name] or "")
        .replace("+ 1", "+ 0")
        .replace("+= 1", "+= 0")
        .replace("self.bump()", "self.eval()")
    )
    told = report(tmp_path, quiet, DRIVER).findings
    assert not [one for one in told if one.code == "DYN101" and one.severity != "note"]
