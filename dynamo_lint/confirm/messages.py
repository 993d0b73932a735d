"""Messages between the two halves of `confirm`: one request and one reply per probe, as JSON files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dynamo_lint.confirm.receipt import Receipt, receipt_from_json

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

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return asdict(self)


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
    varied: dict[str, tuple[str, ...]] | None = None
    """Subject to the different values it had over time."""
    across: dict[str, tuple[str, ...]] | None = None
    """Subject to the different values its owners had between them."""
    diverged: tuple[str, ...] = ()
    """Subjects whose value differed from the eager twin's at the end of some call."""
    outputs: tuple[Digest, ...] = ()
    """The results of each call without the compiler."""
    problems: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """All of it as JSON values."""
        return asdict(self)


def request_from_json(data: dict[str, Any]) -> Request:
    """The request that `to_json` wrote."""
    settings = tuple(Setting(one["subject"], tuple(one["values"])) for one in data["settings"])
    return Request(
        **{**data, "watch": tuple(data["watch"]), "settings": settings, "preload": tuple(data["preload"])}
    )


def reply_from_json(data: dict[str, Any]) -> Reply:
    """The reply that `to_json` wrote."""

    def tuples(key: str) -> Any:
        return data[key] and {name: tuple(values) for name, values in data[key].items()}

    return Reply(
        **{
            **data,
            "receipt": data["receipt"] and receipt_from_json(data["receipt"]),
            "eager_calls": tuple(data["eager_calls"]),
            "ran": tuples("ran"),
            "varied": tuples("varied"),
            "across": tuples("across"),
            "diverged": tuple(data["diverged"]),
            "outputs": tuple(tuple(one) for one in data["outputs"]),
            "problems": tuple(data["problems"]),
        }
    )
