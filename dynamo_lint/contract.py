"""The contract of a team with the compiler: what a run may cost, what is set, what its environment holds."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields, replace
from math import isfinite, isnan
from sys import float_info
from typing import TYPE_CHECKING, Any

from dynamo_lint.dataclass import dataclass
from dynamo_lint.raw_values import (
    TEXT,
    TEXTS,
    Keys,
    Reader,
    Wrong,
    choice,
    dotted,
    flag,
    number,
    quoted,
    rows,
    satisfies,
    stated,
    strings,
    table,
    table_of,
    table_with,
    takes,
    text,
)
from dynamo_lint.selectors import closest

if TYPE_CHECKING:
    from dynamo_lint.models.environment import Variable

KEY = "contract"
"""The name of its table in the configuration."""


@dataclass(frozen=True, slots=True)
class ExpectedBreaks:
    """The graph breaks that a team knows of, in a file or in one function of it."""

    path: str
    """Relative to the configuration file, with `/`."""
    function: str
    """Empty for the whole file."""
    count: int

    @property
    def place(self) -> str:
        """The file, and the function behind a colon."""
        return f"{self.path}:{self.function}" if self.function else self.path


SettingValue = bool | int | float | str
RANKS, XLA = "ranks > 1", "xla"
"""When a variable is looked at: in a job of several processes, or where XLA is installed."""
NOT_ROOT = "not-root"
FOLDERS = ("writable", "free-gb", "not-under", "exists", "volume", "mount", "per-run")
"""The demands on what a variable names, which is a folder."""

_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@takes({"type": "string"})
def _string(raw: object) -> str:
    if not isinstance(raw, str) or not raw.isprintable():
        raise ValueError('a string, such as "1"')
    return raw


@takes({"type": "number", "minimum": 0})
def _measure(raw: object) -> float:
    if not isinstance(raw, int | float) or isinstance(raw, bool) or not 0 <= raw <= float_info.max:
        raise ValueError("a number of 0 or more")
    return raw


@takes({"type": "string", "pattern": "^/"})
def _absolute(raw: object) -> str:
    path = text(raw)
    if not posixpath.isabs(path):
        raise ValueError('the place of a volume, such as "/mnt/scratch"')
    return posixpath.normpath(path)


@takes({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"})
def _name(raw: object) -> str:
    name = text(raw)
    if not _VARIABLE.fullmatch(name):
        raise ValueError('the name of an environment variable, such as "SLURM_JOB_ID"')
    return name


def _key(read: Reader, usual: Any = None) -> Any:
    """A field of a table of the configuration, with what reads its value."""
    return field(default=usual, metadata={"read": read})


def _readers(kind: Any) -> dict[str, Reader]:
    """The readers of the keys of a table that becomes a dataclass."""
    return {one.name.replace("_", "-"): one.metadata["read"] for one in fields(kind)}


@dataclass(frozen=True, slots=True)
class Expectation:
    """The demands on one environment variable."""

    equals: str | None = _key(_string)
    required: bool = _key(flag, False)
    forbidden: bool = _key(flag, False)
    writable: bool = _key(flag, False)
    """It names a folder in which files can be made."""
    free_gb: float | None = _key(_measure)
    """So much is free where the folder is."""
    not_under: tuple[str, ...] = _key(strings, ())
    """Folders that it must not lie in; `/` is that one alone, or the whole disk would be forbidden."""
    exists: bool = _key(flag, False)
    """The folder is there before the job makes it: a volume that is not mounted has none."""
    volume: str | None = _key(choice(NOT_ROOT))
    """`NOT_ROOT`: it is on another volume than `/`."""
    mount: str | None = _key(_absolute)
    """It lies on what is mounted at this place."""
    per_run: str | None = _key(_name)
    """Its path holds the value of this variable, so that each run has its own."""
    min: float | None = _key(_measure)
    max: float | None = _key(_measure)
    when: str | None = _key(choice(RANKS, XLA))
    """`RANKS` or `XLA`; None for always."""

    def as_value(self) -> object:
        """The demands as the configuration file gives them."""
        given = stated(self)
        return self.equals if list(given) == ["equals"] else given


def value_fault(value: str | None, wanted: Expectation) -> str:
    """The demand that a value does not satisfy, and what to do; empty for none."""
    if wanted.forbidden:
        return "" if value is None else "the contract forbids it; unset it"
    if wanted.equals is not None and value != wanted.equals:
        return f"the contract wants `{wanted.equals}`; set it so"
    if value is None:
        needed = wanted.required or wanted.min is not None or wanted.max is not None
        return "the contract requires it; set it before Python starts" if needed else ""
    if wanted.required and not value:
        return "the contract requires it, and it is empty; set it"
    if wanted.min is None and wanted.max is None:
        return ""
    try:
        number = float(value)
    except ValueError:
        return "the contract wants a number; set it to one"
    if isnan(number):
        return "the contract wants a number; set it to one"
    if wanted.min is not None and number < wanted.min:
        return f"the contract wants at least {wanted.min:g}; raise it"
    if wanted.max is not None and number > wanted.max:
        return f"the contract wants at most {wanted.max:g}; lower it"
    return ""


PART = "${}"
"""Stands in a value for a part that only a run tells."""


def text_fault(value: str, wanted: Expectation) -> str:
    """The same, and what the text of a path alone tells of the demands on its folder."""
    head, part, _ = value.partition(PART)
    if not part:
        if fault := value_fault(value, wanted):
            return fault
        if wanted.per_run is not None:
            return f"the contract wants the value of {wanted.per_run} in its path; name a folder for each run"
    elif wanted.forbidden:
        return value_fault(value, wanted)
    if not posixpath.isabs(head):
        return ""
    for place in wanted.not_under:
        if is_under(head, place) and (not part or is_under(posixpath.dirname(head), place)):
            return f"the contract wants it outside of {place}; name another folder"
    mount = wanted.mount
    if mount is not None and not is_under(head, mount) and not (part and f"{mount}/".startswith(head)):
        return f"the contract wants it on the mount {mount}; name a folder there"
    return ""


def is_under(path: str, place: str) -> bool:
    """Whether a path lies in a folder, or is that; nothing but `/` itself lies in `/`."""
    path, place = posixpath.normpath(path), posixpath.normpath(place)
    return path == place or (place != "/" and path.startswith(f"{place}/"))


@takes(table_of({"type": "integer", "minimum": 0}))
def _expected_breaks(raw: object) -> tuple[ExpectedBreaks, ...]:
    wanted = 'a table of files, such as { "pkg/model.py" = 2 }'
    return tuple(rows(raw, wanted, _one, KEY, "expected-breaks").values())


def _one(place: str) -> Callable[[object], ExpectedBreaks]:
    """A reader of the number of breaks of one place."""

    def read(raw: object) -> ExpectedBreaks:
        path, _, function = place.partition(":")
        if not path.endswith(".py") or posixpath.isabs(path) or "\\" in path or path.startswith("../"):
            raise ValueError('a Python file below this configuration, such as "pkg/model.py" = 2')
        return ExpectedBreaks(posixpath.normpath(path), function.strip(), number(0)(raw))

    return read


@dataclass(frozen=True, slots=True)
class Warmup:
    """The part of a job in which it may still compile: its first compiles, or its first seconds."""

    compiles: int | None = _key(number(0))
    seconds: float | None = _key(_measure)

    def __str__(self) -> str:
        return f"{self.compiles} compiles" if self.compiles is not None else f"{self.seconds:g} seconds"


@takes(lambda: {**table_with(_readers(Warmup)), "minProperties": 1, "maxProperties": 1})
def _warmup(raw: object) -> Warmup:
    if not isinstance(raw, Mapping) or len(raw) != 1:
        raise ValueError("a table with one key, { compiles = 40 } or { seconds = 600 }")
    return Warmup(**table(raw, _readers(Warmup), KEY, "max-recompiles-after"))


@takes(TEXT)
def _torch(raw: object) -> str:
    """The versions of torch that a team allows, as a specifier: `>=2.13, <3`."""
    specifier = text(raw)
    satisfies("0", specifier)
    return specifier


@takes(table_of({"type": ["boolean", "number", "string"]}))
def _settings(raw: object) -> tuple[tuple[str, SettingValue], ...]:
    wanted = "a table of settings, such as { capture_scalar_outputs = true }"
    return tuple(rows(raw, wanted, _setting, KEY, "settings").items())


def _setting(name: str) -> Callable[[object], SettingValue]:
    """A reader of the value of a setting with some name."""

    def read(raw: object) -> SettingValue:
        if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name):
            raise ValueError("the name of a setting in torch._dynamo.config before it")
        if not isinstance(raw, bool | int | float | str) or (isinstance(raw, float) and not isfinite(raw)):
            raise ValueError("true, false, a number or a string")
        return raw

    return read


@takes(TEXT)
def _function(raw: object) -> str:
    named = text(raw)
    if not re.fullmatch(r"[\w.]+:[\w.*]+", named):
        raise ValueError('a function, such as "pkg.setup:configure"')
    return named


@takes(TEXTS)
def _functions(raw: object) -> tuple[str, ...]:
    return tuple(_function(one) for one in strings(raw))


@takes({"type": ["string", "array"], "items": {"type": "string"}})
def _surface(raw: object) -> str | tuple[str, ...]:
    """A file, relative to the configuration, or the names themselves: `Router.top_k`."""
    if isinstance(raw, list):
        return strings(raw)
    path = text(raw)
    if not path.endswith(".json") or posixpath.isabs(path) or "\\" in path or path.startswith("../"):
        raise ValueError('a file below this configuration, such as "guards.json", or a list of names')
    return posixpath.normpath(path)


@takes(TEXTS)
def _axes(raw: object) -> tuple[str, ...]:
    return tuple(map(_axis, strings(raw)))


def _axis(raw: str) -> str:
    if not re.fullmatch(r"[\w.*]+:[\w.*]+#\d+", raw):
        raise ValueError('an axis of a tensor, such as "train:x#0"')
    return raw


@takes(lambda: table_of({"anyOf": [{"type": "string"}, table_with(_readers(Expectation))]}))
def _environment(raw: object) -> tuple[tuple[str, Expectation], ...]:
    wanted = 'a table of variables, such as { TORCHINDUCTOR_FX_GRAPH_CACHE = "1" }'
    return tuple(rows(raw, wanted, _variable, KEY, "environment").items())


def _variable(name: str) -> Callable[[object], Expectation]:
    """A reader of the demands on one variable."""

    def read(raw: object) -> Expectation:
        from dynamo_lint.models.environment import environment, unknown

        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise ValueError("the name of an environment variable before it")
        if advice := unknown(name, environment().newest):
            place = (KEY, "environment", name)
            raise Wrong(place, f"{dotted(*place)}: torch reads no such variable; {advice}")
        if not isinstance(raw, str | Mapping) or raw == {}:
            raise ValueError('a string, such as "1", or a table, such as { required = true }')
        keys = _readers(Expectation)
        given = {"equals": raw} if isinstance(raw, str) else table(raw, keys, KEY, "environment", name)
        found = Expectation(**given)
        variable = environment().variables.get(name)
        for key, fault in _faults(found, variable):
            way: Keys = (KEY, "environment", name, *(() if isinstance(raw, str) else (key,)))
            value = quoted(given[key.replace("-", "_")])
            raise Wrong(way, f"{dotted(*way)} = {value}: expected {fault}")
        return found

    return read


def _faults(found: Expectation, variable: Variable | None) -> Iterator[tuple[str, str]]:
    """The demands that no value satisfies, or that torch would not make of it, each with the one to write."""
    from dynamo_lint.models.environment import misreading

    given = {key: value for key, value in stated(found).items() if value != 0}  # no demand
    if variable is not None and found.equals is not None:
        if wrong := misreading(variable, found.equals):
            yield "equals", f"a value that torch reads as it says ({wrong.why}): {wrong.advice}"
        elif variable.is_flag and found.equals not in {"0", "1", ""}:
            yield "equals", '"1" or "0", for torch takes any other text for one of these'
    if variable is not None:
        for key in given:
            if key in FOLDERS and variable.kind not in {"folder", "text"}:
                yield key, "a variable before it that names a folder"
            if key in {"min", "max"} and variable.kind not in {"int", "float", "text"}:
                yield key, 'a variable before it that takes a number; give this one "equals"'
    if found.forbidden and given.keys() - {"forbidden", "when"}:
        yield "forbidden", "no other demand on a variable that is forbidden"
    if found.min is not None and found.max is not None and found.min > found.max:
        yield "min", "a number that is not above max"


@dataclass(frozen=True, slots=True)
class Contract:
    """All that a team holds its program to; None is no limit."""

    max_recompiles: int | None = _key(number(0))
    max_breaks: int | None = _key(number(0))
    max_compiles: int | None = _key(number(0))
    max_limit_hits: int | None = _key(number(0))
    max_recompiles_after: Warmup | None = field(default=None, metadata={"read": _warmup})
    """No function is compiled again after this."""
    max_compile_seconds: float | None = _key(_measure)
    """Of one rank."""
    min_cache_hits: int | None = _key(number(0))
    """Graphs that one rank takes from the cache of inductor."""
    max_guards: int | None = _key(number(0))
    """Of one compiled version of a function."""
    expected_breaks: tuple[ExpectedBreaks, ...] = _key(_expected_breaks, ())
    ignore_log: tuple[str, ...] = _key(strings, ())
    torch: str | None = _key(_torch)
    """The versions that a team allows: `>=2.13, <3`."""
    settings: tuple[tuple[str, SettingValue], ...] = _key(_settings, ())
    """Names in torch._dynamo.config, or with the module before them, and what they are set to."""
    settings_site: str | None = _key(_function)
    """The function that makes all settings: `train.setup:configure`."""
    enforce: str | None = _key(choice("warning", "error"))
    """How bad it is to break what it says about settings."""
    reset_sites: tuple[str, ...] = _key(_functions, ())
    """The functions that may throw compiled code away."""
    eager_islands: tuple[str, ...] = _key(_functions, ())
    """The functions that may be kept out of the compiler."""
    off_sites: tuple[str, ...] = _key(_functions, ())
    """The functions that may switch compiling off or, without `suppress_sites`, hide its errors."""
    suppress_sites: tuple[str, ...] = _key(_functions, ())
    """The functions that may set `suppress_errors`."""
    off_switches: str | None = _key(choice("allow", "forbid"))
    """`forbid`: no variable and no option switches compiling off, but in `off_sites`."""
    dynamic_axes: tuple[str, ...] = _key(_axes, ())
    """The axes that may vary, `train:x#0`: the module, the name of the tensor and the axis."""
    min_group_timeout: float | None = _key(_measure)
    """The seconds that a process group waits at least."""
    guard_surface: str | tuple[str, ...] | None = _key(_surface)
    """The values which compiled code may be guarded on, or the file that lists them."""
    mutable_state: str | None = _key(choice("allow", "forbid"))
    """`forbid`: no Python state is written in compiled code, whether or not it costs."""
    max_autotune_configs: int | None = _key(number(1))
    environment: tuple[tuple[str, Expectation], ...] = _key(_environment, ())

    @property
    def functions(self) -> tuple[tuple[str, str], ...]:
        """The functions that it names, each behind its key."""
        site = () if self.settings_site is None else (self.settings_site,)
        rows = {
            "settings-site": site,
            "reset-sites": self.reset_sites,
            "eager-islands": self.eager_islands,
            "off-sites": self.off_sites,
            "suppress-sites": self.suppress_sites,
        }
        return tuple((key, one) for key, named in rows.items() for one in named)

    def limited(self, **most: Any) -> Contract:
        """The same, with the limits of the command line where that names some."""
        return replace(self, **{key: value for key, value in most.items() if value is not None})

    def as_table(self) -> dict[str, object]:
        """The keys that are set, as the configuration file gives them."""
        breaks = {one.place: one.count for one in self.expected_breaks}
        variables = {name: one.as_value() for name, one in self.environment}
        tables = {"expected-breaks": breaks, "settings": dict(self.settings), "environment": variables}
        if self.max_recompiles_after is not None:
            tables["max-recompiles-after"] = stated(self.max_recompiles_after)
        return {key: tables.get(key, value) for key, value in stated(self).items()}


@takes(lambda: table_with(_readers(Contract)))
def read_contract(raw: object) -> Contract:
    """The contract in a table of the configuration; a ValueError says what is wrong with it."""
    if not isinstance(raw, Mapping):
        raise ValueError("a table, such as { max-breaks = 0 }")
    return Contract(**table(raw, _readers(Contract), KEY))


def check_settings(contract: Contract, version: tuple[int, int]) -> None:
    """Raise where torch has no such setting as the contract says, or one of another type."""
    if not contract.settings:
        return
    from dynamo_lint.models.settings import DYNAMO, known_settings, name_today  # late: few contracts have any

    known = known_settings()
    for said, value in contract.settings:
        keys, name = (KEY, "settings", said), name_today(said)
        if name in known.types:
            if expected := _expected(name, known.types[name], value):
                raise Wrong(keys, f"{dotted(*keys)} = {quoted(value)}: expected {expected}")
            continue
        names = {one.removeprefix(f"{DYNAMO}."): None for one in known.types}
        near = closest(said, names) or next((one for one in names if one.endswith(f".{said}")), None)
        if near or version <= known.torch:
            hint = f"did you mean {near!r}?" if near else "name its module as well if it is none of Dynamo"
            raise Wrong(keys, f"{dotted(*keys)}: torch has no such setting; {hint}")


def _expected(name: str, kind: str, value: SettingValue) -> str:
    """The values that a setting takes, as words, if this one is none; else empty."""
    from dynamo_lint.models.settings import fits, types_said

    whole = value if isinstance(value, int) and not isinstance(value, bool) else None
    if not fits(value, kind) or (whole is not None and "bool" in kind and "int" not in kind):
        return types_said(kind)
    return "a number of 0 or more" if whole is not None and whole < 0 and name.endswith("limit") else ""
