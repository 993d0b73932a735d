"""Call edges of syntax: `__iter__`, `__getitem__`, `__len__` and other special methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dynamo_lint.index import ir
from dynamo_lint.index.ir import Expr, Function
from dynamo_lint.index.walking import walk
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, FunctionRef
from dynamo_lint.values.model import Context, Instance
from dynamo_lint.values.points_to import PointsTo

_LOOP = ("__iter__", "__next__")
_BUILTINS = {
    "len": ("__len__",),
    "bool": ("__bool__",),
    "next": ("__next__",),
    **dict.fromkeys(("iter", "list", "tuple", "set", "enumerate", "zip", "sum", "sorted"), _LOOP),
}


class SpecialMethodCall(NamedTuple):
    """A special method that a line runs without calling it by name."""

    method: FunctionRef
    receiver: ClassRef
    confidence: Confidence
    line: int


def defined(project: Project) -> frozenset[str]:
    """The special methods of that sort that the project defines: most projects have few or none."""
    every = {"__getitem__", *_LOOP, *(name for names in _BUILTINS.values() for name in names)}
    return frozenset(name for name in every if name in project.named("methods"))


def runs(
    pts: PointsTo, function: Function, context: Context, names: frozenset[str]
) -> Iterator[SpecialMethodCall]:
    """The special methods, of those named, that a function runs outside eager code."""
    for value, line, wanted in _uses(function, names):
        if function.runs_eagerly(line):
            continue
        for one, confidence in pts.value(value, context).items():
            if isinstance(one, Instance):
                for name in wanted:
                    method = pts.project.method(one.ref, name)
                    if method is not None:
                        yield SpecialMethodCall(method, one.ref, confidence, line)


def _uses(function: Function, names: frozenset[str]) -> Iterator[tuple[Expr, int, tuple[str, ...]]]:
    """Values that a function loops over, indexes or gives to a builtin, with the methods that this runs."""
    lined = [(binding.value, binding.line) for binding in function.bindings]
    lined += [(store.value, store.line) for store in function.stores]
    lined += [(value, function.line) for value in function.returns]
    for site in function.calls:
        lined += [(argument, site.call.line) for argument in site.call.arguments]
        callee = site.call.function
        if isinstance(callee, ir.Name) and site.call.arguments and not site.eager:
            wanted = _BUILTINS.get(callee.id, ())
            if not names.isdisjoint(wanted):
                yield from ((argument, site.call.line, wanted) for argument in site.call.arguments)
    # `*args` is a tuple and `**kwargs` a dictionary, whatever is in them.
    rest = {p.name for p in function.parameters if p.kind in ("vararg", "kwarg")}
    plain = rest.difference(binding.name for binding in function.bindings)
    seen: set[tuple[Expr, bool]] = {(ir.Name(name), loop) for name in plain for loop in (True, False)}
    for whole, line in lined:
        for part in walk(whole):
            match part:
                case ir.Element(value) if not names.isdisjoint(_LOOP) and (value, True) not in seen:
                    seen.add((value, True))
                    yield value, line, _LOOP
                case ir.Subscript(value) if "__getitem__" in names and (value, False) not in seen:
                    seen.add((value, False))
                    yield value, line, ("__getitem__",)
