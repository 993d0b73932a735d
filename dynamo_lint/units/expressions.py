"""Evaluates expressions of construction code to terms."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.units import keywords
from dynamo_lint.units.frames import Arguments, Frame
from dynamo_lint.units.loops import elements, longer
from dynamo_lint.units.terms import OPERATORS, Term

if TYPE_CHECKING:
    from dynamo_lint.units.construct import Construction

_PARTIALS = frozenset({"functools.partial"})
_SEQUENCES = frozenset({"list", "tuple"})
_CALLABLE = frozenset({"class", "function", "external", "ite", "partial"})
_GROWING = frozenset({"append", "extend", "add_module", "register_buffer"})
_TAKING = frozenset({"pop", "get", "setdefault"})


def evaluate(run: Construction, node: ast.expr, frame: Frame) -> Term:
    """The term of an expression."""
    reader = _READERS.get(node.__class__)
    found = reader(run, node, frame) if reader is not None else None
    if found is None:
        return run.terms.make("symbol", f"{frame.function.id}: {ast.unparse(node)}"[:200])
    return found


# --- one function per shape, in `_READERS`; None for what it cannot tell ------------------------------------


def _constant(run: Construction, node: ast.Constant, frame: Frame) -> Term | None:
    value = node.value
    return run.terms.const(value) if value is None or isinstance(value, str | int | float) else None


def _name(run: Construction, node: ast.Name, frame: Frame) -> Term:
    found = frame.names.get(node.id)
    return found if found is not None else run.lookups.outer(node.id, frame.function)


def _attribute(run: Construction, node: ast.Attribute, frame: Frame) -> Term:
    value, attr = node.value, node.attr
    if isinstance(value, ast.Name) and value.id == frame.own and frame.receiver is not None:
        found = frame.attributes.get(attr)
        if found is None:
            method = run.project.method(frame.receiver, attr)
            if method is not None:
                return run.terms.make("function", method)
            return run.terms.make("symbol", f"{frame.receiver.id}.{attr}")
        return found
    owner = evaluate(run, value, frame)
    found = None
    if owner.kind == "class" and isinstance(owner.leaf, ClassRef):
        found = run.lookups.member(owner.leaf, attr)
    elif owner.kind == "symbol":
        found = run.lookups.named(node, frame.function)
    return found if found is not None else run.terms.attribute(owner, attr)


def _subscript(run: Construction, node: ast.Subscript, frame: Frame) -> Term:
    return run.terms.item(evaluate(run, node.value, frame), evaluate(run, node.slice, frame))


def _tuple(run: Construction, node: ast.Tuple, frame: Frame) -> Term:
    return _sequence(run, node.elts, "tuple", frame)


def _list(run: Construction, node: ast.List, frame: Frame) -> Term:
    return _sequence(run, node.elts, "list", frame)


def _sequence(run: Construction, elts: list[ast.expr], kind: str, frame: Frame) -> Term:
    items: list[Term] = []
    for elt in elts:
        if isinstance(elt, ast.Starred):
            inner = evaluate(run, elt.value, frame)
            if inner.kind != "seq":
                return run.terms.make("items", kind, (*items, inner))
            items += inner.parts
        else:
            items.append(evaluate(run, elt, frame))
    return run.terms.make("seq", kind, tuple(items))


def _dict(run: Construction, node: ast.Dict, frame: Frame) -> Term:
    names = ["**" if k is None else k.value if isinstance(k, ast.Constant) else None for k in node.keys]
    parts = tuple([evaluate(run, value, frame) for value in node.values])
    if all(isinstance(name, str) for name in names):
        return keywords.packed(run.terms, zip(map(str, names), parts, strict=True))
    return run.terms.make("mapping", None, parts)


def _choice(run: Construction, node: ast.IfExp, frame: Frame) -> Term:
    truth = evaluate(run, node.test, frame)
    if truth.kind == "const":
        return evaluate(run, node.body if truth.leaf else node.orelse, frame)
    return run.terms.choice(truth, evaluate(run, node.body, frame), evaluate(run, node.orelse, frame))


def _boolean(run: Construction, node: ast.BoolOp, frame: Frame) -> Term:
    stops = isinstance(node.op, ast.Or)
    parts: list[Term] = []
    for value in node.values:
        part = evaluate(run, value, frame)
        if part.kind == "const" and bool(part.leaf) == stops:
            # `False and x` is false whatever x is; behind unknown parts it only may be reached.
            return part if not parts else run.terms.make("or" if stops else "and", None, (*parts, part))
        if part.kind != "const" or value is node.values[-1]:
            parts.append(part)
    return parts[0] if len(parts) == 1 else run.terms.make("or" if stops else "and", None, tuple(parts))


def _binary(run: Construction, node: ast.BinOp, frame: Frame) -> Term:
    left, right = evaluate(run, node.left, frame), evaluate(run, node.right, frame)
    return run.terms.operation(OPERATORS[node.op.__class__], left, right)


def _unary(run: Construction, node: ast.UnaryOp, frame: Frame) -> Term | None:
    match node.op:
        case ast.Not():
            return run.terms.operation("not", evaluate(run, node.operand, frame))
        case ast.USub():
            return run.terms.operation("Sub", run.terms.const(0), evaluate(run, node.operand, frame))
    return None


def _compare(run: Construction, node: ast.Compare, frame: Frame) -> Term:
    sides = [evaluate(run, side, frame) for side in (node.left, *node.comparators)]
    if len(node.ops) == 1:
        return run.terms.operation(OPERATORS[node.ops[0].__class__], *sides)
    return run.terms.make("and", None, tuple(sides))


def _listed(run: Construction, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, frame: Frame) -> Term:
    return _comprehension(run, node.elt, node.generators, frame)


def _mapped(run: Construction, node: ast.DictComp, frame: Frame) -> Term:
    return _comprehension(run, node.value, node.generators, frame)


def _comprehension(
    run: Construction, item: ast.expr, generators: list[ast.comprehension], frame: Frame
) -> Term:
    iterables: list[Term] = []
    before = dict(frame.names)

    def walk(rest: list[ast.comprehension]) -> list[Term]:
        if not rest:
            return [evaluate(run, item, frame)]
        first = rest[0]
        iterable = evaluate(run, first.iter, frame)
        found, sampled = elements(run.terms, iterable, run.sampling)
        if sampled:
            iterables.append(iterable)
        run.sampling += sampled
        results: list[Term] = []
        for element in found:
            run.assign(first.target, element, frame)
            tests = [evaluate(run, test, frame) for test in first.ifs]
            if not any(test.kind == "const" and not test.leaf for test in tests):
                results += walk(rest[1:])
        run.sampling -= sampled
        return results

    found = walk(generators)
    frame.names = before
    if iterables:
        return run.terms.make("each", len(iterables), (*iterables, *found))
    return run.terms.make("seq", "list", tuple(found))


def _lambda(run: Construction, node: ast.Lambda, frame: Frame) -> Term:
    for key, function in run.project.files[frame.function.path].functions.items():
        if function.line == node.lineno and function.qualname.endswith("<lambda>"):
            return frame.capture(run, FunctionRef(frame.function.path, key), node.body)
    return run.terms.make("symbol", f"{frame.function.path}:{node.lineno}")


def _walrus(run: Construction, node: ast.NamedExpr, frame: Frame) -> Term:
    found = frame.names[node.target.id] = evaluate(run, node.value, frame)
    return found


def _text(run: Construction, node: ast.JoinedStr, frame: Frame) -> Term:
    holes = [v.value for v in node.values if isinstance(v, ast.FormattedValue)]
    text = "{}".join(str(v.value) for v in node.values if isinstance(v, ast.Constant))
    return run.terms.make("text", text, tuple([evaluate(run, hole, frame) for hole in holes]))


def _starred(run: Construction, node: ast.Starred, frame: Frame) -> Term:
    return evaluate(run, node.value, frame)


def _slice(run: Construction, node: ast.Slice, frame: Frame) -> Term:
    return run.terms.make("slice", ast.unparse(node))


# --- calls ----------------------------------------------------------------------------------------------


def _call(run: Construction, node: ast.Call, frame: Frame) -> Term:
    arguments = _arguments(run, node, frame)
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr == "__init__" and _is_super(func.value):
            return _parent(run, arguments, frame, node.lineno)
        if func.attr in _GROWING and arguments:
            return _grown(run, func, node, arguments, frame)
        if func.attr in _TAKING and isinstance(func.value, ast.Name) and func.value.id in frame.names:
            constant = isinstance(node.args[0] if node.args else None, ast.Constant)
            found = keywords.taken(run, func.value.id, func.attr, arguments, frame) if constant else None
            if found is not None:
                return found
    callee = evaluate(run, func, frame)
    if callee.kind not in _CALLABLE:
        callee = run.lookups.callee(func, frame.function, frame.receiver) or callee
    return apply(run, callee, arguments, frame, node)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _arguments(run: Construction, node: ast.Call, frame: Frame) -> Arguments:
    found: Arguments = []
    for argument in node.args:
        value = evaluate(run, argument, frame)
        if not isinstance(argument, ast.Starred):
            found.append((None, value))
        elif value.kind == "seq":
            found += [(None, part) for part in value.parts]
        else:
            found.append(("*", value))
    for keyword in node.keywords:
        value = evaluate(run, keyword.value, frame)
        if keyword.arg is None:
            found += keywords.spread([("**", value)])
        else:
            found.append((keyword.arg, value))
    return found


def apply(run: Construction, callee: Term, arguments: Arguments, frame: Frame, node: ast.Call) -> Term:
    """The result of calling a term."""
    terms = run.terms
    match callee.kind:
        case "class" if isinstance(callee.leaf, ClassRef):
            return run.construct(callee.leaf, arguments, frame, node.lineno)
        case "function" if isinstance(callee.leaf, FunctionRef):
            return _function(run, callee.leaf, arguments, frame, node)
        case "external" if isinstance(callee.leaf, str):
            return _external(run, callee.leaf, arguments, node)
        case "ite":
            test, then, other = callee.parts
            return terms.choice(
                test, apply(run, then, arguments, frame, node), apply(run, other, arguments, frame, node)
            )
        case "partial":
            held = [
                (None if n == "*" else n, v) for n, v in zip(callee.names[1:], callee.parts[1:], strict=True)
            ]
            return apply(run, callee.parts[0], [*held, *arguments], frame, node)
    names = ("", *[name or "*" for name, _ in arguments])
    return terms.make("result", None, (callee, *[value for _, value in arguments]), names)


def _external(run: Construction, dotted: str, arguments: Arguments, node: ast.Call) -> Term:
    if dotted in _PARTIALS and arguments:
        names = tuple([name or "*" for name, _ in arguments[1:]])
        return run.terms.make("partial", None, tuple([value for _, value in arguments]), ("", *names))
    if dotted in _SEQUENCES and len(arguments) == 1 and arguments[0][1].kind in {"seq", "each"}:
        return arguments[0][1]
    if dotted == "len" and arguments and arguments[0][1].kind == "seq":
        return run.terms.const(len(arguments[0][1].parts))
    if dotted in {"any", "all"} and len(arguments) == 1 and arguments[0][1].kind == "seq":
        return (run.terms.any if dotted == "any" else run.terms.all)(arguments[0][1].parts)
    if dotted == "isinstance" and len(arguments) == 2:
        return run.terms.operation(dotted, *[value for _, value in arguments])
    if dotted == "dict" and all(name not in {None, "*"} for name, _ in arguments):
        return keywords.packed(run.terms, [(str(name), value) for name, value in arguments])
    kind = "part" if dotted.startswith("torch.nn.") else "call"
    names = tuple([name or "*" for name, _ in arguments])
    return run.terms.make(kind, dotted, tuple([value for _, value in arguments]), names, node.lineno)


def _function(
    run: Construction, ref: FunctionRef, arguments: Arguments, frame: Frame, node: ast.Call
) -> Term:
    func = node.func
    own = (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and frame.own is not None
        and func.value.id == frame.own
    )
    method = run.project.function(ref).owner is not None
    given = run.bind(ref, arguments, method=method)
    if own or ref in run.path:
        receiver = frame.receiver if own else run.project.owner(ref)
        found = run.enter(ref, receiver, dict(given), frame if own else None)
        if found is not None:
            return found
    return run.terms.make("call", ref, tuple(given.values()), tuple(given), node.lineno)


def _parent(run: Construction, arguments: Arguments, frame: Frame, line: int) -> Term:
    """`super().__init__(…)` on the same attributes."""
    if frame.receiver is not None:
        parent = run.lookups.parent(frame.function, frame.receiver)
        if isinstance(parent, FunctionRef):
            run.enter(parent, frame.receiver, run.bind(parent, arguments, method=True), frame)
        elif parent is not None and arguments:
            names = tuple(name or "*" for name, _ in arguments)
            base = run.terms.make("part", parent, tuple(v for _, v in arguments), names, line)
            frame.attributes["()"] = base
    return run.terms.const(None)


def _grown(
    run: Construction, func: ast.Attribute, node: ast.Call, arguments: Arguments, frame: Frame
) -> Term:
    """`self.layers.append(x)` and what else adds to a container or to the module itself."""
    terms, value = run.terms, arguments[-1][1]
    how, owner = func.attr, func.value
    if how in {"add_module", "register_buffer"}:
        name = arguments[0][1].leaf
        own = isinstance(owner, ast.Name) and owner.id == frame.own
        if own and isinstance(name, str) and len(arguments) > 1:
            frame.attributes[name] = arguments[1][1] if how == "add_module" else terms.make("tensor")
            run.note(node, name, arguments[1][1], frame)
        return terms.const(None)
    new = value.parts if how == "extend" and value.kind == "seq" else (value,)
    more = longer(terms, evaluate(run, owner, frame), new, frame.loops, run.sampling > 0)
    if more is not None:
        run.assign(owner, more, frame)
    return terms.const(None)


_READERS: dict[type[ast.expr], Callable[[Construction, Any, Frame], Term | None]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Dict: _dict,
    ast.IfExp: _choice,
    ast.BoolOp: _boolean,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.ListComp: _listed,
    ast.GeneratorExp: _listed,
    ast.SetComp: _listed,
    ast.DictComp: _mapped,
    ast.Lambda: _lambda,
    ast.NamedExpr: _walrus,
    ast.JoinedStr: _text,
    ast.Starred: _starred,
    ast.Slice: _slice,
}
