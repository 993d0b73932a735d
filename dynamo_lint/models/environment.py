"""The table of the environment variables of torch: who reads each, when, and what torch makes of a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass

Version = tuple[int, int]
IMPORT, COMPILER, USE = "import", "compiler", "use"
"""When a variable is read: with `import torch`, when the compiler is loaded, or each time it is needed."""
OFF = frozenset({"TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"})
"""Variables that turn compiling off: where they are read as off, nothing is lost."""
_MEANT_ON = frozenset({"true", "yes", "on", "y", "t", "enable", "enabled"})
_MEANT_OFF = frozenset({"0", "false", "no", "off", "n", "f", "disable", "disabled", "none"})
_FLAGS = frozenset({"one", "not-zero", "any", "switch", "three-way"})


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable that torch reads."""

    name: str
    reader: str
    """The module that reads it, or `use`, `process-group` or `xla` where no import decides when."""
    kind: str
    """The meaning of its values, as the head of environment.toml explains."""
    default: str
    """Of a flag: `on` or `off`; else empty."""
    time: str
    """`IMPORT`, `COMPILER` or `USE`."""
    since: Version | None = None
    """The first version that may read it; None for all that are known."""
    until: Version | None = None
    """The first version that does not read it any more."""

    @property
    def is_flag(self) -> bool:
        """Whether it turns something on or off."""
        return self.kind in _FLAGS

    def is_read_by(self, version: Version) -> bool:
        """Whether a version of torch reads it."""
        return (self.since is None or self.since <= version) and (self.until is None or version < self.until)


@dataclass(frozen=True, slots=True)
class Environment:
    """All that is known of the environment variables of torch."""

    variables: Mapping[str, Variable]
    believed: Mapping[str, str]
    """Names that people set and that no version reads, each with the way that there is."""
    complete: tuple[str, ...]
    """Beginnings of names of which the table has all, up to the newest version."""
    newest: Version
    elsewhere: frozenset[str]
    """Other names that torch reads."""
    libraries: frozenset[str]
    """Names that NCCL, Triton, XLA and the like read."""
    secret: frozenset[str]
    """Names whose values may hold a password, whoever reads them."""
    log_names: frozenset[str]
    loading_imports: tuple[str, ...]
    """Modules whose import loads the compiler."""
    loading_calls: tuple[str, ...]
    """Functions and classes whose call loads it; `*` at the end stands for any name."""
    launchers: frozenset[str]
    """Programs and modules that start one process for each rank."""

    def shows(self, name: str) -> bool:
        """Whether the value of a variable may be printed: who asks for another may be after a secret."""
        read = name in self.variables or name in self.elsewhere or name in self.libraries
        return read and name not in self.secret

    def loads_by_import(self, module: str) -> bool:
        """Whether importing a module loads the compiler's settings."""
        return any(module == one or module.startswith(f"{one}.") for one in self.loading_imports)

    def loads_by_call(self, dotted: str) -> bool:
        """Whether calling a function of torch loads the compiler's settings."""
        whole = f"{dotted.rpartition('.')[0]}.*"
        return dotted in self.loading_calls or (whole in self.loading_calls and dotted != whole)


@dataclass(frozen=True, slots=True)
class Misreading:
    """A value that torch takes for something else than it says."""

    read_as: str
    """`on`, `off`, `ignored` or `an error`."""
    why: str
    """The reading of torch, as the rest of a sentence about the value."""
    advice: str


@cache
def environment() -> Environment:
    """The table, read once."""
    data = knowledge.table("environment")
    times = {reader: time for time, readers in data["times"].items() for reader in readers}
    since, until = _by_name(data["since"]), _by_name(data["until"])
    return Environment(
        variables={
            name: Variable(
                name,
                row["reader"],
                row["kind"],
                row.get("default", ""),
                times.get(row["reader"], USE),
                since.get(name),
                until.get(name),
            )
            for row in data["row"]
            for name in row["names"].split()
        },
        believed=data["believed"],
        complete=tuple(data["names"]["complete"]),
        newest=_version(data["names"]["newest"]),
        elsewhere=frozenset(data["elsewhere"]["names"].split()),
        libraries=frozenset(data["libraries"]["names"].split()),
        secret=frozenset(data["libraries"]["secret"].split()),
        log_names=frozenset(data["logs"]["names"].split()),
        loading_imports=tuple(data["loads"]["imports"]),
        loading_calls=tuple(data["loads"]["calls"]),
        launchers=frozenset(data["names"]["launchers"]),
    )


def _by_name(raw: Mapping[str, Any]) -> dict[str, Version]:
    """The version of each name in a table from versions to names."""
    return {name: _version(version) for version, names in raw.items() for name in names.split()}


def _version(text: str) -> Version:
    major, minor = text.split(".")
    return int(major), int(minor)


def misreading(variable: Variable, value: str) -> Misreading | None:
    """How torch misreads a value of a variable; None where it reads what is meant."""
    match variable.kind:
        case "int" | "float":
            return _number(value, int if variable.kind == "int" else float)
        case "names":
            return _log_names(value)
        case "folder" if not value and variable.reader != "xla":
            return Misreading("the working directory", "empty text is the working directory", "name a folder")
    if not variable.is_flag or value in {"0", "1"} - ({"0"} if variable.kind == "any" else set()):
        return None
    return _flag(variable, value.strip().lower())


def reads_on(variable: Variable, value: str) -> bool:
    """Whether torch takes a value of a switch for on."""
    if variable.kind in {"one", "three-way"}:
        return value == "1"
    return bool(value) and (variable.kind == "any" or value != "0")


def reading(variable: Variable, value: str) -> bool | int | float | None:
    """The setting that torch makes of a value; None where it makes none."""
    if misreading(variable, value) and variable.kind in {"int", "float", "three-way"}:
        return None
    if variable.is_flag:
        return reads_on(variable, value)
    return float(value) if variable.kind == "float" else int(value) if variable.kind == "int" else None


def _flag(variable: Variable, said: str) -> Misreading | None:
    """How torch misreads the text of a switch."""
    if not said:
        if variable.default != "on" or variable.kind == "three-way":
            return None
        return Misreading("off", "empty text is off, not the default", "unset it")
    match variable.kind:
        case "one" if said not in _MEANT_OFF:
            return Misreading("off", "torch takes `1` alone for on", "set it to `1`")
        case "three-way":
            return Misreading("ignored", "torch reads `1` and `0` alone", f"set it to {_digit(said)}")
        case "switch" | "not-zero" if said in _MEANT_OFF:
            return Misreading("on", "torch takes any text but `0` for on", "set it to `0`")
        case "any" if said in _MEANT_OFF:
            return Misreading("on", "torch takes any text for on, this too", "unset it")
    return None


def _digit(said: str) -> str:
    if said in _MEANT_ON:
        return "`1`"
    return "`0`" if said in _MEANT_OFF else "`1` or `0`"


def _number(value: str, kind: type[int] | type[float]) -> Misreading | None:
    try:
        kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        return Misreading("an error", f"torch needs {what} and raises ValueError", f"set it to {what}")
    return None


def _log_names(value: str) -> Misreading | None:
    """The first name of a log that does not exist; one with a dot may be any module."""
    if not value:
        why = "empty text is none of its settings, and importing torch fails with AttributeError"
        return Misreading("an error", why, "unset it")
    known = environment().log_names
    for number, part in enumerate(value.split(",")):
        form = re.fullmatch(r"[+-]?([\w.]+)", part.lstrip() if number else part)
        if form is None:
            why = "torch needs names with commas between them, and importing it fails"
            return Misreading("an error", why, "write them so: `recompiles,graph_breaks`")
        if "." not in (name := form[1]) and name not in known:
            guess = _nearest(name, known, 0.6)
            hint = f"write `{guess}`" if guess else "see `TORCH_LOGS=help`"
            return Misreading("an error", f"torch has no log `{name}`, and importing it fails", hint)
    return None


def unknown(name: str, version: Version) -> str | None:
    """The advice for a name that looks like a variable of torch and is read by no code of the version.

    None where it is read, or may be: torch reads none of it, but another program.
    """
    table = environment()
    variable = table.variables.get(name)
    if name in table.believed:
        return table.believed[name]
    if variable is not None:
        return None if variable.is_read_by(version) else _when(variable)
    if name in table.elsewhere:
        return None
    certain = name.startswith(table.complete) and version <= table.newest
    if not certain and not name.startswith("TORCH"):
        return None
    guess = _nearest(name, table.variables, 0.8 if certain else 0.93)
    return f"did you mean `{guess}`?" if guess else "unset it" if certain else None


def _when(variable: Variable) -> str:
    """The versions that read a variable, as advice."""
    if variable.until is not None:
        return f"unset it: torch reads it before {'.'.join(map(str, variable.until))} only"
    since = ".".join(map(str, variable.since or ()))
    return f"unset it: torch reads it from {since} on"


def _nearest(name: str, names: Iterable[str], least: float) -> str | None:
    """The name that was probably meant, if one is as near as `least`."""
    import difflib  # late: only what is misspelt needs a guess

    return next(iter(difflib.get_close_matches(name, sorted(names), 1, least)), None)
