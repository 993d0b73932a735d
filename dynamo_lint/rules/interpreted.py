"""Findings about the calls of compiled code as the interpreter meets them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from dynamo_lint.breaks.frames import Break
from dynamo_lint.findings import Finding
from dynamo_lint.interpreter.find import runs
from dynamo_lint.interpreter.model import Met, Site
from dynamo_lint.program.refs import Position
from dynamo_lint.rules.base import Claim, Context, Rule, placed
from dynamo_lint.rules.messages import bounded, storm
from dynamo_lint.state.provenance import Tables

EAGER = frozenset(
    {
        "builtin",
        "forward",
        "unwrapped",
        "copy",
        "disabled",
        "off",
        "suppressed",
        "swallowed",
        "suppressing",
        "hiding",
    }
)


@dataclass(frozen=True, slots=True)
class Told:
    """All that one line does to the compiled calls of one program."""

    site: Site
    met: tuple[Met, ...]
    partly: bool
    """Other calls of the same code do run compiled."""

    @property
    def doubt(self) -> bool:
        """Whether it is not known that any of it happens."""
        return all(one.doubt for one in self.met)

    @property
    def likeliest(self) -> Met:
        """One that is sure to happen, if there is one."""
        return min(self.met, key=lambda met: met.doubt)

    @property
    def source(self) -> str:
        """The line as it is written, without what is below it."""
        node = self.site.node
        return ast.unparse(node) if isinstance(node, ast.expr) else ""


def told(tables: Tables, *wanted: str) -> Iterator[Told]:
    """All that is met of some kinds, by the line to change, once for each line."""
    seen: set[Site] = set()
    for met in (run.met for run in runs(tables)):
        compiled = {one.unit for one in met if one.what not in EAGER}
        sites: dict[Site, list[Met]] = {}
        for one in met:
            if one.what in wanted:
                sites.setdefault(one.site, []).append(one)
        for site, ones in sites.items():
            if site not in seen:
                seen.add(site)
                yield Told(site, tuple(ones), any(one.unit in compiled for one in ones))


def caught(tables: Tables) -> list[Told]:
    """The handlers that catch a compiled call which fails, and after which nothing of it runs compiled."""
    return [one for one in told(tables, "swallowed") if not one.partly]


def failures(tables: Tables, handler: Told) -> list[Break]:
    """The graph breaks for which the calls fail that a handler catches."""
    sites = {met.compile.site.place for met in handler.met if met.compile is not None}
    entries = tables.regions.entries
    return [
        one
        for one in tables.breaks
        if one.raises and {(entries[n].path, entries[n].line) for n in one.hot.entries} <= sites
    ]


@dataclass(frozen=True, slots=True)
class Turning:
    """Compiles that one thing makes in one program: how many, and the last line that does."""

    site: Site
    met: tuple[Met, ...]

    def effect(self, context: Context) -> tuple[str, int | None]:
        """The effect, and the number of versions unless they run into the limit."""
        entries = len(self.met) + 1
        if entries > context.recompile_limit:
            return "storm", None
        return ("once", 2) if entries == 2 else ("per-value", entries)

    def cost(self, context: Context, what: str) -> str:
        """The same as a sentence."""
        _, entries = self.effect(context)
        return storm(context.recompile_limit, what) if entries is None else bounded(entries)


def turning(tables: Tables, wanted: Callable[[Met], str]) -> Iterator[Turning]:
    """The compiles of each program, by the compiled code and by what `wanted` says of each; empty: none."""
    seen: set[Site] = set()
    for met in (run.met for run in runs(tables)):
        groups: dict[tuple[str, str], list[Met]] = {}
        for one in met:
            if key := wanted(one):
                groups.setdefault((one.unit, key), []).append(one)
        for ones in groups.values():
            if ones[-1].site not in seen:
                seen.add(ones[-1].site)
                yield Turning(ones[-1].site, tuple(ones))


def stated(rule: Rule, tables: Tables, context: Context, site: Site, claim: Claim, met: Met) -> Finding:
    """A finding at a line of eager code, about a call of what some entry compiles."""
    node = site.node
    end_line, end_column = node.end_lineno or node.lineno, (node.end_col_offset or 0) + 1
    if isinstance(node, ast.ExceptHandler):  # its first line, not all that it does
        end_line, end_column = node.lineno, node.col_offset + len("except") + 1
    position = Position(node.lineno, node.col_offset + 1, end_line, end_column)
    word = "likely" if met.doubt else "certain"
    if met.tried:
        claim = replace(claim, severity="note")  # what a test does says nothing of how users will run it
    found = placed(rule, context, site.where.path, position, site.where.id, claim, confidence=word)
    entries = {(entry.path, entry.line) for entry in tables.regions.entries}
    place = met.compile.site.place if met.compile is not None else None
    return replace(found, region=place if place in entries else None, unit=met.unit)


def name_of(unit: str) -> str:
    """A compiled module or function, as a person would name it."""
    return unit.rpartition("::")[2] or unit
