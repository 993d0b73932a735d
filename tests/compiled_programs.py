"""Reads tests/*/programs: small programs, each with marks at the functions of it that are compiled.

A file is about one concept and is cut into programs by `# %% sentence`. What stands before the first of them is
part of every Python file of each program. A line `# file: name.py` starts a further file; a program that begins
with one has no other. The comment `# compiled: certain` (or `likely`, `possible`) stands beside the `def` of a
function that the regions hold with that confidence, and a function without one is not compiled at all. A line
holds as many marks as functions that are compiled: `# compiled: certain, likely`. Options of the question stand
in a line of their own: `# options: guesses=True`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from dynamo_lint.discovery import SETTINGS
from dynamo_lint.index.config_files import summarize_config
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.modules import module_name
from dynamo_lint.index.summarize import summarize
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve

MAIN = "m.py"
"""The file that a program is in if it does not say."""
FILES = sorted(path for path in Path(__file__).parent.glob("*/programs/*.py") if path.parts[-3] != "fixes")

CELL = re.compile(r"^# %% (.+)\n", re.MULTILINE)
FILE = re.compile(r"^# file: (.+)\n", re.MULTILINE)
OPTIONS = re.compile(r"^# options: (.+)\n", re.MULTILINE)
MARK = re.compile(r" *# compiled: ((?:certain|likely|possible)(?:, (?:certain|likely|possible))*)$")


@dataclass(frozen=True, slots=True)
class Program:
    """One program of a concept."""

    concept: str
    title: str
    files: tuple[tuple[str, str], ...]
    options: str

    @property
    def id(self) -> str:
        """`package/concept: title`, by which a test run names it."""
        return f"{self.concept}: {self.title}"

    @property
    def marked(self) -> dict[str, str]:
        """The lines that have a mark, and what it says."""
        found = {}
        for name, text in self.files:
            for number, line in enumerate(text.splitlines(), 1):
                if mark := MARK.search(line):
                    found[f"{name}:{number}: {line[: mark.start()].strip()}"] = mark[1]
                assert ("# compiled:" in line) == bool(mark), line
        return found

    @property
    def compiled(self) -> dict[str, str]:
        """The lines of functions that the regions hold, and how sure that is."""
        project, regions = resolve(self._facts(), RegionOptions(**self._options()))  # type: ignore[arg-type]
        lines = {name: text.splitlines() for name, text in self.files}
        tiers = defaultdict(list)
        for function in regions.hot:
            name, number = function.function.path, project.function(function.function).line
            text = MARK.sub("", lines[name][number - 1]).strip()
            tiers[f"{name}:{number}: {text}"].append(function.confidence.word)
        return {line: ", ".join(sorted(words)) for line, words in tiers.items()}

    def _options(self) -> dict[str, object]:
        call = ast.parse(f"dict({self.options})", mode="eval").body
        assert isinstance(call, ast.Call)
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}

    def _facts(self) -> dict[str, FileFacts]:
        packages = {str(Path(name).parent) for name, _ in self.files if name.endswith("__init__.py")}
        return {
            name: summarize_config(name, text.encode())
            if name.endswith(SETTINGS)
            else summarize(name, *module_name(name, packages), text.encode(), None)
            for name, text in self.files
        }


def programs(path: Path) -> list[Program]:
    """The programs of a file."""
    head, *cells = CELL.split(path.read_text())
    concept = f"{path.parts[-3]}/{path.stem}"
    found = []
    for title, text in zip(cells[::2], cells[1::2], strict=True):
        options = OPTIONS.search(text)
        main, *others = FILE.split(OPTIONS.sub("", text, count=1))
        texts = dict(zip(others[::2], others[1::2], strict=True))
        if main.strip():
            texts = {MAIN: main, **texts}
        files = tuple(
            (name, text if name.endswith(SETTINGS) else head + text) for name, text in texts.items()
        )
        found.append(Program(concept, title.strip(), files, options[1] if options else ""))
    return found


PROGRAMS = [program for path in FILES for program in programs(path)]
