"""The inputs of a run: from paths and options to settings and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dynamo_lint.config import Settings, load, override
from dynamo_lint.discovery import Discovered, base, discover
from dynamo_lint.torch_version import with_torch


def read_inputs(
    paths: tuple[Path, ...],
    texts: Mapping[Path, bytes],
    *,
    config: Path | None = None,
    isolated: bool = False,
    exclude: Sequence[str] = (),
    extend_exclude: Sequence[str] = (),
    force_exclude: bool = False,
    overrides: Mapping[str, Any] | None = None,
) -> tuple[Settings, Discovered]:
    """Settings and files for some paths, as seen from the working directory.

    `texts` holds the content of paths that are not to be read from the disk. `config` replaces the nearest
    configuration file, and `overrides` win over it.
    """
    settings = override(load(base(paths, texts), config, isolated), **(overrides or {}))
    patterns = [
        (Path.cwd(), exclude) if exclude else (settings.home, settings.exclude),
        (settings.home, settings.extend_exclude),
        (Path.cwd(), extend_exclude),
    ]
    found = discover(paths, patterns, force_exclude, texts)
    return with_torch(settings, found.root), found
