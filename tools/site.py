"""Build the documentation as a folder of plain Markdown that any static site generator takes.

The folder keeps the layout of the repository, so that links between README, docs/ and rules/ stay as
they are: only README.md becomes index.md, and the front matter of a rule page becomes tables.
`mkdocs build` makes the same pages into a site (tools/mkdocs_hooks.py).

    python tools/site.py FOLDER
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dynamo_lint import REPOSITORY  # noqa: E402
from dynamo_lint.pages import Page, parse_page  # noqa: E402
from tools.tables import table  # noqa: E402

IMAGES = "docs/images"
BESIDES = ("bench/speed.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md")
"""Pages of the site that lie neither in docs/ nor in rules/."""
LINK = re.compile(r"(\]\()([^)#:]+)((?:#[^)]*)?\))")
NOT_RUN = "?"
"""What stands in rules/measured.json for a version that a program was not run under."""


def pages() -> dict[str, str]:
    """The text of each page by its path in the site."""
    site = {"index.md": (ROOT / "README.md").read_text(encoding="utf-8")}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        path = file.relative_to(ROOT)
        name = path.with_name("index.md") if file.name == "README.md" else path
        site[name.as_posix()] = file.read_text(encoding="utf-8")
    measured = json.loads((ROOT / "rules/measured.json").read_text(encoding="utf-8"))
    for file in sorted((ROOT / "rules").glob("*.md")):
        page = parse_page(file.name, file.read_text(encoding="utf-8"))
        site[f"rules/{file.name}"] = rule(page, measured["rows"], list(measured["torch"]))
    site |= {path: (ROOT / path).read_text(encoding="utf-8") for path in BESIDES}
    return {path: relinked(path, text, site) for path, text in site.items()}


def rule(page: Page, rows: Mapping[str, Mapping[str, str]], versions: list[str]) -> str:
    """A rule page with what its front matter knows, and what each torch was measured to do."""
    head, section, body = page.body.partition("\n## ")
    facts = [("finds", page.summary.replace("|", "\\|")), ("fix", _fix(page.fix))]
    facts += [("graph break registry", ", ".join(page.gb))] if page.gb else []
    parts = [head, table(("", ""), facts)]
    if page.effects:
        effects = [(row.when, f"`{row.effect}`", _range(row.torch)) for row in page.effects]
        parts.append(table(("when", "effect", "torch"), effects))
    text = "\n".join(parts) + section + body
    changes = list(_changes(page.code, rows, versions))
    if not changes:
        return text
    columns = ("program", "torch", "compiles", "graphs used", "breaks", "output", "effect")
    known = f"{versions[0]} to {versions[-1]}"
    introduction = f"Programs that do not cost the same under all versions of torch from {known}:"
    return f"{text}\n## Under each torch\n\n{introduction}\n\n{table(columns, changes)}"


def _fix(applicability: str) -> str:
    return {
        "safe": "`--fix`",
        "unsafe": "`--fix --unsafe-fixes`",
    }.get(applicability, "by hand; the page says how")


def _range(specifier: str) -> str:
    return "all" if specifier == "*" else f"`{specifier}`"


def _changes(
    code: str, rows: Mapping[str, Mapping[str, str]], versions: list[str]
) -> Iterator[tuple[str, ...]]:
    """A row for each cost of each program whose cost differs between the versions it was run under."""
    for name, row in rows.items():
        rule_code, _, program = name.partition(": ")
        if rule_code != code:
            continue
        last, costs = NOT_RUN, []
        for version in versions:
            last = row.get(version, last)
            if last != NOT_RUN:
                costs.append((version, last))
        stretches = [(cost, list(group)) for cost, group in groupby(costs, lambda pair: pair[1])]
        if len(stretches) > 1:
            for cost, run in stretches:
                first, last = run[0][0], run[-1][0]
                yield (program, first if first == last else f"{first} to {last}", *cost.split(" | "))


def relinked(path: str, text: str, site: dict[str, str]) -> str:
    """The text with links that lead to other pages of the site, or else to the repository."""

    def link(match: re.Match[str]) -> str:
        target = (ROOT / path).parent / match[2]
        inside = target.resolve().relative_to(ROOT).as_posix()
        page = match[2].replace("README.md", "index.md")
        known = inside.replace("README.md", "index.md")
        if known in site or known.startswith(f"{IMAGES}/"):
            return f"{match[1]}{page}{match[3]}"
        kind = "tree" if target.is_dir() else "blob"
        return f"{match[1]}{REPOSITORY}/{kind}/main/{inside}{match[3]}"

    return LINK.sub(link, text)


def main() -> int:
    """The exit status."""
    if len(sys.argv) != 2:
        sys.stderr.write("usage: python tools/site.py FOLDER\n")
        return 2
    for path, text in pages().items():
        target = Path(sys.argv[1]) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / IMAGES, Path(sys.argv[1]) / IMAGES, dirs_exist_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
