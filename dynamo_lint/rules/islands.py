"""DYN522: functions that are meant to stay out of the compiler, and do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dynamo_lint import knowledge
from dynamo_lint.calls.model import Step
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef, Node, Symbol
from dynamo_lint.regions.boundaries import Boundaries
from dynamo_lint.regions.declared import definitions
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.regions.options import matches
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_quiet, named, region
from dynamo_lint.state.provenance import Tables

_DISABLES = knowledge.names("disable")
_CONTRACT = "is one of the contract's `eager-islands`"
_COMMENT = "is marked `# dynamo-lint: eager`, a comment that torch does not read"
_ADVICE = 'keep it out: `@torch.compiler.disable(reason="…")`'


@named("DYN522", "lost-island")
def lost_island(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding at the `def` of each such function."""
    islands = _Islands(tables)
    for pattern, functions in _listed(tables.project, context):
        lost = [one for one in functions if not islands.is_one(one)]
        if "*" in pattern and len(lost) < len(functions):
            continue  # some function of the pattern is one: it says which may be, not that all are
        for island in lost[:1] if "*" in pattern else lost:
            yield _lost(rule, tables, context, island, islands.compiled(island))
    for island in islands.marked():
        if (hot := islands.calling(island)) is not None and not islands.is_one(island):
            yield _compiled(
                rule, tables, context, island, hot, _COMMENT, hot.confidence != Confidence.CERTAIN
            )


def _listed(project: Project, context: Context) -> Iterator[tuple[str, list[FunctionRef]]]:
    """The functions that each entry of a contract's `eager-islands` names, where that contract holds."""
    contracts = [(None, context.contract), *context.own_contracts]
    own = {path for path, _ in context.own_contracts}
    for path, contract in contracts:
        for pattern in contract.eager_islands:
            named_here = [
                one
                for one in _functions(project, definitions(project, pattern))
                if (one.path == path if path is not None else one.path not in own)
                and not is_quiet(project, one)
            ]
            if named_here:
                yield pattern, named_here


def _functions(project: Project, refs: Iterable[ClassRef | FunctionRef]) -> Iterator[FunctionRef]:
    """The functions that are named, and for a class the one that runs where an instance is called."""
    for ref in refs:
        if isinstance(ref, FunctionRef):
            yield ref
        elif (method := project.method(ref, "forward") or project.method(ref, "__call__")) is not None:
            yield method


@dataclass(frozen=True, slots=True)
class _Islands:
    """Which functions stay out of the compiler, and which compiled code reaches the others."""

    tables: Tables

    def is_one(self, where: FunctionRef) -> bool:
        """Whether a function is kept out: by a decorator, or a call that puts a disabled one in its place.

        One that nothing compiled runs need only be disabled somewhere, and one that disables what it calls
        is named for that.
        """
        project, options = self.tables.project, self.tables.regions.options
        if Boundaries(project, options).in_code(where)[0]:
            return True
        calls = (site.call for site in project.function(where).calls)
        if any(_disables(project, call, where, options.disable_decorators) for call in calls):
            return True
        return _is_disabled(project, where, options.disable_decorators, bool(self.compiled(where)))

    def compiled(self, where: FunctionRef) -> CompiledFunction | None:
        """A function as compiled code, if it is."""
        return next((one for one in self.tables.regions.hot if one.function == where), None)

    def marked(self) -> Iterator[FunctionRef]:
        """The functions that a comment calls eager, and those of such classes."""
        project = self.tables.project
        for path, markers in project.named("marked").items():
            keys = {one.key for one in markers if one.kind == "eager"}
            for key, function in project.files[path].functions.items() if keys else ():
                if (key in keys or function.owner in keys) and not is_quiet(project, FunctionRef(path, key)):
                    yield FunctionRef(path, key)

    def calling(self, where: FunctionRef) -> CompiledFunction | None:
        """The function as the compiled code would be that calls it."""
        for hot in self.tables.regions.hot:
            for call in self.tables.regions.calls.get(Node(hot.function, hot.receiver), ()):
                if call.target.function == where and call.confidence < Confidence.POSSIBLE:
                    name = self.tables.project.function(where).qualname
                    step = Step(hot.function.path, call.line, hot.function.id, f"calls {name}")
                    confidence = max(hot.confidence, call.confidence)
                    chain = (*hot.chain, step)
                    return CompiledFunction(where, call.target.receiver, confidence, hot.entries, chain)
        return None


def _is_disabled(project: Project, where: FunctionRef, ours: tuple[str, ...], in_place: bool) -> bool:
    """Whether a call disables a function; `in_place`: what it returns goes by the same name."""
    name = where.key.rpartition(".")[2]
    names = {one.rpartition(".")[2] for one in _DISABLES} | {one.rpartition(":")[2] for one in ours}
    for spelt in sorted({alias for one in names for alias in (one, *project.aliases_of(one))}):
        for at, call in _calls(project, spelt):
            if not call.arguments or not _disables(project, call, at, ours):
                continue
            if terminal_name(call.arguments[0]) != name or not _may_be(project, call, at, where):
                continue
            stored = any(store.value == call for _, store in project.stores_of(name))
            bound = any(one.value == call for one in project.bindings_of(at).get(name, ()))
            if not in_place or stored or bound:
                return True
    return False


def _calls(project: Project, name: str) -> Iterator[tuple[FunctionRef, ir.Call]]:
    """The calls of a function, and those of what it returns: `disable(reason="…")(step)`."""
    for at, site in project.calls_of(name):
        yield at, site.call
        for other in project.function(at).calls if not site.call.arguments else ():
            if other.call.function == site.call:
                yield at, other.call


def _disables(project: Project, call: ir.Call, at: FunctionRef, ours: tuple[str, ...]) -> bool:
    callee = call.function.function if isinstance(call.function, ir.Call) else call.function
    return any(
        (isinstance(one, ExternalSymbol) and one.dotted in _DISABLES) or matches(project, one, ours)
        for one in project.symbols(callee, at.path, at.key)
    )


def _may_be(project: Project, call: ir.Call, at: FunctionRef, where: FunctionRef) -> bool:
    """Whether the argument of a call may be a function: it is not another one by its name."""
    symbols: tuple[Symbol, ...] = project.symbols(call.arguments[0], at.path, at.key)
    return not symbols or where in symbols


def _lost(
    rule: Rule, tables: Tables, context: Context, island: FunctionRef, hot: CompiledFunction | None
) -> Finding:
    """The finding about an island that is compiled, or is no island any more."""
    if hot is not None:
        return _compiled(rule, tables, context, island, hot, _CONTRACT, doubt=False)
    function = tables.project.function(island)
    claim = Claim(
        message=f"`{function.qualname}` {_CONTRACT}, and is no island any more: nothing disables it, and no "
        "compiled code is seen to call it",
        cost="nothing now; once compiled code calls it, it is compiled along",
        severity="warning",
        subject=function.qualname,
        advice=f"take it off the list, or {_ADVICE}",
        step="is not kept out of the graph",
    )
    return at_line(rule, tables, context, island, function.line, claim)


def _compiled(
    rule: Rule,
    tables: Tables,
    context: Context,
    island: FunctionRef,
    hot: CompiledFunction,
    why: str,
    doubt: bool,
) -> Finding:
    """The finding about a function that compiled code runs, though it is meant to be eager."""
    function = tables.project.function(island)
    around = region(tables, hot)
    part = "is compiled by itself" if hot.compiled else f"is compiled as part of `{around}`"
    claim = Claim(
        message=f"`{function.qualname}` {why}, and {part}",
        cost="what it was kept out for happens in compiled code: stale values, recompiles, or an error",
        severity="note" if doubt else "error",
        subject=function.qualname,
        advice=_ADVICE,
        step="is not kept out of the graph",
    )
    return at_line(rule, tables, context, island, function.line, claim, hot)
