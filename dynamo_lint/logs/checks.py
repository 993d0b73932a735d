"""Reads the check that Dynamo says failed: `self.n == 3  # src  # file:line in forward`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_COMMENT = re.compile(r"\s{2,}# (?:(?P<text>.*)  # )?(?P<path><[^>]*>|\S+):(?P<line>\d+) in \S+")
_ANY_COMMENT = re.compile(r"\s{2,}#\s")
_TENSOR = re.compile(r"tensor '(?P<source>.+?)' (?P<aspect>[\w ]+?) mismatch(?P<rest>.*)")
_NO_TENSOR = re.compile(r"expected type of '(?P<source>.+?)' to be a tensor type")
_SHAPE = re.compile(r"(?P<source>[A-Za-z_][^\s=<>!*+,()]*)\.(?:size|stride|storage_offset)\(\)")
_PRESENCE = (
    re.compile(r"(?:not )?hasattr\((?P<source>.+), '(?P<name>\w+)'\)$"),
    re.compile(r"(?:not )?___dict_contains\('(?P<name>\w+)', (?P<source>.+)\.__dict__\)$"),
    re.compile(r"(?:not )?___dict_contains\((?P<key>.+?), (?P<source>.+)\)$"),
    re.compile(r"(?:not )?set\.__contains__\((?P<source>.+), (?P<key>[^,]+)\)$"),
)
_CALLS = (
    (re.compile(r"___check_type_id\((?P<source>.+), \d+\)(?:, type=(?P<value>.*))?$"), "type"),
    (re.compile(r"___check_(?:obj_id|\w+)\((?P<source>.+), \d+\)(?:, type=(?P<value>.*))?$"), "identity"),
    (re.compile(r"list\(dict\.keys\((?P<source>.+)\)\) == (?P<value>.*)$"), "presence"),
    (re.compile(r"list\((?P<source>.+)\.keys\(\)\) == (?P<value>.*)$"), "presence"),
    (re.compile(r"(?:___\w+_len|len)\((?P<source>.+)\) == (?P<value>\d+)$"), "length"),
    (re.compile(r"(?:int|float|str|bool)\((?P<source>[^()]+)\) == (?P<value>.*)$"), "value"),
    (re.compile(r"(?P<source>[^=<>!]+?) == (?P<value>.*)$"), "value"),
    (re.compile(r"(?P<source>.+?) is (?:not )?(?P<value>None|True|False)$"), "value"),
    (re.compile(r"(?P<source>.+?) is (?:not )?(?P<value>\S+)$"), "identity"),
    (re.compile(r"not (?P<source>[\w.\[\]']+)$"), "length"),
    (re.compile(r"(?:-?[\d.]+) (?:<|<=|==|!=) (?P<source>[A-Za-z_][\w.\[\]']*)$"), "expression"),
    (re.compile(r"(?P<source>[A-Za-z_][\w.\[\]']*) (?:<|<=|>|>=|!=) (?P<value>\S+)$"), "expression"),
)
_ASPECTS = {"requires_grad": "requires_grad", "size": "size", "stride": "size", "rank": "size"}


@dataclass(frozen=True, slots=True)
class Check:
    """A check that failed, and where the program made Dynamo install it."""

    source: str
    """The expression that was checked, as logged."""
    kind: str
    guard: str
    """The check without its comment."""
    value: str = ""
    """The value that the compiled code was for; empty where the text does not tell."""
    path: str = ""
    """The end of the path of the line that reads the source; empty where torch wrote none."""
    line: int = 0
    text: str = ""
    """That line as it stood when the job ran."""


@lru_cache(maxsize=4096)
def read_check(told: str) -> Check:
    """The check that a reason tells of; what is not understood is an `expression` of itself."""
    comment = _COMMENT.search(told)
    cut = comment or _ANY_COMMENT.search(told)
    guard = (told[: cut.start()] if cut else told).strip()
    source, kind, value = _parts(guard)
    if comment is None:
        return Check(source, kind, guard, value)
    return Check(
        source, kind, guard, value, comment["path"], int(comment["line"]), (comment["text"] or "").strip()
    )


def _parts(guard: str) -> tuple[str, str, str]:
    """Source, kind and value of a check."""
    if match := _TENSOR.match(guard):
        return (
            match["source"],
            _ASPECTS.get(match["aspect"].strip(), "type"),
            match["rest"].partition(", actual")[0].strip(" ."),
        )
    if match := _NO_TENSOR.match(guard):
        return match["source"], "type", ""
    if guard.startswith("GLOBAL_STATE"):
        return "GLOBAL_STATE", "expression", guard.partition(":")[2].strip()
    if match := _SHAPE.search(guard):
        return match["source"], "size", ""
    for pattern in _PRESENCE:
        if match := pattern.match(guard):
            found = match.groupdict()
            name = f".{found['name']}" if found.get("name") else f"[{found['key']}]"
            return found["source"] + name, "presence", "absent" if guard.startswith("not ") else "present"
    for pattern, kind in _CALLS:
        if match := pattern.match(guard):
            found = match.groupdict()
            if found.get("source"):
                value = "0" if kind == "length" and guard.startswith("not ") else found.get("value") or ""
                return found["source"].strip(), kind, value.strip()
    return guard, "expression", ""
