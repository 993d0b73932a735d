"""Settings: the defaults, the nearest configuration file, and the command line on top."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from dynamo_lint import __version__, files
from dynamo_lint.contract import KEY as CONTRACT
from dynamo_lint.contract import Contract, check_settings, read_contract
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import SEVERITIES
from dynamo_lint.inheritance import TABLES, merged, moved
from dynamo_lint.levels import CONFIDENCES, LEVELS, OLDER_WORDS, PRESETS, Choices, Override, Policy
from dynamo_lint.raw_values import (
    TEXT,
    TEXTS,
    Keys,
    Reader,
    Wrong,
    choice,
    entry,
    flag,
    line_of,
    number,
    quoted,
    rows,
    satisfies,
    selectors,
    strings,
    table,
    table_of,
    table_with,
    takes,
    text,
)
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.selectors import catalogue, closest, hint, matching
from dynamo_lint.trouble import Trouble

ASSUMPTIONS = ("none", "blocks", "modules")
OUTPUT_FORMATS = (
    "full",
    "concise",
    "grouped",
    "json",
    "json-lines",
    "sarif",
    "github",
    "gitlab",
    "rdjson",
    "junit",
    "html",
)
TORCH_VERSIONS = tuple((2, minor) for minor in range(6, 16))
"""The versions whose behaviour the rules know."""
_YET_TO_COME = 9
"""So many minor versions after the newest may exist by now; they are judged as the newest."""

DEFAULT_EXCLUDE = (
    ".direnv",
    ".dynamo_lint_cache",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    "__pycache__",
    "__pypackages__",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

REQUIRED, EXTEND = "required-version", "extend"
SEVERITY, PER_FILE_IGNORES, OVERRIDES = "severity", "per-file-ignores", "overrides"


_OF_COMMAND = ("select", "ignore", "min_confidence", "fail_level")
"""The choices that the command line can make as well."""


class ConfigError(Trouble):
    """A configuration that cannot be used; the text says where and what to do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, in Python's spelling of the keys."""

    select: tuple[str, ...] | None = None
    """None selects all rules but the pedantic ones."""
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    """Levels by selector."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Selectors by pattern."""
    overrides: tuple[Override, ...] = ()
    preset: str | None = None
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    torch_version: tuple[int, int] = (2, 13)
    torch_from: str = field(default="", compare=False)
    """Where the version comes from, if no setting names it."""
    min_confidence: str = "likely"
    fail_level: str = "warning"
    assume: str = "none"
    regions: tuple[str, ...] = ()
    not_regions: tuple[str, ...] = ()
    region_comment: str | None = None
    compile_wrappers: tuple[str, ...] = ()
    compile_decorators: tuple[str, ...] = ()
    disable_decorators: tuple[str, ...] = ()
    pedantic: bool = False
    recompile_limit: int = 8
    output_format: str = "full"
    baseline: Path | None = None
    probes: tuple[Path, ...] = ()
    """Files with functions that `confirm` runs."""
    contract: Contract = field(default_factory=Contract)
    fail_on_nothing_compiled: bool = False
    application: bool = False
    """No code outside of the project uses its classes, whatever its metadata says."""
    required_version: str | None = None
    extend: str | None = None
    """The configuration that the file adds to, relative to it."""
    source: Path | None = None
    """The file that the settings come from."""
    top: Path | None = field(default=None, compare=False)
    """The folder that patterns of paths count from, if that is not the folder of the file."""
    nested: tuple[Settings, ...] = field(default=(), compare=False)
    """Those of the configurations in folders below, which govern the files there."""
    places: Mapping[Keys, Path] = field(default_factory=dict, compare=False)
    """The file of each key that is set, which may be one that the nearest extends; of some, of each row."""
    given: frozenset[str] = field(default=frozenset(), compare=False)
    """The keys that the command line sets."""

    @property
    def policy(self) -> Policy:
        """The part that says which rules are reported where, and how severe they are."""
        preset = PRESETS.get(self.preset or "")
        file = {one.name: getattr(self, one.name) for one in fields(Choices)}
        named = [name for name in _OF_COMMAND if name.replace("_", "-") in self.given]
        return Policy(
            tables=(*((Choices(severity=preset.severity),) if preset else ()), Choices(**file)),
            overrides=self.overrides,
            commanded=Choices(**{name: file[name] for name in named}),
            per_file_ignores=self.per_file_ignores,
            pedantic=self.pedantic,
            home=self.home,
            nested=tuple(one.policy for one in self.nested),
        )

    @property
    def home(self) -> Path:
        """The folder that patterns of paths count from."""
        return self.top or self.folder

    def place(self, *keys: str | int) -> str:
        """The file and line of a key, with a colon behind it; empty where no file says it."""
        file = self._file(*keys)
        return f"{place_of(file, *keys)}: " if file else ""

    def is_own(self, *keys: str | int) -> bool:
        """Whether the nearest file says a key itself, rather than one that it extends for many."""
        return self._file(*keys) == self.source

    def _file(self, *keys: str | int) -> Path | None:
        return self.places.get(keys[:2]) or self.places.get(keys[:1]) or self.source

    @property
    def folder(self) -> Path:
        """The folder of the file, or the current one."""
        return self.source.parent if self.source else Path.cwd()

    @property
    def least_confidence(self) -> str:
        """The lowest confidence that a finding can be reported with anywhere."""
        others = () if "min-confidence" in self.given else (one.choices for one in self.overrides)
        words = [self.min_confidence, *(one.min_confidence for one in others if one.min_confidence)]
        return min(words, key=CONFIDENCES.index)

    @property
    def wants_everything(self) -> bool:
        """Whether rules also report what costs nothing but breaks a house policy."""
        return self.pedantic or "ALL" in map(str.upper, (*(self.select or ()), *self.extend_select))

    @property
    def unfiltered(self) -> Settings:
        """These settings, with everything reported that is found."""
        narrowing = {one.name for one in fields(Choices)} - {"fail_level"} | {"per_file_ignores", "overrides"}
        usual = Settings(min_confidence="possible")
        return replace(self, **{name: getattr(usual, name) for name in narrowing})

    @property
    def region_options(self) -> RegionOptions:
        """The part that says what is compiled."""
        return RegionOptions(
            declared=self.regions,
            cut=self.not_regions,
            compile_wrappers=self.compile_wrappers,
            compile_decorators=self.compile_decorators,
            disable_decorators=self.disable_decorators,
            in_contract=self.contract.functions,
            marks=self.contract.dynamic_axes,
            assume=self.assume,
            guesses=self.least_confidence == "possible",
        )


def load(start: Path, file: Path | None = None, isolated: bool = False) -> Settings:
    """Settings from `file`, or else from the nearest configuration above `start`."""
    if isolated:
        return Settings()
    if file is not None:
        found = _found(file, named=True)
        if found is None:
            raise ConfigError(f"{file}: there is no [tool.dynamo-lint] table")
        return _parsed(file, *found, top=Path.cwd())
    return next(filter(None, map(settings_in, (start, *start.parents))), Settings())


def settings_in(folder: Path) -> Settings | None:
    """Settings from the configuration file of a folder, if it has one."""
    for name in files.CONFIGURATIONS:
        candidate = folder / name
        if not candidate.is_file():
            continue
        if candidate.is_symlink() and not files.inside(candidate, [files.around(folder)]):
            raise ConfigError(f"{candidate}: is a link out of the project; name its file with --config")
        if (found := _found(candidate)) is not None:
            return _parsed(candidate, *found)
    return None


def override(settings: Settings, **options: Any) -> Settings:
    """Settings with the options that were given on the command line (those that are not None)."""
    given = {key: value for key, value in options.items() if value is not None}
    keys = frozenset(key.replace("_", "-") for key in given)
    return replace(settings, **given, given=settings.given | keys)


def parse_torch_version(text: str) -> tuple[int, int]:
    """`2.13` or `2.13.1` as a pair, which may be newer than is known; a ValueError says what is known."""
    match = re.fullmatch(r"(\d{1,9})\.(\d{1,9})(\.\d+)*", text.strip())
    version = (int(match[1]), int(match[2])) if match else None
    oldest, newest = TORCH_VERSIONS[0], TORCH_VERSIONS[-1]
    if version is None or not oldest <= version <= (newest[0], newest[1] + _YET_TO_COME):
        known = [".".join(map(str, pair)) for pair in (oldest, newest)]
        raise ValueError(f'a torch version from "{known[0]}" to "{known[1]}", such as "2.13"')
    return version


def _found(file: Path, named: bool = False) -> tuple[str, Mapping[str, object]] | None:
    """The text of a file and the raw settings in it; None when a pyproject.toml has none for us."""
    from dynamo_lint.toml import tomllib

    try:
        content = (files.read_named if named else files.read)(file).decode("utf-8")
        data: dict[str, Any] = tomllib.loads(content.replace("\r\n", "\n"))
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: is not UTF-8 text, as TOML must be") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: is not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{file}: cannot be read: it nests too deeply") from None
    except ValueError:
        raise ConfigError(f"{file}: cannot be read: it has a number of too many digits") from None
    if file.name != "pyproject.toml":
        return content, data
    tool = data.get("tool", {})
    raw = tool.get("dynamo-lint") if isinstance(tool, dict) else None
    if raw is not None and not isinstance(raw, dict):
        raise ConfigError(f"{_place(file, content, ())}: tool.dynamo-lint = {quoted(raw)}: expected a table")
    return None if raw is None else (content, raw)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The values of a file on top of those that it extends, by their names in Python."""

    values: dict[str, Any]
    places: dict[Keys, Path]
    """As in `Settings`."""


def _parsed(file: Path, content: str, raw: Mapping[str, object], top: Path | None = None) -> Settings:
    layer = _layer(file, content, raw, top=top)
    values = layer.values
    try:
        check_settings(
            values.get("contract", Contract()), values.get("torch_version", Settings().torch_version)
        )
    except Wrong as wrong:
        said = layer.places.get(wrong.keys[:2], file)
        place = _place(file, content, wrong.keys) if said == file.absolute() else place_of(said, *wrong.keys)
        raise ConfigError(f"{place}: {wrong}") from None
    if "preset" in values:
        preset, contract = PRESETS[values["preset"]], values.get("contract", Contract())
        values.setdefault("pedantic", preset.pedantic)
        values["contract"] = replace(contract, mutable_state=contract.mutable_state or preset.mutable_state)
    return Settings(**values, source=file.absolute(), top=top, places=layer.places)


def _layer(
    file: Path,
    content: str,
    raw: Mapping[str, object],
    nearer: tuple[Path, ...] = (),
    top: Path | None = None,
) -> _Layer:
    """The values that a file states and extends; `nearer` are the files that extend it.

    Patterns count from `top`, if that is not the folder of the file.
    """
    try:
        if REQUIRED in raw:  # first, since a newer version may have other keys
            entry(raw[REQUIRED], _running, REQUIRED)
        values = table(raw, {key: about.read for key, about in KEYS.items()})
    except Wrong as wrong:
        raise ConfigError(f"{_place(file, content, wrong.keys)}: {wrong}") from None
    home = Path(os.path.normpath(file.absolute())).parent
    if "baseline" in values:
        values["baseline"] = home / values["baseline"]
        if not files.inside(values["baseline"], [files.around(home)]):
            place = _place(file, content, ("baseline",))
            raise ConfigError(f"{place}: baseline leads out of the project; name it with --baseline")
    if "probes" in values:
        for probe in values["probes"]:
            if (missing := _missing_probe(home, probe)) is not None:
                raise ConfigError(f"{_place(file, content, ('probes',))}: probes: {quoted(probe)}: {missing}")
        values["probes"] = tuple(home / probe for probe in values["probes"])
    rows = [(key, row) for key in TABLES for row in _rows(raw.get(key))]
    places: dict[Keys, Path] = dict.fromkeys((*((key,) for key in raw), *rows), file.absolute())
    if EXTEND not in values:
        return _Layer(values, places)
    try:
        outer = _extended(home, values[EXTEND], (*nearer, file), top or home)
    except Wrong as wrong:
        place = _place(file, content, (EXTEND,))
        raise ConfigError(f"{place}: extend = {quoted(raw[EXTEND])}: {wrong}") from None
    return _Layer(merged(outer.values, values, raw), {**outer.places, **places})


def _rows(raw: object) -> Iterable[str]:
    return raw if isinstance(raw, Mapping) else ()


def _extended(home: Path, named: str, nearer: tuple[Path, ...], top: Path) -> _Layer:
    """The values of the file that one in `home` extends, as that would say them."""
    file = Path(os.path.normpath(home / named))
    real = os.path.realpath(file)
    if not file.is_file():
        raise Wrong((EXTEND,), "there is no such file")
    if real in map(os.path.realpath, nearer):
        way = " -> ".join(os.path.relpath(one, home).replace(os.sep, "/") for one in (*nearer, file))
        raise Wrong((EXTEND,), f"the files extend each other in a circle: {way}")
    above = Path(real).parent
    if not (files.inside(file, [files.around(home)]) or Path(os.path.realpath(home)).is_relative_to(above)):
        raise Wrong((EXTEND,), "it leads out of the project; name a file of the repository")
    found = _found(file)
    if found is None:
        raise Wrong((EXTEND,), "there is no [tool.dynamo-lint] table in it")
    layer = _layer(file, *found, nearer)
    values = {name: value for name, value in layer.values.items() if name != EXTEND}
    return _Layer(moved(values, file.parent, home, top), layer.places)


def _missing_probe(home: Path, probe: str) -> str | None:
    """Why `confirm` would find nothing there; None if it may."""
    name, _, function = probe.partition("::")
    path = home / name
    if not path.exists():
        return f"there is no such file{near_file(home, name)}"
    if path.is_file() and f"def {function or 'probe_'}".encode() not in files.read(path):
        return f"it contains no function named {function or 'probe_*'}"
    return None


def near_file(home: Path, name: str) -> str:
    """A hint at the file below a folder that is probably meant by a name."""
    guess = closest(Path(name).name, [one.name for one in (home / name).parent.glob("*.py")])
    return hint(guess and str(Path(name).with_name(guess)))


def place_of(file: Path, *keys: str | int) -> str:
    """The file and line of a key in a configuration that was read."""
    return _place(file, files.read_named(file).decode("utf-8"), keys)


def _place(file: Path, content: str, keys: Keys) -> str:
    outer = ("tool", "dynamo-lint") if file.name == "pyproject.toml" else ()
    line = line_of(content, (*outer, *keys))
    return f"{file}:{line}" if line else str(file)


@takes({"type": "string", "pattern": r"^\s*\d+\.\d+(\.\d+)*\s*$"})
def _torch_version(raw: object) -> tuple[int, int]:
    if isinstance(raw, float):
        # 2.10 would be read as 2.1.
        raise ValueError('the version in quotes, such as "2.13"')
    return parse_torch_version(raw if isinstance(raw, str) else "")


@takes(TEXT)
def _running(raw: object) -> str:
    """The versions that may run, which this one must be among."""
    wanted = text(raw)
    if not satisfies(__version__, wanted):
        raise Wrong((REQUIRED,), f"this is dynamo-lint {__version__}, and {REQUIRED} is {wanted!r}")
    return wanted


def _compilers(example: str) -> Reader:
    """A reader of functions that compile, each with the position of its argument if `example` has one."""
    shape = re.compile(r"[^#]*[^\W\d]\w*" + (r"(#\d+)?" if "#" in example else ""))

    @takes(TEXTS)
    def read(raw: object) -> tuple[str, ...]:
        words = strings(raw)
        if not all(map(shape.fullmatch, words)):
            raise ValueError(f'functions by their names, such as ["{example}"]')
        return words

    return read


@takes(table_of(TEXTS))
def _per_file_ignores(raw: object) -> dict[str, tuple[str, ...]]:
    """The selectors that are ignored in the files of each pattern."""

    def reader(pattern: str) -> Callable[[object], tuple[str, ...]]:
        _path(pattern, PER_FILE_IGNORES, pattern)
        return selectors

    return rows(raw, 'a table of paths, such as { "tests/**" = ["DYN1"] }', reader, PER_FILE_IGNORES)


@takes(lambda: {"type": "array", "items": {**table_with(_OF_OVERRIDE), "required": ["paths"]}})
def _overrides(raw: object) -> tuple[Override, ...]:
    """The overrides, in the order in which they count."""
    if not isinstance(raw, list) or not all(isinstance(one, Mapping) for one in raw):
        raise ValueError("tables [[tool.dynamo-lint.overrides]], each with paths")
    return tuple(_override(one, number) for number, one in enumerate(raw))


@takes({"enum": [*CONFIDENCES, *OLDER_WORDS]})
def _confidence(raw: object) -> str:
    """A confidence by its name, or by the one that it had before."""
    return choice(*CONFIDENCES)(OLDER_WORDS.get(raw, raw) if isinstance(raw, str) else raw)


def _override(raw: Mapping[str, object], number: int) -> Override:
    outer = OVERRIDES, number
    values = table(raw, {**_OF_OVERRIDE, SEVERITY: _severity(*outer)}, *outer)
    paths = values.pop("paths", ())
    if not paths:
        raise Wrong(
            (*outer, "paths") if "paths" in raw else outer,
            f'{OVERRIDES}: expected paths, such as paths = ["src/kernels"]',
        )
    return Override(tuple(_path(path, *outer, "paths") for path in paths), Choices(**values))


def _severity(*outer: str | int) -> Callable[[object], dict[str, str]]:
    """A reader of the levels in a table below some others."""

    @takes(table_of({"enum": list(LEVELS)}))
    def read(raw: object) -> dict[str, str]:
        known = catalogue()
        for selector in raw if isinstance(raw, Mapping) else ():
            entry(selector, lambda word: matching(str(word), known), *outer, SEVERITY, selector)
        wanted = 'a table of levels, such as { DYN201 = "error" }'
        return rows(raw, wanted, lambda _: choice(*LEVELS), *outer, SEVERITY)

    return read


_OF_OVERRIDE: Mapping[str, Reader] = {
    "paths": strings,
    "select": selectors,
    "extend-select": selectors,
    "ignore": selectors,
    "extend-ignore": selectors,
    SEVERITY: _severity(OVERRIDES),
    "min-confidence": _confidence,
    "fail-level": choice(*SEVERITIES),
}
"""The keys of a table of overrides."""


def _path(pattern: str, *keys: str | int) -> str:
    """A pattern that is one as in .gitignore."""
    from dynamo_lint.discovery import is_pattern  # late: few configurations have any

    if not pattern.strip() or not is_pattern(pattern):
        raise Wrong(keys, f'{pattern!r} is no pattern as in .gitignore, such as "tests/**"')
    return pattern


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration: how it is read, and what the reference says about it."""

    read: Reader
    meaning: str
    example: str = ""
    """The right-hand side, where the default does not show what can be written."""
    choices: tuple[str, ...] = ()
    """All values, where they are few."""


KEYS: Mapping[str, Key] = {
    EXTEND: Key(
        text,
        "another configuration that this one adds to, relative to this file: its keys count where this one "
        "has none, and the tables `severity`, `per-file-ignores` and `contract` are merged key by key",
        '"../pyproject.toml"',
    ),
    REQUIRED: Key(_running, "versions of dynamo-lint that may run; another exits 2", '">=0.1"'),
    "preset": Key(
        choice(*PRESETS),
        "a policy to start from: `strict` makes an error of Python state that compiled code writes, of "
        "attributes that it looks up by text, and of reads of the environment, whether or not they cost: it "
        'turns on `pedantic`, and `mutable-state = "forbid"` in the contract',
        choices=tuple(PRESETS),
    ),
    "select": Key(selectors, 'report only these rules: codes, prefixes, names or `"ALL"`', '["DYN1"]'),
    "extend-select": Key(selectors, "report these rules as well", '["unresolved-entry"]'),
    "ignore": Key(selectors, "do not report these rules", '["DYN203"]'),
    "extend-ignore": Key(selectors, "do not report these rules either", '["DYN203"]'),
    SEVERITY: Key(
        _severity(),
        'how severe rules are: `"error"`, `"warning"`, `"note"`, or `"off"`',
        '{ DYN201 = "error", DYN4 = "note" }',
    ),
    PER_FILE_IGNORES: Key(
        _per_file_ignores,
        "rules that are not reported in some files, by patterns as in `.gitignore`",
        '{ "tests/**" = ["DYN1"] }',
    ),
    OVERRIDES: Key(
        _overrides,
        "tables for some `paths`, with any of `select`, `extend-select`, `ignore`, `extend-ignore`, "
        "`severity`, `min-confidence`, `fail-level`",
        '[{ paths = ["src/kernels"], fail-level = "note" }]',
    ),
    "pedantic": Key(flag, "report house-style notes as well"),
    "torch-version": Key(_torch_version, 'the torch version you compile with, `"2.6"` to `"2.15"`'),
    "recompile-limit": Key(number(1), "`torch._dynamo.config.recompile_limit`, if you change it"),
    "min-confidence": Key(
        _confidence,
        "lowest confidence that a line is compiled, for findings to be reported",
        choices=CONFIDENCES,
    ),
    "fail-level": Key(
        choice(*SEVERITIES), "lowest severity that makes the exit status 1", choices=SEVERITIES
    ),
    "fail-on-nothing-compiled": Key(flag, "exit 1 if nothing in the project is compiled"),
    "application": Key(
        flag,
        "no code outside of the project uses its classes, even if it has the metadata of a package: a fix is "
        "safe for attributes without an underscore as well",
    ),
    "regions": Key(
        strings,
        "classes and functions that are compiled by code that dynamo-lint cannot see",
        '["pkg.moe:MoE"]',
    ),
    "not-regions": Key(strings, "classes and functions that are never compiled", '["pkg.debug:*"]'),
    "region-comment": Key(text, "your own comment that marks a region", '"regional_compile region"'),
    "compile-wrappers": Key(
        _compilers("pkg.util:maybe_compile#0"),
        "functions that compile their Nth argument",
        '["pkg.util:maybe_compile#0"]',
    ),
    "compile-decorators": Key(
        _compilers("pkg.jit:jit_fuser"), "decorators that compile", '["pkg.jit:jit_fuser"]'
    ),
    "disable-decorators": Key(
        strings, "decorators that keep a function out of the graph", '["pkg.jit:eager"]'
    ),
    "assume": Key(
        choice(*ASSUMPTIONS),
        "what to treat as compiled in a library whose users compile it",
        choices=ASSUMPTIONS,
    ),
    "exclude": Key(
        strings, "files to exclude, written as in `.gitignore`; replaces the default", '["vendored"]'
    ),
    "extend-exclude": Key(strings, "files to exclude besides those", '["generated/*.py"]'),
    "baseline": Key(
        text, "the file of accepted findings, relative to this one", '"dynamo-lint-baseline.json"'
    ),
    "output-format": Key(choice(*OUTPUT_FORMATS), "output format of the findings", choices=OUTPUT_FORMATS),
    "probes": Key(strings, "files with probes for `confirm`, relative to this one", '["tests/probes.py"]'),
    CONTRACT: Key(
        read_contract,
        "how much a run may compile: `max-breaks`, `max-recompiles`, `max-compiles`, `max-limit-hits`, "
        "`max-recompiles-after`, `max-compile-seconds`, `min-cache-hits`, `max-guards`, `expected-breaks` by "
        "file, `ignore-log`; how it is set up: `torch`, `settings`, `settings-site`, "
        "`enforce`, `reset-sites`, `eager-islands`, `off-sites`, `suppress-sites`, `off-switches`, "
        "`dynamic-axes`, `min-group-timeout`, `guard-surface`, `mutable-state`, `max-autotune-configs`, "
        "`environment`",
        '{ max-breaks = 0, expected-breaks = { "pkg/model.py" = 2 } }',
    ),
}
"""Every key, in the order of the reference."""
