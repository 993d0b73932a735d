"""Runs the fixes on small projects given as text or bytes, the way the command line does."""

from __future__ import annotations

from pathlib import Path

from dynamo_lint.config import Settings, override
from dynamo_lint.discovery import discover
from dynamo_lint.run.rewrite import Rewritten, rewrite
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources


def fixed(folder: Path, unsafe: bool = True, **options: object) -> Rewritten:
    """What the fixes make of a folder."""
    found = discover([folder], [])
    return rewrite(override(Settings(), **options), found, catalogue(), Sources(found.root), unsafe)


def fix_files(folder: Path, unsafe: bool = True, **files: str) -> dict[str, str]:
    """Write files (`a=` is a.py), fix them, and return those that changed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return {path: raw.decode() for path, raw in fixed(folder, unsafe).files.items()}


def fix_text(folder: Path, text: str, unsafe: bool = True) -> str:
    """One file, fixed; the same text where there is nothing to fix."""
    return fix_files(folder, unsafe, model=text).get("model.py", text)
