"""Code lenses: above each function that is compiled, by which line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lsprotocol import types

from dynamo_lint.server.analysis import CompiledLine
from dynamo_lint.server.places import Places
from dynamo_lint.terminal import clean, counted, numbered


def lenses(compiled: Iterable[CompiledLine], path: str, uri: str, places: Places) -> Iterator[types.CodeLens]:
    """The lenses in one document: a file, or the cell of a notebook."""
    for function in compiled:
        if function.path != path:
            continue
        location = places.line(path, function.line)
        if location.uri == uri:
            # A command without a name is text alone: clients do nothing on a click.
            yield types.CodeLens(location.range, types.Command(_title(function, places), ""))


def _title(function: CompiledLine, places: Places) -> str:
    file, line = function.entry
    title = f"compiled from {clean(file)}:{numbered(places.sources.cell(file, line), line)}"
    if function.entries > 1:
        title += f" and {counted(function.entries - 1, 'other entry', 'other entries')}"
    if function.guards:
        title += f", {counted(function.guards, 'guard')} on state"
    return title if function.confidence == "certain" else f"{title} ({function.confidence})"
