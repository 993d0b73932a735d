"""Settings: where they come from, and what is said about wrong ones."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from dynamo_lint.commands.output import toml
from dynamo_lint.config import (
    DEFAULT_EXCLUDE,
    KEYS,
    ConfigError,
    Settings,
    load,
    override,
    parse_torch_version,
)
from dynamo_lint.contract import Contract, Expectation, ExpectedBreaks
from dynamo_lint.discovery import patterns
from dynamo_lint.inheritance import moved
from dynamo_lint.levels import Choices, Override
from dynamo_lint.raw_values import satisfies
from dynamo_lint.selectors import UnknownSelector, enabled, matching
from dynamo_lint.toml import tomllib

CATALOGUE = {
    "DYN101": "mutated-scalar-attribute",
    "DYN103": "none-or-tensor-attribute",
    "DYN201": "environment-read",
    "DYN902": "unresolved-entry",
}

EVERYTHING = """
select = ["DYN1", "environment-read"]
ignore = ["DYN103"]
exclude = ["generated"]
extend-exclude = ["vendored/*.py"]
torch-version = "2.10.1"
min-confidence = "possible"
fail-level = "error"
assume = "blocks"
regions = ["pkg.moe:MoE"]
not-regions = ["pkg.debug:*"]
region-comment = "regional_compile region"
compile-wrappers = ["pkg.util:maybe_compile#0"]
compile-decorators = ["pkg.jit:jit_fuser"]
disable-decorators = ["pkg.jit:eager"]
pedantic = true
recompile-limit = 64
output-format = "json"
contract = { max-breaks = 2 }
required-version = ">=0.1, <9"
preset = "strict"
extend-select = ["DYN902"]
extend-ignore = ["DYN5"]
severity = { DYN201 = "error", DYN4 = "off" }
per-file-ignores = { "tests/**" = ["DYN"] }
fail-on-nothing-compiled = true
application = true
probes = ["probes.py"]
overrides = [{ paths = ["src"], select = [], min-confidence = "assumed", fail-level = "note" }]
"""


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_every_key_is_read_from_its_own_file(tmp_path: Path) -> None:
    file = write(tmp_path / "dynamo-lint.toml", EVERYTHING)
    write(tmp_path / "probes.py", "def probe_it(): ...\n")
    assert set(tomllib.loads(EVERYTHING)) | {"baseline", "extend"} == set(KEYS)
    assert load(tmp_path) == Settings(
        select=("DYN1", "environment-read"),
        ignore=("DYN103",),
        exclude=("generated",),
        extend_exclude=("vendored/*.py",),
        torch_version=(2, 10),
        min_confidence="possible",
        fail_level="error",
        assume="blocks",
        regions=("pkg.moe:MoE",),
        not_regions=("pkg.debug:*",),
        region_comment="regional_compile region",
        compile_wrappers=("pkg.util:maybe_compile#0",),
        compile_decorators=("pkg.jit:jit_fuser",),
        disable_decorators=("pkg.jit:eager",),
        pedantic=True,
        recompile_limit=64,
        output_format="json",
        contract=Contract(max_breaks=2, mutable_state="forbid"),
        required_version=">=0.1, <9",
        preset="strict",
        extend_select=("DYN902",),
        extend_ignore=("DYN5",),
        severity={"DYN201": "error", "DYN4": "off"},
        per_file_ignores={"tests/**": ("DYN",)},
        fail_on_nothing_compiled=True,
        application=True,
        probes=(tmp_path / "probes.py",),
        overrides=(Override(("src",), Choices(select=(), min_confidence="possible", fail_level="note")),),
        source=file,
    )


def test_region_options_carry_every_region_key(tmp_path: Path) -> None:
    write(tmp_path / "dynamo-lint.toml", EVERYTHING)
    write(tmp_path / "probes.py", "def probe_it(): ...\n")
    options = load(tmp_path).region_options
    assert options.declared == ("pkg.moe:MoE",)
    assert options.cut == ("pkg.debug:*",)
    assert options.compile_wrappers == ("pkg.util:maybe_compile#0",)
    assert options.compile_decorators == ("pkg.jit:jit_fuser",)
    assert options.disable_decorators == ("pkg.jit:eager",)
    assert options.assume == "blocks"
    assert options.guesses


def test_nearest_configuration_wins_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.dynamo-lint]\npedantic = true\n")
    near = write(tmp_path / "a/pyproject.toml", "[tool.dynamo-lint]\nrecompile-limit = 3\n")
    settings = load(tmp_path / "a/b")
    assert (settings.source, settings.recompile_limit, settings.pedantic) == (near, 3, False)


def test_pyproject_without_our_table_is_passed_on_the_way_up(tmp_path: Path) -> None:
    outer = write(tmp_path / "dynamo-lint.toml", "pedantic = true\n")
    write(tmp_path / "a/pyproject.toml", "[tool.other]\nselect = 1\n")
    assert load(tmp_path / "a").source == outer


def test_own_file_comes_before_pyproject_in_one_folder(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.dynamo-lint]\n")
    own = write(tmp_path / "dynamo-lint.toml", "")
    assert load(tmp_path).source == own


def test_isolated_ignores_files_and_a_named_file_beats_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "dynamo-lint.toml", "pedantic = true\n")
    other = write(tmp_path / "other.toml", "recompile-limit = 2\n")
    assert load(tmp_path, isolated=True) == Settings()
    assert load(tmp_path, file=other) == Settings(recompile_limit=2, source=other)


def test_options_override_and_absent_options_do_not() -> None:
    settings = Settings(fail_level="error", pedantic=True)
    assert override(settings, fail_level=None, pedantic=None, assume="modules") == Settings(
        fail_level="error", pedantic=True, assume="modules"
    )


def test_defaults_are_those_of_the_documentation() -> None:
    assert Settings() == Settings(
        select=None,
        exclude=DEFAULT_EXCLUDE,
        torch_version=(2, 13),
        min_confidence="likely",
        fail_level="warning",
        assume="none",
        recompile_limit=8,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "unknown key 'selct'; did you mean 'select'?"),
        ("torch_version = '2.13'", "unknown key 'torch_version'; did you mean 'torch-version'?"),
        ("zzz = 1", "unknown key 'zzz'"),
        ("select = 'DYN101'", 'select = "DYN101": expected a list of strings'),
        ("select = [1]", "select = [1]: expected a list of strings"),
        ("regions = ['']", "expected a list of strings"),
        ("pedantic = 1", "pedantic = 1: expected true or false"),
        ("recompile-limit = 0", "expected a whole number of 1 or more"),
        ("recompile-limit = true", "recompile-limit = true: expected a whole number of 1 or more"),
        ("recompile-limit = 8.0", "expected a whole number of 1 or more"),
        ("torch-version = 2.10", "expected the version in quotes"),
        ("torch-version = '1.13'", 'expected a torch version from "2.6" to "2.15"'),
        ("torch-version = '2'", "expected a torch version"),
        (f"torch-version = '2.{'9' * 5000}'", 'expected a torch version from "2.6" to "2.15"'),
        ("fail-level = 'warn'", 'expected one of "note", "warning", "error"; did you mean \'warning\'?'),
        ("assume = false", 'assume = false: expected one of "none", "blocks", "modules"'),
        ("region-comment = ' '", "expected a line of text that is not empty"),
        ('region-comment = "a\\u0000b"', "expected a line of text"),
        ("recompile-limit = 9999999999999999999", "expected a whole number of 1 or more"),
        ("contract = 1", "contract = 1: expected a table"),
        ("contract = { max-break = 1 }", "'contract.max-break'; did you mean 'contract.max-breaks'?"),
        ("contract = { max-breaks = -1 }", "contract.max-breaks = -1: expected a whole number of 0 or more"),
        ("contract = { ignore-log = 'x' }", 'contract.ignore-log = "x": expected a list of strings'),
        ("contract = { expected-breaks = 2 }", "expected a table of files, such as"),
        (
            "contract = { expected-breaks = { 'pkg/a.py' = '2' } }",
            'contract.expected-breaks."pkg/a.py" = "2": expected a whole number of 0 or more',
        ),
        (
            "contract = { expected-breaks = { '/a.py' = 2 } }",
            "expected a Python file below this configuration",
        ),
        ("contract = { expected-breaks = { '../a.py' = 2 } }", "expected a Python file below"),
        ("contract = { expected-breaks = { 'pkg' = 2 } }", "expected a Python file below"),
        ("contract = { torch = '2.13' }", 'contract.torch = "2.13": expected versions as in requirements'),
        (f"contract = {{ torch = '>=2,>={'9' * 5000}' }}", "expected versions as in requirements"),
        ("contract = { settings = { a = [] } }", "contract.settings.a = []: expected true, false, a number"),
        ("contract = { settings-site = 'configure' }", 'expected a function, such as "pkg.setup:configure"'),
        ("contract = { reset-sites = ['pkg/a.py'] }", "expected a function"),
        ("contract = { max-recompiles-after = 40 }", "expected a table with one key, { compiles = 40 }"),
        ("contract = { max-recompiles-after = {} }", "expected a table with one key, { compiles = 40 }"),
        (
            "contract = { max-recompiles-after = { compiles = 4, seconds = 2 } }",
            "expected a table with one key",
        ),
        (
            "contract = { max-recompiles-after = { calls = 4 } }",
            "unknown key 'contract.max-recompiles-after.calls'",
        ),
        (
            "contract = { max-recompiles-after = { compiles = 1.5 } }",
            "contract.max-recompiles-after.compiles = 1.5: expected a whole number of 0 or more",
        ),
        ("contract = { max-compile-seconds = '9' }", "expected a number of 0 or more"),
        ("contract = { min-cache-hits = 0.9 }", "expected a whole number of 0 or more"),
        ("contract = { max-guards = true }", "expected a whole number of 0 or more"),
        (
            "contract = { environment = { TRITON_CACHE_DIR = { volume = 'root' } } }",
            'contract.environment.TRITON_CACHE_DIR.volume = "root": expected one of "not-root"; did you mean',
        ),
        (
            "contract = { environment = { TRITON_CACHE_DIR = { mount = 'mnt/x' } } }",
            'expected the place of a volume, such as "/mnt/scratch"',
        ),
        (
            "contract = { environment = { TRITON_CACHE_DIR = { per-run = '$SLURM_JOB_ID' } } }",
            'expected the name of an environment variable, such as "SLURM_JOB_ID"',
        ),
        (
            "contract = { environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = { exists = true } } }",
            "expected a variable before it that names a folder",
        ),
        ("contract = { mutable-state = 'forbidden' }", "did you mean 'forbid'?"),
        ("contract = { dynamic-axes = ['train:x'] }", 'expected an axis of a tensor, such as "train:x#0"'),
        ("contract = { min-group-timeout = '30m' }", "expected a number of 0 or more"),
        ("contract = { guard-surface = '/guards.json' }", "expected a file below this configuration"),
        ("contract = { enforce = 'errors' }", "did you mean 'error'?"),
        ("contract = { off-switches = 'forbidden' }", "did you mean 'forbid'?"),
        ("contract = { off-sites = 'train:main' }", "expected a list of strings"),
        ("contract = { supress-sites = ['a:b'] }", "did you mean 'contract.suppress-sites'?"),
        ("contract = { max-autotune-configs = 0 }", "expected a whole number of 1 or more"),
        (
            "contract = { environment = { A = 1 } }",
            'contract.environment.A = 1: expected a string, such as "1"',
        ),
        ("contract = { environment = { A = {} } }", "expected a string"),
        (
            "contract = { environment = { TORCHINDUCTOR_MAX_AUTOTUNE = 'True' } }",
            "expected a value that torch reads as it says (torch takes `1` alone for on): set it to `1`",
        ),
        (
            "contract = { environment = { A = { require = true } } }",
            "unknown key 'contract.environment.A.require'; did you mean 'contract.environment.A.required'?",
        ),
        (
            "contract = { environment = { A = { when = 'ranks>1' } } }",
            """expected one of "ranks > 1", "xla"; did you mean 'ranks > 1'?""",
        ),
        (
            "contract = { environment = { A = { min = 2, max = 1 } } }",
            "expected a number that is not above max",
        ),
        ("contract = { environment = { A = { free-gb = nan } } }", "expected a number of 0 or more"),
        (
            f"contract = {{ environment = {{ A = {{ free-gb = {'9' * 400} }} }} }}",
            "free-gb = a number of many digits: expected a number of 0 or more",
        ),
        (
            "contract = { environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = 'yes' } }",
            'TORCHINDUCTOR_FX_GRAPH_CACHE = "yes": expected "1" or "0"',
        ),
        (
            "contract = { environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = { writable = true } } }",
            "writable = true: expected a variable before it that names a folder",
        ),
        (
            "contract = { environment = { TORCH_TRACE = { max = 4 } } }",
            "max = 4: expected a variable before it that takes a number",
        ),
        (
            "contract = { settings = { capture_scalar_output = true } }",
            "did you mean 'capture_scalar_outputs'?",
        ),
        (
            "contract = { settings = { max_autotune = true } }",
            "did you mean 'torch._inductor.config.max_autotune'?",
        ),
        ("contract = { settings = { a = 1 } }", "torch has no such setting; name its module as well"),
        ("contract = { settings = { recompile_limit = '8' } }", '= "8": expected a whole number'),
        ("contract = { settings = { recompile_limit = -1 } }", "= -1: expected a number of 0 or more"),
        ("contract = { settings = { verbose = 1 } }", "verbose = 1: expected true or false"),
        ("contract = { settings = { repro_level = inf } }", "= inf: expected true, false, a number"),
        ("contract = { environment = { A = { min = '2' } } }", "expected a number of 0 or more"),
        (
            "contract = { environment = { A = { forbidden = true, equals = '1' } } }",
            "forbidden = true: expected no other demand on a variable that is forbidden",
        ),
        (
            "contract = { environment = { TORCHINDUCTOR_CACHE_DIRS = '/x' } }",
            "contract.environment.TORCHINDUCTOR_CACHE_DIRS: torch reads no such variable; did you mean "
            "`TORCHINDUCTOR_CACHE_DIR`?",
        ),
        ("select = [", "is not valid TOML:"),
        ("select = ['DYN1O1']", "select: no rule is named 'DYN1O1'; did you mean 'DYN101'?"),
        ("extend-ignore = ['envrionment-read']", "did you mean 'environment-read'?"),
        ("severity = 'error'", "expected a table of levels, such as { DYN201 ="),
        ("severity = { DYN9999 = 'error' }", "severity.DYN9999: no rule is named 'DYN9999'"),
        ("severity = { DYN201 = 'fatal' }", 'severity.DYN201 = "fatal": expected one of "note", "warning",'),
        ("severity = { DYN201 = 2 }", "severity.DYN201 = 2: expected one of"),
        ("per-file-ignores = ['a.py']", "expected a table of paths, such as"),
        ("per-file-ignores = { 'a.py' = 'DYN1' }", 'per-file-ignores."a.py" = "DYN1": expected a list of'),
        ("per-file-ignores = { 'a.py' = ['DYNX'] }", "per-file-ignores.\"a.py\": no rule is named 'DYNX'"),
        ("per-file-ignores = { 'a[z-a].py' = [] }", "'a[z-a].py' is no pattern as in .gitignore"),
        ("per-file-ignores = { '' = [] }", "'' is no pattern as in .gitignore, such as"),
        ("overrides = { paths = ['a'] }", "expected tables [[tool.dynamo-lint.overrides]]"),
        ("overrides = [{ select = [] }]", "overrides: expected paths, such as"),
        ("overrides = [{ paths = [] }]", "overrides: expected paths, such as"),
        ("overrides = [{ path = ['a'] }]", "'overrides.path'; did you mean 'overrides.paths'?"),
        ("overrides = [{ paths = ['a'], pedantic = true }]", "unknown key 'overrides.pedantic'"),
        ("overrides = [{ paths = ['a'], fail-level = 1 }]", "overrides.fail-level = 1: expected one of"),
        ("overrides = [{ paths = ['a'], severity = { X = 'off' } }]", "overrides.severity.X: no rule"),
        ("preset = 'strickt'", 'preset = "strickt": expected one of "strict"; did you mean'),
        ("fail-on-nothing-compiled = 'yes'", 'fail-on-nothing-compiled = "yes": expected true or false'),
        ("required-version = '0.1'", 'required-version = "0.1": expected versions as in requirements'),
        (
            "required-version = '>=99'\nnew-key = 1",
            "this is dynamo-lint 0.1.0, and required-version is '>=99'",
        ),
        (
            "compile-wrappers = ['a:b#x']",
            'expected functions by their names, such as ["pkg.util:maybe_compile#0"]',
        ),
        ("compile-decorators = ['a:*']", "expected functions by their names, such as"),
        ("compile-decorators = ['a:b#1']", "expected functions by their names, such as"),
        ("probes = ['gone.py']", 'probes: "gone.py": there is no such file'),
    ],
)
def test_wrong_configuration_is_one_line_with_file_key_and_expectation(
    tmp_path: Path, text: str, message: str
) -> None:
    file = write(tmp_path / "dynamo-lint.toml", text + "\n")
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    said = str(caught.value)
    assert said.startswith((f"{file}: ", f"{file}:1: "))
    assert message in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.dynamo-lint]\nselect = []\npedantic = 1\n", 3),
        ("[tool.other]\npedantic = 1\n[tool.dynamo-lint]\n# pedantic = 2\npedantic = 1\n", 5),
        ("[tool.dynamo-lint.contract]\nmax-breaks = 'a'\n", 2),
        ("[tool.dynamo-lint]\ncontract.max-breaks = -1\n", 2),
        ("[tool.dynamo-lint]\ncontract = { ignore-log = [], max-breaks = -1 }\n", 2),
        ("[tool.dynamo-lint.contract.expected-breaks]\n'a.py' = 1\n'b.py' = -1\n", 3),
        ("[tool]\ndynamo-lint = { pedantic = 1 }\n", 2),
        ("[tool.dynamo-lint.severity]\nDYN1 = 'note'\nDYN2 = 'x'\n", 3),
        ("[tool.dynamo-lint.per-file-ignores]\n'a.py' = ['DYN1']\n'b.py' = ['E1']\n", 3),
        ("[[tool.dynamo-lint.overrides]]\npaths = ['a']\nselect = ['E1']\n", 3),
        (
            "[[tool.dynamo-lint.overrides]]\npaths = ['a']\nselect = []\n"
            "[[tool.dynamo-lint.overrides]]\npaths = ['a']\n\nselect = ['E1']\n",
            7,
        ),
        ("[[tool.dynamo-lint.overrides]]\npaths = ['a']\n[[tool.dynamo-lint.overrides]]\nselect = []\n", 3),
        ("[tool.dynamo-lint]\noverrides = [\n  { paths = ['a'] },\n  { paths = ['b'], select = 1 },\n]\n", 4),
        ("[tool.dynamo-lint.contract.environment]\nA = '1'\nB = { min = 'x' }\n", 3),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    file = write(tmp_path / "pyproject.toml", text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(f"{file}:{line}: ")


VALUES = (
    *("3", "-1", "1.5", "nan", "true", '""', '" "', '"zzqq"', '"a\\nb"', "[]", "[1]", '[""]', '["zzqq"]'),
    *("[[3]]", "{}", "{ a = 1 }", '{ zzqq = "zzqq" }', '{ "" = 1 }', "2020-01-01", "[{ a = 1 }]"),
)
"""Of every kind that TOML knows, most of them wrong anywhere."""


@pytest.mark.parametrize(
    "key",
    [
        *KEYS,
        *(f"contract.{one.name.replace('_', '-')}" for one in fields(Contract)),
        *(f"contract.environment.A.{one.name.replace('_', '-')}" for one in fields(Expectation)),
        *("contract.settings.verbose", "contract.environment.TORCH_TRACE", "severity.DYN101"),
        *('contract.expected-breaks."a.py"', 'per-file-ignores."a.py"'),
    ],
)
def test_a_value_of_any_kind_is_read_or_refused_at_its_line(tmp_path: Path, key: str) -> None:
    said = []
    file = tmp_path / "dynamo-lint.toml"
    for value in VALUES:
        write(file, f"\n\n{key} = {value}\n")
        try:
            load(tmp_path)
        except ConfigError as error:
            said.append(str(error))
    assert len(said) > len(VALUES) / 2
    assert [one for one in said if not one.startswith(f"{file}:3: ") or "\n" in one] == []


def test_a_contract_is_read_with_its_files_and_functions(tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        "[tool.dynamo-lint.contract]\nmax-breaks = 3\nmax-recompiles = 0\nignore-log = ['deprecated']\n"
        "expected-breaks = { 'pkg/a.py' = 13, './pkg/b.py:B.forward' = 0 }\n",
    )
    assert load(tmp_path).contract == Contract(
        max_recompiles=0,
        max_breaks=3,
        expected_breaks=(ExpectedBreaks("pkg/a.py", "", 13), ExpectedBreaks("pkg/b.py", "B.forward", 0)),
        ignore_log=("deprecated",),
    )


@pytest.mark.parametrize(
    "specifier",
    [">=0.1", ">=0.1.0", "==0.1", "==0.1.*", "~=0.1", "~=0.1.0", "<1, >0.0.9", "!=0.2", "<=0.1.0", "!=0.2.*"],
)
def test_a_version_meets_what_is_required(specifier: str) -> None:
    assert satisfies("0.1.0", specifier)
    assert satisfies("0.1.0.dev3", specifier)


@pytest.mark.parametrize(
    "specifier", [">=0.2", "==0.1.1", "==0.2.*", "~=0.2", "~=0.1.1", "<0.1", ">0.1", "!=0.1"]
)
def test_a_version_misses_what_is_required(specifier: str) -> None:
    assert not satisfies("0.1.0", specifier)


@pytest.mark.parametrize("specifier", ["", "0.1", "=>0.1", ">=0.1.*", "~=1", ">=a", ">=0.1,", ">=0.1 <1"])
def test_a_specifier_that_is_none_is_refused(specifier: str) -> None:
    with pytest.raises(ValueError, match="versions as in requirements"):
        satisfies("9.9", specifier)


def test_a_contract_is_read_with_settings_sites_and_environment(tmp_path: Path) -> None:
    text = """
[contract]
torch = ">=2.13"
settings = { capture_scalar_outputs = true, recompile_limit = 8 }
settings-site = "train.setup:configure"
reset-sites = ["train.retry:rebuild"]
eager-islands = ["pkg.mamba:MBlock.forward"]
off-sites = ["train:main"]
suppress-sites = ["train:main"]
off-switches = "forbid"
enforce = "error"
dynamic-axes = ["train:x#0"]
min-group-timeout = 1800
guard-surface = "guards.json"
mutable-state = "forbid"
max-autotune-configs = 8
[contract.environment]
TORCHINDUCTOR_CACHE_DIR = { required = true, writable = true, free-gb = 50, not-under = ["/tmp", "/"] }
TORCHINDUCTOR_FX_GRAPH_CACHE = "1"
TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC = { min = 7200, when = "ranks > 1" }
"""
    write(tmp_path / "dynamo-lint.toml", text)
    contract = load(tmp_path).contract
    assert contract == Contract(
        torch=">=2.13",
        settings=(("capture_scalar_outputs", True), ("recompile_limit", 8)),
        settings_site="train.setup:configure",
        reset_sites=("train.retry:rebuild",),
        eager_islands=("pkg.mamba:MBlock.forward",),
        off_sites=("train:main",),
        suppress_sites=("train:main",),
        off_switches="forbid",
        enforce="error",
        dynamic_axes=("train:x#0",),
        min_group_timeout=1800,
        guard_surface="guards.json",
        mutable_state="forbid",
        max_autotune_configs=8,
        environment=(
            (
                "TORCHINDUCTOR_CACHE_DIR",
                Expectation(required=True, writable=True, free_gb=50, not_under=("/tmp", "/")),
            ),
            ("TORCHINDUCTOR_FX_GRAPH_CACHE", Expectation(equals="1")),
            ("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", Expectation(min=7200, when="ranks > 1")),
        ),
    )
    write(tmp_path / "dynamo-lint.toml", f"contract = {toml('contract', contract)}\n")
    assert load(tmp_path).contract == contract


def test_broken_toml_names_line_and_column(tmp_path: Path) -> None:
    write(tmp_path / "dynamo-lint.toml", "pedantic = true\nselect = ]\n")
    with pytest.raises(ConfigError, match=r"line 2, column \d+"):
        load(tmp_path)


def test_pyproject_whose_table_is_no_table_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool]\ndynamo-lint = 1\n")
    with pytest.raises(ConfigError, match="expected a table"):
        load(tmp_path)


def test_configuration_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_bytes("region-comment = 'ä'".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load(tmp_path)


def test_named_configuration_must_exist_and_hold_our_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load(tmp_path, file=tmp_path / "no.toml")
    with pytest.raises(ConfigError, match=r"there is no \[tool.dynamo-lint\] table"):
        load(tmp_path, file=write(tmp_path / "pyproject.toml", ""))


@pytest.mark.parametrize("text", ["2.6", "2.13", "2.13.0", " 2.15 ", "2.16", "2.24.1"])
def test_known_and_newer_torch_versions_are_read(text: str) -> None:
    assert parse_torch_version(text) == tuple(int(part) for part in text.strip().split(".")[:2])


@pytest.mark.parametrize("text", ["", "2", "2.5", "2.25", "3.0", "9.9", "abc", "2.x", "v2.13", "2.13+cpu"])
def test_unknown_torch_versions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a torch version"):
        parse_torch_version(text)


@pytest.mark.parametrize(
    ("selector", "codes"),
    [
        ("DYN101", {"DYN101"}),
        ("dyn101", {"DYN101"}),
        ("DYN1", {"DYN101", "DYN103"}),
        ("environment-read", {"DYN201"}),
        ("ALL", set(CATALOGUE)),
    ],
)
def test_selectors_are_codes_prefixes_names_or_all(selector: str, codes: set[str]) -> None:
    assert matching(selector, CATALOGUE) == codes


@pytest.mark.parametrize("selector", ["DYN3", "DYN1011", "environment", "", "E501"])
def test_selector_that_names_no_rule_is_refused(selector: str) -> None:
    with pytest.raises(UnknownSelector):
        matching(selector, CATALOGUE)


def test_unresolved_entries_are_reported_only_when_asked_for() -> None:
    assert enabled(None, (), False, CATALOGUE) == {"DYN101", "DYN103", "DYN201"}
    assert "DYN902" in enabled(None, (), True, CATALOGUE)
    assert enabled(("DYN9",), (), False, CATALOGUE) == {"DYN902"}


def test_ignore_takes_away_from_what_is_selected() -> None:
    assert enabled(("DYN1",), ("DYN103",), False, CATALOGUE) == {"DYN101"}
    assert enabled(None, ("ALL",), True, CATALOGUE) == set()


# --- extend ------------------------------------------------------------------------------------------

OUTER = """
[tool.dynamo-lint]
select = ["DYN1"]
pedantic = true
severity = { DYN1 = "note", DYN2 = "error" }
per-file-ignores = { "a/tests/**" = ["DYN1"], "b/x.py" = ["DYN2"], "gen" = ["DYN3"] }
baseline = "accepted.json"

[tool.dynamo-lint.contract]
max-breaks = 2
guard-surface = "guards.json"
expected-breaks = { "a/net.py" = 1, "b/net.py" = 3 }
"""
INNER = """
extend = "../pyproject.toml"
pedantic = false
severity = { DYN1 = "error" }
per-file-ignores = { "gen" = ["DYN4"] }
contract = { max-breaks = 0 }
"""


def test_nearer_keys_win_tables_are_merged_and_paths_count_from_their_own_file(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", OUTER)
    inner = write(tmp_path / "a/dynamo-lint.toml", INNER)
    settings = load(tmp_path / "a")
    assert (settings.source, settings.select, settings.pedantic) == (inner, ("DYN1",), False)
    assert settings.severity == {"DYN1": "error", "DYN2": "error"}
    assert settings.per_file_ignores == {"/tests/**": ("DYN1",), "gen": ("DYN4",)}
    assert settings.baseline == tmp_path / "accepted.json"
    assert settings.contract == Contract(
        max_breaks=0, guard_surface="../guards.json", expected_breaks=(ExpectedBreaks("net.py", "", 1),)
    )
    assert settings.place("select") == f"{outer}:3: "
    assert settings.place("severity", "DYN1") == f"{inner}:4: "
    assert settings.place("severity", "DYN2") == f"{outer}:5: "


def test_a_file_that_is_extended_may_extend_another(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", '[tool.dynamo-lint]\nassume = "blocks"\nfail-level = "note"\n')
    write(tmp_path / "a/dynamo-lint.toml", 'extend = "../pyproject.toml"\nfail-level = "error"\n')
    write(tmp_path / "a/b/dynamo-lint.toml", 'extend = "../dynamo-lint.toml"\n')
    settings = load(tmp_path / "a/b")
    assert (settings.assume, settings.fail_level, settings.extend) == (
        "blocks",
        "error",
        "../dynamo-lint.toml",
    )


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, '{a}:2: extend = "../base.toml": there is no such file'),
        (
            {"base.toml": 'extend = "a/dynamo-lint.toml"\n'},
            '{base}:1: extend = "a/dynamo-lint.toml": the files extend each other in a circle: '
            "a/dynamo-lint.toml -> base.toml -> a/dynamo-lint.toml",
        ),
        ({"base.toml": "\nunknown = 1\n"}, "{base}:2: unknown key 'unknown'"),
        ({"base.toml": "contract = { settings = { nothing_like_it = 1 } }\n"}, "{base}:1: contract.settings"),
        ({"base.toml/x": ""}, '{a}:2: extend = "../base.toml": there is no such file'),
    ],
    ids=["missing", "circle", "unknown key", "unknown setting", "folder"],
)
def test_what_cannot_be_extended_is_told_with_file_and_line(
    tmp_path: Path, files: dict[str, str], told: str
) -> None:
    inner = write(tmp_path / "a/dynamo-lint.toml", '\nextend = "../base.toml"\n')
    for name, text in files.items():
        write(tmp_path / name, text)
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "a")
    assert str(error.value).startswith(told.format(a=inner, base=tmp_path / "base.toml"))


def test_a_pyproject_without_our_table_cannot_be_extended(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[project]\n")
    inner = write(tmp_path / "a/dynamo-lint.toml", 'extend = "../pyproject.toml"\n')
    with pytest.raises(ConfigError) as error:
        load(tmp_path / "a")
    wrong = "there is no [tool.dynamo-lint] table in it"
    assert str(error.value) == f'{inner}:1: extend = "../pyproject.toml": {wrong}'


def test_a_file_out_of_the_project_is_not_extended(tmp_path: Path) -> None:
    write(tmp_path / "other/base.toml", "")
    write(tmp_path / "project/dynamo-lint.toml", f'extend = "{tmp_path}/other/base.toml"\n')
    with pytest.raises(ConfigError, match=r"dynamo-lint\.toml:1: extend = .*leads out of the project"):
        load(tmp_path / "project")


@pytest.mark.parametrize(
    "pattern", ["a", "/a", "a/", "a/x.py", "/a/b/*.py", "*/x.py", "x.py", "**/x.py", "b/**"]
)
@pytest.mark.parametrize("path", ["x.py", "b/x.py", "b/c/x.py", "a/x.py", "y.py"])
def test_a_moved_pattern_matches_what_it_matched(pattern: str, path: str) -> None:
    told = moved({"per_file_ignores": {pattern: ()}}, Path("/top"), Path("/top/a"), Path("/top/a"))
    patterns_there = tuple(told["per_file_ignores"])
    before = bool(patterns([pattern])(f"a/{path}"))
    assert bool(patterns_there and patterns(patterns_there)(path)) == before, patterns_there


@pytest.mark.parametrize(
    ("pattern", "there"), [("gen/x.py", ("/shared/gen/x.py",)), ("gen", ("gen",)), ("!gen", ("!gen",))]
)
def test_a_pattern_of_a_file_below_counts_from_its_folder(pattern: str, there: tuple[str, ...]) -> None:
    told = moved({"exclude": (pattern,)}, Path("/top/shared"), Path("/top"), Path("/top"))
    assert told["exclude"] == there


def test_a_pattern_that_excludes_a_whole_folder_does_not_when_that_is_named() -> None:
    told = moved({"exclude": ("/a", "b/x.py", "gen")}, Path("/top"), Path("/top/a"), Path("/top/a"))
    assert told["exclude"] == ("gen",)
