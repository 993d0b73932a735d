"""File roles: tests, probes, scripts and library code, by path and by use."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import PurePosixPath

from dynamo_lint.index.ir import MODULE_KEY, Expr
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ExternalSymbol, FunctionRef


def is_rehearsal(where: FunctionRef) -> bool:
    """Whether code stands in a probe or a test: evidence, but not what a user runs."""
    return where.key.startswith(("probe_", "test_")) or in_tests(where.path)


@cache
def in_tests(path: str) -> bool:
    """Whether a file is run by a test runner alone."""
    where = PurePosixPath(path)
    named = where.name == "conftest.py" or where.stem.startswith("test_") or where.stem.endswith("_test")
    return named or not {"test", "tests"}.isdisjoint(where.parts[:-1])


def is_measured(path: str) -> bool:
    """Whether a file tries code out, as tests do, or measures it: no user runs it so."""
    where = PurePosixPath(path)
    names = {*where.parts[:-1], *where.stem.split("_")}
    return in_tests(path) or not {"bench", "benchmark", "benchmarks"}.isdisjoint(names)


def is_trial(project: Project, where: FunctionRef, line: int) -> bool:
    """Whether a line tries out a file that others import, where that is run by itself: `__main__`."""
    file = project.files[where.path]
    if where.key != MODULE_KEY or not (file.is_script and project.function(where).is_conditional(line)):
        return False
    if is_notebook(where.path):
        return False  # nothing imports it
    own = {key for key in (*file.functions, *file.classes) if "." not in key}
    return not own.isdisjoint(project.named("imported"))


def is_for_tests(path: str, where: str) -> bool:
    """Whether one file is for tests, and the other for users: nobody runs the toys of the first there."""
    return in_tests(path) and not in_tests(where)


def is_own_use(project: Project, where: FunctionRef, line: int, path: str) -> bool:
    """Whether what a call passes is settled by the code that it comes with, as one function of a package
    settles it for another: a test, an example or a script beside the package is one use among others.
    """
    if is_rehearsal(where) or _package(where.path) != _package(path):
        return False
    return where.key != MODULE_KEY or not project.function(where).is_conditional(line)  # no `__main__`


def is_kept(project: Project, name: str, decorators: Sequence[Expr]) -> bool:
    """Whether a function or class may be called by another name, as out of a table, or by a decorator."""
    return bool(decorators or project.named("called as").get(name))


def _package(path: str) -> str:
    folders = [part for part in PurePosixPath(path).parts[:-1] if part != "src"]
    return folders[0] if folders else ""


def test_of(where: FunctionRef) -> str:
    """The identity of the test function that a function stands in, or is; empty if there is none.

    What one test makes, no other ever sees.
    """
    parts = where.key.split(".")
    number = next((n for n, part in enumerate(parts) if part.startswith("test_")), None)
    return "" if number is None else f"{where.path}::{'.'.join(parts[: number + 1])}"


def may_meet(project: Project, entry: str, site: FunctionRef | None, target: FunctionRef) -> bool:
    """Whether one program may run a function and what a file compiles, by a call in `site` or by a decorator.

    What stands in a test is run by that test alone, and what its file defines beside it by the tests of that
    file: by what they compile themselves, or by code that their file calls to have something compiled.
    """
    test = test_of(target)
    tried = is_for_tests(target.path, entry)
    if not (test or tried):
        return (
            in_tests(entry)
            or not _is_program(project, target.path)
            or one_program(project, entry, target.path)
        )
    if site is None:
        return not tried
    if test and test == test_of(site):
        return True
    if test_of(site):
        return False
    names = [part for part in site.key.split(".") if not part.startswith("<")]
    callers = {where.path for name in names for where, _ in project.calls_of(name)}
    return target.path == site.path or target.path in callers


def one_program(project: Project, path: str, other: str) -> bool:
    """Whether one program may run two files: one of them imports the other, or both are for any program.

    A script and what it imports is a program; what two scripts do that never import each other stays apart.
    """
    if path == other or other in reached(project, path) or path in reached(project, other):
        return True
    return not (_is_program(project, path) or _is_program(project, other))


def _is_program(project: Project, path: str) -> bool:
    """Whether a file is run by itself, and no other imports it by name, nor does a configuration."""
    file = project.files[path]
    if not (file.is_script or in_tests(path)):
        return False
    imports = project.named("imports").get(file.module.partition(".")[0], ())
    if any(file.module in (one.module, f"{one.module}.{one.name}") for one in imports):
        return False
    key = ("named by a configuration", path)
    if key not in project.memo:
        project.memo[key] = _is_configured(project, path)
    return not project.memo[key]


def _is_configured(project: Project, path: str) -> bool:
    """Whether a configuration builds something that a file defines: it is imported for that."""
    file = project.files[path]
    own = (key for key in (*file.functions, *file.classes) if key != MODULE_KEY and "." not in key)
    return any(
        not isinstance(symbol, ExternalSymbol) and symbol.path == path
        for name in own
        for where, site in project.named("described").get(name, ())
        for symbol in project.symbols(site.call.function, where.path, where.key)
    )


def imports_by_text(project: Project) -> bool:
    """Whether any code imports modules by a text, so that no import statement says who runs what."""
    return any(project.calls_of(name) for name in ("import_module", "__import__"))


def reached(project: Project, path: str) -> frozenset[str]:
    """The files that a file imports, directly or not, with itself."""
    key = ("files reached", path)
    if key not in project.memo:
        found, pending = {path}, [path]
        while pending:
            more = imported(project, pending.pop()) - found
            found |= more
            pending += more
        project.memo[key] = frozenset(found)
    return project.memo[key]  # type: ignore[return-value]


def imported(project: Project, path: str) -> frozenset[str]:
    """The files that a file takes something from."""
    key = ("files imported", path)
    if key not in project.memo:
        imports = project.imports_of(path)
        means = {one for target in imports for one in project.symbols(target, path)}
        means |= {one for target in imports for one in project.imported_modules(target, path)}
        project.memo[key] = frozenset(one.path for one in means if not isinstance(one, ExternalSymbol))
    return project.memo[key]  # type: ignore[return-value]


def may_not_run(project: Project, where: FunctionRef, line: int) -> bool:
    """Whether what a test runs may leave out a line: it stands in a branch of code that is no test's own.

    A test is one run: the branches that it does not take are not compiled.
    """
    if in_tests(where.path):
        return False
    return project.function(where).is_conditional(line)
