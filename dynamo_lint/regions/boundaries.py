"""Region boundaries: functions that are disabled or opaque, and the decorators that disable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint import knowledge
from dynamo_lint.calls.compiled_calls import compiles_something
from dynamo_lint.calls.decorators import Absent, is_wrapped, left_out, may_run
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, CallSite, Expr, Function
from dynamo_lint.index.walking import walk
from dynamo_lint.program.hierarchy import is_empty, is_left_to_subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ClassRef, ExternalSymbol, FunctionRef, Symbol
from dynamo_lint.regions.options import RegionOptions, matches

_DEEPEST = 3
"""How many functions a decorator may be made by."""


class Disabling:
    """Judges decorators as they are written."""

    def __init__(self, project: Project, options: RegionOptions) -> None:
        self._project = project
        self._options = options

    def kind(self, decorator: Expr, path: str, where: str, depth: int = 0) -> str:
        """`stop` or `skip` if a decorator disables compiling, itself or in a function of this project.

        `doubt` if it does so for some calls only.
        """
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        symbols = self._project.symbols(callee, path, where)
        compiles = len(symbols) > 1 and any(map(self._compiles, symbols))
        for symbol in symbols:
            outside = isinstance(symbol, ExternalSymbol) and symbol.dotted in knowledge.names("disable")
            if outside or matches(self._project, symbol, self._options.disable_decorators):
                keywords = decorator.keywords if isinstance(decorator, ir.Call) else ()
                return "skip" if ("recursive", ir.Constant(False)) in keywords else "stop"
            if isinstance(symbol, FunctionRef) and depth < _DEEPEST:
                kind = self._kind_returned(symbol, depth, left_out(self._project, symbol, decorator))
                if kind:
                    return "doubt" if compiles else kind
        return ""

    def _compiles(self, symbol: Symbol) -> bool:
        """Whether a decorator compiles: it is torch's, or one of the project with such a call in it."""
        if not isinstance(symbol, FunctionRef):
            return symbol == ExternalSymbol(COMPILE)
        functions = self._project.files[symbol.path].functions
        within = f"{symbol.key}.<locals>."
        inside = (one for key, one in functions.items() if key == symbol.key or key.startswith(within))
        return any(map(compiles_something, inside))

    def _kind_returned(self, ref: FunctionRef, depth: int, absent: Absent) -> str:
        """Whether a function of the project gives back a disabled function: what its closures agree on."""
        function = self._project.function(ref)
        kinds: set[str] = set()
        for value in function.returns:
            for option in value.options if isinstance(value, ir.Choice) else (value,):
                match option:
                    case ir.Call():
                        kind = self.kind(option, ref.path, ref.key, depth + 1)
                        if kind:
                            return kind
                    case ir.Name() | ir.Definition():
                        kinds.update(self._inner(option, ref, depth, absent))
        return kinds.pop() if len(kinds) == 1 else "doubt" if kinds else ""

    def _inner(self, value: Expr, ref: FunctionRef, depth: int, absent: Absent) -> Iterator[str]:
        """The effect on a function of the closures that a name may mean."""
        for symbol in self._project.symbols(value, ref.path, ref.key):
            if not isinstance(symbol, FunctionRef) or symbol == ref:
                continue
            closure = self._project.function(symbol)
            # What gives a function back as it is, is for where there is nothing to disable.
            other = closure.outer != ref.key or _is_identity(closure)
            if not other and may_run(self._project, symbol, absent):
                yield self._closure(symbol, ref, depth, absent)

    def _closure(self, closure: FunctionRef, ref: FunctionRef, depth: int, absent: Absent) -> str:
        for decorator in self._project.function(closure).decorators:
            kind = self.kind(decorator, closure.path, ref.key, depth + 1)
            if kind:
                return kind
        if depth >= _DEEPEST:
            return ""
        return self._kind_returned(closure, depth + 1, absent) or self._hands_over(closure, depth)

    def _hands_over(self, closure: FunctionRef, depth: int) -> str:
        """The effect of a closure on the function that it stands for, as in `return disabled(*args)`."""
        function = self._project.function(closure)
        live = [site for site in function.calls if not site.eager]
        plain = [site for site in live if is_wrapped(self._project, site.call.function, closure)]
        kinds = {}
        for site in live:
            for made in self._bound(site.call.function, closure):
                kind = self.kind(made, closure.path, closure.key, depth + 1)
                if kind in ("stop", "skip") and made.arguments:
                    if is_wrapped(self._project, made.arguments[0], closure):
                        kinds[site] = kind
                    elif self._calls_it(made.arguments[0], closure):
                        kinds[site] = "doubt"
        if not kinds:
            return ""
        if not plain:
            return next(iter(kinds.values()))
        # `if exporting(): return fn(*args)`, and in all other states the disabled one.
        sure = [kind for site, kind in kinds.items() if not function.is_conditional(site.call.line)]
        mixed = any(not function.is_conditional(site.call.line) for site in plain)
        others = [site for site in live if site not in plain and site not in kinds]
        return "doubt" if mixed or not sure or _looks_at_arguments(function, others) else sure[0]

    def _calls_it(self, disabled: Expr, closure: FunctionRef) -> bool:
        """Whether it is a closure, too, that calls what the function around it was given."""
        for symbol in self._project.symbols(disabled, closure.path, closure.key):
            if isinstance(symbol, FunctionRef):
                sites = self._project.function(symbol).calls
                return any(is_wrapped(self._project, site.call.function, symbol) for site in sites)
        return False

    def _bound(self, callee: Expr, closure: FunctionRef) -> Iterator[ir.Call]:
        """The calls that made what a closure calls by a name of a function around it."""
        if isinstance(callee, ir.Call):
            yield callee
        if isinstance(callee, ir.Name):
            local = self._project.locals_of(self._project.home_of(callee.id, closure)).get(callee.id)
            yield from (v for v in (local.bound if local else ()) if isinstance(v, ir.Call))


def _is_identity(function: Function) -> bool:
    return bool(function.returns) and _own(function).issuperset(function.returns)


def _looks_at_arguments(function: Function, others: Iterable[CallSite]) -> bool:
    """Whether a function asks something of what it is called with."""
    own = _own(function)
    if any(load.value in own for load in function.loads):
        return True
    handed = (part for site in others for one in site.call.arguments for part in walk(one))
    return any(part in own for part in handed)


def _own(function: Function) -> set[Expr]:
    return {ir.Name(parameter.name) for parameter in function.parameters}


_OPERATORS = knowledge.names("makes_operator") | knowledge.names("makes_faked_operator")
"""Decorators that make a custom operator of a function."""
_OPAQUE = (
    _OPERATORS | knowledge.names("hides") | knowledge.names("registers_kernel") | knowledge.names("kernels")
)
"""Dynamo does not look into these."""
_OPAQUE_CALLS = sorted(knowledge.last_names("hides"))
_ON_OPERATORS = knowledge.names("of_operators")
"""Methods of a custom operator that decorate code run outside of tracing."""
_DISABLES = "disables compiling"


class Boundaries:
    """Judges functions, and remembers."""

    def __init__(self, project: Project, options: RegionOptions) -> None:
        self._project = project
        self._options = options
        self._disabling = Disabling(project, options).kind
        self._known: dict[FunctionRef, tuple[str, str]] = {}
        self._operators: dict[FunctionRef, bool] = {}

    def of(self, ref: FunctionRef) -> str:
        """`stop` at disabled and opaque code, `skip` for a function whose callees alone are traced."""
        return self.reason(ref)[0]

    def reason(self, ref: FunctionRef) -> tuple[str, str]:
        """The kind of boundary, empty for none, and what makes it one."""
        if ref not in self._known:
            self._known[ref] = self._judge(ref)
        return self._known[ref]

    def disables(self, ref: FunctionRef) -> bool:
        """Whether a decorator disables compiling: the graph breaks at the call."""
        return _DISABLES in self.reason(ref)[1]

    def doubts(self, ref: FunctionRef) -> bool:
        """Whether a decorator keeps the function out for some of its calls only."""
        function = self._project.function(ref)
        where = function.outer or MODULE_KEY
        return any(
            self._disabling(decorator, ref.path, where) == "doubt" for decorator in function.decorators
        )

    def _judge(self, ref: FunctionRef) -> tuple[str, str]:
        project = self._project
        function = project.function(ref)
        owner = ClassRef(ref.path, function.owner) if function.owner is not None else None
        marked = {marker.key for marker in project.files[ref.path].markers if marker.kind == "eager"}
        if ref.key in marked or (owner is not None and owner.key in marked):
            return "stop", "a `# dynamo-lint: eager` comment excludes it"
        cut = self._options.cut
        if cut and (matches(project, ref, cut) or (owner is not None and matches(project, owner, cut))):
            return "stop", "`not-regions` excludes it"
        return self.in_code(ref)

    def in_code(self, ref: FunctionRef) -> tuple[str, str]:
        """The same by what torch sees: neither comments nor the configuration."""
        project = self._project
        function = project.function(ref)
        owner = ClassRef(ref.path, function.owner) if function.owner is not None else None
        if is_empty(function) or is_left_to_subclasses(project, ref):
            return "skip", "it is abstract: the overrides of its subclasses run instead"
        if ref in self._kept_out():
            return "stop", "a call keeps Dynamo from tracing it"
        for decorator in function.decorators:
            kind = self._disabling(decorator, ref.path, function.outer or MODULE_KEY)
            if kind in ("stop", "skip"):
                return kind, f"its decorator {_DISABLES}{' for this function only' if kind == 'skip' else ''}"
            if self._is_opaque(decorator, ref.path, function.outer or MODULE_KEY):
                return "stop", "its decorator keeps Dynamo from tracing it"
        if owner is not None:
            class_ = project.class_(owner)
            for decorator in class_.decorators:
                kind = self._disabling(decorator, owner.path, class_.outer or MODULE_KEY)
                if kind in ("stop", "skip"):
                    return kind, f"a decorator of its class {_DISABLES}"
                # An nn.Module class stays in the region (checked with torch 2.13), a Function does not.
                opaque = self._is_opaque(decorator, owner.path, class_.outer or MODULE_KEY)
                if opaque and not project.is_module(owner):
                    return "stop", "a decorator of its class keeps Dynamo from tracing it"
        return "", ""

    def _kept_out(self) -> frozenset[Symbol]:
        """The functions that `allow_in_graph(function)` and its like are called with."""
        key = "kept out"
        memo = self._project.memo
        if key not in memo:
            memo[key] = frozenset(
                symbol
                for name in _OPAQUE_CALLS
                for where, site in self._project.calls_of(name)
                if site.call.arguments and self._is_opaque(site.call.function, where.path, where.key)
                for symbol in self._project.symbols(site.call.arguments[0], where.path, where.key)
            )
        return memo[key]  # type: ignore[return-value]

    def _is_opaque(self, decorator: Expr, path: str, where: str) -> bool:
        callee = decorator.function if isinstance(decorator, ir.Call) else decorator
        symbols: tuple[Symbol, ...] = self._project.symbols(callee, path, where)
        if isinstance(callee, ir.Attribute) and callee.name in _ON_OPERATORS:
            return True
        own = (s for s in symbols if isinstance(s, FunctionRef))
        known = any(isinstance(s, ExternalSymbol) and s.dotted in _OPAQUE for s in symbols)
        return known or any(map(self._makes_operators, own))

    def _makes_operators(self, decorator: FunctionRef) -> bool:
        """Whether a decorator of ours makes custom operators, with what it is put around in them."""
        functions = self._project.files[decorator.path].functions
        if decorator not in self._operators:
            within = [key for key in functions if FunctionRef(decorator.path, key).stands_in(decorator)]
            self._operators[decorator] = any(
                isinstance(made, ExternalSymbol) and made.dotted in _OPERATORS
                for key in (decorator.key, *within)
                for site in functions[key].calls
                for made in self._project.symbols(site.call.function, decorator.path, key)
            )
        return self._operators[decorator]
