"""The module name of a file, and whether it is run as a script."""

from __future__ import annotations

import ast
from collections.abc import Collection


def module_name(path: str, packages: Collection[str]) -> tuple[str, bool]:
    """The dotted name of the file at `path`, and whether it is a package's `__init__.py`.

    `packages` holds the POSIX paths of all directories with an `__init__.py`. A file outside any
    package is a script: its name is its stem.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    is_package = name == "__init__.py"
    parts = [] if is_package else [stem]
    while folder and folder in packages:  # the linted root has no name to give
        folder, _, name = folder.rpartition("/")
        parts.append(name)
    return ".".join(reversed(parts)) or stem, is_package


def is_script(tree: ast.Module) -> bool:
    """Whether a file says what to do when it is run by itself: `if __name__ == "__main__": …`."""
    for statement in tree.body:
        match statement:
            case ast.If(test=ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")])):
                return True
    return False
