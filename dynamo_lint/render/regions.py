"""The compiled regions: a tree for people, a document for scripts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dynamo_lint.index.ir import FileFacts
from dynamo_lint.lintrules import advice
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions, Skipped, Unresolved
from dynamo_lint.regions.options import CHOICE, ENTRY
from dynamo_lint.render.account import WRITERS
from dynamo_lint.render.json_format import SCHEMA_VERSION, cell_of, placed, skipped_object, unresolved_object
from dynamo_lint.render.prose import json_text, picked
from dynamo_lint.render.text import places_table
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look, clean, counted, text_width

if TYPE_CHECKING:
    from dynamo_lint.state.guard_surface import GuardedRead


def render_json(regions: Regions, files: Mapping[str, FileFacts], look: Look) -> str:
    """The document of the regions, as text."""
    return json_text(regions_object(regions, files, look), exact=True)


def regions_object(regions: Regions, files: Mapping[str, FileFacts], look: Look) -> dict[str, Any]:
    """Entries, functions, and sites that are no entries; a function hot in several ways is listed once.

    A comprehension is a function too: before Python 3.12 it has code of its own, which Dynamo traces.
    """
    return {
        "schema_version": SCHEMA_VERSION,
        "entries": [
            {
                **placed(entry, look, "idiom", "target"),
                "confidence": entry.confidence.word,
                **picked(entry, "regional", "condition", "instances"),
            }
            for entry in regions.entries
        ],
        "functions": [
            {"id": name, "path": ref.path, "line": line, **cell_of(ref.path, line, look), **_function(ways)}
            for ref, ways in _by_function(regions.hot)
            for name, line in ((ref.id, _line(ref, files)), *_comprehensions(ref, files))
        ],
        "unresolved": [unresolved_object(site, look) for site in regions.unresolved],
        "skipped": [skipped_object(site, look) for site in regions.skipped],
    }


def render_text(regions: Regions, files: Mapping[str, FileFacts], look: Look) -> str:
    """Each entry with the functions that it makes hot; a function stands below its first entry only."""
    members: dict[int, list[CompiledFunction]] = defaultdict(list)
    for _, ways in _by_function(regions.hot):
        best = ways[0]
        members[best.entries[0]].append(best)
    lines: list[str] = []
    for number, entry in enumerate(regions.entries):
        lines.append(look.line(_entry(entry, look)))
        nearest = sorted(members[number], key=lambda hot: len(hot.chain))
        rows = [(look.place(hot.function.path, _line(hot.function, files)), hot) for hot in nearest]
        width = min(max((text_width(place) for place, _ in rows), default=0), 60)
        for place, hot in rows:
            doubt = "" if hot.confidence == entry.confidence else f"  ({hot.confidence.word})"
            name = clean(hot.function.id.partition("::")[2])
            lines.append(look.beside(f"    {place:<{width}}  ", f"{name}{doubt}"))
        if not rows:
            lines.append(look.line(_shared(number, regions, look), "    "))
        lines.append("")
    entries = [site for site in regions.unresolved if site.kind == ENTRY]
    if entries:
        lines.append(look.paint("Compile sites that could not be resolved:", bold=True))
        for site in entries:
            lines.append(_site(site, look))
            lines.append(look.line(clean(advice(site)), " " * 8, " " * 8))
        lines.append("")
    if choices := [site for site in regions.unresolved if site.kind == CHOICE]:
        lines.append(look.paint("Compile sites that mean one of several:", bold=True))
        for site in choices:
            lines.append(_site(site, look))
            lines.append(look.line(clean(advice(site)), " " * 8, " " * 8))
        lines.append("")
    if gaps := [site for site in regions.unresolved if site.kind not in {ENTRY, CHOICE}]:
        lines.append(look.paint("Not followed to the end:", bold=True))
        lines += [_site(site, look) for site in gaps]
        lines.append("")
    if regions.skipped:
        lines.append(look.paint("Compile sites that compile nothing of this code:", bold=True))
        lines += [_site(site, look) for site in regions.skipped]
        lines.append("")
    return "\n".join(lines)


def render_guards(surface: Sequence[GuardedRead], look: Look, output_format: str) -> str:
    """The Python values that each region reads: a table for people, a document for scripts."""
    if output_format == "json":
        rows = [
            {
                "region": one.guarded.region,
                "kind": one.guarded.kind,
                "name": one.guarded.name,
                "type": one.guarded.type,
                "set": [{"path": path, "line": int(line)} for path, line in map(place, one.guarded.places)],
                "writers": one.guarded.writers,
                "read": {"path": one.hot.function.path, "line": one.line},
            }
            for one in surface
        ]
        return json_text({"schema_version": SCHEMA_VERSION, "guards": rows}, exact=True)
    if not surface:
        return "Compiled code reads no Python values of this project.\n"
    lines: list[str] = []
    region = ""
    for one in surface:
        guarded = one.guarded
        if guarded.region != region:
            lines += [""] if lines else []
            lines.append(look.line(look.paint(clean(guarded.region), bold=True)))
            region = guarded.region
        set_at = ", ".join(look.place(path, int(line)) for path, line in map(place, guarded.places))
        told = f"{guarded.kind} {clean(guarded.name)}: {guarded.type}"
        told += f", set at {set_at}" if set_at else ""
        told += (
            f", written by {WRITERS[guarded.writers]}; read at {look.place(one.hot.function.path, one.line)}"
        )
        lines.append(look.line(told, "    ", "      "))
    return "\n".join([*lines, "", look.line(_account(surface))]) + "\n"


def _account(surface: Sequence[GuardedRead]) -> str:
    """How many values there are, each counted once however many regions read it, by who writes them."""
    values = {(one.guarded.kind, one.guarded.name): one.guarded.writers for one in surface}
    count = Counter(values.values())
    moving = count["compiled"] + count["outside"]
    shares = [
        f"{count[writers]} by {WRITERS[writers]}" for writers in ("compiled", "outside") if count[writers]
    ]
    changed = f"{moving} may change between calls: written {', '.join(shares)}" if moving else "none changes"
    return f"{counted(len(values), 'value')} read, {len(values) - moving} set once; {changed}."


def place(text: str) -> tuple[str, str]:
    """File and line of a place that is told as `path:line`."""
    path, _, line = text.rpartition(":")
    return path, line


def render_why(hot: Iterable[CompiledFunction], sources: Sources, look: Look) -> str:
    """The evidence that each of these functions is compiled."""
    blocks = []
    for way in hot:
        title = look.paint(clean(way.function.id), bold=True) + f" is compiled ({way.confidence.word})"
        if way.receiver is not None:
            title += f" for {clean(way.receiver.name)}"
        rows = [
            (look.place(step.path, step.line), clean(step.note), clean(sources.line(step.path, step.line)))
            for step in way.chain
        ]
        lines = [look.line(title + ":"), *places_table(rows, look, "    ")]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def render_why_not(ends: Mapping[str, Sequence[str]], look: Look) -> str:
    """Where the chains to functions that are not compiled end."""
    blocks = []
    for name, reasons in ends.items():
        title = f"{look.paint(clean(name), bold=True)} is not reached from any compile entry:"
        told = [look.line(clean(reason), "    ", "      ") for reason in reasons]
        blocks.append("\n".join([look.line(title), *told]) + "\n")
    return "\n".join(blocks)


def _by_function(hot: Iterable[CompiledFunction]) -> list[tuple[FunctionRef, list[CompiledFunction]]]:
    """The ways to each function, the best proven first."""
    ways: dict[FunctionRef, list[CompiledFunction]] = defaultdict(list)
    for one in hot:
        ways[one.function].append(one)
    return [
        (ref, sorted(found, key=lambda way: (way.confidence, len(way.chain))))
        for ref, found in sorted(ways.items())
    ]


def _comprehensions(ref: FunctionRef, files: Mapping[str, FileFacts]) -> list[tuple[str, int]]:
    """The name of each comprehension, with the line of the first that has it."""
    function = files[ref.path].functions.get(ref.key) if ref.path in files else None
    lines: dict[str, int] = {}
    for qualname, line in function.comprehensions if function is not None else ():
        lines.setdefault(f"{ref.path}::{qualname}", line)
    return list(lines.items())


def _function(ways: Sequence[CompiledFunction]) -> dict[str, Any]:
    best = ways[0]
    return {
        "confidence": best.confidence.word,
        "entries": list(dict.fromkeys(entry for way in ways for entry in way.entries)),
        "chain": [f"{step.path}:{step.line}" for step in best.chain],
    }


def _entry(entry: Entry, look: Look) -> str:
    about = [entry.idiom, entry.confidence.word]
    if entry.regional:
        counted = f"each of {entry.instances} instances" if entry.instances else "each instance"
        about.append(f"{counted} separately")
    if entry.condition:
        about.append(f"if {clean(entry.condition)}")
    place = look.paint(look.place(entry.path, entry.line), bold=True)
    # The functions below show the files, so names are enough here.
    target = entry.target.partition("::")[2] or entry.target
    return f"{place}  compiles {look.paint(clean(target), bold=True)}  ({', '.join(about)})"


def _site(site: Unresolved | Skipped, look: Look) -> str:
    told = f"{look.place(site.path, site.line)}  {clean(site.expression)}: {clean(site.why)}"
    return look.line(told, "    ", "      ")


def _shared(number: int, regions: Regions, look: Look) -> str:
    """Where the functions of an entry are listed that has none of its own."""
    first = next((hot.entries[0] for hot in regions.hot if number in hot.entries), None)
    if first is None:
        return "no function of this project, or the result is discarded"
    entry = regions.entries[first]
    return f"its functions are listed under {look.place(entry.path, entry.line)}"


def _line(ref: FunctionRef, files: Mapping[str, FileFacts]) -> int:
    function = files[ref.path].functions.get(ref.key) if ref.path in files else None
    return function.line if function else 1
