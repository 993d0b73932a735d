"""Messages between the two halves of `confirm`: one request and one reply per probe, as JSON files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dynamo_lint.confirm.receipt import Receipt

Digest = tuple[float, ...]
"""The numbers of one call's output, summed up: enough to see whether two runs computed the same."""


@dataclass(frozen=True, slots=True)
class Setting:
    """State to set from outside between calls, to each of some values in turn."""

    subject: str
    values: tuple[Any, ...] = ()
    """Empty: three values that differ from what is there, by its kind."""


@dataclass(frozen=True, slots=True)
class Request:
    """One probe to run."""

    path: str
    probe: str
    root: str
    """The folder of the project; its modules are loaded anew and its lines are followed."""
    calls: int = 12
    backend: str = "aot_eager"
    recompile_limit: int | None = None
    """The limit of the second pass; None takes the one that the program leaves in force."""
    watch: tuple[str, ...] = ()
    """Subjects of findings."""
    settings: tuple[Setting, ...] = ()
    preload: tuple[str, ...] = ()
    """Modules from outside the project that are imported once for all runs."""
    shadows: bool = False
    """The project is a copy, whose modules win over installed ones."""


@dataclass(frozen=True, slots=True)
class Met:
    """The different values of a subject that the compiled code of a unit met, each as a short text."""

    subject: str
    unit: int
    """Index into the receipt's units."""
    over_time: tuple[str, ...]
    """Those of one object under one generation of compiled code, where they changed most."""
    across: tuple[str, ...]
    """Those that different objects had when one generation of compiled code met them first."""
    seen: tuple[str, ...]
    """All of them."""
    recomputed: bool = False
    """In one object, under one generation, the numbers in a tensor or container changed."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a request."""

    stage: str
    """How far it got: `start`, `import`, `eager`, `compiled`, `limited`, `done`."""
    error: str = ""
    """Why it stopped, in one line."""
    detail: str = ""
    """The place of the error, or the last lines that the probe printed."""
    receipt: Receipt | None = None
    """The run with a raised limit."""
    recompile_limit: int = 8
    """The limit that the program leaves in force."""
    hit_limit: bool = False
    """With that limit, some function ran uncompiled in the end."""
    eager_calls: tuple[int, ...] = ()
    """Calls that then ran without any compiled graph."""
    ran: dict[str, tuple[int, ...]] | None = None
    """Per file of the project, the lines that ran without the compiler."""
    met: tuple[Met, ...] = ()
    diverged: tuple[str, ...] = ()
    """Subjects whose value differed from the eager twin's at the end of some call."""
    outputs: tuple[Digest, ...] = ()
    """The results of each call without the compiler."""
    problems: tuple[str, ...] = ()
