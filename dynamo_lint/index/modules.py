"""What a file is called when others import it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath


def module_name(path: str, packages: Collection[str]) -> tuple[str, bool]:
    """The dotted name of the file at `path`, and whether it is a package's `__init__.py`.

    `packages` holds the POSIX paths of all directories with an `__init__.py`. A file outside any
    package is a script: its name is its stem.
    """
    pure = PurePosixPath(path)
    is_package = pure.name == "__init__.py"
    parts = [] if is_package else [pure.stem]
    folder = pure.parent
    while folder.name and str(folder) in packages:  # the linted root has no name to give
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts)) or pure.stem, is_package
