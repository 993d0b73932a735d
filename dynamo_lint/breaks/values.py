"""Abstract values of expressions in code that may break the graph: their kind, and what is known of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.models import tensor_results as results
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position

MISSING = object()
"""In place of a constant that is not known."""
Truth = frozenset[bool] | None
"""Whether a test holds; both, if it does at times; None where that is not known."""
BOTH: Truth = frozenset({True, False})


@dataclass(frozen=True, slots=True)
class Value:
    """One value, as far as it decides whether the graph breaks."""

    kind: str = ""
    """`tensor`, `int`, `float`, `bool`, `str`, `None`, `tuple`, `list`, `set`, `dict`, `sizes`, `range`,
    `module`, `modules`, `iterator`, `class`, `function`, `object`, or `symbol` for something of a library;
    empty if unknown."""
    constant: object = MISSING
    dotted: str = ""
    """The symbol, or the class of the instance, outside the project."""
    ref: ClassRef | FunctionRef | None = None
    """The definition in the project."""
    dtype: str = ""
    """Of a tensor: `bool`, `int` or `float`."""
    scalar: bool = False
    """Of a tensor: it has no dimensions."""
    argument: bool = False
    """Of a tensor: the compiled function was given it."""
    cast: bool = False
    """Of a tensor: it has just been given another dtype."""
    fresh: bool = False
    """Of an object: the function makes it itself."""
    items: tuple[Value, ...] | None = None
    at_times: bool = False
    """Of a bool: it holds in some rounds of a loop, or in training or evaluation alone. Of a tensor: it is
    one then alone."""
    counts: bool = False
    """It counts the rounds of a loop."""
    changes: bool = False
    """It is another number in each call."""
    made: tuple[ast.expr, ...] = ()
    """The calls that made it need a gradient."""
    taken: tuple[Position, ...] = ()
    """Where it was taken out of a tensor."""
    asked: frozenset[str] = frozenset()
    """The parameters of unknown kind that it comes from."""

    @property
    def truth(self) -> Truth:
        """Whether it holds as a test."""
        if self.at_times:
            return BOTH
        if self.constant is not MISSING:
            return frozenset({bool(self.constant)})
        if self.kind == "None":
            return frozenset({False})
        if self.kind in {"module", "class", "function"}:
            return frozenset({True})
        return None


UNKNOWN = Value()
TENSOR = Value("tensor")
NONE = Value("None", None)
TENSORS = Value("tuple", items=None, dtype="tensor")
_OPERATORS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, others: one in others,
    ast.NotIn: lambda one, others: one not in others,
}
_ELEMENTWISE = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_NUMBERS = frozenset({"int", "float", "bool"})
_OF_TENSORS = knowledge.pairs("of_tensors")
_LARGEST = 10**6
_MADE = knowledge.pairs("gives")
"""The classes that functions of libraries give instances of; a class gives one of itself."""
_OF_LITERALS = knowledge.names("of_literals")
_PARAMETERS = knowledge.names("parameter") | knowledge.names("buffer")
_GIVING = (
    results.TENSOR_METHODS | results.SHARED_METHODS | results.MOVES | results.PAIRS | results.WHOLE
) - results.NOT_TENSOR_METHODS.difference(results.PAIRS, results.WHOLE)
"""Methods of a tensor that give tensors."""
_AROUND = frozenset({"enumerate", "zip", "reversed", "list", "tuple", "iter", "sorted"})
_PLAIN_TYPES = frozenset({"int", "float", "bool", "str", "list", "dict", "set", "tuple"})


class EvaluatedCall(NamedTuple):
    """A call, with the values of its arguments."""

    node: ast.Call
    values: tuple[Value, ...]
    words: Mapping[str, Value]

    @property
    def first(self) -> Value:
        """The first argument that is not named."""
        return self.values[0] if self.values else UNKNOWN

    @property
    def spread(self) -> bool:
        """Whether `*` or `**` hands over what the call does not tell one by one."""
        return "**" in self.words or any(isinstance(one, ast.Starred) for one in self.node.args)

    @property
    def draws(self) -> bool:
        """Whether it is given a source of random numbers."""
        return self.words.get("generator", NONE).kind not in {"None", ""}

    @property
    def meets_tensor(self) -> bool:
        """Whether some argument is a tensor."""
        return any(value.kind == "tensor" for value in (*self.values, *self.words.values()))


def literal(value: object) -> Value:
    """The value of a literal."""
    if value is None:
        return NONE
    kind = type(value).__name__
    return Value(kind if kind in {"int", "float", "bool", "str"} else "object", value)


def join(first: Value, second: Value) -> Value:
    """Either of two values."""
    if first == second:
        return first
    asked = first.asked | second.asked
    if first.kind != second.kind:
        return Value(asked=asked)
    return replace(
        first,
        constant=MISSING,
        at_times=first.kind == "tensor" and first.at_times and second.at_times,
        dotted=first.dotted if first.dotted == second.dotted else "",
        ref=first.ref if first.ref == second.ref else None,
        dtype=first.dtype if first.dtype == second.dtype else "",
        scalar=first.scalar and second.scalar,
        argument=first.argument and second.argument,
        cast=first.cast and second.cast,
        items=None,
        changes=first.changes or second.changes,
        made=tuple(dict.fromkeys(first.made + second.made)),
        taken=tuple(dict.fromkeys(first.taken + second.taken)),
        asked=asked,
    )


def joined(values: Iterable[Value]) -> Value:
    """Any of some values; unknown if there are none."""
    found = list(values)
    return reduce(join, found) if found else UNKNOWN


def merged(
    first: Mapping[str, Value], second: Mapping[str, Value], at_times: bool = False
) -> dict[str, Value]:
    """The names after two ways that meet; one that is bound on one way alone is that wherever it is used.

    With `at_times` each way is taken in some calls: what is a tensor on one of them is one at times.
    """
    found = {**first, **second}
    for name in first.keys() & second.keys():
        one, other = first[name], second[name]
        tensors = [value for value in (one, other) if value.kind == "tensor"]
        if at_times and len(tensors) == 1:
            found[name] = replace(tensors[0], at_times=True)
        else:
            found[name] = join(one, other)
    return found


def compared(values: list[Value], operators: list[ast.cmpop]) -> Value:
    """The outcome of a chain of comparisons."""
    if any(one.kind == "tensor" for one in values) and all(isinstance(op, _ELEMENTWISE) for op in operators):
        return replace(computed(values), dtype="bool", asked=asked(values))
    if len(operators) != 1:
        return Value("bool", asked=asked(values))
    left, right = values
    match operators[0]:
        case ast.Is() | ast.IsNot() as identity if NONE in values:
            other = left if right == NONE else right
            if other == NONE or other.kind:
                return Value("bool", (other == NONE) is isinstance(identity, ast.Is))
            return Value("bool")
    if (left.counts and right.constant is not MISSING) or (right.counts and left.constant is not MISSING):
        return Value("bool", at_times=True)
    if MISSING in (left.constant, right.constant):
        return Value("bool", changes=left.changes or right.changes, asked=asked(values))
    try:
        return Value("bool", bool(_OPERATORS[type(operators[0])](left.constant, right.constant)))
    except TypeError:
        return Value("bool")


def asked(values: Iterable[Value]) -> frozenset[str]:
    """The parameters that some values come from."""
    return frozenset[str]().union(*(value.asked for value in values))


def computed(values: Sequence[Value]) -> Value:
    """The outcome of arithmetic: a tensor if any operand is one, else a number if all are."""
    changes = any(value.changes for value in values)
    taken = tuple(dict.fromkeys(place for value in values for place in value.taken))
    tensors = [value for value in values if value.kind == "tensor"]
    if tensors:
        made = tuple(dict.fromkeys(place for value in tensors for place in value.made))
        dtypes = {value.dtype for value in tensors}
        whole = all(value.scalar for value in tensors)
        # A list or an unknown operand may have dimensions.
        scalar = whole and all(value.kind in {"tensor", *_NUMBERS} for value in values)
        dtype = dtypes.pop() if len(dtypes) == 1 else ""
        return Value("tensor", scalar=scalar, made=made, dtype=dtype)
    kinds = {value.kind for value in values}
    if kinds <= _NUMBERS:
        kind = "float" if "float" in kinds else "int"
        return Value(kind, changes=changes, taken=taken)
    if len(kinds) == 1 and "" not in kinds:
        return Value(kinds.pop(), changes=changes)
    return Value(changes=changes, taken=taken, asked=asked(values))


def arithmetic(left: Value, op: ast.operator, right: Value) -> Value:
    """`left op right`, a constant if both are small numbers."""
    known = MISSING not in (left.constant, right.constant)
    if (
        known
        and {left.kind, right.kind} <= _NUMBERS
        and isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Mod)
    ):
        apply = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod}
        try:
            found = apply[type(op)](left.constant, right.constant)
        except (ArithmeticError, TypeError):
            return computed([left, right])
        return literal(found) if abs(found) < _LARGEST else computed([left, right])
    found = computed([left, right])
    if isinstance(op, ast.Mod):
        found = replace(found, changes=False)  # a few values, each of which is compiled
    return replace(found, kind="float") if isinstance(op, ast.Div) and found.kind == "int" else found


def attribute_of_tensor(base: Value, name: str) -> Value:
    """An attribute of a tensor."""
    kind = _OF_TENSORS.get(name, "object")
    if name == "device":
        return Value("object", dotted="torch.device")
    if kind == "tensor":
        return replace(base, made=() if name == "data" else base.made, argument=False, cast=False)
    return Value(kind)


def of_torch(name: str, values: Sequence[Value], words: Mapping[str, Value]) -> Value:
    """The tensor that a function or method of torch gives, or the values that it gives."""
    tensors = [value for value in values if value.kind == "tensor"]
    alone = len(values) <= 1 and not {"dim", "axis", "keepdim"} & words.keys()
    if name in results.PAIRS or (name in results.WHOLE and not alone and len(tensors) < 2):
        return Value("tuple", items=(TENSOR, replace(TENSOR, dtype="int")))
    first = tensors[0] if tensors else TENSOR
    dtype = "bool" if name in results.BOOLEAN else "int" if name in results.INTEGER else ""
    if name in results.REDUCTIONS and alone and tensors:
        return Value("tensor", dtype=dtype or first.dtype, scalar=True, made=first.made)
    if name in {"detach", "detach_"}:
        return replace(first, made=(), argument=False)
    same = (
        len(tensors) == 1
        and len(values) == 1
        and name in results.MOVES | {"clone", "contiguous", "abs", "neg"}
    )
    return Value(
        "tensor",
        dtype=dtype or (first.dtype if same and name not in results.CASTS else ""),
        scalar=first.scalar and same,
        made=tuple(dict.fromkeys(place for value in tensors for place in value.made)),
        cast=name in results.CASTS,
    )


def of_literals(node: ast.expr | None) -> Value:
    """The tensor that `torch.tensor` makes of something."""
    match node:
        case ast.Constant(value):
            return Value("tensor", scalar=True, dtype=type(value).__name__)
        case ast.UnaryOp(_, ast.Constant(value)):
            return Value("tensor", scalar=True, dtype=type(value).__name__)
        case ast.BinOp() | ast.Name() | ast.Call():
            return Value("tensor", scalar=isinstance(node, ast.BinOp))
        case ast.List([first, *_]) | ast.Tuple([first, *_]):
            return replace(of_literals(first), scalar=False)
    return TENSOR


def element(over: Value) -> Value:
    """The value of what iterating over something gives."""
    if over.kind == "tensor":
        return replace(over, scalar=False, argument=False, cast=False)
    if over.kind == "range":
        return Value("int", counts=True)
    if over.kind == "modules":
        return Value("module")
    if over.kind == "enumerate" and over.items:
        return Value("tuple", items=(Value("int", counts=True), element(over.items[0])))
    if over.kind == "zip" and over.items:
        return Value("tuple", items=tuple(element(one) for one in over.items))
    if over.kind == "sizes":
        return Value("int")
    if over.dtype == "tensor":
        return TENSOR
    if over.kind in {"list", "tuple", "set", "iterator"} and over.items:
        return replace(joined(over.items), constant=UNKNOWN.constant)
    return UNKNOWN


def repeats(over: Value) -> bool:
    """Whether a loop over something certainly has a first round."""
    if over.kind == "range" and over.items:
        stop = over.items[0 if len(over.items) == 1 else 1].constant
        return isinstance(stop, int) and stop > 0
    if over.kind in {"enumerate", "zip"} and over.items:
        return all(repeats(one) for one in over.items)
    return over.kind == "modules" or bool(over.items and over.kind in {"list", "tuple"})


def join_unknown(value: Value | None) -> Value:
    """A value, or one that is not known."""
    return UNKNOWN if value is None else replace(UNKNOWN, asked=value.asked)


def of_method(made: EvaluatedCall, receiver: Value, name: str) -> Value:
    """The result of a method of a tensor."""
    match name:
        case "requires_grad_":
            return replace(receiver, made=(*receiver.made, made.node))
        case "storage" | "untyped_storage":
            return Value("object")
        case "size" | "stride":
            return Value("int" if made.values else "sizes")
        case "numpy" | "cpu" | "detach":
            return replace(receiver, argument=False, made=() if name == "detach" else receiver.made)
        case "split" | "chunk" | "unbind" | "tensor_split":
            return TENSORS
    if name == "data_ptr" or name in results.INT_METHODS:
        return Value("int")
    if name in _GIVING:
        # What a method is given besides the tensor are its dimensions, more often than not.
        others = [value for value in made.values if value.kind != "None"]
        return of_torch(name, [receiver, *others], made.words)
    if name in results.NOT_TENSOR_METHODS or name.startswith("is_"):
        return UNKNOWN
    return replace(TENSOR, made=receiver.made)


def has_unknown_size(made: EvaluatedCall, dotted: str) -> bool:
    """Whether values decide about the size of what a function of torch gives."""
    match dotted:
        case "torch.where":
            return len(made.values) == 1 and not made.words
        case "torch.repeat_interleave":
            counted = len(made.values) < 2 or made.values[1].kind == "tensor"
            return counted and "output_size" not in made.words
        case "torch.nn.functional.one_hot":
            return len(made.values) < 2 and made.words.get("num_classes", literal(-1)).constant == -1
    return False


def of_library(made: EvaluatedCall, dotted: str, methods: Iterable[tuple[str, str]]) -> Value:
    """The result of a function or class of a library; `methods` are those that break graphs, by maker."""
    package, _, name = dotted.rpartition(".")
    if dotted in results.LISTS or (dotted == "torch.where" and has_unknown_size(made, dotted)):
        return TENSORS
    if dotted in _OF_LITERALS:
        return of_literals(made.node.args[0] if made.node.args else None)
    if dotted in _PARAMETERS:
        return TENSOR
    if results.gives_tensor(dotted):
        return of_torch(name, made.values, made.words)
    if package.startswith("torch.nn") and name[:1].isupper():
        kind = "modules" if name in {"ModuleList", "ModuleDict", "ParameterList"} else "module"
        return Value(kind, dotted=f"torch.nn.{name}")
    if package.startswith("numpy") and made.meets_tensor:
        return TENSOR
    if dotted == "itertools.cycle":
        return Value("iterator")
    makes = name[:1].isupper() or any(maker == dotted for maker, _ in methods)
    class_ = _MADE.get(dotted) or (dotted if makes else "")
    if class_ == "torch.jit.ScriptModule":
        return Value("module", dotted=class_)
    return Value("object", dotted=class_, fresh=True) if class_ else UNKNOWN


def holds_tensor(value: Value) -> bool:
    """Whether a list or tuple is known to hold a tensor."""
    return value.kind in {"list", "tuple"} and any(item.kind == "tensor" for item in value.items or ())


def of_builtin(made: EvaluatedCall, name: str) -> Value | None:
    """The result of a builtin function; None if nothing is known of it."""
    values, first = made.values, made.first
    listed = first.kind in {"list", "tuple"}
    match name:
        case "any" | "all" if first.kind == "list":
            return Value("bool")
        case "sorted" | "min" | "max" if listed and len(values) == 1:
            if not holds_tensor(first):
                return UNKNOWN
            return Value("list") if name == "sorted" else TENSOR
        case "sum" if values:
            return computed([element(first), literal(0)]) if listed else UNKNOWN
        case "min" | "max" | "abs" | "round" | "pow":
            return computed(values)
        case "len":
            return Value("int") if first.items is None else literal(len(first.items))
        case "next":
            return UNKNOWN
        case "iter" if first.kind:
            return replace(first, kind="iterator")
        case "list" | "tuple" if values:
            return first if listed or first.kind == "modules" else Value(name)
        case _ if name in _AROUND:
            return first if name == "reversed" else Value(name, items=values)
        case "list" | "dict" | "set":
            return Value(name)
        case "hasattr" | "callable" | "issubclass":
            return Value("bool")
    return None


def tested(value: Value, names: set[str]) -> Value:
    """The outcome of `isinstance`, by the dotted names of the types."""
    if value.kind == "tensor" and names & {"torch.Tensor", "torch.nn.Parameter"}:
        return literal("torch.Tensor" in names) if "torch.Tensor" in names else Value("bool")
    plain = {name.removeprefix("builtins.") for name in names}
    if value.kind == "tensor" and plain <= _PLAIN_TYPES:
        return literal(False)
    if value.kind in _PLAIN_TYPES and (plain <= _PLAIN_TYPES or plain == {"torch.Tensor"}):
        return literal(value.kind in plain or (value.kind == "bool" and "int" in plain))
    if value.kind == "sizes":
        return literal("tuple" in plain or "torch.Size" in names)
    if value.kind == "None" and "" not in names:
        return literal(False)
    return Value("bool")
