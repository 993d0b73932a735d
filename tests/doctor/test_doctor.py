"""`dynamo-lint doctor`: what is wrong with the surroundings of a job, and how the job is started."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.contract import Contract, Expectation, is_under
from dynamo_lint.doctor.checks import Check, examine
from dynamo_lint.doctor.look import (
    Folder,
    SetInCode,
    Surroundings,
    environment_of,
    launches_ranks,
    look,
    rank,
    surroundings,
)
from dynamo_lint.torch_version import installed, release

HOME = {"TORCHINDUCTOR_CACHE_DIR": "/mnt/cache"}
FINE = Folder("/mnt/cache", filesystem="ext4", free_bytes=10**12, free_files=10**9)
where_torch_is_installed = pytest.mark.skipif(
    find_spec("torch") is None, reason="without torch there is one note more"
)


def seen(environ: dict[str, str], folder: Folder = FINE, **more) -> Surroundings:
    plain = Surroundings(
        environ={**HOME, **environ},
        torch=(2, 13, 0),
        judged_as=(2, 13),
        ranks=False,
        xla=False,
        compiler=True,
        gpu=False,
        triton=False,
        temporary="/tmp",
        look=lambda path: replace(folder, path=path),
        contract=Contract(),
    )
    return replace(plain, **more)


def told(found: list[Check]) -> list[tuple[str, str, str | None]]:
    return [(one.id, one.severity, one.variable) for one in found]


def test_surroundings_that_are_right_are_not_spoken_of() -> None:
    assert (
        examine(seen({"TORCH_LOGS": "recompiles", "TORCHINDUCTOR_MAX_AUTOTUNE": "0", "PATH": "/bin"})) == []
    )


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TORCHDYNAMO_SUPPRESS_ERRORS": "0"}, ("misread", "error", "TORCHDYNAMO_SUPPRESS_ERRORS")),
        ({"TORCHDYNAMO_SUPPRESS_ERRORS": "1"}, ("switch", "error", "TORCHDYNAMO_SUPPRESS_ERRORS")),
        ({"TORCHDYNAMO_DISABLE": "1"}, ("switch", "error", "TORCHDYNAMO_DISABLE")),
        ({"TORCH_LOGS": "recompile"}, ("misread", "error", "TORCH_LOGS")),
        ({"TORCH_LOGS": ""}, ("misread", "error", "TORCH_LOGS")),
        ({"TORCH_LOGS": "dynamo,"}, ("misread", "error", "TORCH_LOGS")),
        ({"TORCH_LOGS": "dynamo , aot"}, ("misread", "error", "TORCH_LOGS")),
        ({"RANK": "9" * 5000}, ("ranks", "warning", "RANK")),
        ({"WORLD_SIZE": "two"}, ("ranks", "warning", "WORLD_SIZE")),
        ({"TORCHINDUCTOR_MAX_AUTOTUN": "1"}, ("unknown", "warning", "TORCHINDUCTOR_MAX_AUTOTUN")),
        (
            {"TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": "TRITON"},
            ("pair", "warning", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS"),
        ),
        ({"TRITON_CACHE_DIR": "/mnt/cache"}, ("pair", "warning", "TRITON_CACHE_DIR")),
        ({"TORCHINDUCTOR_MAX_AUTOTUNE": "1"}, ("autotune", "note", "TORCHINDUCTOR_MAX_AUTOTUNE")),
    ],
)
def test_one_variable_is_one_check(environ: dict[str, str], expected: tuple[str, str, str]) -> None:
    assert told(examine(seen(environ))) == [expected]


@pytest.mark.parametrize("name", ["TORCHINDUCTOR_FX_GRAPH_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE"])
def test_a_cache_that_is_turned_off_is_a_warning_unless_the_contract_says_so(name: str) -> None:
    assert told(examine(seen({name: "0"}))) == [("switch", "warning", name)]
    assert examine(seen({name: "1"})) == []
    wanted = Contract(environment=((name, Expectation(equals="0")),))
    assert examine(seen({name: "0"}, contract=wanted)) == []


@pytest.mark.parametrize(
    ("wanted", "folder", "said"),
    [
        (Expectation(exists=True), replace(FINE, exists=False), "a folder that is there"),
        (Expectation(exists=True), FINE, None),
        (Expectation(volume="not-root"), replace(FINE, on_root=True), "another volume than `/`"),
        (Expectation(volume="not-root"), FINE, None),
        (Expectation(mount="/mnt/x"), replace(FINE, mounts=("/",)), "on the mount /mnt/x"),
        (Expectation(mount="/mnt/x"), replace(FINE, mounts=("/mnt/x", "/")), None),
        (Expectation(per_run="SLURM_JOB_ID"), FINE, "in its path; name a folder for each run"),
        (Expectation(per_run="PBS_JOBID"), FINE, "PBS_JOBID in its path, and that is not set"),
    ],
)
def test_a_contract_asks_for_a_volume_and_a_folder_of_the_run(
    wanted: Expectation, folder: Folder, said: str | None
) -> None:
    contract = Contract(environment=(("TRITON_CACHE_DIR", wanted),))
    environ = {"TRITON_CACHE_DIR": "/mnt/x/run-123", "SLURM_JOB_ID": "12"}
    found = examine(seen(environ, folder, contract=contract))
    assert told(found) == ([("contract", "error", "TRITON_CACHE_DIR")] if said else [])
    assert all(str(said) in one.message for one in found)


def test_the_folder_of_a_run_holds_its_number() -> None:
    contract = Contract(environment=(("TRITON_CACHE_DIR", Expectation(per_run="SLURM_JOB_ID")),))
    for path in ("/mnt/x/run-12", "/mnt/x/12/triton", "/mnt/12_0"):
        assert examine(seen({"TRITON_CACHE_DIR": path, "SLURM_JOB_ID": "12"}, contract=contract)) == []


def test_a_folder_knows_its_volume(tmp_path: Path) -> None:
    found = look(str(tmp_path / "later"))
    assert not found.exists
    assert found.mounts[-1] == "/"
    assert found.on_root == (tmp_path.stat().st_dev == Path("/").stat().st_dev)
    assert look(str(tmp_path)).exists
    assert "/proc" in look("/proc").mounts


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("env A=1 B=x=y torchrun train.py C=2", {"A": "1", "B": "x=y", "OLD": "0"}),
        ("/usr/bin/env -u OLD --unset=HOME A=1 python", {"A": "1"}),
        ("env -i A=1 env B=2 python", {"A": "1", "B": "2"}),
        ("env -C /tmp A=1 python", {"A": "1", "OLD": "0"}),
        ("env -- A=1 python", {"A": "1", "OLD": "0"}),
        ("env -S 'A=1 python train.py'", {"A": "1", "OLD": "0"}),
        ("python A=1", {"OLD": "0"}),
        ("env", {"OLD": "0"}),
        ("env -u", {"OLD": "0"}),
    ],
)
def test_env_behind_the_dashes_counts(command: str, expected: dict[str, str]) -> None:
    assert environment_of({"OLD": "0"}, shlex.split(command)) == expected


def test_what_env_sets_is_looked_at_and_starts(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_text('[contract.environment]\nFLAG = "1"\n')
    command = (sys.executable, "-c", "import os; print(os.environ['FLAG'])")
    for value, status in (("1", 0), ("2", 1)):
        done = doctor("--", "env", f"FLAG={value}", *command, cwd=tmp_path)
        assert done.returncode == status
        assert done.stdout == ("1\n" if status == 0 else "")


def test_a_strict_look_keeps_a_job_from_starting_whose_code_breaks_the_contract(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_text("[contract.settings]\ncapture_scalar_outputs = true\n")
    (tmp_path / "train.py").write_text("import torch\n")
    plain, strict = doctor(cwd=tmp_path), doctor("--strict", cwd=tmp_path)
    assert (plain.returncode, strict.returncode) == (0, 1)
    assert "error no code here sets `capture_scalar_outputs`" in strict.stdout
    both = doctor("--strict", "--warn-only", cwd=tmp_path)
    assert (both.returncode, "contradict" in both.stderr) == (2, True)


def test_caches_that_are_off_make_their_folder_useless() -> None:
    found = examine(seen({"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "off"}))
    assert {one.id for one in found} == {"misread", "switch", "pair"}


@pytest.mark.parametrize(
    ("folder", "severity", "said"),
    [
        (Folder("", "cannot be made: Permission denied"), "error", "cannot be made"),
        (replace(FINE, free_bytes=10**8), "warning", "0.1 GB free"),
        (replace(FINE, free_files=10), "warning", "10 more files"),
        (replace(FINE, filesystem="tmpfs"), "warning", "in memory"),
        (replace(FINE, filesystem="nfs4"), "note", "on a network"),
    ],
)
def test_a_cache_has_to_be_writable_lasting_and_roomy(folder: Folder, severity: str, said: str) -> None:
    (check,) = examine(seen({}, folder))
    assert (check.severity, check.variable) == (severity, "TORCHINDUCTOR_CACHE_DIR")
    assert said in check.message


def test_a_cache_that_is_relative_temporary_or_not_named_is_told() -> None:
    (relative,) = examine(seen({"TORCHINDUCTOR_CACHE_DIR": "cache"}))
    (temporary,) = examine(seen({"TORCHINDUCTOR_CACHE_DIR": "/tmp/cache"}))
    (missing,) = examine(replace(seen({}), environ={}))
    assert "relative" in relative.message
    assert "temporary" in temporary.message
    assert (missing.severity, missing.value) == ("note", None)


def test_several_ranks_need_patience_with_each_other() -> None:
    (check,) = examine(seen({}, ranks=True))
    assert told([check]) == [("ranks", "warning", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC")]
    assert examine(seen({"TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC": "7200"}, ranks=True)) == []
    assert examine(seen({"TORCH_NCCL_ENABLE_MONITORING": "0"}, ranks=True)) == []


def test_the_tools_of_the_compiler_are_looked_for() -> None:
    found = examine(seen({}, compiler=False, gpu=True))
    assert ["C++" in found[0].message, "Triton" in found[1].message] == [True, True]


@pytest.mark.parametrize(
    ("name", "wanted", "value", "said"),
    [
        ("A", Expectation(equals="1"), "1", None),
        ("A", Expectation(equals="1"), "0", "wants `1`"),
        ("A", Expectation(equals="1"), None, "wants `1`"),
        ("A", Expectation(required=True), None, "requires it"),
        ("A", Expectation(required=True), "", "it is empty"),
        ("A", Expectation(forbidden=True), "x", "forbids it"),
        ("A", Expectation(forbidden=True), None, None),
        ("A", Expectation(min=2), "1", "at least 2"),
        ("A", Expectation(max=2), "2.5", "at most 2"),
        ("A", Expectation(min=2), None, "requires it"),
        ("A", Expectation(min=2), "two", "a number"),
        ("A", Expectation(min=2), "nan", "a number"),
        ("A", Expectation(equals="1", when="ranks > 1"), None, None),
        ("A", Expectation(equals="1", when="xla"), None, None),
        ("A", Expectation(not_under=("/mnt",)), "/mnt/x", "outside of /mnt"),
        ("A", Expectation(not_under=("/",)), "/x", None),
        ("A", Expectation(free_gb=2000), "/x", "1000.0 GB free, and the contract wants 2000 GB"),
        ("A", Expectation(free_gb=50), "/x", None),
    ],
)
def test_the_contract_is_held(name: str, wanted: Expectation, value: str | None, said: str | None) -> None:
    environ = {} if value is None else {name: value}
    found = examine(seen(environ, contract=Contract(environment=((name, wanted),))))
    errors = [one for one in found if one.severity == "error"]
    assert [one.variable for one in errors] == ([name] if said else [])
    assert all(said and said in one.message for one in errors)


def in_code(name: str, value: object, at_site: bool = False) -> SetInCode:
    return SetInCode(f"torch._dynamo.config.{name}", value, "setup.py:3", at_site)


@pytest.mark.parametrize(
    ("setting", "environ", "lines", "expected"),
    [
        (("disable", False), {"TORCH_COMPILE_CPROFILE": "1"}, (), []),
        (("verbose", False), {"TORCHDYNAMO_VERBOSE": "1"}, None, ["error: makes `verbose` True"]),
        (("verbose", True), {"TORCHDYNAMO_VERBOSE": "1"}, (), []),
        (("verbose", False), {"TORCHDYNAMO_VERBOSE": "1"}, (in_code("verbose", False),), []),
        (
            ("automatic_dynamic_local_pgo", False),  # this variable counts before the code
            {"TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "1"},
            (in_code("automatic_dynamic_local_pgo", False),),
            ["error: makes `automatic_dynamic_local_pgo` True"],
        ),
        (("repro_level", 2), {"TORCHDYNAMO_REPRO_LEVEL": "4"}, (), ["error: makes `repro_level` 4"]),
        (("verbose", True), {}, (in_code("verbose", False, True),), ["error: setup.py:3 sets `verbose`"]),
        (("verbose", True), {}, (in_code("verbose", False),), ["warning: setup.py:3 sets `verbose`"]),
        (("verbose", True), {}, (in_code("verbose", None, True),), []),
        (("verbose", True), {}, (in_code("disable", True, True),), ["warning: no code here sets `verbose`"]),
        (("verbose", True), {}, None, []),
        (("recompile_limit", 8), {}, (in_code("recompile_limit", 4),), []),
        (("cache_size_limit", 8), {}, (in_code("recompile_limit", 64),), ["warning: setup.py:3 sets"]),
        (("torch._inductor.config.max_autotune", True), {}, (), []),
    ],
)
def test_settings_are_as_the_contract_says(
    setting: tuple[str, bool | int],
    environ: dict[str, str],
    lines: tuple[SetInCode, ...] | None,
    expected: list[str],
) -> None:
    found = examine(seen(environ, contract=Contract(settings=(setting,)), in_code=lines))
    said = [f"{one.severity}: {one.message}" for one in found if one.id == "contract"]
    assert len(said) == len(expected)
    assert all(map(str.startswith, said, expected))


def test_the_contract_names_the_versions_of_torch() -> None:
    contract = Contract(torch=">=2.14")
    assert [one.message for one in examine(seen({}, contract=contract))] == [
        "torch is 2.13.0; the contract wants >=2.14"
    ]


def test_a_folder_is_tried_out_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert look(str(tmp_path)).problem == ""
    assert look(str(tmp_path / "new" / "deep")).problem == ""
    assert look(str(tmp_path / "file" / "deep")).problem == f"{tmp_path / 'file'} is a file"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    assert look("/proc/new").problem.startswith("cannot be made: ")


def test_paths_lie_below_folders_and_not_below_names_that_begin_alike() -> None:
    assert is_under("/tmp/x", "/tmp/")
    assert not is_under("/tmpfs", "/tmp")
    assert is_under("/", "/")


@pytest.mark.parametrize(
    ("command", "several"),
    [
        (["torchrun", "--nproc-per-node", "8", "a.py"], True),
        (["/opt/bin/torchrun", "--nproc_per_node=gpu", "a.py"], True),
        (["python", "-m", "torch.distributed.run", "--nnodes=2", "a.py"], True),
        (["torchrun", "--nproc-per-node=1", "a.py"], False),
        (["python", "a.py", "--nnodes=2"], False),
        ([], False),
    ],
)
def test_a_launcher_of_several_ranks_is_known(command: list[str], several: bool) -> None:
    assert launches_ranks(command) is several
    assert surroundings({}, command, Settings(), (2, 13)).ranks is several


@where_torch_is_installed
def test_versions_and_ranks_are_read_from_what_is_there() -> None:
    assert installed() == release(_version_of_torch())
    assert installed([]) is None
    assert release("2.13.0+cu130") == (2, 13, 0)
    assert release("main") is None
    assert [rank({}), rank({"RANK": "3", "LOCAL_RANK": "1"}), rank({"RANK": "x"})] == [0, 3, 0]
    assert surroundings({"LOCAL_RANK": "0"}, [], Settings(), (2, 13)).ranks
    assert not surroundings({"RANK": "0", "WORLD_SIZE": "1"}, [], Settings(), (2, 13)).ranks


def _version_of_torch() -> str:
    from importlib.metadata import version

    return version("torch")


def doctor(*words: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith(("TORCH", "TRITON"))}
    command = [sys.executable, "-m", "dynamo_lint", "doctor", *words]
    return subprocess.run(
        command, cwd=cwd, env={**plain, **environ}, capture_output=True, text=True, check=False
    )


@where_torch_is_installed
def test_a_job_is_started_in_this_process_with_its_environment(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getppid(), os.environ['TORCH_LOGS']); sys.exit(7)"
    done = doctor("--", sys.executable, "-c", code, cwd=tmp_path, TORCH_LOGS="recompiles")
    assert done.stdout == f"{os.getpid()} recompiles\n"
    assert done.returncode == 7
    assert done.stderr.endswith("doctor: 1 note; " + sys.executable + " starts\n")


@where_torch_is_installed
def test_a_job_is_not_started_where_something_is_wrong_unless_that_is_wanted(tmp_path: Path) -> None:
    wrong = {"TORCHDYNAMO_SUPPRESS_ERRORS": "0"}
    done = doctor("--", "echo", "started", cwd=tmp_path, **wrong)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == (
        "error TORCHDYNAMO_SUPPRESS_ERRORS=0: torch takes any text for on, this too; unset it"
    )
    assert done.stderr.endswith("doctor: 1 error, 1 note; not started\n")
    done = doctor("--warn-only", "--", "echo", "started", cwd=tmp_path, **wrong)
    assert (done.returncode, done.stdout) == (0, "started\n")


@pytest.mark.parametrize(("command", "status"), [("no-such-program", 127), ("/etc/passwd", 126)])
def test_a_command_that_cannot_run_has_the_status_of_a_shell(
    tmp_path: Path, command: str, status: int
) -> None:
    done = doctor("--", command, cwd=tmp_path)
    assert done.returncode == status
    assert f"dynamo-lint: {command}: cannot be run: " in done.stderr


def test_the_report_for_programs_has_every_check(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_text("[contract.environment]\nTORCH_TRACE = { required = true }\n")
    done = doctor("--output-format", "json", "--torch-version", "2.9.1", cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert {key: report[key] for key in ("schema", "torch", "started")} == {
        "schema": "dynamo-lint/doctor/1",
        "torch": "2.9.1",
        "started": False,
    }
    assert report["checks"][0] == {
        "id": "contract",
        "severity": "error",
        "variable": "TORCH_TRACE",
        "state": "unset",
        "value": None,
        "read_as": None,
        "message": "the contract requires it; set it before Python starts",
    }


@where_torch_is_installed
def test_ranks_but_the_first_print_only_their_errors(tmp_path: Path) -> None:
    assert doctor(cwd=tmp_path, RANK="1", WORLD_SIZE="2").stdout == ""
    done = doctor(cwd=tmp_path, RANK="1", WORLD_SIZE="2", TORCHDYNAMO_DISABLE="1")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "[rank1] error TORCHDYNAMO_DISABLE=1: nothing is compiled; unset it",
        "[rank1] doctor: 1 error, 1 warning, 1 note",
    ]


def test_a_wrong_contract_or_option_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "team.toml").write_text("[contract.environment]\nTORCH_LOG = '1'\n")
    done = doctor("--contract", "team.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "dynamo-lint: team.toml:2: contract.environment.TORCH_LOG: torch reads no such variable; "
        "did you mean `TORCH_LOGS`?\n"
    )
    for version in ("new", f"2.{'9' * 5000}"):
        refused = doctor("--torch-version", version, cwd=tmp_path)
        assert refused.returncode == 2
        assert "a version of torch is expected" in refused.stderr


SETUP = """
import torch._dynamo.config as dynamo

MOST = 4


def configure(debug):
    dynamo.verbose = False
    dynamo.cache_size_limit = MOST
    dynamo.cache_size_limit = int(debug)
    if debug:
        dynamo.suppress_errors = True
"""
CONTRACT = """
[contract]
settings = { verbose = true, recompile_limit = 8, suppress_errors = false, capture_scalar_outputs = true }
settings-site = "setup:configure"
"""


@where_torch_is_installed
def test_code_is_read_for_what_it_sets(tmp_path: Path) -> None:
    (tmp_path / "dynamo-lint.toml").write_text(CONTRACT)
    assert "1 note" in doctor(cwd=tmp_path).stdout.splitlines()[-1]
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_setup.py").write_text(
        "import torch\ntorch._dynamo.config.capture_scalar_outputs = False"
    )
    done = doctor(cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines()[:3] == [
        "error setup.py:8 sets `verbose` to False, and the contract says True; set it so",
        "warning setup.py:12 sets `suppress_errors` to True, and the contract says False; set it so",
        "warning no code here sets `capture_scalar_outputs`, which is False by itself, and the contract says True; "
        "set it so",
    ]


def test_a_look_imports_no_torch(tmp_path: Path) -> None:
    code = "import sys; from dynamo_lint.cli import run; run(['doctor']); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "wanted", ['"x"', "{ forbidden = true }", "{ min = 2 }", "{ writable = true }", "{ max = 1 }"]
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_contract_that_asks_for_a_secret_is_not_told_it(tmp_path: Path, wanted: str, form: str) -> None:
    names = ("DEPLOY_TOKEN", "TORCH_TOKEN", "TORCHINDUCTOR_REDIS_URL")
    wishes = "".join(f"{name} = {wanted}\n" for name in names if "min" not in wanted and "max" not in wanted)
    (tmp_path / "dynamo-lint.toml").write_text(f"[contract.environment]\n{wishes}DEPLOY_KEY = {wanted}\n")
    (tmp_path / "s3cr3t").write_text("")  # what is no folder would be named
    secret = str(tmp_path / "s3cr3t" / "0123")
    done = doctor(
        "--output-format",
        form,
        cwd=tmp_path,
        DEPLOY_KEY=secret,
        **dict.fromkeys((*names, "TORCHDYNAMO_X"), secret),
    )
    assert done.returncode == 1
    assert "DEPLOY_KEY" in done.stdout
    assert "s3cr3t" not in done.stdout + done.stderr


def test_what_torch_does_not_read_is_told_as_set_unset_or_different() -> None:
    wishes = {
        "TOKEN": Expectation(equals="x"),
        "KEY": Expectation(forbidden=True),
        "NAME": Expectation(required=True),
        "TORCH_TRACE": Expectation(equals="/x"),
    }
    found = examine(
        seen(
            {"TOKEN": "y", "KEY": "z", "TORCH_TRACE": "/y"},
            contract=Contract(environment=tuple(wishes.items())),
        )
    )
    assert {one.variable: (one.state, one.value) for one in found if one.id == "contract"} == {
        "TOKEN": ("differs", None),
        "KEY": ("set", None),
        "NAME": ("unset", None),
        "TORCH_TRACE": ("differs", "/y"),
    }


def test_numbers_of_ranks_that_are_none_are_a_line_and_no_crash(tmp_path: Path) -> None:
    digits = "1" * 5000
    done = doctor(cwd=tmp_path, RANK=digits, WORLD_SIZE=digits, LOCAL_RANK="²", COLUMNS=digits)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert f"RANK={'1' * 200}…: no number of processes" in done.stdout


@pytest.mark.parametrize(
    "line", [f"max-breaks = {'1' * 5000}", f"max-breaks = 0x{'f' * 5000}", f'torch = ">={"1" * 5000}"']
)
def test_numbers_of_thousands_of_digits_in_a_contract_are_a_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "dynamo-lint.toml").write_text(f"[contract]\n{line}\n")
    done = doctor(cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "internal error" not in done.stderr
