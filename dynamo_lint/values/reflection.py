"""Imports and attributes by text: `importlib.import_module(name)`, `getattr(owner, name)`, f-strings."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import Call, Expr
from dynamo_lint.program.files import in_tests
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import Confidence, ExternalSymbol, File
from dynamo_lint.values import alternatives
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Container,
    Context,
    Instance,
    Slot,
    Text,
    Value,
    ValueSet,
    at_best,
    union,
)
from dynamo_lint.values.points_to import PointsTo

LOCATORS = knowledge.names("finds_by_name")
"""Functions of libraries that give what a dotted name means."""
LOADERS = knowledge.names("loads_file")
"""Functions of Python that give the module in a file of which only the run knows the path."""
SPLITTERS = frozenset({"split", "rsplit", "partition", "rpartition"})
"""Methods of texts that give their parts."""
_OPEN = re.compile(r"\{[^{}]*\}")


def located(pts: PointsTo, names: ValueSet, path: str) -> ValueSet:
    """The modules, classes and functions of the project that dotted names mean in a file."""
    return union(
        at_best(_named(pts, name.value, path), confidence)
        for name, confidence in names.items()
        if isinstance(name, Text)
    )


def loaded(pts: PointsTo, name: str) -> ValueSet:
    """The values that a module has under a name, whichever file it was loaded from."""
    if name not in pts.project.named("top"):
        return EMPTY
    key = ("loaded", name)
    if key not in pts.project.memo:
        files = ((path, file) for path, file in pts.project.files.items() if file.is_code)
        having = [path for path, file in files if name in file.functions or name in file.classes]
        pts.project.memo[key] = [path for path in having if not in_tests(path)]
    paths: list[str] = pts.project.memo[key]  # type: ignore[assignment]
    return (
        pts.attributes({File(path): Confidence.LIKELY for path in paths}, name)
        if len(paths) <= alternatives.MOST
        else EMPTY
    )


def imported(pts: PointsTo, name: Expr, context: Context) -> ValueSet:
    """The file that `sys.modules` has under a name: this one under `__name__`."""
    path = context.function.path
    if name == ir.Name("__name__"):
        return {File(path): Confidence.CERTAIN}
    return located(pts, pts.value(name, context), path)


def worded(project: Project, text: str, path: str) -> ValueSet:
    """The strings that a text with open parts may be: `"models.{}".format(name)`."""
    known = _OPEN.sub("*", text)
    return {Text(_placed(project, known, path)): Confidence.CERTAIN} if "*" in known else EMPTY


def spelled_out(pts: PointsTo, owners: ValueSet, texts: dict[str, Confidence]) -> dict[str, Confidence]:
    """The texts, each that has open parts as the attributes of the owners that it fits."""
    found: dict[str, Confidence] = {}
    for text, confidence in texts.items():
        if "*" in text:
            names = {name for owner in owners for name in _names_of(pts.project, owner)}
            found |= dict.fromkeys(sorted(fnmatch.filter(names, text)), Confidence.LIKELY)
        else:
            found[text] = confidence
    return found


def _names_of(project: Project, owner: Value) -> Iterator[str]:
    if isinstance(owner, File):
        yield from project.global_bindings(owner.path)
    for part in project.mro(owner.ref) if isinstance(owner, Instance | ClassValue) else ():
        yield from project.class_bindings(part)
        yield from project.own_stores(part)


def _named(pts: PointsTo, dotted: str, path: str) -> ValueSet:
    if "*" in dotted:
        return _any_of(pts, dotted, path)
    module = pts.project.find_module(dotted, path)
    if module is not None:
        return {File(module): Confidence.CERTAIN}
    package, _, name = dotted.rpartition(".")
    inside = pts.project.find_module(package, path) if package else None
    return EMPTY if inside is None else pts.attributes({File(inside): Confidence.CERTAIN}, name)


def _any_of(pts: PointsTo, dotted: str, path: str) -> ValueSet:
    """The modules that a text with open parts may name, or what all of those are asked for alike."""
    package, _, name = dotted.rpartition(".")
    found = _modules_like(pts.project, dotted, path)
    if not found:
        return _named_alike(pts, package, name, path)
    return {File(module): Confidence.LIKELY for module in found}


def _named_alike(pts: PointsTo, package: str, name: str, path: str) -> ValueSet:
    """The values that the modules like `tmix.tmix_*` have under a name like `TMix_*`, of each its own."""
    modules: list[Value] = [File(module) for module in _modules_like(pts.project, package, path)]
    own: list[ValueSet] = []
    last = re.compile(re.escape(package.rpartition(".")[2]).replace(r"\*", "(.+)"))
    for module in modules:
        meant = last.fullmatch(PurePosixPath(module.path).stem) if isinstance(module, File) else None
        if meant is not None and meant.groups():
            own.append(pts.attributes({module: Confidence.LIKELY}, name.replace("*", meant[1])))
    if not any(own):
        inside: ValueSet = dict.fromkeys(modules, Confidence.LIKELY)
        own = [
            pts.attributes(inside, one) for one in sorted(spelled_out(pts, inside, {name: Confidence.LIKELY}))
        ]
    alternatives.note(pts.project, union(own))
    return union(own)


def _modules_like(project: Project, dotted: str, path: str) -> list[str]:
    key = ("modules like", dotted, path)
    if key not in project.memo:
        dotted = _placed(project, dotted, path)
        if meant := _words_of_config(project, dotted, path):
            project.memo[key] = meant
            return meant
        text = re.escape(dotted).replace(r"\*", r"[^.]+")
        whole, tail = re.compile(text), re.compile(rf"(.*\.)?{text}")
        code = [(other.module, at) for at, other in project.files.items() if other.is_code]
        found = [at for module, at in code if whole.fullmatch(module)]
        found = found or [at for module, at in code if tail.fullmatch(module)]
        # A folder of configurations is no package, as a rule, but it is imported like one.
        found = found or [at for _, at in code if tail.fullmatch(at.removesuffix(".py").replace("/", "."))]
        project.memo[key] = sorted(found) if len(found) <= alternatives.MOST else []
    return project.memo[key]  # type: ignore[return-value]


def _placed(project: Project, text: str, path: str) -> str:
    """The whole name of a module that is meant from a file on: of `f"{__package__}.layers.{kind}"`, say."""
    if not text.startswith(".") or "*" not in text:
        return text
    file = project.files[path]
    package = file.module if file.is_package else file.module.rpartition(".")[0]
    return f"{package}.{text.lstrip('.')}"


def _words_of_config(project: Project, dotted: str, path: str) -> list[str]:
    """The modules that a text with one open part names by the words of configurations, if any does."""
    if dotted.count("*") != 1:
        return []
    key = "words of configurations"
    if key not in project.memo:
        project.memo[key] = frozenset(project.screened("words", lambda _: True))
    words: frozenset[str] = project.memo[key]  # type: ignore[assignment]
    whole = fnmatch.filter(words, dotted)
    named = (project.find_module(one, path) for one in (*whole, *(dotted.replace("*", w) for w in words)))
    found = sorted({module for module in named if module is not None})
    return found if len(found) <= alternatives.MOST else []


def by_class_name(pts: PointsTo, owner: Expr, names: Iterable[str], context: Context) -> ValueSet:
    """The classes that a name means in a module which is imported by a name that only the run knows.

    Only those that are called so alone in the project: which of several is meant depends on the module.
    """
    if not is_imported_by_name(pts, owner, context):
        return EMPTY
    found: dict[Value, Confidence] = {}
    for name in sorted(names):
        classes = [ref for ref in pts.project.classes() if ref.name == name and "." not in ref.key]
        if len(classes) == 1:
            found[ClassValue(classes[0])] = Confidence.LIKELY
    return found


def is_imported_by_name(pts: PointsTo, owner: Expr, context: Context) -> bool:
    """Whether a value is a module that is imported by a name of which nothing is known."""
    where, project = context.function, pts.project
    bound: Sequence[Expr] = (owner,)
    if isinstance(owner, ir.Name):
        local = project.locals_of(where).get(owner.id)
        bound = local.bound if local is not None else project.global_bindings(where.path).get(owner.id, [])
    for value in bound:
        if isinstance(value, Call) and value.arguments:
            symbols = project.symbols(value.function, where.path, where.key)
            if ExternalSymbol("importlib.import_module") in symbols and not pts.value(
                value.arguments[0], context
            ):
                return True
    return False


def parts_of(text: str, method: str, call: Call) -> ValueSet:
    """The values that a method of a text gives: the parts of a dotted name."""
    literal = [argument.value for argument in call.arguments if isinstance(argument, ir.Constant)]
    if len(literal) != len(call.arguments) or not literal or not all(literal) or call.keywords:
        return EMPTY
    try:
        parts = getattr(text, method)(*literal)
    except TypeError:
        return EMPTY
    found: dict[Value, Confidence] = {
        Container(
            "tuple", tuple(Slot([(Text(part), Confidence.CERTAIN)]) for part in parts)
        ): Confidence.CERTAIN
    }
    return found
