"""Whether a fix is safe: nobody who reads, writes, copies or saves an attribute can tell it from the number.

docs/guides/fixes.md says it for users. Whether the code is compiled is no part of it: a buffer counts the
same where Dynamo leaves the code alone.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence

from dynamo_lint.fixes.attribute_uses import Family, Mention, computed_reader, named_in_text, speaks_of
from dynamo_lint.fixes.edit_session import Workbench
from dynamo_lint.fixes.uses import Flow
from dynamo_lint.index.ir import Attribute, Call, Constant, Expr, Name
from dynamo_lint.knowledge import names, table
from dynamo_lint.program.names import last_name
from dynamo_lint.program.refs import ClassRef, ExternalSymbol
from dynamo_lint.values.model import (
    AnonymousModule,
    ClassValue,
    Container,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    SuperProxy,
    Value,
)
from dynamo_lint.values.points_to import evaluate, points_to_of

_LINTED_ELSEWHERE = frozenset({"append", "add", "extend", "insert", "setdefault", "update"})
"""Methods of Python's containers: what they are given stays in the project."""
_SHARED = "a copy, or another process, may share a buffer, and never shares a number"
_PICKLED = "a module that was pickled whole before the edit holds a number there"
_NOT_LINTED = "code that is not linted may copy or broadcast its buffers, as DistributedDataParallel does"
_RANKS = "DistributedDataParallel copies rank 0's buffers to all ranks"
_META = "a module built on the meta device has to set the buffer again after `to_empty()`"
_LISTED = "code that iterates over `buffers()` would see one more"
_TWICE = "activation checkpointing runs the update twice"
_EXPORTED = "a program that is exported updates a tensor, and keeps a number as it was"
_COPIES = "a functional call works on copies of buffers, and the update is lost"
_SHARED_BY_NAME = "`share_memory` shares buffers, but not numbers, with other processes"

_REASONS = {
    "ranks": _RANKS,
    "meta": _META,
    "checkpointing": _TWICE,
    "listing": _LISTED,
    "inference": "a buffer made in inference mode cannot be updated outside of it",
    "sharing": _SHARED_BY_NAME,
    "copying": _COPIES,
    "exporting": _EXPORTED,
    "scripting": "a scripted module keeps its attributes by type",
}
_IN_MATH = {
    "types": "a number leaves the type and the precision of any tensor as they are, a tensor may change them",
    "graphs": "a CUDA graph overwrites the tensor that a call leaves behind",
}
PROJECT_WORDS = tuple(
    ("word" if text.isidentifier() else "text", text, _REASONS[kind])
    for kind, texts in table("torch")["sees_buffers"].items()
    for text in texts
)
"""A text or a word in the code of the project, and what it means for a buffer that was a number."""
TENSOR_WORDS = tuple(
    ("word" if text.isidentifier() else "text", text, _IN_MATH[kind])
    for kind, texts in table("torch")["sees_scalars"].items()
    for text in texts
)
"""The same for a tensor that enters math where a number did."""


_OF_BUFFERS = (_RANKS, _LISTED)
"""What a tensor that is no buffer is spared, as a number is."""


def unlisted(bench: Workbench) -> str | None:
    """Why a number should become a tensor that is no buffer; None if it may be one."""
    reasons = (why for how, text, why in PROJECT_WORDS if why in _OF_BUFFERS and _said(bench, how, text))
    return next(reasons, None)


def trains_on_ranks(bench: Workbench) -> bool:
    """The project trains with DistributedDataParallel, as far as its text shows."""
    return any(_said(bench, how, text) for how, text, why in PROJECT_WORDS if why == _RANKS)


def _said(bench: Workbench, how: str, text: str) -> str | None:
    """The first file whose code holds a text, in a way of `searches.SEARCHES`; None if none does."""
    asked = "said", how, text
    if asked not in bench.memo:
        bench.memo[asked] = next(iter(bench.files_of_code(how, text)), None)
    found = bench.memo[asked]
    return str(found) if found is not None else None


def records_graphs(bench: Workbench) -> str | None:
    """The first file that speaks of CUDA graphs, which hold no tensor on the CPU; None if none does."""
    graphs = (_said(bench, how, text) for how, text, why in TENSOR_WORDS if why == _IN_MATH["graphs"])
    return next(filter(None, graphs), None)


def reason(bench: Workbench, family: Family, floating: bool, flows: Sequence[Flow]) -> str | None:
    """Why a rewrite to a tensor may be noticed, which is no buffer where `unlisted`; None if it is safe.

    `flows` are the ways of the value through compiled code.
    """
    name = family.name
    if floating:
        return (
            f"`{name}` loses the precision of a Python float, and is converted by `.half()` and `.to(dtype)`"
        )
    if not name.startswith("_") and any(
        home.ships(one.path) for home in bench.shipped for one in family.members
    ):
        return f"code outside this project that reads `{name}` gets a tensor, unless this is an `application`"
    if any(mention.guessed for mention in family.mentions):
        return f"some uses of `{name}` were matched by name only"
    for how, text, why in PROJECT_WORDS:
        if why not in _OF_BUFFERS and _said(bench, how, text):
            return why
    if _changes(family) and any(_multiplies(mention) for mention in family.mentions):
        return "a Python int grows without bound, a 64-bit integer wraps around"
    if noticed := _in_math(bench, flows):
        return noticed
    if reader := computed_reader(bench, family):
        return f"{reader} looks attributes up by computed names, and may read `{name}`"
    if place := named_in_text(bench, name):
        return f"{place} has `{name}` as a text or a keyword, and may set or read it by that"
    return escape(bench, family.members)


def _in_math(bench: Workbench, flows: Sequence[Flow]) -> str | None:
    """Why math with a tensor of an integer may give something else than the integer; None if it does not.

    It does with tensors of float32, bool and 64-bit integers; no text of the project has another type.
    """
    if not any(flow.math for flow in flows):
        return None
    for how, text, why in TENSOR_WORDS:
        if place := _said(bench, how, text):
            return f"{why} (`{text}` in {place})"
    rounded = [ast.unparse(node) for flow in flows for node in flow.rounded]
    return f"`{rounded[0]}` is rounded otherwise with a tensor" if rounded else None


def _is_shipped(bench: Workbench, members: Iterable[ClassRef]) -> bool:
    """Whether code that is not of the project can import one of the classes."""
    return any(home.ships(member.path) for home in bench.shipped for member in members)


_NO_CODE_OF_THE_PROJECT = frozenset({"object", "Module", "nn.Module", "torch.nn.Module"})


def speaks_of_its_own(name: str, raw: bytes) -> bool:
    """Whether a file has an attribute of a name on `self` alone, in classes of its own that set it.

    Their instances are none of the project's classes, whatever else is called so.
    """
    try:
        tree = ast.parse(raw)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    setting = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef) and _sets(node, name)}
    of_self = [
        inner
        for node in setting.values()
        if all(ast.unparse(base) in _NO_CODE_OF_THE_PROJECT for base in node.bases)
        and not any(isinstance(inner, ast.ClassDef) for inner in ast.walk(node) if inner is not node)
        for inner in ast.walk(node)
        if _is_said_of_self(inner, name)
    ]
    return len(of_self) == sum(_is_said(node, name) for node in ast.walk(tree))


def _is_said(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Attribute(attr=word) | ast.Constant(value=str() as word) | ast.keyword(arg=str() as word):
            return word.rpartition(".")[2] == name
    return False


def _is_said_of_self(node: ast.AST, name: str) -> bool:
    """`self.name`, and `self.register_buffer("name", ...)` for the text in it."""
    match node:
        case ast.Attribute(value=ast.Name(id="self"), attr=word):
            return word == name
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer"),
            args=[ast.Constant(value=str() as word), *_],
        ):
            return word == name
    return False


def _sets(node: ast.ClassDef, name: str) -> bool:
    """Whether a class gives an attribute of `self` its value."""
    return any(
        _is_said_of_self(inner, name) and isinstance(getattr(inner, "ctx", None), ast.Store | None)
        for inner in ast.walk(node)
    )


def _changes(family: Family) -> bool:
    """Whether anything but an `__init__` sets the attribute."""
    stores = (mention for mention in family.mentions if isinstance(mention.node.ctx, ast.Store))
    return any(getattr(one.file.scope(one.node), "name", "") != "__init__" for one in stores)


def _multiplies(mention: Mention) -> bool:
    """Whether a write computes the next value by a factor of this one, so that it outgrows any type."""
    statement = mention.file.statement(mention.node)
    match statement:
        case ast.AugAssign(target=ast.Attribute(attr=name), op=operator) if name == mention.node.attr:
            return isinstance(operator, ast.Mult | ast.Pow | ast.LShift) or speaks_of(statement.value, name)
        case ast.Assign(value=value) if isinstance(mention.node.ctx, ast.Load):
            return any(
                isinstance(part, ast.BinOp)
                and isinstance(part.op, ast.Mult | ast.Pow | ast.LShift)
                and speaks_of(part, mention.node.attr)
                for part in ast.walk(value)
            ) or (
                isinstance(value, ast.BinOp)  # `self.n + self.n`
                and speaks_of(value.left, mention.node.attr)
                and speaks_of(value.right, mention.node.attr)
            )
    return False


def escape(bench: Workbench, members: Iterable[ClassRef]) -> str | None:
    """How the objects may get to code that sees the edit; None if no line of the project does that."""
    for ref in sorted(members):
        if library := _base_in_library(bench, ref):
            return f"`{ref.name}` derives from `{library}`: {_NOT_LINTED}"
    plain = frozenset(ref for ref in members if not bench.tables.project.is_module(ref))
    asked = "escape", plain
    if asked not in bench.memo:
        bench.memo[asked] = next(_escapes(bench, plain), None)
    way = bench.memo[asked]
    return str(way) if way is not None else None


def _escapes(bench: Workbench, plain: frozenset[ClassRef]) -> Iterator[str]:
    """Each way in which any module of the project leaves it: which one holds which other does not matter.

    The objects of some `plain` classes count as modules do.
    """
    project = bench.tables.project
    for ref in project.classes():
        if (library := _base_in_library(bench, ref)) and _holds_module(bench, ref, plain):
            yield f"`{ref.name}` derives from `{library}`: {_NOT_LINTED}"
    for where in project.functions():
        context = Context(where, project.owner(where))
        for site in project.function(where).calls:
            if _loads_module(bench, site.call, context):
                yield f"{where.path}:{site.call.line} loads whole objects: {_PICKLED}"
            elif why := _leaves(bench, site.call, context, plain):
                called = last_name(site.call.function) or "a result"
                what = "such an object, or a module," if plain else "a module"
                yield f"{where.path}:{site.call.line} hands {what} to `{called}`: {why}"


def _loads_module(bench: Workbench, call: Call, context: Context) -> bool:
    """Whether a call may give a module as it was saved before the edit."""
    whole = ("weights_only", Constant(False)) in call.keywords
    return whole and _begins(_outside(bench, call.function, context), "loads_pickles")


def _leaves(bench: Workbench, call: Call, context: Context, plain: frozenset[ClassRef]) -> str | None:
    """The difference that a call may make to a module that it is given; None if it makes none."""
    arguments = (*call.arguments, *(value for _, value in call.keywords))
    given = [one for one in arguments if not isinstance(one, Constant)]
    callee = call.function
    if not given:
        return None
    dotted = set(_outside(bench, callee, context))
    if _begins(dotted, "shares_modules"):
        shared = any(_may_be_module(bench, one, context, plain, unknown=True) for one in given)
        return _SHARED if shared else None
    pickles = _begins(dotted, "pickles_modules")
    stranger = not dotted and _is_unknown(bench, callee, context)
    if not (pickles or stranger or any(map(_in_library, dotted))):
        return None
    if not any(_may_be_module(bench, one, context, plain) for one in given):
        return None
    return _PICKLED if pickles else _NOT_LINTED


def _outside(bench: Workbench, callee: Expr, context: Context) -> Iterator[str]:
    """The dotted names of what a call may run that is not the project's."""
    project = bench.tables.project
    symbols = project.symbols(callee, context.function.path, context.function.key)
    yield from (one.dotted for one in symbols if isinstance(one, ExternalSymbol))
    values: Iterable[Value] = evaluate(project, callee, context)
    if not values and isinstance(callee, Attribute):
        values = evaluate(project, callee.value, context)
    for value in values:
        match value:
            case ExternalSymbol(dotted) | ExternalInstance(dotted):
                yield dotted
            case ClassValue(ref) | Instance(ref) | SuperProxy(_, ref):
                if library := _base_in_library(bench, ref):
                    yield library


def _is_unknown(bench: Workbench, callee: Expr, context: Context) -> bool:
    """Nothing is known of what a call runs."""
    project = bench.tables.project
    if project.symbols(callee, context.function.path, context.function.key):
        return False
    if evaluate(project, callee, context):
        return False
    match callee:
        case Attribute(value=owner, name=name):
            return name not in _LINTED_ELSEWHERE and not evaluate(project, owner, context)
    return True


def _may_be_module(
    bench: Workbench, expr: Expr, context: Context, plain: frozenset[ClassRef], unknown: bool = False
) -> bool:
    """Whether a value may be a module or hold one; `unknown` counts a name of which nothing is known."""
    values = evaluate(bench.tables.project, expr, context)
    if not values:
        return unknown and isinstance(expr, Name | Attribute)
    return any(_is_module(bench, value, plain) for value in values)


def _is_module(bench: Workbench, value: Value, plain: frozenset[ClassRef]) -> bool:
    match value:
        case AnonymousModule():
            return True
        case Instance(ref) | ClassValue(ref) | FunctionValue(_, ClassRef() as ref):
            known = ref in plain or bench.tables.project.is_module(ref)
            return known or _holds_module(bench, ref, plain)
        case Container(items=items) if plain:
            return any(_is_module(bench, one, plain) for item in items for one, _ in item)
        case Container():
            return points_to_of(bench.tables.project).holds_module(value)
    return False


def _holds_module(bench: Workbench, ref: ClassRef, plain: frozenset[ClassRef]) -> bool:
    """Whether the objects of a class keep a module of the project in an attribute."""
    key = "holds module", ref, plain
    if key not in bench.memo:
        bench.memo[key] = False  # also while it is asked for
        project = bench.tables.project
        bench.memo[key] = any(
            _may_be_module(bench, store.value, Context(where, ref), plain)
            for part in project.mro(ref)
            for stores in project.own_stores(part).values()
            for where, store in stores
        )
    return bool(bench.memo[key])


def _base_in_library(bench: Workbench, ref: ClassRef) -> str | None:
    return next((base for base in bench.tables.project.external_bases(ref) if _in_library(base)), None)


def _in_library(dotted: str) -> bool:
    """Whether a name is of a library other than Python's own and torch."""
    root = dotted.partition(".")[0]
    return root != "torch" and root not in sys.stdlib_module_names


def _begins(dotted: Iterable[str], verb: str) -> bool:
    return any(
        one == name or (name.endswith(".") and one.startswith(name)) for one in dotted for name in names(verb)
    )
