"""Values of expressions in eager code: numbers, texts, containers, and what calls give."""

from __future__ import annotations

import ast
import operator
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from dynamo_lint.index import ir
from dynamo_lint.interpreter.breaking import AUTOGRAD, LAZY, SIZES
from dynamo_lint.interpreter.model import (
    COUNT,
    LONGEST,
    METHOD_OF,
    MISSING,
    PLAIN,
    UNKNOWN,
    ClassObject,
    Closure,
    CompileCall,
    Decorated,
    Defaults,
    Either,
    Elements,
    External,
    Failed,
    FileValue,
    Frame,
    Manager,
    Measured,
    Member,
    Method,
    Object,
    Partial,
    PartialMethod,
    Site,
    Size,
    Source,
    Sourced,
    Static,
    Tensor,
    Uncounted,
    Unknown,
    Unwrapped,
    Wrapper,
    is_key,
    is_known,
    is_stand_in,
    unknown_key,
)
from dynamo_lint.interpreter.sizes import combined, indexed
from dynamo_lint.interpreter.stage import outside
from dynamo_lint.interpreter.tracing import Tracing
from dynamo_lint.models.drivers import CONFIGURATION, GRADIENTS, MODES, NAMES
from dynamo_lint.models.tensor_results import TENSOR_METHODS
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, File, FunctionRef

_Round = TypeVar("_Round")
ROUNDS = 16
"""Rounds of a loop over known values: more than the recompile limit."""
_UNSEEN = 3
"""Rounds of a loop over what is not known."""
_LARGEST = 2**40
_BASE, _EXPONENT = 2**20, 64
LATE = (129, 1025, 10_001, 100_001)
"""Rounds of a long loop that are looked at behind the first: a schedule may change something there."""
SOME = 7
"""It stands for a size that is not known."""
_WIDE = re.compile(r"\d{4}|\*")
"""What asks for a text that may be very long."""
_ARITHMETIC: dict[type, Callable[[int, int], int | float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: operator.truediv,
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.BitAnd: "and",
}
"""The words in the names of the methods behind operators."""
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
_COMPARING: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.In: ("__contains__", ""),
    ast.NotIn: ("__contains__", ""),
}
"""By comparison, its method, and that of the other operand if the first has none."""
OPTIONS = "argparse.Namespace"
"""What holds the options of a command line: no more is known of it than some defaults."""
_PLAINLY_FALSE = NAMES["false_of_plain_tensors"] - {"is_complex", "is_conj", "is_neg"}
"""Attributes of tensors; the others are methods."""
_ELEMENTWISE = frozenset({ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE})
_UNGUARDED = (ast.Add, ast.Sub, ast.Mult)
_MOST_UNGUARDED = 64
"""`torch._dynamo.config.computed_lazy_constant_max_nodes`."""
_COMPARISONS: dict[type, Callable[[object, object], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,  # type: ignore[dict-item]
    ast.LtE: operator.le,  # type: ignore[dict-item]
    ast.Gt: operator.gt,  # type: ignore[dict-item]
    ast.GtE: operator.ge,  # type: ignore[dict-item]
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, others: one in others,  # type: ignore[operator]
    ast.NotIn: lambda one, others: one not in others,  # type: ignore[operator]
}


class Expressions(Tracing):
    """A stage on which expressions have values."""

    __slots__ = ()

    def value(self, node: ast.expr, frame: Frame) -> object:
        """The value of an expression."""
        self.step()
        ask = getattr(self, METHOD_OF[type(node)], None)
        if ask is not None:
            return ask(node, frame)
        self.give_up(Site(frame.where, node), f"an expression of the kind {type(node).__name__}")
        return UNKNOWN

    @abstractmethod
    def call(self, node: ast.Call, frame: Frame) -> object:
        """The value of a call."""

    @abstractmethod
    def parameters(self, module: Object) -> list[Tensor]:
        """The parameters of a module of torch, without those of the modules in it."""

    @abstractmethod
    def invoke(
        self, function: object, arguments: list[object], keywords: dict[str, object], site: Site
    ) -> object:
        """The value that calling something gives."""

    def special(self, owner: object, name: str, arguments: list[object], site: Site) -> object:
        """The value that a special method of a class of the project gives; MISSING if there is none."""
        if not isinstance(owner, Object) or not isinstance(owner.kind, ClassRef):
            return MISSING
        if self.project.method(owner.kind, name) is None and self.assigned(owner.kind, name) is MISSING:
            return MISSING
        return self.invoke(self._of_class(owner.kind, name, owner), arguments, {}, site)

    # --- simple expressions -----------------------------------------------------------------------------

    def _Constant(self, node: ast.Constant, frame: Frame) -> object:
        return node.value if isinstance(node.value, PLAIN) else UNKNOWN

    def _Name(self, node: ast.Name, frame: Frame) -> object:
        if self.trace is not None and node.id in frame.carried:
            self.trace.reads[node.id] = Site(frame.where, node)
        return self.lookup(node.id, frame)

    def _Call(self, node: ast.Call, frame: Frame) -> object:
        return self.call(node, frame)

    def _Attribute(self, node: ast.Attribute, frame: Frame) -> object:
        return self.attribute(self.value(node.value, frame), node.attr, Site(frame.where, node))

    def _NamedExpr(self, node: ast.NamedExpr, frame: Frame) -> object:
        value = self.value(node.value, frame)
        self.bind(node.target, value, function_of(frame))
        return value

    def _Lambda(self, node: ast.Lambda, frame: Frame) -> object:
        return Closure(frame.where, frame, body=node, defaults=self.defaults(node.args, frame))

    def defaults(self, arguments: ast.arguments, frame: Frame) -> dict[str, object]:
        """The values of the defaults of a function."""
        positional = [*arguments.posonlyargs, *arguments.args]
        given = zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        return {one.arg: self.value(value, frame) for one, value in (*given, *named) if value is not None}

    def _DictComp(self, node: ast.DictComp, frame: Frame) -> object:
        inner = _inside(frame)
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        found: dict[object, object] = {}
        for one in self._comprehended(node.generators, pair, inner):
            if isinstance(one, tuple):
                found[_filed(self.use(one[0]), found)] = one[1]
        return found

    def _Await(self, node: ast.Await, frame: Frame) -> object:
        return self.value(node.value, frame)

    def _Tuple(self, node: ast.Tuple, frame: Frame) -> object:
        return tuple(self.items(node.elts, frame))

    def _List(self, node: ast.List, frame: Frame) -> object:
        return self.items(node.elts, frame)

    def _Set(self, node: ast.Set, frame: Frame) -> object:
        return self.elements_of(self.items(node.elts, frame))

    def elements_of(self, values: Iterable[object]) -> object:
        """A set of values; not known if some of them can't be looked up."""
        found = [self.use(one) for one in values]
        return Elements.fromkeys(found) if all(map(is_key, found)) else UNKNOWN

    def _Dict(self, node: ast.Dict, frame: Frame) -> object:
        found: dict[object, object] = {}
        whole = True
        for key, value in zip(node.keys, node.values, strict=True):
            known, held = (
                self.use(self.value(key, frame)) if key is not None else None,
                self.value(value, frame),
            )
            if key is not None:
                self.keyed(key, frame)
                found[_filed(known, found)] = held
            elif isinstance(held, dict):
                self.length(held)
                found |= {name: self.read(held, "item", name, one) for name, one in held.items()}
            else:
                whole = False
        return found if whole else UNKNOWN

    def _Slice(self, node: ast.Slice, frame: Frame) -> object:
        return slice(
            *(self.value(one, frame) if one else None for one in (node.lower, node.upper, node.step))
        )

    def items(self, nodes: list[ast.expr], frame: Frame) -> list[object]:
        """The values of expressions, those of `*rest` among them."""
        found: list[object] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found += self.elements(self.value(node.value, frame))
            else:
                found.append(self.value(node, frame))
        return found

    def _JoinedStr(self, node: ast.JoinedStr, frame: Frame) -> object:
        parts = [self._formatted(one, node, frame) for one in node.values]
        known = all(isinstance(one, PLAIN) for one in parts) and len(parts) <= LONGEST
        return "".join(map(str, parts)) if known else UNKNOWN

    def _formatted(self, node: ast.expr, whole: ast.JoinedStr, frame: Frame) -> object:
        """The text of one part of an f-string."""
        if not isinstance(node, ast.FormattedValue):
            return self.value(node, frame)
        value = self.value(node.value, frame)
        kind = "text with a format" if node.format_spec is not None else "text"
        self.formats(value, kind, Site(frame.where, whole), node, alone=len(whole.values) == 1)
        value = self.use(value)
        form = self.value(node.format_spec, frame) if node.format_spec is not None else ""
        for name, given in (
            ("__format__", [form]),
            ("__repr__" if node.conversion == 114 else "__str__", []),
        ):
            made = self.special(value, name, [*given], self.current)
            value = value if made is MISSING else made
        if not isinstance(value, PLAIN) or not isinstance(form, str) or (form and is_stand_in(value)):
            return UNKNOWN
        return text(lambda: format(repr(value) if node.conversion == ord("r") else value, form), form)

    # --- computing --------------------------------------------------------------------------------------

    def _BinOp(self, node: ast.BinOp, frame: Frame) -> object:
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        if self.trace is not None and isinstance(node.op, ast.Mod | ast.Mult):
            self._repeated(self.use_raw(left), node, right, Site(frame.where, node))
        return self.binary(left, node.op, right)

    def _repeated(self, left: object, node: ast.BinOp, right: object, site: Site) -> None:
        """Notice a number that is put into a text by `%`, or says how often a list is repeated."""
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            for part in right if isinstance(right, tuple) else (right,):
                self.formats(part, "percent", site, node.right, alone=True)
        elif isinstance(node.op, ast.Mult) and isinstance(left, list):
            if isinstance(right, Tensor):
                self.breaking("scalar", site)
            self.counts(right, node.right, site.where)

    def needs(self, *operands: object) -> None:
        """End a call that no program makes where Python raises an error: None has no operators."""
        if self.presuming and any(self.use_raw(one) is None for one in operands):
            raise Failed(frozenset({"TypeError", "Exception", "BaseException"}))

    def binary(self, left: object, op: ast.operator, right: object) -> object:
        """The result of an operator."""
        left, right = self.number(left), self.number(right)
        self.needs(left, right)
        if isinstance(left, Object) or isinstance(right, Object):
            for owner, prefix, other in ((left, "__", right), (right, "__r", left)):
                made = self.special(owner, f"{prefix}{OPERATORS[type(op)]}__", [other], self.current)
                if made is not MISSING:
                    return made
        if isinstance(left, Sourced) or isinstance(right, Sourced):
            return self._of_sourced(left, op, right)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            found = Tensor() if isinstance(op, ast.MatMult) else combined(left, right)
            if is_mask(left) and is_mask(right) and isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
                found.dtype = "torch.bool"
            if self.trace is not None and isinstance(left, Tensor) and left.shape == found.shape:
                found.demanded = left.demanded
            return self.tracked(found, (left, right))
        if isinstance(op, ast.LShift | ast.RShift) and isinstance(left, int) and isinstance(right, int):
            if is_stand_in(left) or is_stand_in(right) or abs(left) >= _LARGEST or not 0 <= right < 64:
                return UNKNOWN
            return left << right if isinstance(op, ast.LShift) else left >> right
        if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
            return _bits(left, op, right)
        compute = _ARITHMETIC.get(type(op))
        if compute is not None and isinstance(left, int | float) and isinstance(right, int | float):
            defined = right or isinstance(op, ast.Add | ast.Sub | ast.Mult)
            small = all(isinstance(number, float) or abs(number) < _LARGEST for number in (left, right))
            result = compute(left, right) if defined and small else UNKNOWN  # type: ignore[arg-type]
            if result != result:  # `inf - inf` is no number
                return UNKNOWN
            if isinstance(result, int | float) and (is_stand_in(left) or is_stand_in(right)):
                return Size(result) if isinstance(result, int) else Measured(result)
            return result
        if isinstance(op, ast.Mod) and isinstance(left, str):
            given = right if isinstance(right, tuple) else (right,)
            known = is_known(given) and not any(map(is_stand_in, given)) and is_short((left, given))
            return text(lambda: left % given, left) if known else UNKNOWN
        if isinstance(op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return (left + right)[:LONGEST]
        if isinstance(op, ast.Pow) and isinstance(left, int | float) and isinstance(right, int | float):
            return _power(left, right)
        if isinstance(op, ast.Add) and isinstance(left, list | tuple) and type(left) is type(right):
            self.length(left)
            self.length(right)
            return (left + right)[:LONGEST]  # type: ignore[operator]
        if isinstance(op, ast.Mult) and isinstance(left, list | tuple | str) and isinstance(right, int):
            return left * right if 0 <= right * len(left) <= LONGEST else UNKNOWN
        return UNKNOWN

    def number(self, value: object) -> object:
        """The number that a member of an `IntEnum` is."""
        if isinstance(value, Sourced) and isinstance(value.raw, Member) and self._counts(value.raw):
            value = self.use(value)
        return value.value if isinstance(value, Member) and self._counts(value) else value

    def _counts(self, member: Member) -> bool:
        bases = self.project.external_bases(member.kind)
        return any(base in ("enum.IntEnum", "enum.IntFlag") for base in bases)

    def _of_sourced(self, left: object, op: ast.operator, right: object) -> object:
        """The result of an operator on what compiled code has read: with a symbol it stays one."""
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            number = left if isinstance(right, Tensor) else right
            whole = isinstance(number, Sourced) and isinstance(number.raw, int)
            turned = isinstance(op, ast.Sub) and isinstance(
                right, Tensor
            )  # `rsub` takes a float as a constant
            symbolic = whole or not (isinstance(op, ast.Pow) or turned)
            return self.binary(self.use(left, symbolic), op, self.use(right, symbolic))
        if self.symbols_of((left, right)):
            return self.derived((left, right), lambda one, other: self.binary(one, op, other))
        if (computed := self._unguarded(left, op, right)) is not None:
            return computed
        return self.binary(self.use(left), op, self.use(right))

    def _unguarded(self, left: object, op: ast.operator, right: object) -> Sourced | None:
        """A sum or product that is guarded only where it is used; None where Dynamo guards on its parts.

        `_COMPUTED_LAZY_CONSTANT_OPS` in torch/_dynamo/variables/builtin.py.
        """
        if not isinstance(op, _UNGUARDED) or not self.has("unused-numbers-are-not-guarded"):
            return None
        first, *more = [one for one in (left, right) if isinstance(one, Sourced)]
        operations = 1 + sum(one.operations for one in (first, *more))
        raw = self.use_raw(left), self.use_raw(right)
        if operations > _MOST_UNGUARDED or not all(isinstance(one, int | float | str) for one in raw):
            return None
        result = self.binary(raw[0], op, raw[1])
        others = (*first.others, *(part for one in more for part in (one, *one.others)))
        return Sourced(first.raw, first.source, lambda _: result, others, operations)

    def symbols_of(self, values: Iterable[object]) -> list[Sourced]:
        """Those of some values that are symbols in the graph."""
        return [one for one in values if isinstance(one, Sourced) and self.is_symbol(one)]

    def derived(self, values: Sequence[object], compute: Callable[..., object]) -> object:
        """The result of computing with symbols among some values, which varies as the first of them does."""
        symbols = self.symbols_of(values)
        first = symbols[0]
        given = [one if one is first else self.use(one, symbolic=True) for one in values]
        before = first.compute

        def whole(raw: object) -> object:
            number = raw if before is None else before(raw)
            return compute(*(number if one is first else one for one in given))

        others = (*first.others, *(part for one in symbols[1:] for part in (one, *one.others)))
        return Sourced(first.raw, first.source, whole, others)

    def tracked(self, result: object, inputs: Iterable[object], by: str = "") -> object:
        """A tensor that requires a gradient if any tensor that it is made of does, as made by a function."""
        if isinstance(result, Tensor):
            if self.trace is not None:
                self.trace.computes = True
                self.trace.operations += 1
            tensors = [one for one in inputs if isinstance(one, Tensor)]
            known = [one.grad for one in tensors]
            plain = result.dtype is not None and not result.dtype.startswith(tuple(NAMES["differentiable"]))
            off = plain or by in NAMES["without_gradient"]
            off = off or self.modes().get(GRADIENTS) in {"no_grad", "inference_mode"}
            result.grad = False if off else True if True in known else None if None in known else False
            if self.made_to_need and not off:
                made = [self.made_to_need[id(one)] for one in tensors if id(one) in self.made_to_need]
                self.made_to_need |= {id(result): (result, site) for _, site in made[:1]}
        return result

    def _UnaryOp(self, node: ast.UnaryOp, frame: Frame) -> object:
        value = self.value(node.operand, frame)
        made = self.special(value, _UNARY.get(type(node.op), ""), [], self.current)
        if made is not MISSING:
            return made
        if not isinstance(node.op, ast.Not) and self.symbols_of((value,)):
            return self.derived((value,), lambda one: _unary(node.op, one))
        if isinstance(value, Sourced) and not isinstance(node.op, ast.Not):
            value = self.use(value)
        if isinstance(node.op, ast.Not):
            asked = _is_asked(node, self.current.node)
            if isinstance(value, Tensor) and not asked:
                self.breaking("branch", Site(frame.where, node), "eager")
            truth = self.truth(value, Site(frame.where, node.operand) if asked else None)
            return UNKNOWN if truth is None else not truth
        if isinstance(value, Tensor):
            kind = value.dtype if isinstance(node.op, ast.Invert) else None
            return self.tracked(Tensor(value.shape, dtype=kind), [value])
        return _unary(node.op, value)

    def _Compare(self, node: ast.Compare, frame: Frame) -> object:
        left = self.number(self.value(node.left, frame))
        for op, other in zip(node.ops, node.comparators, strict=True):
            right = self.number(self.value(other, frame))
            made = self._compared_by_method(left, op, right)
            if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
                left, right = self.typed(left), self.typed(right)
            elif isinstance(op, ast.In | ast.NotIn) and not (
                self.symbols_of((left,)) and isinstance(right, tuple)
            ):
                left, right = self.use(left), self._searched(left, right)
                if isinstance(right, Tensor) and isinstance(left, int | float | Tensor):
                    self.breaking("scalar", Site(frame.where, node), "eager")
            answer = self.compared(left, right, partial(comparison, op)) if made is MISSING else made
            if answer is not True:
                return self._undecided(answer, (left, right)) if type(op) in _ELEMENTWISE else answer
            left = right
        return True

    def _undecided(self, answer: object, operands: Sequence[object]) -> object:
        """The outcome of a comparison; a number of its own where the graph has what it hangs on."""
        if self.captures:
            for raw in map(self.use_raw, operands):
                if isinstance(raw, Measured | Size) and raw in self.taken:
                    return Measured(raw)
        return answer

    def _compared_by_method(self, left: object, op: ast.cmpop, right: object) -> object:
        """The truth that a method like `__eq__` gives; MISSING if the project has none for it."""
        name, turned = _COMPARING.get(type(op), ("", ""))
        owner, other = (right, left) if isinstance(op, ast.In | ast.NotIn) else (left, right)
        made = self.special(owner, name, [other], self.current)
        if made is MISSING and turned:
            made = self.special(other, turned, [owner], self.current)
        if made is MISSING:
            return MISSING
        truth = self.truth(made)
        return UNKNOWN if truth is None else truth is not isinstance(op, ast.NotIn)

    def _searched(self, value: object, container: object) -> object:
        """A container in which compiled code looks for a value."""
        match container:
            case dict() if self.trace is not None:
                key = self.use(value)
                if is_key(key):
                    self.absent(container, "item", key, present=key in container)
            case list() if self.trace is not None:
                return [self.use(one) for one in self.each(container)]
            case External("os.environ"):  # a variable that nobody has set is missing
                names = [name.removeprefix("os.environ.") for name in self.settings]
                return [name for name, full in zip(names, self.settings, strict=True) if name != full]
            case Method(FileValue(path), "__dict__"):
                return [*self.file(path).names]
            case Method(Object() as owner, "__dict__") if owner.complete:
                return [name for name in owner.attributes if not self._is_registered(owner, name)]
        return self.use(container)

    def _is_registered(self, owner: Object, name: str) -> bool:
        """Whether a module keeps an attribute among its parameters, buffers or modules."""
        held = owner.attributes[name]
        return self.is_module(owner) and (
            name in owner.buffers or (isinstance(held, Object) and self.is_module(held))
        )

    def _BoolOp(self, node: ast.BoolOp, frame: Frame) -> object:
        ends = isinstance(node.op, ast.Or)
        value: object = UNKNOWN
        unknown = 0
        try:
            for operand in node.values:
                value = self.value(operand, frame)
                truth = self.truth(value, Site(frame.where, operand))
                if truth is ends:
                    return value
                if truth is None:
                    unknown += 1
                    self.doubt += 1  # whether the next is evaluated is not known
        finally:
            self.doubt -= unknown
        return UNKNOWN if unknown else value

    def _IfExp(self, node: ast.IfExp, frame: Frame) -> object:
        truth = self.truth(self.value(node.test, frame), Site(frame.where, node.test))
        if truth is not None:
            return self.value(node.body if truth else node.orelse, frame)
        self.doubt += 1
        values = self.value(node.body, frame), self.value(node.orelse, frame)
        self.doubt -= 1
        if all(isinstance(one, Closure | External | Partial) for one in values):
            return Either(values)
        tensors = [one for one in values if isinstance(one, Tensor)]
        if len(tensors) == len(values):
            first, second = (one.shape for one in tensors)
            return self.tracked(Tensor(first if first == second else None), tensors)
        return next((one for one in values if isinstance(one, Wrapper | Object)), UNKNOWN)

    def truth(self, value: object, site: Site | None = None) -> bool | None:
        """Whether a test holds, which stands at a site or the current line; None if that is not known."""
        if isinstance(value, Sourced):
            answer = self.compared(value, None, lambda one, _: self.truth(one, site))
            return answer if isinstance(answer, bool) else None
        if isinstance(value, list | dict):
            self.length(value)
        if isinstance(value, Tensor):
            self.end_graph("branch", site)
        self.decided(value, site)
        if is_stand_in(value):
            return None
        if isinstance(value, (*PLAIN, list, tuple, dict)):
            return bool(value)
        if isinstance(value, Member) and "enum.Flag" in self.project.external_bases(value.kind):
            return bool(value.value) if isinstance(value.value, int) else None
        for name in ("__bool__", "__len__"):
            made = self.special(value, name, [], self.current)
            if made is not MISSING:
                made = self.use(made)
                return bool(made) if isinstance(made, int) and not is_stand_in(made) else None
        return True if isinstance(value, Object | Wrapper | Closure | ClassObject) else None

    def fill(self, tensor: Tensor, index: object, value: object) -> None:
        """Write a part of a tensor: where a mask says so, the backward pass picks by it what is written.

        No backend compiles that, so Dynamo leaves the frame (checked with torch 2.13).
        """
        filler = self.use(value)
        if not isinstance(filler, Tensor) or filler.grad is False:
            return
        masked = any(map(is_mask, index if isinstance(index, tuple) else (index,)))
        captured = self.on(SIZES)
        if filler.grad and masked and self.trace is not None and not captured:
            self.leave_for_good(self.trace, "masked write")
        tensor.grad = filler.grad or tensor.grad

    # --- containers -------------------------------------------------------------------------------------

    def _Subscript(self, node: ast.Subscript, frame: Frame) -> object:
        value, index = self.value(node.value, frame), self.value(node.slice, frame)
        if value == External("sys.modules") and self.trace is None and _is_own_name(node.slice):
            return FileValue(frame.where.path)
        if self.trace is not None:
            self.keyed(node.slice, frame)
            self._picked_by(value, index, Site(frame.where, node))
        return self.item(value, index)

    def _picked_by(self, value: object, index: object, site: Site) -> None:
        """Notice that compiled code picks a part by the value of a tensor."""
        parts = index if isinstance(index, tuple) else (index,)
        if isinstance(value, list | tuple | Object):
            if isinstance(index, Tensor):
                self.breaking("scalar", site)
            self.decided(index, site)
        if not isinstance(value, Tensor):
            return
        if any(map(is_mask, parts)):
            self.leaves_graph("mask", SIZES, site)
        for part in parts:
            if isinstance(part, slice) and any(isinstance(one, Tensor) for one in bounds(part)):
                self.breaking("index", site)
            elif isinstance(part, Tensor) and part.shape == () and not is_mask(part):
                self.breaking("index" if self.is_argument(part) else "scalar", site)

    def item(self, value: object, index: object) -> object:
        """The value of `value[index]`."""
        value = self.use(value) if isinstance(value, Sourced) else value
        index = self.sized(index) if isinstance(value, Tensor) else self.use(index)
        if type(value) is dict and is_key(index) and index not in value:
            self.lacks("KeyError", "LookupError")
        found = self._item(value, index)
        if isinstance(value, list | tuple):
            self.length(value)
        if self.trace is None or found is UNKNOWN or not isinstance(value, Object | list | dict):
            return found
        if isinstance(index, slice) and isinstance(found, list):
            self.length(value)
            items = value.items if isinstance(value, Object) else value
            places = range(*index.indices(len(items)))
            return [self.read(value, "item", place, one) for place, one in zip(places, found, strict=False)]
        if not is_key(index):
            return found
        if isinstance(value, dict):
            self.absent(value, "item", index, present=True)
            if not self.has("keys-are-guarded-one-by-one"):
                self.length(value)
        return self.read(value, "item", index, found)

    def _item(self, value: object, index: object) -> object:
        match value:
            case Tensor():
                return self.tracked(indexed(value, index), [value])
            case Object(kind=ClassRef() as kind) if (
                method := self.project.method(kind, "__getitem__")
            ) is not None:
                return self.invoke(self.code(method, value), [index], {}, self.current)
            case Object(attributes=attributes) if isinstance(index, str):
                return attributes.get(index, UNKNOWN)
            case Object(items=items):
                value = items
            case Method(Tensor(), "shape") if isinstance(index, int):
                return Size(SOME)
            case Method(FileValue() as file, "__dict__") if isinstance(index, str):
                return self.filed(file, index, self.current)
            case Method(Object(attributes=attributes) as owner, "__dict__"):
                held = attributes.get(index, UNKNOWN) if isinstance(index, str) else UNKNOWN
                unguarded = held is UNKNOWN or self.has("unused-numbers-are-not-guarded")
                return held if unguarded else self.read(owner, "attribute", index, held)
            case External("os.environ"):
                return self.settings.get(f"os.environ.{index}", (UNKNOWN, None))[0]
            case Defaults(factory=factory) if is_key(index) and index not in value:
                self.put(value, index, self.invoke(factory, [], {}, self.current))
                return value[index]
            case dict():
                return value.get(index, UNKNOWN) if is_key(index) else UNKNOWN
            case Unwrapped(target) | Wrapper(target):
                return self._item(target, index)
        if value is UNKNOWN and isinstance(index, slice | tuple):
            parts = index if isinstance(index, tuple) else (index,)
            return indexed(Tensor((None,) * len(parts)), index)
        if isinstance(value, list | tuple | str) and isinstance(index, int):
            return value[index] if -len(value) <= index < len(value) else UNKNOWN
        whole = isinstance(index, slice) and is_known([*bounds(index)])
        if isinstance(value, list | tuple | str) and isinstance(index, slice) and whole:
            return value[index] if index.step != 0 else UNKNOWN
        return UNKNOWN

    def each(self, value: object) -> Iterator[object]:
        """The values that iterating yields, one after the other."""
        if self.trace is not None:
            value = self.use(value) if isinstance(value, Sourced) else value
            if isinstance(value, list | tuple | dict | Object):
                self.length(value)
        if value is None:
            self.needs(value)
        match value:
            case list() if self.trace is not None:
                for number, one in enumerate(value):
                    yield self.read(value, "item", number, one)
            case dict():
                yield from (UNKNOWN if isinstance(one, Unknown) else one for one in value)
            case list() | tuple() | str() | range():
                yield from value
            case Object(kind=kind) if kind == COUNT:
                while True:
                    yield self.counted(value)
            case Object(kind, items=items):
                iterate = self.project.method(kind, "__iter__") if isinstance(kind, ClassRef) else None
                if iterate is not None:
                    found = self.invoke(self.code(iterate, value), [], {}, self.here(iterate))
                    yield from self.each(found) if not isinstance(found, Object) else ()
                elif self.trace is not None:
                    for number, one in enumerate(items):
                        yield self.read(value, "item", number, one)
                else:
                    yield from items or self.held_in(value)
            case Iterator():
                self.effects += 1
                if not getattr(value, "gi_running", False):  # one that asks itself gives nothing
                    yield from value
            case ClassObject(ref) if any(
                base.startswith("enum.") for base in self.project.external_bases(ref)
            ):
                self.file(ref.path)
                held = self.class_attributes.get(ref, {}).values()
                yield from (one for one in held if isinstance(one, Member))
            case Tensor(shape=None):
                yield from self.rounds(self.tracked(Tensor(), [value]) for _ in range(ROUNDS))
            case Tensor(shape=(int() as length, *rest)):
                yield from (self.tracked(Tensor(tuple(rest)), [value]) for _ in range(min(length, ROUNDS)))
            case _:
                yield from self.rounds(UNKNOWN for _ in range(ROUNDS))

    def elements(self, value: object, turns: Iterable[int] = ()) -> Iterator[object]:
        """The values that a loop runs over: of an iterator only some, if compiled code is called for each.

        Of a long count, what the loop asks about comes too.
        """
        whole = isinstance(value, list | tuple | dict | str | Object)
        whole = whole and not (isinstance(value, Object) and value.kind == COUNT)
        if isinstance(value, Uncounted):
            value.look_at(turns)
        met = len(self.met)
        for number, one in enumerate(islice(self.each(value), LONGEST)):
            if not whole and number >= ROUNDS and len(self.met) > met:
                self.unended = True
                if isinstance(value, range):
                    late = {value[place] for place in LATE if ROUNDS < place < len(value)}
                    late |= {turn for turn in turns if turn in value[ROUNDS:]}
                    yield from sorted(late, reverse=value.step < 0)
                return
            yield one

    def counted(self, counter: Object) -> object:
        """The number that a counter of `itertools` stands at, behind which it goes on."""
        number = self.attribute(counter, "number", self.current)
        step = self.attribute(counter, "step", self.current)
        self.assign(counter, "number", self.binary(number, ast.Add(), step), self.current)
        return number

    def rounds(self, values: Iterable[_Round]) -> Iterator[_Round]:
        """The first of values whose number is not known: more as long as each round compiles something."""
        compiled, self.unended = len(self.recompiles), True
        for number, one in enumerate(values):
            if number >= _UNSEEN and len(self.recompiles) == compiled:
                return
            compiled = len(self.recompiles)
            yield one

    def held_in(self, container: Object) -> Iterator[object]:
        """The keys of a dict of modules."""
        if container.kind == "torch.nn.ModuleDict":
            yield from container.attributes

    def here(self, where: FunctionRef, line: int = 0) -> Site:
        """A line of a function as a place, or the function, for what no expression calls."""
        line = line or self.project.function(where).line
        place = (where, line)
        if place not in self.lines:
            node = ast.Pass(lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)
            self.lines[place] = Site(where, node)
        return self.lines[place]

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp, frame: Frame) -> object:
        return list(self._comprehended(node.generators, node.elt, _inside(frame)))

    def _SetComp(self, node: ast.SetComp, frame: Frame) -> object:
        return self.elements_of(self._comprehended(node.generators, node.elt, _inside(frame)))

    def _GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> object:
        return self._comprehended(node.generators, node.elt, _inside(frame), held=True)

    def _comprehended(
        self,
        generators: list[ast.comprehension],
        element: ast.expr,
        frame: Frame,
        doubt: int = 0,
        *,
        held: bool = False,
    ) -> Iterator[object]:
        """The values of a comprehension; `held` if Dynamo cannot go on after a break in it."""
        if not generators:
            self.doubt += doubt
            around = function_of(frame)
            around.held += held
            try:
                value = self.value(element, frame)
            finally:
                around.held -= held
            self.doubt -= doubt
            yield value
            return
        first, *others = generators
        items = self.value(first.iter, frame)
        held = held or (
            isinstance(items, Object) and self.has("comprehensions-over-modules-end-the-function")
        )
        for value in self.elements(items):
            self.bind(first.target, value, frame)
            answers = [self.truth(self.value(test, frame), Site(frame.where, test)) for test in first.ifs]
            if False not in answers:
                unsure = doubt + (None in answers)
                yield from self._comprehended(others, element, frame, unsure, held=held)

    @abstractmethod
    def bind(self, target: ast.expr, value: object, frame: Frame) -> None:
        """Assign a value to a target."""

    def lost(self, values: Iterable[object], site: Site, why: str) -> None:
        """Weaken the run where what is unknown may change the state of a value; tell of a compiled one."""
        given = [*filter(self._has_state, values)]
        for value in given:
            self.hand_out(value)
        if any(map(_is_compiled, given)):
            self.give_up(site, f"{why}, and it gets compiled code")
        elif given:
            self.weaken()

    def hand_out(self, value: object) -> None:
        """Note the functions and classes that others may call from now on."""
        match value:
            case Closure(where, receiver=receiver):
                self.handed_out.add(where)
                self.hand_out(receiver)
            case ClassObject(ref):
                self.handed_out.add(ref)
            case Object():
                self.handed_out.update(one.kind for one in value.tree() if isinstance(one.kind, ClassRef))
            case Wrapper(target=target) | Partial(function=target):
                self.hand_out(target)
            case list() | tuple() | dict():
                for part in [*(value.values() if isinstance(value, dict) else value)][:LONGEST]:
                    if isinstance(part, _STATEFUL):
                        self.hand_out(part)

    def _has_state(self, value: object) -> bool:
        """Whether a value is an object or function of the project, or a small container with one in it."""
        if isinstance(value, list | tuple | dict):
            held = [*(value.values() if isinstance(value, dict) else value)]
            return any(isinstance(part, _STATEFUL) and self._has_state(part) for part in held[:LONGEST])
        if isinstance(value, Object):
            return isinstance(value.kind, ClassRef) or any(map(self._has_state, value.items))
        return isinstance(value, _STATEFUL)

    # --- attributes -------------------------------------------------------------------------------------

    def attribute(self, owner: object, name: str, site: Site) -> object:
        """The value of `owner.name`."""
        match owner:
            case External(dotted):
                known = self.settings.get(f"{dotted}.{name}")
                return known[0] if known is not None else outside(f"{dotted}.{name}")
            case Sourced():
                return self.attribute(self.use(owner), name, site)
            case Unknown() if self.trace is not None and name in TENSOR_METHODS:
                return Method(Tensor(), name)  # hardly anything else has it
            case FileValue(path):
                if name in self.file(path).names:
                    held = self.file(path).names[name]
                    around = self.files[path]
                    return held if self.trace is None else self.free(name, held, around, around)
                found = [self.of_symbol(one) for one in self.project.members(File(path), name)]
                return found[0] if len(found) == 1 else UNKNOWN
            case Wrapper(target, call) if name == "_orig_mod":
                return Unwrapped(target, call)
            case Wrapper() if name in ("forward", "__call__"):
                return owner
            case Wrapper(Closure() as target) if name in owner.attributes:
                if self.trace is not None and name not in target.attributes:
                    self.leave_for_good(self.trace, "attribute of a compiled function")
                return owner.attributes[name]
            case Wrapper(target) | Unwrapped(target):
                return self.attribute(target, name, site)
            case Object():
                return self._of_object(owner, name, site)
            case ClassObject(ref):
                if name == "__name__":
                    return ref.name
                if name == "apply" and AUTOGRAD in self.project.external_bases(ref):
                    return Method(owner, name)
                return self._of_class(ref, name, owner)
            case Member():
                return (
                    owner.name if name in {"name", "_name_"} else owner.value if name == "value" else UNKNOWN
                )
            case Partial():
                return {
                    "func": owner.function,
                    "args": tuple(owner.arguments),
                    "keywords": owner.keywords,
                }.get(name, UNKNOWN)
            case Closure() if name in owner.attributes:
                return self.read(owner, "attribute", name, owner.attributes[name])
            case Closure() if name == "__name__":
                return owner.where.name
            case Closure() if name == "__self__" and owner.receiver is not None:
                return owner.receiver
            case Tensor():
                return self._of_tensor_attribute(owner, name)
        return Method(owner, name)

    def _of_tensor_attribute(self, owner: Tensor, name: str) -> object:
        """The value of an attribute of a tensor."""
        match name:
            case "shape" if owner.shape is not None:
                return tuple(Size(SOME) if size is None else size for size in owner.shape)
            case "requires_grad" if owner.grad is not None:
                return owner.grad
            case "dtype" if owner.dtype is not None:
                return External(owner.dtype)
            case _ if name in _PLAINLY_FALSE:
                return False
            case "ndim" | "grad" if owner.shape is not None:
                return len(owner.shape) if name == "ndim" else Tensor(owner.shape, dtype=owner.dtype)
            case "T" | "mT" | "data" | "real" | "grad":
                return self.tracked(Tensor(), [owner])
        return Method(owner, name)

    def filed(self, file: FileValue, name: str, site: Site) -> object:
        """The value of a name in the `globals()` of a file: compiled code gets that dict from the outside."""
        names = self.file(file.path).names
        if self.trace is None or name not in names:
            return self.attribute(file, name, site)
        return self.sourced(names[name], Source("global", f"{file.path}::{name}"))

    def _of_object(self, owner: Object, name: str, site: Site) -> object:
        if self.trace is not None and isinstance(owner.kind, ClassRef):
            self.answers(owner, owner.kind, name, site)
        if name in owner.attributes:
            held = owner.attributes[name]
            if isinstance(held, Object):
                self.burn(owner, name, name in owner.shadowed)
            if isinstance(held, Closure) and not self.has("methods-are-guarded"):
                self.burn(owner, name, held.where)
            return self.read(owner, "attribute", name, held)
        if name == "__class__":
            if not isinstance(owner.kind, ClassRef):
                return UNKNOWN
            return self.read(owner, "class", "", self.class_object(owner.kind))
        if name == "__dict__":
            return Method(owner, name)
        if isinstance(owner.kind, str):
            known = self.peek(owner, name)
            if known is MISSING and owner.kind == OPTIONS:
                return UNKNOWN
            return Method(owner, name) if known is MISSING else self.read(owner, "attribute", name, known)
        method = self.project.method(owner.kind, name)
        replaced = self.assigned(owner.kind, name)
        if replaced is MISSING and method is not None and self.project.method_kind(method) == "property":
            made = self.invoke(self.code(method, owner), [], {}, site)
            if LAZY in self.marks_of(method):
                self.breaking("cached", site)
                owner.attributes[name] = made
            return made
        found = self._of_class(owner.kind, name, owner)
        if isinstance(found, Object) and (held := self.descriptor(owner.kind, name, "__get__")) is not None:
            return self.special(held, "__get__", [owner, self.class_object(owner.kind)], site)
        if found is UNKNOWN and self.peek(owner, name) is MISSING:
            asked = self.project.method(owner.kind, "__getattr__")
            of_module = self.is_module(owner) and (
                name[0] == "_" or name in NAMES["of_modules"] | NAMES["returns_self"]
            )
            if asked is not None and not name.startswith("__") and not of_module:
                return self._asked(asked, owner, name, site)
        if found is UNKNOWN:
            known = self.peek(owner, name)
            return Method(owner, name) if known is MISSING else self.read(owner, "attribute", name, known)
        return found if isinstance(found, Closure | Wrapper) else self.read(owner, "attribute", name, found)

    def descriptor(self, kind: ClassRef, name: str, method: str) -> Object | None:
        """The object in the body of a class that has a say in how an attribute is read or set."""
        held = self.assigned(kind, name)
        asked = held.kind if isinstance(held, Object) else None
        known = isinstance(asked, ClassRef) and self.project.method(asked, method) is not None
        return held if isinstance(held, Object) and known else None

    def _asked(self, asked: FunctionRef, owner: Object, name: str, site: Site) -> object:
        """The value that `__getattr__` gives for a name; not known if it has none."""
        if self.active[asked]:
            return Method(owner, name)  # for a name in its own body, which it would ask for without end
        self.catching += 1
        try:
            return self.invoke(self.code(asked, owner), [name], {}, site)
        except Failed:
            return Method(owner, name)
        finally:
            self.catching -= 1

    def assigned(self, ref: ClassRef, name: str) -> object:
        """The value that was assigned to a class or a base of it, or stands in its body; else MISSING."""
        for part in self.project.mro(ref):
            known = self.class_attributes.get(part, {})
            if name in known:
                return known[name]
            written = self.project.class_bindings(part).get(name, ())
            if any(isinstance(binding.value, ir.Definition) for binding in written):
                return MISSING
            if written or name == "_fields":
                self.file(part.path)
                if name in (known := self.class_attributes.get(part, {})):
                    return known[name]
        return MISSING

    def peek(self, owner: Object | ClassObject, name: str) -> object:
        """The value of an attribute without running any code; MISSING if there is none."""
        if isinstance(owner, Object):
            if name in {"weight", "bias"}:
                self.parameters(owner)
            if name in owner.attributes:
                return owner.attributes[name]
            if not isinstance(owner.kind, ClassRef):
                return True if name == "training" and self.is_module(owner) else MISSING
        ref = owner.kind if isinstance(owner, Object) else owner.ref
        assert isinstance(ref, ClassRef)
        found = self.assigned(ref, name)
        if found is MISSING and name == "training" and isinstance(owner, Object) and self.is_module(owner):
            return True
        return found

    def code(self, where: FunctionRef, receiver: Object | ClassObject | None) -> Closure:
        """A method as it is written, without its decorators."""
        home = self.file(where.path)
        defaults = self.defaults_of.get(where, {})
        made = Closure(where, home, receiver, disabled=where in self.disabled, defaults=defaults)
        self._has_source(made, receiver)
        return made

    def _has_source(self, method: Closure, owner: Object | ClassObject | None) -> None:
        """Note the way to a method, by which Dynamo reaches its defaults."""
        above = self.source_of(owner) if method.defaults else None
        if above is not None and self.trace is not None:
            self.trace.sources[id(method)] = (method, above.then("method", method.where))

    def method(self, where: FunctionRef, receiver: Object | ClassObject | None) -> object:
        """A method as its decorators leave it: compiled, or inside a context manager."""
        value: object = self.code(where, receiver)
        function = self.project.function(where)
        for decorator in reversed(function.decorators):
            call = decorator if isinstance(decorator, ir.Call) else ir.Call(decorator)
            for symbol in self.project.symbols(call.function, where.path, function.outer or ir.MODULE_KEY):
                mode = MODES.get(symbol.dotted) if isinstance(symbol, ExternalSymbol) else None
                site = self.here(where, function.first_line)
                if isinstance(symbol, ExternalSymbol) and symbol.dotted in NAMES["compile"]:
                    keywords = self.compiling.get(where, ())
                    value = Wrapper(value, CompileCall(site, keywords))
                elif mode is not None and mode.value is not None:
                    value = Decorated(Manager({mode.name: mode.value}, site), value)
                elif isinstance(symbol, ExternalSymbol) and symbol.dotted in NAMES["patch"]:
                    options = [
                        (name, one.value) for name, one in call.keywords if isinstance(one, ir.Constant)
                    ]
                    settings: dict[str, object] = {
                        f"{CONFIGURATION}.{name}": given for name, given in options
                    }
                    value = Decorated(Manager(settings, site), value)
        return value

    def _of_class(self, ref: ClassRef, name: str, owner: Object | ClassObject) -> object:
        found = self.assigned(ref, name)
        method = self.project.method(ref, name) if found is MISSING else None
        if isinstance(owner, Object) and self.trace is not None and (method or isinstance(found, Closure)):
            self._looked_up(owner, name, method or found)
        if method is not None:
            kind = self.project.method_kind(method)
            receiver: Object | ClassObject | None = owner if isinstance(owner, Object) else None
            if kind == "classmethod" and isinstance(owner, Object) and isinstance(owner.kind, ClassRef):
                own = self.read(owner, "class", "", self.class_object(owner.kind))
                receiver = own if isinstance(own, ClassObject) else None
            elif kind == "classmethod":
                receiver = owner
            made = self.method(method, None if kind == "staticmethod" else receiver)
            if kind == "staticmethod" and isinstance(made, Closure):
                self._has_source(made, owner)
            return made
        if isinstance(found, Static):
            return self.read(owner, "attribute", name, found.function)
        if isinstance(found, Closure) and isinstance(owner, Object) and found.receiver is None:
            return found.bound(owner)
        if isinstance(found, PartialMethod) and isinstance(owner, Object):
            return self._bound_partial(found.partial, owner)
        if found is MISSING:
            return UNKNOWN
        return found if isinstance(owner, Object) else self.read(owner, "attribute", name, found)

    def _bound_partial(self, partial: Partial, owner: Object) -> Partial:
        """The method that `functools.partialmethod` makes."""
        if self.trace is not None:
            self.leave_for_good(self.trace, "partial method")
        function = partial.function
        bound = function.bound(owner) if isinstance(function, Closure) else function
        return replace(partial, function=bound)

    def _looked_up(self, owner: Object, name: str, found: object) -> None:
        """Dynamo guards that an instance has no such attribute itself, and not what its class has."""
        source = self.source_of(owner)
        if source is not None:
            if self.has("methods-are-guarded"):
                self.guard(source.then("own", name), "presence", MISSING)
            self.burn(owner, name, found.where if isinstance(found, Closure) else found)


_STATEFUL = (Object, Closure, Wrapper, Partial, Decorated, Unwrapped)


def function_of(frame: Frame) -> Frame:
    """The frame of the function that a comprehension belongs to."""
    while frame.comprehension and frame.outer is not None:
        frame = frame.outer
    return frame


def _filed(key: object, items: dict[object, object]) -> object:
    """The key that something is filed under: itself, or one that stands for an object or the unknown."""
    if is_key(key):
        return key
    return id(key) if isinstance(key, Object | Closure) else unknown_key(items)


def _is_own_name(node: ast.expr) -> bool:
    """`__name__`, as in `sys.modules[__name__]`."""
    return isinstance(node, ast.Name) and node.id == "__name__"


def _inside(frame: Frame) -> Frame:
    """The frame of a comprehension in a function."""
    return Frame(frame.where, outer=frame, owner=frame.owner, traced=frame.traced, comprehension=True)


def _is_compiled(value: object) -> bool:
    """Whether a value is compiled, or a module that holds something compiled."""
    if isinstance(value, Object):
        return any(part.compiled is not None for part in value.tree())
    return isinstance(value, Wrapper | Unwrapped)


def bounds(index: slice) -> tuple[object, object, object]:
    """The three parts of a slice."""
    return index.start, index.stop, index.step


def _of_torch(*values: object) -> bool:
    """Whether names outside of the project stand for things of torch: of others the values are not known."""
    return all(one.dotted.startswith("torch.") for one in values if isinstance(one, External))


def is_short(value: object) -> bool:
    """Whether all texts in a value are short: what Python makes of them in one step is bounded then."""
    if isinstance(value, str):
        return len(value) <= LONGEST
    return not isinstance(value, list | tuple) or (len(value) <= LONGEST and all(map(is_short, value)))


def text(compute: Callable[[], object], form: str) -> object:
    """A text that Python makes in some form, if that is a text of a usual length."""
    try:
        found = compute() if _WIDE.search(form) is None else UNKNOWN
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return UNKNOWN
    return found if isinstance(found, str) and len(found) <= LONGEST else UNKNOWN


def _bits(left: object, op: ast.operator, right: object) -> object:
    """The flags or bits in both or either, or two dicts in one."""
    joined = isinstance(op, ast.BitOr)
    match left, right:
        case dict(), dict() if joined:
            return left | right
        case int(), int() if not is_stand_in(left) and not is_stand_in(right):
            return left ^ right if isinstance(op, ast.BitXor) else left | right if joined else left & right
        case _ if isinstance(op, ast.BitXor):
            return UNKNOWN
        case Member(kind, name, int(one)), Member(other, second, int(two)) if kind == other:
            both = one | two if joined else one & two
            whole = Member(kind, f"{name}|{second}"[:LONGEST], both)
            return left if both == one else right if both == two else whole
    return UNKNOWN


_IDENTICAL = (Object, ClassObject, Closure, Member, External, bool)


def _power(left: float, right: float) -> object:
    """The result of `**` on numbers; not known of large ones."""
    if is_stand_in(left) or is_stand_in(right) or abs(left) >= _BASE or abs(right) >= _EXPONENT:
        return UNKNOWN
    defined = left > 0 or (isinstance(right, int) and (right > 0 or left != 0))
    return left**right if defined and abs(left) ** abs(right) < _LARGEST else UNKNOWN


def _unary(op: ast.unaryop, value: object) -> object:
    """The result of `-`, `+` or `~` on a number."""
    if isinstance(op, ast.Invert):
        return ~value if isinstance(value, int) and not is_stand_in(value) else UNKNOWN
    if not isinstance(value, int | float):
        return UNKNOWN
    result = -value if isinstance(op, ast.USub) else +value
    if is_stand_in(value):
        return Size(result) if isinstance(result, int) else Measured(result)
    return result


def _is_asked(node: ast.expr, test: ast.AST) -> bool:
    """Whether an expression is a part of what a test asks."""
    parts = test.values if isinstance(test, ast.BoolOp) else ()
    return node is test or any(_is_asked(node, part) for part in parts)


def is_mask(value: object) -> bool:
    """Whether a value is a tensor of truth values."""
    return isinstance(value, Tensor) and value.dtype == "torch.bool"


def comparison(op: ast.cmpop, left: object, right: object) -> object:
    """Whether a comparison holds, if that is known; a tensor of answers if it is one of tensors."""
    if (isinstance(left, Tensor) or isinstance(right, Tensor)) and type(op) in _ELEMENTWISE:
        return replace(combined(left, right), dtype="torch.bool", grad=False)
    if isinstance(op, ast.Is | ast.IsNot) and (left is None or right is None):
        other = right if left is None else left
        if other is UNKNOWN or isinstance(other, External | Method):
            return UNKNOWN
        return (other is None) is isinstance(op, ast.Is)
    if isinstance(op, ast.Is | ast.IsNot):
        if isinstance(left, _IDENTICAL) and isinstance(right, _IDENTICAL) and _of_torch(left, right):
            same = left == right if isinstance(left, Member | External) else left is right
            return same is isinstance(op, ast.Is)
        return UNKNOWN
    if (
        isinstance(left, Member | External)
        and type(left) is type(right)
        and _of_torch(left, right)
        and isinstance(op, ast.Eq | ast.NotEq)
    ):
        return (left == right) is isinstance(op, ast.Eq)
    if isinstance(right, dict) and isinstance(op, ast.In | ast.NotIn):
        if not is_key(left) or is_stand_in(left) or (left not in right and UNKNOWN in right):
            return UNKNOWN
        return (left in right) is isinstance(op, ast.In)
    match left, right:
        case Member(kind, value=int(flag)), Member(other, value=int(flags)) if kind == other and isinstance(
            op, ast.In | ast.NotIn
        ):
            return (flag & flags == flag) is isinstance(op, ast.In)
    containers = isinstance(left, dict | list | tuple) and type(left) is type(right)
    if containers and isinstance(op, ast.Eq | ast.NotEq) and not (left and right):
        return (not left and not right) is isinstance(op, ast.Eq)
    if isinstance(left, Measured) and isinstance(op, ast.Eq | ast.NotEq) and isinstance(right, int | float):
        return (left == right) is isinstance(op, ast.Eq)
    if not is_known(left) or not is_known(right) or is_stand_in(left) or is_stand_in(right):
        return UNKNOWN
    try:
        return bool(_COMPARISONS[type(op)](left, right))
    except TypeError:
        return UNKNOWN
