"""The figures of this code base, and a ratchet on them: `python bench/house.py [--list KEY] [--ratchet]`.

Reads the package as text; nothing of it is run. Prints one figure a line; `--list KEY` names what a figure
counts. `--ratchet` compares the figures with the limits in bench/house.toml and ends with 1 if one is over;
it says which limits have become too generous, so that they can be lowered.

  lines, modules, lines.PACKAGE, modules.PACKAGE
  cycles          groups of modules that import each other, also under TYPE_CHECKING or inside functions
  folder_cycles   the same of packages
  against_order   imports of a package that stands later in ORDER (bench/house.toml)
  longest_function, functions_over_60
  what_docstrings docstrings that begin with "What"
  library_names   names of libraries other than torch in strings, outside models/ and heuristics/
  torch_tables    modules with a collection of three or more torch names at their top level
  walkers         functions that tell apart five or more kinds of statements
  test_files      test modules directly in tests/
  long_entries    entries of the changelog over three lines
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from dynamo_lint.toml import tomllib

ROOT = Path(__file__).parent.parent
PACKAGE = "dynamo_lint"
LIMITS = ROOT / "bench" / "house.toml"
LIBRARIES = frozenset(
    {
        "accelerate",
        "apex",
        "attr",
        "bitsandbytes",
        "deepspeed",
        "detectron2",
        "diffusers",
        "einops",
        "fairscale",
    }
    | {"fvcore", "hydra", "ignite", "jsonargparse", "kornia", "lightning", "megatron", "mmcv", "mmengine"}
    | {"monai", "omegaconf", "peft", "pydantic", "pytorch_lightning", "ray", "timm", "torchao", "torchtitan"}
    | {"torchtune", "torchvision", "transformers", "trl", "vllm", "xformers", "yacs"}
)
STATEMENTS = frozenset(
    {
        "If",
        "For",
        "While",
        "With",
        "Try",
        "Assign",
        "AugAssign",
        "AnnAssign",
        "Return",
        "Raise",
        "Expr",
        "Del",
    }
    | {"Delete", "FunctionDef", "ClassDef", "Match", "SimpleStatementLine", "IndentedBlock"}
)


class Arrow(NamedTuple):
    """One import of a module by another, both as paths below the package."""

    source: str
    target: str
    line: int


def trees(root: Path = ROOT) -> dict[str, ast.Module]:
    """The parsed modules of the package, by path below it."""
    home = root / PACKAGE
    return {
        path.relative_to(home).as_posix(): ast.parse(path.read_text()) for path in sorted(home.rglob("*.py"))
    }


def arrows(modules: Mapping[str, ast.Module]) -> list[Arrow]:
    """Every import between modules of the package, wherever it stands."""
    names = {path.removesuffix(".py").removesuffix("/__init__").replace("/", "."): path for path in modules}
    found = []
    for path, tree in modules.items():
        for node in ast.walk(tree):
            for dotted in _imported(node):
                inner = dotted.removeprefix(f"{PACKAGE}.")
                target = names.get(inner) or names.get(inner.rpartition(".")[0])
                if target is not None and target != path:
                    found.append(Arrow(path, target, node.lineno))  # type: ignore[attr-defined]
    return found


def _imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names):
            dotted = [alias.name for alias in names]
        case ast.ImportFrom(module=str() as module, names=names):
            dotted = [f"{module}.{alias.name}" for alias in names]
        case _:
            return []
    return [one for one in dotted if one.startswith(f"{PACKAGE}.")]


def package_of(path: str) -> str:
    """The package that a module lies in; a module at the top stands for itself."""
    return path.split("/")[0].removesuffix(".py")


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of two or more nodes that reach each other, largest first."""
    reached: dict[str, set[str]] = {}
    for start in graph:
        seen, pending = {start}, [start]
        while pending:
            new = graph.get(pending.pop(), set()) - seen
            seen |= new
            pending += new
        reached[start] = seen
    groups = {frozenset(b for b in reached[a] if a in reached.get(b, ())) for a in graph}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def measure(root: Path = ROOT) -> dict[str, list[str] | int]:
    """Every figure, as a number or as the list of what it counts."""
    modules = trees(root)
    sizes = {path: (root / PACKAGE / path).read_text().count("\n") for path in modules}
    figures: dict[str, list[str] | int] = {"lines": sum(sizes.values()), "modules": len(sizes)}
    for package in sorted({package_of(path) for path in sizes if "/" in path}):
        inside = [path for path in sizes if path.startswith(f"{package}/")]
        figures[f"lines.{package}"] = sum(sizes[path] for path in inside)
        figures[f"modules.{package}"] = len(inside)
    figures |= imports(modules)
    functions = [
        ((node.end_lineno or 0) - node.lineno + 1, f"{path}:{node.lineno} {node.name}")
        for path, node in _nodes(modules)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    figures["longest_function"] = max(size for size, _ in functions)
    figures["functions_over_60"] = [name for size, name in sorted(functions) if size > 60]
    figures["what_docstrings"] = [
        f"{path}:{getattr(node, 'lineno', 1)}"
        for path, node in _nodes(modules)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (ast.get_docstring(node) or "").startswith("What")
    ]
    figures["library_names"] = [
        f"{path}:{node.lineno} {node.value}"
        for path, node in _nodes(modules)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"[\w.]+", node.value) and node.value.split(".")[0] in LIBRARIES
        if package_of(path) not in {"models", "heuristics"}
    ]
    figures["torch_tables"] = [path for path, tree in modules.items() if any(map(_is_torch_table, tree.body))]
    figures["walkers"] = [
        f"{path}:{node.lineno} {node.name}"
        for path, node in _nodes(modules)
        if isinstance(node, ast.FunctionDef) and len(_statements_told_apart(node)) >= 5
    ]
    figures["test_files"] = sorted(path.name for path in (root / "tests").glob("test_*.py"))
    entries = re.findall(r"^- .*(?:\n  .*)*", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    figures["long_entries"] = [entry.splitlines()[0] for entry in entries if entry.count("\n") > 2]
    return figures


def imports(modules: Mapping[str, ast.Module]) -> dict[str, list[str] | int]:
    """Return the figures about imports: those around a corner, and those against the order of packages."""
    order: list[str] = tomllib.loads(LIMITS.read_text())["order"]
    place = {name: number for number, name in enumerate(order)}
    between: dict[str, set[str]] = defaultdict(set)
    packages: dict[str, set[str]] = defaultdict(set)
    against = []
    for arrow in arrows(modules):
        between[arrow.source].add(arrow.target)
        one, other = package_of(arrow.source), package_of(arrow.target)
        if one != other:
            packages[one].add(other)
            if place.get(other, -1) > place.get(one, len(order)):
                against.append(f"{arrow.source}:{arrow.line} -> {arrow.target}")
    return {
        "cycles": [" ".join(group) for group in cycles(between)],
        "folder_cycles": [" ".join(group) for group in cycles(packages)],
        "against_order": against,
    }


def _nodes(modules: Mapping[str, ast.Module]) -> Iterator[tuple[str, ast.AST]]:
    return ((path, node) for path, tree in modules.items() for node in ast.walk(tree))


def _is_torch_table(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    texts = (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
    return sum(isinstance(text, str) and text.startswith("torch") for text in texts) >= 3


def _statements_told_apart(function: ast.FunctionDef) -> set[str]:
    named = {
        getattr(part.cls, "attr", getattr(part.cls, "id", ""))
        for part in ast.walk(function)
        if isinstance(part, ast.MatchClass)
    }
    for call in ast.walk(function):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "isinstance":
            named |= {part.attr for part in ast.walk(call) if isinstance(part, ast.Attribute)}
    return named & STATEMENTS


def main() -> int:
    """Print the figures; 1 if `--ratchet` finds one over its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--list", action="append", default=[], metavar="KEY", help="name what a figure counts"
    )
    parser.add_argument("--ratchet", action="store_true", help="compare with bench/house.toml")
    options = parser.parse_args()
    figures = measure()
    numbers = {key: value if isinstance(value, int) else len(value) for key, value in figures.items()}
    if options.ratchet:
        return _compared(numbers, figures)
    for key, number in numbers.items():
        print(f"{key:24} {number}")
    for key in options.list:
        value = figures.get(key, [])
        print(f"-- {key}", *(value if isinstance(value, list) else []), sep="\n   ")
    return 0


def _compared(numbers: Mapping[str, int], figures: Mapping[str, list[str] | int]) -> int:
    limits: dict[str, int] = tomllib.loads(LIMITS.read_text())["limits"]
    failed = 0
    for key, limit in limits.items():
        number, counted = numbers[key], figures[key]
        if number > limit:
            failed = 1
            print(f"{key} is {number}, the limit is {limit}", file=sys.stderr)
            print(
                *(f"    {one}" for one in (counted if isinstance(counted, list) else [])[:20]),
                sep="\n",
                file=sys.stderr,
            )
        elif number < limit:
            print(f"{key} is {number}: lower its limit of {limit} in bench/house.toml")
    return failed


if __name__ == "__main__":
    sys.exit(main())
