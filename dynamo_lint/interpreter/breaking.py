"""The lines of compiled code at which the graph of a call ends, as the table of breaks has them."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.index.truths import only_tested
from dynamo_lint.interpreter.guards import GraphBreak, Guard, Trace
from dynamo_lint.interpreter.model import (
    Catcher,
    ClassObject,
    Closure,
    Decorated,
    External,
    Frame,
    Manager,
    Measured,
    Method,
    Object,
    Queue,
    Site,
    Size,
    Source,
    Sourced,
    Tensor,
    Unknown,
    Wrapper,
    is_stand_in,
)
from dynamo_lint.interpreter.stage import Stage
from dynamo_lint.models.drivers import CONFIGURATION, MODULES, NAMES
from dynamo_lint.models.graph_breaks import BreakTable, Row, break_table
from dynamo_lint.program.documented import is_documented
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, FunctionRef

_WORTH = 2
"""Operations that make a graph worth compiling (torch/_dynamo/symbolic_convert.py, `is_non_empty_graph`)."""
_FEW = 8
"""Values for each of which code may be compiled: Dynamo's default recompile limit."""
LOOKUPS = frozenset({"getattr", "setattr", "hasattr", "delattr"})
_NAMING = frozenset({"DYN402", "DYN409"})
"""Rules that leave the names of attributes to DYN201."""
_SETTING, _STORM = "DYN508", "storm"
_ASKING = frozenset({"item", "tolist"})
_COUNTED = frozenset({"DYN401", "DYN402"})
_CACHES = frozenset({"functools.lru_cache", "functools.cache"})
LAZY = "functools.cached_property"
_COLLECTIVES = "torch.distributed."
AUTOGRAD = "torch.autograd.Function"
_ONE_HOT = "torch.nn.functional.one_hot"
_GRADIENT = "torch.autograd.grad"
HOOKS_BACKWARD = knowledge.names("hooks_backward")
NUMBERS = f"{CONFIGURATION}.capture_scalar_outputs"
SIZES = f"{CONFIGURATION}.capture_dynamic_output_shape_ops"


class Breaking(Stage):
    """A stage that notices where graphs end."""

    __slots__ = ()

    @property
    def table(self) -> BreakTable:
        """The table of breaks of this torch."""
        return break_table(self.torch_version)

    def source_of(self, owner: object) -> Source | None:
        """The way to an object that was there before the call; None outside of compiled code."""
        trace = self.trace
        known = trace.sources.get(id(owner)) if trace is not None else None
        return known[1] if known is not None else None

    @abstractmethod
    def split(self) -> None:
        """End the graph at the current line: what is behind it is compiled apart, where that is known."""

    # --- one break --------------------------------------------------------------------------------------

    def end_graph(self, kind: str, site: Site | None = None) -> None:
        """Note that Dynamo cannot go on at a site, or at the current line, for a kind of the table."""
        self.breaking(kind, site)
        if self.trace is not None:
            self.split()

    def breaking(self, kind: str, site: Site | None = None, effect: str = "") -> None:
        """Note that a graph ends, for one of the kinds that the table of breaks names."""
        row = self.table.named[kind]
        self.break_at(replace(row, effect=effect, release="") if effect else row, site or self.current)

    def break_at(self, row: Row, site: Site, island: FunctionRef | None = None) -> None:
        """Note that a graph ends at a site, by a row of the table that holds there."""
        trace, row = self.trace, self.table.current(row)
        if trace is None or trace.ended or (self.naming and row.code in _NAMING):
            return
        fullgraph = trace.compile.keyword("fullgraph") is True
        if (fullgraph and not row.fullgraph) or not self.applies(row, site.where):
            return
        effect = row.effect
        if effect in {"break", "eager"}:
            own = len(trace.frames) < 2 and trace.resumed is None and not trace.apart
            held = own and any(frame.held for frame in trace.frames)
            lost = own and (held or effect == "eager") and (row.final or trace.settled < _WORTH)
            owner = self.project.owner(site.where)
            whole = owner is not None and AUTOGRAD in self.project.external_bases(owner)
            # Of a function with a backward of its own Dynamo takes the whole, or nothing.
            effect = effect if whole else "eager" if lost else "break"
            if not self.doubt and trace.broken != "eager":
                trace.broken = row.effect
        unit, doubt = trace.cache.unit, self.doubt > 0
        if fullgraph and not doubt and effect in {"break", "eager"}:
            self.raising.add(trace.compile.site.place)
        inner = trace.frames[1].edge if len(trace.frames) > 1 else None
        line = inner[1] if inner is not None else site.node.lineno
        made = GraphBreak(row, site, trace.called, unit, doubt, trace.compile, line, island, effect)
        key = (*site.place, row.code)
        before = self.breaks.get(key)
        if before is None or before.doubt or effect == _STORM:
            self.breaks[key] = made

    def applies(self, row: Row, where: FunctionRef) -> bool:
        """Whether a row holds in a function, under this torch and the settings of its region."""
        return self.table.applies(row, self.captured.get(where, frozenset()))

    def leaves_graph(self, kind: str, setting: str, site: Site | None = None) -> None:
        """Notice that values in a tensor decide on a number or a size: the graph ends or holds them."""
        trace = self.trace
        if trace is None or self.on(setting):
            return
        if trace.compile.keyword("fullgraph") is True:  # which captures numbers and sizes
            trace.compiles = False
        else:
            self.end_graph(kind, site)

    def leave_for_good(self, trace: Trace, kind: str) -> None:
        """Notice what makes Dynamo give up the innermost frame, and compile what that calls."""
        self.breaking(kind)
        frame = trace.frames[-1]
        frame.held += 1
        self.split()
        frame.held -= 1

    # --- numbers that a break has given -----------------------------------------------------------------

    @property
    def captures(self) -> bool:
        """Whether numbers out of tensors are part of the graph."""
        trace = self.trace
        return trace is not None and (self.on(NUMBERS) or trace.compile.keyword("fullgraph") is True)

    def decided(self, value: object, site: Site | None = None) -> None:
        """Notice that code needs a number itself, of which the graph has a symbol alone."""
        raw = value.raw if isinstance(value, Sourced) else value
        if self.captures and is_stand_in(raw) and raw in self.taken and raw not in self.vouched:
            self.breaking("decision", site)

    def counts(self, value: object, node: ast.AST, where: FunctionRef) -> None:
        """Notice that a number which a break gave says how often something happens: each is compiled anew."""
        place = self._place_of(value, node, where)
        for key in [(*place, code) for code in _COUNTED] if place is not None else ():
            if key in self.breaks:
                self.breaks[key] = replace(self.breaks[key], effect=_STORM)

    def is_counted(self, guard: Guard) -> bool:
        """Whether a guard is on a number that a break gave which is known to compile again for each value."""
        source, entry = guard.source, guard.entry
        where = entry.where if isinstance(entry, Closure) and source.root == "local" else None
        place = self.drawn.get((where, source.name)) if where is not None else None
        ended = [self.breaks.get((*place, code)) for code in _COUNTED] if place is not None else []
        return any(one is not None and one.effect == _STORM for one in ended)

    def _place_of(self, value: object, node: ast.AST, where: FunctionRef) -> tuple[str, int] | None:
        """The line at which a graph ended for a number, as an expression gives it; None if none did."""
        raw = value.raw if isinstance(value, Sourced) else value
        if isinstance(raw, Measured | Size):
            return self.taken.get(raw)
        names = (part.id for part in ast.walk(node) if isinstance(part, ast.Name))
        return next((self.drawn[where, part] for part in (node, *names) if (where, part) in self.drawn), None)

    def _draw(self, site: Site) -> None:
        """Note a call, and the names that get its result, which is another value each time."""
        statement = self.current.node
        self.drawn[site.where, site.node] = site.place
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            if isinstance(target, ast.Name):
                self.drawn[site.where, target.id] = site.place

    def formats(self, value: object, kind: str, site: Site, node: ast.AST, *, alone: bool = False) -> None:
        """Notice that a text is made of a number that changes, or that a break has given in another line.

        A text of which the number is all may be a key, or what the line gives: it is looked at there.
        """
        trace = self.trace
        if trace is None:
            return
        place = self._place_of(value, node, site.where)
        if place is not None:
            if place != site.place and not alone and not isinstance(self.current.node, ast.Expr):
                trace.settled = max(trace.settled, _WORTH)  # a graph stands before it
                self.breaking(kind.partition(" ")[0], site, "break")
        elif isinstance(value, Sourced) and self.is_symbol(value):
            self.breaking(kind, site)

    def keyed(self, node: ast.expr, frame: Frame) -> None:
        """Notice that a text of a number which a break gives becomes a key: each one is compiled anew."""
        match node:
            case ast.JoinedStr([ast.FormattedValue(value=number)]) | ast.Call(ast.Name("str"), [number]):
                held = frame.names.get(number.id) if isinstance(number, ast.Name) else None
                self.counts(held, number, frame.where)

    def is_argument(self, value: object) -> bool:
        """Whether compiled code was called with a value itself."""
        source = self.source_of(value)
        return source is not None and source.root == "argument" and not source.steps

    def answers(self, owner: Object, kind: ClassRef, name: str, site: Site) -> None:
        """Notice an attribute that an object gives in a way that Dynamo does not trace."""
        asks_itself = self.project.method(kind, "__getattribute__") is not None
        if asks_itself and not self.has("getattribute-is-traced"):
            self.breaking("protocol", site)
        _, bindings = self.project.member(kind, "__getattr__")
        known = name in owner.attributes and "builtins.dict" not in self.project.external_bases(kind)
        if not known and any(isinstance(value, ir.Attribute | ir.Name) for value in bindings):
            self.breaking("protocol", site, "eager")

    @abstractmethod
    def is_symbol(self, value: Sourced) -> bool:
        """Whether a number is a symbol in the graph, since it has varied before."""

    # --- calls ------------------------------------------------------------------------------------------

    def call_out(
        self,
        function: object,
        arguments: Sequence[object],
        keywords: Mapping[str, object],
        site: Site,
        frame: Frame,
    ) -> None:
        """Note a call at which the graph ends."""
        if self.trace is None:
            return
        while isinstance(function, Decorated):
            function = function.function
        row = self._row_of(function)
        if isinstance(function, Method) and isinstance(function.receiver, Unknown):
            self._guessed(row, arguments, site)
        elif row is not None and row.switch != "scalars":
            ends = function == External(_GRADIENT) and self._keeps_graph(site.node, frame)
            if not self._is_free(function, row, arguments, keywords):
                self.break_at(replace(row, effect="eager", final=True) if ends else row, site)
        island = function.where if isinstance(function, Closure) else None
        if isinstance(function, Object) and self.is_kept_out(function):
            island = self.forward_in(function)
        for kind in self._kinds_of(function, arguments, keywords, site, frame, island):
            self.break_at(self.table.named[kind], site, island)
        if row is not None and row.varies and self.applies(row, site.where) and not _is_few(arguments):
            self._draw(site)

    def _guessed(self, row: Row | None, arguments: Sequence[object], site: Site) -> None:
        """Note in doubt what is done to something unknown that only a tensor is asked for."""
        if row is not None and not arguments:
            self.doubt += 1
            self.break_at(row, site)
            self.doubt -= 1

    def _row_of(self, function: object) -> Row | None:
        """The row of the table of breaks about what is called; None if it has none."""
        table = self.table
        match function:
            case External(dotted):
                built = table.built.get(dotted.rpartition(".")[2]) if dotted.startswith("torch.nn.") else None
                return built or table.function(dotted)
            case Method(Tensor(), name):
                return table.method("tensor", name)
            case Method(Unknown(), name) if name in _ASKING:
                return table.method("tensor", name)
            case Method(Object(kind=str() as kind) as owner, name) if not kind.startswith(MODULES):
                row = table.method(kind, name)
                # What the call makes anew is right each time.
                fresh = row is not None and row.effect == "stale" and self.source_of(owner) is None
                return None if fresh else row
            case Method(Object() | Wrapper(), name):
                return table.method("module", name)
            case Method(Queue(), name):
                return table.method("collections.deque", name)
            case Method(Closure(where), name) if _CACHES & self.marks_of(where):
                return table.method("functools.lru_cache", name)
            case Object(kind=str() as kind):
                return table.modules.get(_public(kind))
        return None

    def _is_free(
        self, function: object, row: Row, arguments: Sequence[object], keywords: Mapping[str, object]
    ) -> bool:
        """Whether a call that breaks the graph as a rule does not, for what it is given or becomes."""
        first = arguments[0] if arguments else None
        dotted = function.dotted if isinstance(function, External) else ""
        if dotted == "dataclasses.fields":
            return not isinstance(first, ClassObject)
        if dotted in NAMES["parameter"]:  # of what the call was given, or of a buffer
            return self.building > 0 or self.source_of(first) is not None
        if row.code == "DYN407":  # a layer without parameters, or one that is kept: see DYN302
            plain = any(keywords.get(name) is False for name in ("elementwise_affine", "affine"))
            return plain or self.building > 0 or self.is_kept()
        return "layout" in keywords

    def is_kept(self) -> bool:
        """Whether the current statement assigns what a call gives to an attribute."""
        match self.current.node:
            case ast.Assign(targets=targets, value=ast.Call()):
                return any(isinstance(target, ast.Attribute) for target in targets)
        return False

    def _kinds_of(
        self,
        function: object,
        arguments: Sequence[object],
        keywords: Mapping[str, object],
        site: Site,
        frame: Frame,
        island: FunctionRef | None,
    ) -> Iterator[str]:
        """The kinds of breaks of a call that more than its name tells."""
        first = arguments[0] if arguments else None
        match function:
            case External(dotted):
                yield from self._of_library(dotted, first, arguments, keywords)
                if dotted == "builtins.next" and isinstance(first, Iterator) and _is_held(site.node):
                    yield "iterator"
            case Method(Tensor() as tensor, "requires_grad_") if self.source_of(tensor) is None:
                if first is None or first is True:
                    self.made_to_need[id(tensor)] = (tensor, site)
            case Method(Tensor(), "repeat_interleave"):
                if "output_size" not in keywords and any(isinstance(one, Tensor) for one in arguments):
                    yield "size"
            case Method(Tensor(), "data_ptr") if not self._is_unused(site, frame):
                yield "address"
            case Method(ClassObject(ref), "apply") if self.project.method(ref, "jvp") is not None:
                yield "kernel"
            case Closure(where, disabled=disabled):
                yield from self._of_closure(where, site, disabled=disabled)
            case Object(backward=[_, *_]):
                yield "hooked"
            case Object() if island is not None:
                yield from self._of_closure(island, site, disabled=True)
        if isinstance(keywords.get("generator"), Object) and isinstance(function, External | Method):
            yield "source"

    def _of_library(
        self, dotted: str, first: object, arguments: Sequence[object], keywords: Mapping[str, object]
    ) -> Iterator[str]:
        """The kinds of breaks of a call of a function of a library."""
        package, _, name = dotted.rpartition(".")
        of_torch = isinstance(first, Tensor) or (isinstance(first, Object) and self.is_module(first))
        if of_torch and dotted in NAMES["copy"] and name == "deepcopy":
            yield "copy"
        plain = name in {"any", "all"} or (name == "sorted" and len(arguments) == 1 and not keywords)
        if package == "builtins" and plain and _holds_tensor(first):
            yield "branch"
        if dotted.startswith(_COLLECTIVES) and keywords.get("async_op") is True:
            yield "collective"
        needs = keywords.get("requires_grad") is True and dotted not in NAMES["parameter"]
        if needs and package.startswith("torch"):
            yield "gradient"
        if _has_unknown_size(dotted, arguments, keywords):
            yield "size"
        classes = [*arguments[1:2], *keywords.values()] if dotted == _ONE_HOT else []
        if any(isinstance(number, Tensor) for number in classes):
            yield "scalar"

    def _of_closure(self, where: FunctionRef, site: Site, *, disabled: bool) -> Iterator[str]:
        """The kinds of breaks of a call of a function of the project."""
        function = self.project.function(where)
        by_hand = isinstance(site.node, ast.Call) and isinstance(site.node.func, ast.Call)
        marks = self.marks_of(where)
        if disabled and by_hand and not marks & NAMES["disable"]:
            yield "island"
        elif disabled or marks & NAMES["disable"]:
            owner = self.project.owner(where)
            whole = owner is not None and NAMES["disable"] & self.marks_of(owner)
            if not is_documented(self.project, self.bodies, where, "#"):
                yield "disabled class" if whole else "island"
        home = function.outer or MODULE_KEY
        for decorator in function.decorators:
            called = decorator.function if isinstance(decorator, ir.Call) else decorator
            symbols = self.project.symbols(called, where.path, home)
            bases = [self.project.external_bases(one) for one in symbols if isinstance(one, ClassRef)]
            if any("contextlib.ContextDecorator" in outside for outside in bases):
                yield "decorating manager"

    def marks_of(self, where: FunctionRef | ClassRef) -> frozenset[str]:
        """The dotted names of the decorators of a function or class, as far as they are of libraries."""
        if where not in self.marks:
            project = self.project
            definition = project.class_(where) if isinstance(where, ClassRef) else project.function(where)
            home = definition.outer or MODULE_KEY
            called = (one.function if isinstance(one, ir.Call) else one for one in definition.decorators)
            symbols = [symbol for one in called for symbol in project.symbols(one, where.path, home)]
            self.marks[where] = frozenset(one.dotted for one in symbols if isinstance(one, ExternalSymbol))
        return self.marks[where]

    @abstractmethod
    def is_kept_out(self, target: object) -> bool:
        """Whether a decorator keeps Dynamo from what is called."""

    @abstractmethod
    def forward_in(self, target: Object) -> FunctionRef | None:
        """The `forward` that the class of an object of the project has."""

    @abstractmethod
    def is_module(self, value: Object) -> bool:
        """Whether an object is a module of torch, or of the project."""

    def vouch(self, node: ast.expr, frame: Frame) -> None:
        """Note the numbers of which compiled code tells torch what it may rely on."""
        held = (frame.names.get(part.id) for part in ast.walk(node) if isinstance(part, ast.Name))
        values = (value.raw if isinstance(value, Sourced) else value for value in held)
        self.vouched.update(number for number in values if isinstance(number, Measured | Size))

    def _is_unused(self, site: Site, frame: Frame) -> bool:
        """Whether nobody gets the value of an expression, but for whether it is true."""
        statement = self.current.node
        if isinstance(statement, ast.Expr) and statement.value is site.node:
            return True
        return any(one is site.node for one in only_tested(self.bodies.of(frame.where) or []))

    def _keeps_graph(self, node: ast.AST, frame: Frame) -> bool:
        """Whether torch gives the function up for a gradient: one by what it computed, or still needs."""
        if not self.has("gradients-of-kept-tensors-end-the-function") or not isinstance(node, ast.Call):
            return False
        given = {parameter.name for parameter in self.project.function(frame.where).parameters}
        made = {name for name, value in frame.names.items() if isinstance(value, Tensor)} - given
        inputs = [*node.args[1:2], *(one.value for one in node.keywords if one.arg == "inputs")]
        body = self.bodies.of(frame.where) or []
        kept = _read([node]) & _read(body, after=node.end_lineno or node.lineno)
        return bool(made & (_read(inputs) | kept))

    def returned(self, value: object) -> None:
        """Notice that a compiled function returns what it has made need a gradient."""
        for part in value if isinstance(value, tuple | list) else (value,):
            tensor, site = self.made_to_need.get(id(part), (None, None))
            if site is not None and tensor is part:
                self.breaking("gradient", site)

    def entered_manager(self, manager: object, node: ast.expr) -> bool:
        """Note a context manager that ends the graph; whether Dynamo goes on after a break inside of it."""
        dotted = _made_by(manager)
        row = self.table.managers.get(dotted)
        trace = self.trace
        if row is not None and trace is not None:
            site = Site(self.current.where, node)
            if row.code == _SETTING and trace.settled and len(trace.frames) == 1:
                self.breaking("setting", site)  # what stands before it makes a graph
            else:
                self.break_at(row, site)
        return dotted in self.table.traced


def _public(kind: str) -> str:
    """The name under which all know a module of torch: `torch.nn.LSTM`."""
    return f"torch.nn.{kind.rpartition('.')[2]}" if kind.startswith("torch.nn.") else kind


def _made_by(manager: object) -> str:
    """The dotted name of what has made a context manager; empty if it is of the project."""
    match manager:
        case Object(kind=str() as kind):
            return kind
        case External(dotted) | Manager(dotted=dotted):
            return dotted
        case Catcher():
            return "contextlib.suppress"
    return ""


def _is_few(arguments: Sequence[object]) -> bool:
    """Whether a call chooses among so few values that each can be compiled."""
    first = arguments[0] if arguments else None
    return isinstance(first, list | tuple | range) and len(first) <= _FEW


def _is_held(call: ast.AST) -> bool:
    """Whether what a call is given first is an attribute, which outlives it."""
    return isinstance(call, ast.Call) and any(isinstance(part, ast.Attribute) for part in call.args[:1])


def _holds_tensor(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(part, Tensor) for part in value)


def _has_unknown_size(dotted: str, arguments: Sequence[object], keywords: Mapping[str, object]) -> bool:
    """Whether values decide about the size of what a function of torch gives."""
    match dotted:
        case "torch.where":
            return len(arguments) == 1 and not keywords
        case "torch.repeat_interleave":
            return (len(arguments) < 2 or isinstance(arguments[1], Tensor)) and "output_size" not in keywords
        case _ if dotted == _ONE_HOT:
            return len(arguments) < 2 and keywords.get("num_classes", -1) == -1
    return False


def _read(nodes: Iterable[ast.AST], after: int = 0) -> set[str]:
    """The names that code reads, in lines after some line."""
    names = (part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Load) and name.lineno > after}
