"""Small projects as test input: files given as text, linked and resolved like real ones."""

from __future__ import annotations

import textwrap
from pathlib import PurePosixPath

from dynamo_lint.discovery import SETTINGS
from dynamo_lint.index.config_files import summarize_config
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.modules import module_name
from dynamo_lint.index.summarize import summarize
from dynamo_lint.program.project import Project
from dynamo_lint.regions.model import Regions
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve

HEADER = "import torch\nfrom torch import nn\n"
ASKING_WRAPPER = """
class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.module, name)
"""
"""A module that passes on what it does not have; its forward is for the test to add."""


def facts_of(files: dict[str, str], region_comment: str | None = None) -> dict[str, FileFacts]:
    """The facts of a project given as path -> source; `import torch` and `nn` are supplied."""
    packages = {str(PurePosixPath(path).parent) for path in files if path.endswith("__init__.py")}
    return {
        path: summarize_config(path, textwrap.dedent(text).encode())
        if path.endswith(SETTINGS)
        else summarize(
            path, *module_name(path, packages), (HEADER + textwrap.dedent(text)).encode(), region_comment
        )
        for path, text in files.items()
    }


def resolve_text(
    source: str | dict[str, str], region_comment: str | None = None, **options: object
) -> tuple[Project, Regions]:
    """Regions of one source text (as `m.py`) or of several files."""
    files = {"m.py": source} if isinstance(source, str) else source
    return resolve(facts_of(files, region_comment), RegionOptions(**options))  # type: ignore[arg-type]


def hot(source: str | dict[str, str], region_comment: str | None = None, **options: object) -> dict[str, str]:
    """Hot functions as `id -> tier`; ids in a single source lose their `m.py::`."""
    _, regions = resolve_text(source, region_comment, **options)
    return {
        function.function.id.removeprefix("m.py::"): function.confidence.word
        for function in sorted(regions.hot, key=lambda f: -f.confidence)
    }
