"""Settings: the defaults, the nearest configuration file, and the command line on top."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dynamo_lint import files
from dynamo_lint.contract import KEY as CONTRACT
from dynamo_lint.contract import Contract, read_contract
from dynamo_lint.findings import SEVERITIES
from dynamo_lint.raw_values import Reader, Wrong, choice, flag, line_of, number, strings, table, text
from dynamo_lint.regions.options import RegionOptions

CONFIDENCES = ("possible", "likely", "certain")
OLDER_WORDS = {"assumed": "possible"}
"""Words that earlier versions used, which configurations and scripts may still hold."""
"""From a guess to a proof; `min-confidence` compares positions in this tuple."""

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

FILE_NAMES = ("dynamo-lint.toml", "pyproject.toml")
"""Looked for in each folder in this order."""


class ConfigError(Exception):
    """A configuration that cannot be used; the text says where and what to do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, in Python's spelling of the keys."""

    select: tuple[str, ...] | None = None
    """None selects all rules but the pedantic ones."""
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    torch_version: tuple[int, int] = (2, 13)
    min_confidence: str = "likely"
    fail_level: str = "note"
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
    source: Path | None = None
    """The file that the settings come from."""

    @property
    def region_options(self) -> RegionOptions:
        """The part that says what is compiled."""
        return RegionOptions(
            declared=self.regions,
            cut=self.not_regions,
            compile_wrappers=self.compile_wrappers,
            compile_decorators=self.compile_decorators,
            disable_decorators=self.disable_decorators,
            assume=self.assume,
            guesses=self.min_confidence == "possible",
        )


def load(start: Path, file: Path | None = None, isolated: bool = False) -> Settings:
    """Settings from `file`, or else from the nearest configuration above `start`."""
    if isolated:
        return Settings()
    if file is not None:
        found = _found(file, named=True)
        if found is None:
            raise ConfigError(f"{file}: there is no [tool.dynamo-lint] table")
        return _parsed(file, *found)
    for folder in (start, *start.parents):
        for name in FILE_NAMES:
            candidate = folder / name
            if not candidate.is_file():
                continue
            if candidate.is_symlink() and not files.inside(candidate, [files.around(folder)]):
                raise ConfigError(f"{candidate}: is a link out of the project; name its file with --config")
            if (found := _found(candidate)) is not None:
                return _parsed(candidate, *found)
    return Settings()


def override(settings: Settings, **options: Any) -> Settings:
    """Settings with the options that were given on the command line (those that are not None)."""
    return replace(settings, **{key: value for key, value in options.items() if value is not None})


def parse_torch_version(text: str) -> tuple[int, int]:
    """`2.13` or `2.13.1` as a pair, which may be newer than is known; a ValueError says what is known."""
    match = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)*", text.strip())
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
    if file.name != "pyproject.toml":
        return content, data
    tool = data.get("tool", {})
    raw = tool.get("dynamo-lint") if isinstance(tool, dict) else None
    if raw is not None and not isinstance(raw, dict):
        raise ConfigError(f"{file}: [tool.dynamo-lint] must be a table")
    return None if raw is None else (content, raw)


def _parsed(file: Path, content: str, raw: Mapping[str, object]) -> Settings:
    try:
        values = table(raw, {key: about.read for key, about in KEYS.items()})
    except Wrong as wrong:
        raise ConfigError(f"{_place(file, content, wrong.keys)}: {wrong}") from None
    home = file.absolute().parent
    if "baseline" in values:
        values["baseline"] = home / values["baseline"]
        if not files.inside(values["baseline"], [files.around(home)]):
            raise ConfigError(f"{file}: baseline leads out of the project; name it with --baseline")
    if "probes" in values:
        values["probes"] = tuple(home / probe for probe in values["probes"])
    return Settings(**values, source=file.absolute())


def place_of(file: Path, *keys: str) -> str:
    """The file and line of a key in a configuration that was read."""
    return _place(file, files.read_named(file).decode("utf-8"), keys)


def _place(file: Path, content: str, keys: tuple[str, ...]) -> str:
    outer = ("tool", "dynamo-lint") if file.name == "pyproject.toml" else ()
    line = line_of(content, (*outer, *keys))
    return f"{file}:{line}" if line else str(file)


def _torch_version(raw: object) -> tuple[int, int]:
    if isinstance(raw, float):
        # 2.10 would be read as 2.1.
        raise ValueError('the version in quotes, such as "2.13"')
    return parse_torch_version(raw if isinstance(raw, str) else "")


def _confidence(raw: object) -> str:
    return choice(*CONFIDENCES)(OLDER_WORDS.get(raw, raw) if isinstance(raw, str) else raw)


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
    "select": Key(strings, 'report only these rules: codes, prefixes, names or `"ALL"`', '["DYN1"]'),
    "ignore": Key(strings, "do not report these rules", '["DYN203"]'),
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
    "regions": Key(
        strings,
        "classes and functions that are compiled by code that dynamo-lint cannot see",
        '["pkg.moe:MoE"]',
    ),
    "not-regions": Key(strings, "classes and functions that are never compiled", '["pkg.debug:*"]'),
    "region-comment": Key(text, "your own comment that marks a region", '"regional_compile region"'),
    "compile-wrappers": Key(
        strings, "functions that compile their Nth argument", '["pkg.util:maybe_compile#0"]'
    ),
    "compile-decorators": Key(strings, "decorators that compile", '["pkg.jit:jit_fuser"]'),
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
        "`expected-breaks` by file, `ignore-log`; how it is set up: `torch`, `settings`, `settings-site`, "
        "`reset-sites`, `eager-islands`, `mutable-state`, `max-autotune-configs`, `environment`",
        '{ max-breaks = 0, expected-breaks = { "pkg/model.py" = 2 } }',
    ),
}
"""Every key, in the order of the reference."""
