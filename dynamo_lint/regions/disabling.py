"""Decorators that keep what they decorate out of the graph: torch's own, and those of a project around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint.index import facts
from dynamo_lint.index.facts import CallSite, Expr, Function
from dynamo_lint.index.walking import walk
from dynamo_lint.program.refs import DISABLERS, External, FunctionRef
from dynamo_lint.regions.absent import Absent, left_out, may_run
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.patterns import matches
from dynamo_lint.regions.project import Project
from dynamo_lint.regions.wrapping import is_wrapped

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
        callee = decorator.function if isinstance(decorator, facts.Call) else decorator
        for symbol in self._project.symbols(callee, path, where):
            outside = isinstance(symbol, External) and symbol.dotted in DISABLERS
            if outside or matches(self._project, symbol, self._options.disable_decorators):
                keywords = decorator.keywords if isinstance(decorator, facts.Call) else ()
                return "skip" if ("recursive", facts.Constant(False)) in keywords else "stop"
            if isinstance(symbol, FunctionRef) and depth < _DEEPEST:
                kind = self._made_by(symbol, depth, left_out(self._project, symbol, decorator))
                if kind:
                    return kind
        return ""

    def _made_by(self, ref: FunctionRef, depth: int, absent: Absent) -> str:
        """Whether a function of the project gives back a disabled function: what its closures agree on."""
        function = self._project.function(ref)
        kinds: set[str] = set()
        for value in function.returns:
            for option in value.options if isinstance(value, facts.Choice) else (value,):
                match option:
                    case facts.Call():
                        kind = self.kind(option, ref.path, ref.key, depth + 1)
                        if kind:
                            return kind
                    case facts.Name() | facts.Definition():
                        kinds.update(self._inner(option, ref, depth, absent))
        return kinds.pop() if len(kinds) == 1 else "doubt" if kinds else ""

    def _inner(self, value: Expr, ref: FunctionRef, depth: int, absent: Absent) -> Iterator[str]:
        """What the closures that a name may mean do to a function."""
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
        return self._made_by(closure, depth + 1, absent) or self._hands_over(closure, depth)

    def _hands_over(self, closure: FunctionRef, depth: int) -> str:
        """What a closure does to the function that it stands for: `return disabled(*args)`, or as it is."""
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

    def _bound(self, callee: Expr, closure: FunctionRef) -> Iterator[facts.Call]:
        """The calls that made what a closure calls by a name of a function around it."""
        if isinstance(callee, facts.Call):
            yield callee
        if isinstance(callee, facts.Name):
            local = self._project.locals_of(self._project.home_of(callee.id, closure)).get(callee.id)
            yield from (v for v in (local.bound if local else ()) if isinstance(v, facts.Call))


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
    return {facts.Name(parameter.name) for parameter in function.parameters}
