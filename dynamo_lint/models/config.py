"""Values of configuration keys, as the YAML, JSON and Python configurations of a project give them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from dynamo_lint import knowledge
from dynamo_lint.index.ir import (
    Attribute,
    Call,
    CallSite,
    Constant,
    Display,
    Element,
    Expr,
    Name,
    Setting,
    Subscript,
)
from dynamo_lint.program.names import key_taken
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import Confidence, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.values import alternatives
from dynamo_lint.values.model import EMPTY, ClassValue, ConfigKey, Context, Text, Value, ValueSet, union
from dynamo_lint.values.points_to import PointsTo
from dynamo_lint.values.reflection import SPLITTERS

_MOST = 40
"""More models than this under one key are a library: its users choose."""
_DEEPEST = 5
_COPYING = knowledge.names("copies_config")
_BUILDING = ("instantiate", "call")
"""The functions of hydra that build from descriptions."""
_Completed = Mapping[Symbol, list[tuple[Context, CallSite]]]
_NOTHING: _Completed = {}
_T = TypeVar("_T")
_Rows = Sequence[tuple[FunctionRef, Setting]]


def described(pts: PointsTo, asked: Expr, context: Context, *, anything: bool = True) -> ValueSet:
    """The values that configurations build under the key that an expression names.

    Where it names none, `anything`: of all that they build the modules that are no part of another.
    """
    folder = _folder(context.function.path)
    given = (value.name for value in pts.value(asked, context) if isinstance(value, ConfigKey))
    names = dict.fromkeys(given) or dict.fromkeys(config_keys(pts, asked, context))
    found = [_under(pts, name, rows, folder) for name in names if (rows := _rows(pts.project, name))]
    if names:
        return found[0] if len(found) == 1 else pts.capped(union(found))
    if not anything:
        return EMPTY
    return pts.ask(("outer settings", folder), lambda: pts.capped(_outer(pts, folder)), EMPTY)


def classes_in_config(pts: PointsTo, asked: Expr, context: Context) -> ValueSet:
    """The classes that the configurations of a program name in words, under the key that an expression takes.

    Who takes `pkg.mod@Net` apart may put something before it, so a module may be longer than what is said.
    """
    table, folder = pts.project.named("named in settings"), _folder(context.function.path)
    wanted = dict.fromkeys(config_keys(pts, asked, context)) if table else ()
    rows = [row for name in wanted for row in _near(table.get(name, ()), folder)]
    found: dict[Value, Confidence] = {}
    for text in dict.fromkeys(text for _, text in rows):
        module, _, name = re.sub("[:@]", ".", text).rpartition(".")
        for ref in pts.project.classes():
            at = ref.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if ref.key == name and f".{at}".endswith(f".{module}"):
                found[ClassValue(ref)] = Confidence.LIKELY
    alternatives.note(pts.project, found)
    return pts.capped(found)


def words_in_config(pts: PointsTo, asked: Expr, context: Context) -> ValueSet:
    """The single words that the configurations of a program have under the key that an expression takes."""
    words = pts.project.named("words")
    found = (
        {word for key in config_keys(pts, asked, context) for word in words.get(key, ())} if words else set()
    )
    return {Text(word): Confidence.LIKELY for word in sorted(found)}


def of_group(pts: PointsTo, path: str, name: str) -> ValueSet:
    """The values that the `defaults` of a configuration put under a key: the files of the folder of that
    name."""
    folder = "/".join([*path.split("/")[:-1], name])
    table = pts.project.named("settings")
    rows = [row for row in table.get(name, ()) if _folder(row[0].path) == folder]
    return _chosen(pts, rows) if rows else EMPTY


def completed(pts: PointsTo, wanted: Iterable[Symbol]) -> Iterator[tuple[Context, CallSite]]:
    """The calls of builders that hand on more than is described: `instantiate(cfg.trainer, model=model)`."""
    table = pts.ask(("completed",), lambda: _completed(pts), _NOTHING)
    for symbol in wanted:
        yield from table.get(symbol, ())


def _completed(pts: PointsTo) -> _Completed:
    project = pts.project
    table: dict[Symbol, list[tuple[Context, CallSite]]] = {}
    settings = project.named("settings")
    for where, site in (site for name in _BUILDING for site in project.calls_of(name)):
        call = site.call
        if not (call.arguments and (call.keywords or call.arguments[1:])):
            continue  # nothing beside the description
        context = Context(where, project.owner(where))
        more = CallSite(replace(call, arguments=call.arguments[1:]))
        for name in dict.fromkeys(config_keys(pts, call.arguments[0], context)):
            for at, one in settings.get(name, ()):
                for symbol in project.symbols(one.call.function, at.path):
                    table.setdefault(symbol, []).append((context, more))
    return table


def config_keys(pts: PointsTo, asked: Expr, context: Context, depth: int = 0) -> Iterator[str]:
    """The keys of a configuration that an expression may name, followed to where it comes from."""
    match asked:
        case Attribute(owner, name):
            holder = pts.project.owner(context.function)
            if holder is not None and depth < _DEEPEST and pts.project.is_self(owner, context.function):
                for part in pts.project.mro(context.receiver or holder):
                    for where, store in pts.project.own_stores(part).get(name, ()):
                        yield from config_keys(pts, store.value, Context(where, context.receiver), depth + 1)
            yield name
        case Subscript(Call(Attribute(whole, method)), Constant(int())) if method in SPLITTERS:
            yield from config_keys(pts, whole, context, depth)
        case Call(callee, (first, *_)) if key_taken(asked) is None:
            meant = pts.project.symbols(callee, context.function.path, context.function.key)
            if any(isinstance(one, ExternalSymbol) and one.dotted in _COPYING for one in meant):
                yield from config_keys(pts, first, context, depth)
        case Name(name) if depth < _DEEPEST:
            yield from _of_name(pts, name, context, depth + 1)
        case Element(inner):
            yield from config_keys(pts, inner, context, depth)
        case Display("list" | "tuple", items):
            yield from (key for item in items for key in config_keys(pts, item, context, depth))
        case _ if (key := key_taken(asked)) is not None:
            yield key


def _of_name(pts: PointsTo, name: str, context: Context, depth: int) -> Iterator[str]:
    where = pts.project.home_of(name, context.function)
    local = pts.project.locals_of(where).get(name)
    if local is None:
        return
    for value in local.bound:
        yield from config_keys(pts, value, Context(where, context.receiver), depth)
    if local.parameter is not None:
        for caller, given in pts.given_to(local.parameter, where):
            yield from config_keys(pts, given, caller, depth)


def _under(pts: PointsTo, name: str, rows: _Rows, folder: str) -> ValueSet:
    return pts.ask(("settings", name, folder), lambda: _chosen(pts, _near(rows, folder)), EMPTY)


def _rows(project: Project, name: str) -> _Rows:
    """The rows under a key, and those that a file that imports it stores under it."""
    table = project.named("settings")
    stored = dict.fromkeys(project.named("nodes").get(name, ()))
    return [*table.get(name, ()), *(row for node in stored for row in table.get(node, ()))]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _near(rows: Sequence[tuple[FunctionRef, _T]], folder: str) -> Sequence[tuple[FunctionRef, _T]]:
    """The rows in the configurations nearest to a folder: each example of a library has its own beside it."""
    while folder:
        inside = [row for row in rows if row[0].path.startswith(f"{folder}/")]
        if inside:
            return inside
        folder = _folder(folder)
    return rows


def _chosen(pts: PointsTo, rows: _Rows) -> ValueSet:
    """The values under a key: the models that a configuration chooses from are one choice."""
    made = _instances_of(pts, rows)
    models = [value for value in made if pts.holds_module(value)]
    return made if len(models) <= _MOST else pts.guessed(made)


def _outer(pts: PointsTo, folder: str) -> ValueSet:
    table = pts.project.named("settings")
    rows = [row for named in table.values() for row in named if row[1].outer]
    return {
        v: confidence
        for v, confidence in _instances_of(pts, _near(rows, folder)).items()
        if pts.holds_module(v)
    }


def _instances_of(pts: PointsTo, rows: _Rows) -> ValueSet:
    return union((pts.value(one.call, Context(where)) for where, one in rows), Confidence.LIKELY)
