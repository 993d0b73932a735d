"""The table of what functions of torch do to compiled calls that follow: modes, switches, marks, sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import takewhile

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass

_DATA = knowledge.table("torch")
GRADIENTS = "gradient mode"
AUTOCAST = "autocast"


@dataclass(frozen=True, slots=True)
class Mode:
    """A state of the process that Dynamo guards on, as one function or setting changes it."""

    name: str
    value: str | None
    """The value it gets; None if it is passed."""
    manager: bool
    """It holds inside a `with`."""
    default: str | None
    """The value before anything sets it; None if that is not known."""


def _modes(key: str) -> Mapping[str, Mode]:
    return {
        dotted: Mode(row["mode"], row.get("value"), row.get("manager", False), row.get("default"))
        for row in _DATA["mode"]
        for dotted in row.get(key, ())
    }


MODES = _modes("functions")
"""By the function that sets it."""
MODE_STORES = _modes("stores")
"""By the attribute that is stored."""
_GUARDS = [(word, row["mode"]) for row in _DATA["mode"] for word in row.get("guards", ())]
STANCES_OFF = frozenset(_DATA["off"]["stances"])
STANCE = frozenset(_DATA["off"]["stance"])
"""The functions that take a stance."""
CONFIGURATION: str = _DATA["off"]["configuration"]
SETTINGS_OFF: Mapping[str, object] = _DATA["off"]["settings"]
VARIABLES_OFF: Mapping[str, str] = _DATA["off"]["variables"]
NAMES: Mapping[str, frozenset[str]] = {
    verb: knowledge.names(verb) for rows in knowledge.libraries().values() for verb in rows
}
"""All that is known by name, by verb."""
MODULES = knowledge.in_order("modules")
"""What the dotted name of a module of torch begins with."""
OPTIMIZERS = knowledge.in_order("optimizers")
"""What the dotted name of an optimizer or a schedule of torch begins with."""
CALCULATING: Mapping[str, list[str]] = _DATA["calculating"]
"""The options of an optimizer that become symbols once they have changed."""
SIGNATURES: Mapping[str, list[str]] = {
    name: [word.rstrip("+!") for word in text.split()]
    for names, text in _DATA["signatures"].items()
    for name in names.split()
}
"""The arguments that a module of torch is made with."""
MADE_WITH: Mapping[str, list[str]] = {
    name: [word.rstrip("+!") for word in takewhile(lambda word: "+" in word, text.split())]
    for names, text in _DATA["signatures"].items()
    for name in names.split()
}
"""The first arguments that a module of torch is made with, which decide the sizes of its parameters."""
GUARDED: Mapping[str, list[str]] = {
    name: [word[:-1] for word in text.split() if word[-1] == "!" and word != "bias!"]
    for names, text in _DATA["signatures"].items()
    for name in names.split()
}
"""The attributes of a module of torch on whose values compiled code is guarded."""
CASTS: Mapping[str, str] = _DATA["casts"]
"""The dtype that a method of a tensor or of a module gives, by its name."""
MADE: Mapping[str, str] = {name: kind for kind, made in _DATA["made"].items() for name in made}
"""How a function or method makes the sizes of its result, by its name."""
_ALL = (*((mode.name, mode) for mode in MODES.values()), *MODE_STORES.items())
NAMED: Mapping[str, str] = {key: mode.name for key, mode in _ALL}
"""What people call each state, by the key under which its value is kept."""
DEFAULTS: Mapping[str, str] = {key: mode.default for key, mode in _ALL if mode.default is not None}
"""The values before anything sets them."""


def guarded_modes(words: str) -> frozenset[str]:
    """The names of the states whose guards failed: `grad_mode autocast(cpu)_enabled`, as Dynamo has it."""
    return frozenset(name for word, name in _GUARDS if re.search(rf"\b{word}", words))
