"""Pure caches: state that is filled once with what depends on no call, so that no guard is missed."""

from __future__ import annotations

from dynamo_lint.findings import Finding
from dynamo_lint.index import ir
from dynamo_lint.program.refs import ExternalSymbol
from dynamo_lint.state.model import SCALARS, AttributeState, Key, Kind, Origin, Write, WriteSite
from dynamo_lint.state.provenance import Tables

_CHANGEABLE = frozenset({Kind.TENSOR, Kind.CONTAINER})
"""Kinds of what later calls may change in place: making it anew loses that."""
_CONSTANT = frozenset({"literal", "fresh", "unknown"})
"""Origins of what is the same in each call; `unknown` is what a library gives for nothing but constants."""


def is_pure_cache(tables: Tables, found: Finding) -> bool:
    """Whether a finding is about a value that is looked up or made at the first call and never replaced.

    The write stands in a function that is given nothing but constants, and stores nothing that comes from
    elsewhere: whoever makes it, and whenever, it is the same.
    """
    sites = [
        (state, site)
        for state in (*tables.attributes, *tables.globals)
        for site in state.writes
        if site.hot.function.path == found.span.path and site.position.line == found.span.line
    ]
    return bool(sites) and all(_is_pure(tables, state, site) for state, site in sites)


def _is_pure(tables: Tables, state: AttributeState, site: WriteSite) -> bool:
    filled = _is_created(state) or state.key.attribute.endswith("]")
    replaced = any(not outside.initial for outside in state.outside)
    if not filled or replaced or site.hot.compiled or site.write.value.kinds & _CHANGEABLE:
        return False
    given = (
        origin
        for parameter in tables.project.function(site.hot.function).parameters
        for origin in tables.origins.parameter(site.hot, parameter.name)
    )
    made = tables.origins.value(site.hot, site.write.value)
    return all(one.source == "literal" for one in given) and all(_is_same(tables, site, one) for one in made)


def _is_same(tables: Tables, site: WriteSite, origin: Origin) -> bool:
    """Whether what a value comes from is the same in each call: a constant, or something of a library."""
    if origin.source in _CONSTANT:
        return True
    where = site.hot.function
    symbols = tables.project.symbols(ir.Name(origin.name.partition(".")[0]), where.path, where.key)
    return bool(symbols) and all(isinstance(symbol, ExternalSymbol) for symbol in symbols)


def _is_created(state: AttributeState) -> bool:
    """Whether compiled code gives an attribute its first value."""
    return not state.external and any(_creates(state, site.write) for site in state.writes)


def _creates(state: AttributeState, write: Write) -> bool:
    """Whether a write gives an attribute its first value, and no other attribute decides when."""
    if write.value.kinds and write.value.kinds <= SCALARS | {Kind.NONE}:
        return False
    if any(guard.limit is not None and not _asks_of(guard.key, state.key) for guard in write.guards):
        return False
    missing = any(guard.missing and guard.key == state.key for guard in write.guards)
    return missing and not _accumulates(state) and _may_be_missing(state)


def _accumulates(state: AttributeState) -> bool:
    """Some hot write adds to what is there."""
    return any(_adds(site.write) for site in state.writes)


def _adds(write: Write) -> bool:
    return any(load.place == write.place for load in write.value.derived | write.value.pending)


def _asks_of(asked: Key, key: Key) -> bool:
    names = [attribute.partition(".")[0].partition("[")[0] for attribute in (asked.attribute, key.attribute)]
    return asked.owner == key.owner and names[0] == names[1]


def _may_be_missing(state: AttributeState) -> bool:
    """Construction leaves it unset, or sets None or False."""
    first = [outside for outside in state.outside if outside.initial]
    return not first or all(outside.constant in {"None", "False"} for outside in first)
