"""Build the documentation as a folder of plain Markdown that any static site generator takes.

The folder keeps the layout of the repository, so that links between README, docs/ and rules/ stay as
they are: only README.md becomes index.md, and the front matter of a rule page becomes a table.

    python tools/site.py FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dynamo_lint import REPOSITORY  # noqa: E402
from dynamo_lint.pages import Page, parse_page  # noqa: E402
from tools.tables import table  # noqa: E402

IMAGES = "docs/images"
LINK = re.compile(r"(\]\()([^)#:]+)((?:#[^)]*)?\))")


def pages() -> dict[str, str]:
    """The text of each page by its path in the site."""
    site = {"index.md": (ROOT / "README.md").read_text(encoding="utf-8")}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        path = file.relative_to(ROOT)
        name = path.with_name("index.md") if file.name == "README.md" else path
        site[name.as_posix()] = file.read_text(encoding="utf-8")
    for file in sorted((ROOT / "rules").glob("*.md")):
        site[f"rules/{file.name}"] = rule(parse_page(file.name, file.read_text(encoding="utf-8")))
    site["CHANGELOG.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    return {path: relinked(path, text, site) for path, text in site.items()}


def rule(page: Page) -> str:
    """A rule page with what its front matter knows."""
    title, _, body = page.body.partition("\n")
    facts = [("fix", {"display": "advice only"}.get(page.fix, page.fix))]
    facts += [("graph break registry", ", ".join(page.gb))] if page.gb else []
    facts += [
        (f"`{row.effect}`", row.when + ("" if row.torch == "*" else f" (torch {row.torch})"))
        for row in page.effects
    ]
    return f"{title}\n\n{page.summary}\n\n{table(('', ''), facts)}{body}"


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
