"""Drawings as plain numbers, of which templates make SVG: compiles against a limit, events over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dynamo_lint.dataclass import dataclass
from dynamo_lint.logs.model import Moment
from dynamo_lint.logs.texts import Frame
from dynamo_lint.render.prose import html_text

MOST_CELLS = 40
"""Compiles that are drawn one by one."""
WIDTH, LABELS, LANE = 1100, 250, 26
"""Of the drawing, of the names at its left, and from one lane to the next."""
MOST_LANES = 16
TICKS = 6
GRAIN = 3
"""Units of the drawing; events closer than that are one mark."""
ROOM = 33
"""Characters of a name that fit beside a lane."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a bar."""

    x: float
    width: float
    kind: str
    """`first`, `again`, `over` or `free`."""


@dataclass(frozen=True, slots=True)
class Bar:
    """How often a frame was compiled, against its limit."""

    cells: tuple[Cell, ...]
    limit: float
    """Where it stands, in the units of the cells."""
    width: float


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened; several at one place are one."""

    x: int
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Lane:
    """The events of one frame."""

    y: int
    name: str
    full: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events of each frame over time."""

    lanes: tuple[Lane, ...]
    ticks: tuple[tuple[int, str], ...]
    """Place and label."""
    left: int
    width: int
    height: int
    missing: int
    """Frames with fewer events for which there was no room."""


def bar(compiles: int, limit: int) -> Bar:
    """Each compile as a cell up to the limit and beyond it; of many only how far they fill it."""
    whole = max(compiles, limit)
    if whole <= MOST_CELLS:
        cells = tuple(Cell(n * 12, 10, _kind(n, compiles, limit)) for n in range(whole))
        return Bar(cells, limit * 12 - 1, whole * 12 - 2)
    unit = MOST_CELLS * 12 / whole
    stretches = (
        ("again", 0, min(compiles, limit)),
        ("over", limit, max(compiles, limit)),
        ("free", compiles, max(compiles, limit)),
    )
    cells = tuple(
        Cell(round(start * unit, 1), round((end - start) * unit, 1), kind)
        for kind, start, end in stretches
        if end > start
    )
    return Bar(cells, round(limit * unit, 1), MOST_CELLS * 12)


def timeline(moments: Sequence[Moment]) -> Timeline | None:
    """The busiest frames, each a lane; None where no two moments tell of a time."""
    if len(moments) < 2 or moments[-1].seconds <= moments[0].seconds:
        return None
    frames: dict[Frame, list[Moment]] = {}
    for moment in moments:
        frames.setdefault(moment.frame, []).append(moment)
    kept = set(sorted(frames, key=lambda frame: -len(frames[frame]))[:MOST_LANES])
    start, end = moments[0].seconds, moments[-1].seconds
    scale = (WIDTH - LABELS - 24) / (end - start)
    lanes = tuple(
        Lane(LANE * number + 16, _short(frame), _full(frame), _marks(frames[frame], start, scale))
        for number, frame in enumerate(frame for frame in frames if frame in kept)
    )
    ticks = tuple((round(LABELS + (at - start) * scale), f"{at:g} s") for at in _round_numbers(start, end))
    return Timeline(lanes, ticks, LABELS, WIDTH, LANE * len(lanes) + 30, len(frames) - len(kept))


def _kind(number: int, compiles: int, limit: int) -> str:
    if number >= compiles:
        return "free"
    if number >= limit:
        return "over"
    return "again" if number else "first"


def _marks(moments: Iterable[Moment], start: float, scale: float) -> tuple[Mark, ...]:
    places: dict[tuple[int, str], list[Moment]] = {}
    for moment in moments:
        place = LABELS + GRAIN * round((moment.seconds - start) * scale / GRAIN), moment.kind
        places.setdefault(place, []).append(moment)
    return tuple(Mark(x, kind, _title(kind, met)) for (x, kind), met in places.items())


def _title(kind: str, moments: Sequence[Moment]) -> str:
    ranks = sorted({moment.rank for moment in moments if moment.rank is not None})
    times = f" ×{len(moments)}" if len(moments) > 1 else ""
    on = f", rank {', '.join(map(str, ranks[:4]))}{'…' * (len(ranks) > 4)}" if ranks else ""
    return f"{kind}{times} at {moments[0].seconds:.1f} s{on}"


def _round_numbers(start: float, end: float) -> list[float]:
    """A few round numbers between two."""
    rough = (end - start) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(start / step)
    return [round(number * step, 9) for number in range(first, math.floor(end / step) + 1)]


def _full(frame: Frame) -> str:
    return f"{frame.function} {frame.path}:{frame.line}".strip()


def _short(frame: Frame) -> str:
    """As much of a frame's name, file and line as there is room for."""
    place = f"{frame.path.replace(chr(92), '/').rpartition('/')[2]}:{frame.line}"
    room = ROOM - len(place) - 1
    function = html_text(frame.function)  # before it is cut: half an order could still be one
    name = function if len(function) <= room else function[: max(room - 1, 0)] + "…"
    shown = f"{name} {place}" if function else place
    return shown if len(shown) <= ROOM else "…" + shown[1 - ROOM :]
