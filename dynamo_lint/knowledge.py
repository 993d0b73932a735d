"""Names of torch, of Python and of libraries, by what is known of them: rows of models/*.toml.

A verb says what its names have in common; several libraries may have rows for one. All modules may ask,
the index too: nothing here but names.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> Mapping[str, Any]:
    """The table models/NAME.toml, read when it is first asked for."""
    from dynamo_lint.toml import tomllib

    return tomllib.loads((files("dynamo_lint.models") / f"{name}.toml").read_text("utf-8"))


@cache
def libraries() -> Mapping[str, Mapping[str, Any]]:
    """The rows of each library, torch first, by its name and verb."""
    return {"torch": table("torch")["torch"], **table("libraries")}


@cache
def in_order(verb: str) -> tuple[str, ...]:
    """The names that any library has under a verb, as `str.startswith` and `str.endswith` take them."""
    found = [rows[verb] for rows in libraries().values() if verb in rows]
    if not found:
        raise KeyError(f"no library has a row for {verb}")
    return tuple(dict.fromkeys(name for names in found for name in names))


@cache
def names(verb: str) -> frozenset[str]:
    """The names that any library has under a verb."""
    return frozenset(in_order(verb))


@cache
def last_names(verb: str) -> frozenset[str]:
    """The same without their packages."""
    return frozenset(name.rpartition(".")[2] for name in in_order(verb))


@cache
def packages() -> frozenset[str]:
    """The top-level modules of all libraries of which any dotted name is known: `torch`, `functools`."""
    rows = (names for library in libraries().values() for names in library.values())
    return frozenset(name.partition(".")[0] for names in rows for name in names if "." in name)


@cache
def pairs(verb: str) -> Mapping[str, str]:
    """The names that any library has under a verb, each with what is said of it."""
    return {name: rows[verb][name] for rows in libraries().values() for name in rows.get(verb, ())}
