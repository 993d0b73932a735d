"""The tables of README.md and docs/, each made from what the code knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from inspect import cleandoc
from pathlib import Path

import click

from dynamo_lint import cli
from dynamo_lint.commands.help import sections
from dynamo_lint.commands.output import toml
from dynamo_lint.config import KEYS, Settings
from dynamo_lint.pages import Page, load_pages

BENCH = Path(__file__).resolve().parent.parent / "bench"


def rules(up: str) -> str:
    """The rules about compiled code."""
    return _rules(up, (page for page in load_pages().values() if not page.code.startswith("DYN9")))


def lint_rules(up: str) -> str:
    """The rules about the lint itself."""
    return _rules(up, (page for page in load_pages().values() if page.code.startswith("DYN9")))


def configuration(up: str) -> str:
    """Every key with its default, what it means and an example."""
    rows = []
    for key, about in KEYS.items():
        value = getattr(Settings(), key.replace("-", "_"))
        default = "none" if value is None else f"`{toml(key, value)}`"
        if key == "select":
            default = "all but pedantic"
        elif key == "exclude":
            default = "caches, environments, `build`, `dist`"
        meaning = about.meaning
        if about.choices:
            meaning += ": " + ", ".join(f'`"{word}"`' for word in about.choices)
        elif about.example:
            meaning += f": `{key} = {about.example}`"
        rows.append((f"`{key}`", default, meaning))
    return table(("key", "default", "meaning"), rows)


def options(up: str) -> str:
    """The options of every command, by section."""
    parts = []
    for name in cli.COMMANDS:
        command = cli.app.get_command(click.Context(cli.app), name)
        assert command is not None
        context = click.Context(command, info_name=f"dynamo-lint {name}")
        parts.append(f"## `dynamo-lint {name}`\n\n{cleandoc(command.help or '')}\n")
        rows = [
            tuple(cell.replace("|", "\\|") for cell in (f"`{record[0]}`", title, record[1]))
            for title, parameters in sections(command, context).items()
            for one in parameters
            if (record := one.get_help_record(context))
        ]
        if rows:
            parts.append(table(("option", "section", "meaning"), rows))
    return "\n" + "\n".join(parts) + "\n"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Markdown."""
    lines = [f"| {' | '.join(row)} |\n" for row in (head, *rows)]
    return "".join([lines[0], f"|{'---|' * len(head)}\n", *lines[1:]])


def _rules(up: str, pages: Iterable[Page]) -> str:
    folder = "rules" if up == "." else f"{up}/rules"
    rows = [
        (
            f'<a id="{page.code.lower()}"></a>[`{page.code}`]({folder}/{page.code}-{page.name}.md)',
            f"`{page.name}`",
            page.summary.replace("|", "\\|"),
        )
        for page in pages
    ]
    return table(("code", "name", "finds"), rows)


def truth(up: str) -> str:
    """The rows of bench/agreement.tsv, with the share of programs on which linter and torch agree."""
    head, *lines = (BENCH / "agreement.tsv").read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines]
    rows = [(*row, _share(row[2], row[1])) for row in cells]
    return table((*head.split("\t"), "share that agrees"), rows)


def oracle(up: str) -> str:
    """What the report of bench/oracle says of each library."""
    text = (BENCH / "oracle/README.md").read_text(encoding="utf-8")
    section = re.compile(r"^## (\S+, \w+)\n\n(\d+) of (\d+).*?^\| all \| (.*?) \|$", re.MULTILINE | re.DOTALL)
    rows = []
    for name, ran, tried, cells in section.findall(text):
        _, true, missed, false, *_, precision, recall = cells.split(" | ")
        rows.append((name, f"{ran} of {tried}", true, missed, false, precision, recall))
    counts = r"(\d+) runs in all: (\d+) true, (\d+) missed, (\d+) false: precision (\S+), recall (\S+)\.\*\*"
    (total,) = re.findall(counts, text)
    rows.append(("all", *total))
    return table(("compiled", "ran", "true", "missed", "false", "precision", "recall"), rows)


def regions(up: str) -> str:
    """The last row of bench/keys/SCORES.tsv."""
    lines = (BENCH / "keys/SCORES.tsv").read_text(encoding="utf-8").splitlines()
    _, functions, certain, likely, possible, wrong_certain, wrong_likely = lines[-1].split("\t")
    rows = [
        ("certain", certain, _share(certain, functions), wrong_certain),
        ("likely or better", likely, _share(likely, functions), wrong_likely),
        ("possible or better", possible, _share(possible, functions), ""),
    ]
    head = (f"{functions} functions of {len(lines) - 2} repositories", "found", "share", "wrong")
    return table(head, rows)


def _share(part: str, whole: str) -> str:
    return f"{int(part) / int(whole):.1%}"


TABLES: dict[str, Callable[[str], str]] = {
    "rules": rules,
    "lint-rules": lint_rules,
    "configuration": configuration,
    "options": options,
    "oracle": oracle,
    "regions": regions,
    "truth": truth,
}
"""By name; each takes the way from the file's folder to the root of the repository."""
