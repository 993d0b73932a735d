"""What mkdocs.yml cannot say: the pages are those of tools/site.py, and every rule has its place.

`mkdocs build` calls these; nothing is written beside the site, and nothing is fetched.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dynamo_lint.pages import load_pages  # noqa: E402
from tools.site import IMAGES, pages  # noqa: E402

FAMILIES = {
    "DYN1": "Values that change",
    "DYN2": "Lookups",
    "DYN3": "Stale values",
    "DYN4": "Graph breaks",
    "DYN5": "How a project compiles",
    "DYN9": "The lint itself",
}
"""By the beginning of their codes."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the rules behind the list of them."""
    rules = load_pages().values()
    families = []
    for prefix, family in groupby(rules, lambda page: page.code[:4]):
        places = [{f"{page.code} {page.name}": f"rules/{page.code}-{page.name}.md"} for page in family]
        families.append({FAMILIES[prefix]: places})
    (section,) = [entry for entry in config.nav or [] if "Rules" in entry]
    section["Rules"].extend(families)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of tools/site.py, and the pictures; nothing else of docs/."""
    own = Files([file for file in files if not file.src_uri.endswith((".md", ".png"))])
    for path, text in pages().items():
        own.append(_placed(File.generated(config, path, content=text)))
    for picture in sorted((ROOT / IMAGES).iterdir()):
        path = f"{IMAGES}/{picture.name}"
        own.append(_placed(File.generated(config, path, abs_src_path=str(picture))))
    return own


def _placed(file: File) -> File:
    """The file under an address without `docs/`; the list of all pages leaves room for the first page."""
    inside = file.dest_uri.removeprefix("docs/")
    file.dest_uri = "pages/index.html" if file.src_uri == "docs/index.md" else inside
    return file
