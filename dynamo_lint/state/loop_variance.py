"""Loop variance of driver expressions: constant, changing each round, or unknown.

For real drivers, which take models and batches from files, so that no run (interpreter/) reaches their calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache

from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.index.walking import nodes
from dynamo_lint.program.literal_arguments import CASTS
from dynamo_lint.state import kinds as K
from dynamo_lint.state.body import Body, Loop
from dynamo_lint.state.model import SCALARS, Kind, Kinds

_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Varying:
    """A value over the calls of a loop."""

    kinds: Kinds = K.UNKNOWN
    changes: bool = False
    constants: frozenset[str] | None = None
    """Source of every value it has, when all are literals."""
    structure: str = ""
    """The part of a container that changes: its `length`, its `keys` or its `items` (of a set)."""
    data: bool = False
    """It is read out of a tensor, so that no two are alike wherever it stands."""

    @staticmethod
    def constant(value: object) -> Varying:
        """A literal."""
        return Varying(K.of_constant(value), constants=frozenset({repr(value)}))

    @staticmethod
    def of_all(values: Iterable[Varying]) -> Varying:
        """One of several: what several calls pass."""
        parts = list(dict.fromkeys(values))
        if len(parts) == 1:
            return parts[0]
        constants = None
        if parts and all(part.constants is not None for part in parts):
            constants = frozenset[str]().union(*(part.constants or frozenset() for part in parts))
        known = all(part.kinds for part in parts)
        kinds = frozenset[Kind]().union(*(part.kinds for part in parts)) if known else K.UNKNOWN
        flips = Kind.NONE in kinds and len(kinds) > 1
        changes = (
            any(part.changes for part in parts) or flips or (constants is not None and len(constants) > 1)
        )
        structure = next((p.structure for p in parts if p.structure), "")
        return Varying(kinds, changes, constants, structure, any(p.data for p in parts))


@dataclass(slots=True)
class Env:
    """The names of one function, seen from inside a loop."""

    bound: Mapping[str, list[ast.expr]]
    """The expressions assigned to a name, anywhere in the function."""
    turning: dict[str, Varying] = field(default_factory=dict)
    """Loop variables, and names that the loop rebinds by `+=` or grows."""
    repeated: set[str] = field(default_factory=set)
    """Names that the loop rebinds."""
    known: dict[str, Varying] = field(default_factory=dict)
    """Answers for names, so that names bound to each other many times cost one look each."""

    def value(self, node: ast.expr, depth: int = 0) -> Varying:
        """How an expression changes."""
        if depth > _DEPTH:
            return Varying()

        def of(inner: ast.expr) -> Varying:
            return self.value(inner, depth + 1)

        match node:
            case ast.Constant(value=value):
                return Varying.constant(value)
            case ast.Name(id=name):
                return self._name(name, depth)
            case ast.Attribute(value=ast.Name(id="torch"), attr=attr):
                return Varying(frozenset({Kind.ENUM}), constants=frozenset({f"torch.{attr}"}))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return Varying(frozenset({Kind.BOOL}), of(inner).changes)
            case ast.UnaryOp(operand=inner):
                found = of(inner)
                return Varying(found.kinds, found.changes)
            case ast.Compare(left=left, comparators=others):
                parts = [of(part) for part in (left, *others)]
                tensor = any(Kind.TENSOR in part.kinds for part in parts)
                kinds = frozenset({Kind.TENSOR if tensor else Kind.BOOL})
                return Varying(kinds, any(part.changes for part in parts))
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(of(left), op, of(right))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = Varying.of_all([of(body), of(orelse)])
                return chosen if of(test).changes else Varying(chosen.kinds)
            case ast.JoinedStr(values=values):
                parts = [of(v.value) for v in values if isinstance(v, ast.FormattedValue)]
                return Varying(frozenset({Kind.STR}), any(part.changes for part in parts))
            case ast.Call():
                return self._call(node, depth)
            case ast.Subscript(value=table, slice=index) if of(index).changes:
                return Varying.of_all([of(item) for item in self._items(table)])
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return Varying(frozenset({Kind.CONTAINER}))
            case ast.Set(elts=items):
                changes = any(of(item).changes for item in items)
                return Varying(frozenset({Kind.CONTAINER}), changes, structure="items" if changes else "")
            case ast.Dict(keys=keys):
                changes = any(key is not None and of(key).changes for key in keys)
                return Varying(frozenset({Kind.CONTAINER}), changes, structure="keys" if changes else "")
        return Varying()

    def changing_items(self, node: ast.expr) -> dict[str, Varying]:
        """The numbers that change in a tuple, list or dict which as a whole does not, by their index."""
        whole = self.value(node)
        if whole.changes or whole.kinds != {Kind.CONTAINER}:
            return {}
        if isinstance(node, ast.Name) and len(self.bound.get(node.id, [])) == 1:
            node = self.bound[node.id][0]
        indexed: list[tuple[object, ast.expr]] = []
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                indexed = list(enumerate(items))
            case ast.Dict(keys=keys, values=items):
                literal = [key.value if isinstance(key, ast.Constant) else None for key in keys]
                indexed = list(zip(literal, items, strict=True))
        values = {f"[{index!r}]": self.value(item) for index, item in indexed}
        return {i: one for i, one in values.items() if one.changes and one.kinds and one.kinds <= SCALARS}

    def _items(self, table: ast.expr) -> list[ast.expr]:
        """The elements of a literal table, also by name."""
        match table:
            case ast.Constant(value=str() as text):
                return [ast.Constant(letter) for letter in text]
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return items
            case ast.Name(id=name) if len(self.bound.get(name, [])) == 1:
                return (
                    self._items(self.bound[name][0]) if not isinstance(self.bound[name][0], ast.Name) else []
                )
        return []

    def _name(self, name: str, depth: int) -> Varying:
        if name in self.turning:
            return self.turning[name]
        if name not in self.known:
            self.known[name] = Varying()  # a name that is bound to itself ends here
            self.known[name] = self._bound(name, depth)
        return self.known[name]

    def _bound(self, name: str, depth: int) -> Varying:
        values = self.bound.get(name, [])
        if not values:
            return Varying()
        found = Varying.of_all([self.value(value, depth + 1) for value in values])
        if name in self.repeated:
            return found
        constants = found.constants if len(values) == 1 else None
        return Varying(found.kinds, found.data, constants, data=found.data)

    def _arithmetic(self, left: Varying, op: ast.operator, right: Varying) -> Varying:
        if isinstance(op, ast.Mult) and Kind.CONTAINER in left.kinds:
            changes = right.changes
            return Varying(left.kinds, changes, structure="length" if changes else left.structure)
        kinds = K.of_arithmetic(left.kinds, right.kinds, isinstance(op, ast.Div), isinstance(op, ast.Pow))
        return Varying(kinds, left.changes or right.changes, data=left.data or right.data)

    def _call(self, node: ast.Call, depth: int) -> Varying:
        parts = [self.value(argument, depth + 1) for argument in node.args]
        match node.func:
            case ast.Name(id=name) if name in CASTS and parts:
                # `int(t.max())` is a number that is not known beforehand.
                unknown = isinstance(node.args[0], ast.Call) and name != "len"
                return Varying(
                    frozenset({Kind(CASTS[name])}), parts[0].changes or unknown, data=_reduces(node.args[0])
                )
            case ast.Name(id=name) if name[:1].isupper() and any(part.changes for part in parts):
                kinds = [part.kinds for part in parts if part.changes]
                return Varying(frozenset[Kind]().union(*kinds) if all(kinds) else K.UNKNOWN, True)
            case ast.Attribute(attr="item"):
                return Varying(frozenset({Kind.INT, Kind.FLOAT}), True, data=True)
            case ast.Attribute(value=ast.Name(id="torch")):
                return Varying(frozenset({Kind.TENSOR}))
        return Varying()


def _reduces(node: ast.expr) -> bool:
    """`lengths.max()`: one number of a tensor."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"max", "min", "sum", "item"}


def in_loop(body: Body, call: ast.Call) -> Env:
    """The names of a function, seen from the loop that holds the call; without one, from the whole of it."""
    env = _inside(body, tuple(body.loops.get(call, ())))
    return replace(env, known=dict(env.known))


@lru_cache(maxsize=16)
def _inside(body: Body, loops: tuple[Loop, ...]) -> Env:
    """Kept, because one loop may hold a thousand calls."""
    env = Env(body.bound)
    for name, value in body.growing:
        if name in body.outer:
            env.turning[name] = Varying(env.value(value).kinds, True)
    for loop in loops:
        for node in nodes(loop):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)]):
                    env.repeated.add(name)
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    before = [env.value(old) for old in env.bound.get(name, [])]
                    kinds = before[0].kinds if before else env.value(value).kinds
                    env.turning[name] = Varying(kinds, True)
                # As a statement: what `g = g.add(other)` gives is no set, whose `add` gives nothing.
                case ast.Expr(
                    ast.Call(ast.Attribute(ast.Name(id=name), "append" | "extend" | "add"), [_], keywords=[])
                ):
                    env.turning[name] = Varying(frozenset({Kind.CONTAINER}), True, structure="length")
        if isinstance(loop, ast.For):
            _bind(env, loop.target, loop.iter)
    return env


def _bind(env: Env, target: ast.expr, iterable: ast.expr) -> None:
    """A loop variable, by what the loop runs over."""
    match target, iterable:
        case ast.Name(id=name), ast.Call(func=ast.Name(id="range")):
            env.turning[name] = Varying(frozenset({Kind.INT}), True)
        case ast.Name(id=name), ast.List(elts=items) | ast.Tuple(elts=items):
            env.turning[name] = Varying.of_all([env.value(item) for item in items])
        case ast.Tuple(elts=[ast.Name(id=name), rest]), ast.Call(
            func=ast.Name(id="enumerate"), args=[inner, *_]
        ):
            env.turning[name] = Varying(frozenset({Kind.INT}), True)
            _bind(env, rest, inner)
        case _:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    env.turning[node.id] = Varying()
