"""Lints the sources that the records come from, with the compiled blocks declared as regions."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.findings import Finding
from dynamo_lint.run.check import check
from dynamo_lint.run.reading import Effort
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources


def lint(source: str, records: Iterable[dict[str, Any]]) -> tuple[list[Finding], Path]:
    """The findings in a library, and the folder that their paths start from."""
    spec = importlib.util.find_spec(source.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise SystemExit(f"{source} cannot be imported, so its sources cannot be linted")
    folder = Path(spec.origin).parent
    compiled = {name for record in records for name in record.get("compiled", ())}
    regions = sorted(name for name in compiled if "<locals>" not in name)
    settings = Settings(regions=tuple(regions))
    found = discover((folder,), [], False)
    effort = Effort(jobs=os.cpu_count() or 1)
    report = check(settings, found, catalogue(), Sources(found.root), effort=effort)
    return [one for one in report.findings if not one.code.startswith("DYN9")], found.root
