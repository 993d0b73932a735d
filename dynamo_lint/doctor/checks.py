"""The checks of `dynamo-lint doctor`: from the surroundings of a job to what is wrong with them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from dynamo_lint.contract import FOLDERS, NOT_ROOT, RANKS, XLA, Expectation, is_under, value_fault
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.doctor.look import RANK_VARIABLES, Folder, Surroundings, count
from dynamo_lint.models.environment import environment, misreading, reading, reads_on, unknown
from dynamo_lint.raw_values import satisfies, stated

ERROR, WARNING, NOTE = "error", "warning", "note"
"""An error keeps the job from being started."""

_EAGER = {
    "TORCHDYNAMO_SUPPRESS_ERRORS": "code that fails to compile runs eagerly, without a word",
    "TORCHDYNAMO_DISABLE": "nothing is compiled",
    "TORCH_COMPILE_DISABLE": "nothing is compiled",
}
_NO_CACHES = ("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "TORCH_COMPILE_FORCE_DISABLE_CACHES")
_CACHED = {
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "every start of the job has inductor compile each graph again; unset it",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "every start of the job traces forward and backward again; unset it",
}
"""Caches that are on by themselves, and what it costs to turn one off."""
_CACHES = ("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR")
_ALL_CACHES = (
    *_CACHES,
    "JAX_COMPILATION_CACHE_DIR",
    "XLA_COMPILATION_CACHE_DIR",
    "XLA_PERSISTENT_CACHE_PATH",
)
_TUNING = ("TORCHINDUCTOR_MAX_AUTOTUNE", "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM")
_BACKENDS = "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS"
_SPACE = "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_SEARCH_SPACE"
_APART = "TORCHINDUCTOR_AUTOTUNE_IN_SUBPROC"
_MONITORING, _HEARTBEAT = "TORCH_NCCL_ENABLE_MONITORING", "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC"

_GIGABYTE = 1_000_000_000
_LEAST_BYTES = _GIGABYTE
_LEAST_FILES = 10_000
_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "lustre", "ceph", "gpfs", "beegfs", "9p", "glusterfs"})
_DEFAULT = "TORCHINDUCTOR_CACHE_DIR"
_LOGS = frozenset({"TORCH_TRACE", "TORCH_DTRACE"})
"""Folders whose content is looked at once."""
_NOTHING = Expectation()


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is not as it should be."""

    id: str
    """The kind of check: `misread`, `unknown`, `contract`, `folder`, `switch`, `pair`, `ranks` or `tools`."""
    severity: str
    message: str
    """The fault and, behind a semicolon, the way out."""
    variable: str | None = None
    value: str | None = None
    """None where the variable is not set, or nothing of torch reads it: then its value may be a secret."""
    read_as: str | None = None
    """The reading of torch, where that is not what the value says."""
    state: str | None = None
    """`unset`, `set`, or `differs` from what the contract says; None where there is no variable."""


def examine(seen: Surroundings) -> list[Check]:
    """All that is wrong, the worst first."""
    found = [
        *_version(seen),
        *_values(seen),
        *_contract(seen),
        *_settings(seen),
        *_folders(seen),
        *_switches(seen),
        *_pairs(seen),
        *_autotuning(seen),
        *_ranks(seen),
        *_tools(seen),
    ]
    told = dict.fromkeys(map(_without_secrets, found))
    return sorted(told, key=lambda one: (ERROR, WARNING, NOTE).index(one.severity))


def strictly(checks: Sequence[Check]) -> list[Check]:
    """The same, with an error for whatever the contract says."""
    found = [
        replace(one, severity=ERROR) if one.id == "contract" and one.severity == WARNING else one
        for one in checks
    ]
    return sorted(found, key=lambda one: (ERROR, WARNING, NOTE).index(one.severity))


def _without_secrets(check: Check) -> Check:
    """A check with the state of its variable, and with its value only if torch or its libraries read it."""
    if check.variable is None:
        return check
    state = check.state or ("unset" if check.value is None else "set")
    return replace(check, state=state, value=check.value if environment().shows(check.variable) else None)


def _version(seen: Surroundings) -> Iterator[Check]:
    """Whether torch is there, and is one that the contract allows."""
    wanted = seen.contract.torch
    if seen.torch is None:
        judged = ".".join(map(str, seen.judged_as))
        where = f" ({seen.judged_from})" if seen.judged_from else ""
        advice = f"judged as torch {judged}{where}; name another with --torch-version"
        yield Check("contract" if wanted else "tools", NOTE, f"torch is not installed here; {advice}")
    elif wanted is not None and not satisfies(version := ".".join(map(str, seen.torch)), wanted):
        yield Check("contract", ERROR, f"torch is {version}; the contract wants {wanted}")


def _values(seen: Surroundings) -> Iterator[Check]:
    """The values that torch reads as something else, and the names that it does not read."""
    table = environment()
    for name, value in sorted(seen.environ.items()):
        variable = table.variables.get(name)
        if advice := unknown(name, seen.judged_as):
            message = f"no code of torch reads this; {advice}"
            yield Check("unknown", WARNING, message, name, value, "ignored")
        elif variable is not None and (wrong := misreading(variable, value)):
            yield Check("misread", ERROR, f"{wrong.why}; {wrong.advice}", name, value, wrong.read_as)


def _in_force(seen: Surroundings) -> dict[str, Expectation]:
    """The demands of the contract that apply to this job."""
    holds = {None: True, RANKS: seen.ranks, XLA: seen.xla}
    return {name: one for name, one in seen.contract.environment if holds[one.when]}


def _contract(seen: Surroundings) -> Iterator[Check]:
    """The demands of the contract on values; those on folders are looked at with the folders."""
    for name, wanted in _in_force(seen).items():
        value = seen.environ.get(name)
        if fault := value_fault(value, wanted):
            differs = value is not None and not wanted.forbidden and value != ""
            yield Check("contract", ERROR, fault, name, value, state="differs" if differs else None)


def _settings(seen: Surroundings) -> Iterator[Check]:
    """The settings of the contract that variables or code set to something else, or that nothing sets."""
    for said, wanted in seen.contract.settings:
        from dynamo_lint.models.settings import known_settings, name_today  # late: few contracts have any

        name, known = name_today(said), known_settings()
        lines = [one for one in seen.in_code or () if one.name == name]
        asked = [*known.overriding.get(name, ()), *(() if lines else known.variables.get(name, ()))]
        given = [(one, seen.environ[one]) for one in asked if one in seen.environ]
        for variable, value in given:
            made = reading(environment().variables[variable], value)
            if made is not None and not _agrees(name, made, wanted):
                message = f"makes `{said}` {made!r}, and the contract says {wanted!r}; change it"
                yield Check("contract", ERROR, message, variable, value)
        for one in lines:
            if one.value is not None and not _agrees(name, one.value, wanted):
                message = f"{one.place} sets `{said}` to {one.value!r}, and the contract says {wanted!r}"
                yield Check("contract", ERROR if one.at_site else WARNING, f"{message}; set it so")
        default = known.defaults.get(name, wanted)
        if seen.in_code is not None and not lines and not given and not _agrees(name, default, wanted):
            message = f"no code here sets `{said}`, which is {default!r} by itself"
            yield Check("contract", WARNING, f"{message}, and the contract says {wanted!r}; set it so")


def _agrees(name: str, value: object, wanted: object) -> bool:
    """Whether a setting is as the contract says; a limit may be lower."""
    if name.endswith("recompile_limit") and isinstance(value, int) and isinstance(wanted, int):
        return value <= wanted
    return value == wanted


def _on(seen: Surroundings, name: str) -> bool:
    """Whether torch takes a switch for on."""
    value, variable = seen.environ.get(name), environment().variables[name]
    if value is None:
        return variable.default == "on"
    return reads_on(variable, value)


def _switches(seen: Surroundings) -> Iterator[Check]:
    """The switches that keep code from being compiled; one that is misread has been told."""
    wanted = _in_force(seen)
    for name, cost in _EAGER.items():
        value = seen.environ.get(name)
        if value is None or not _on(seen, name) or misreading(environment().variables[name], value):
            continue
        if name not in wanted or wanted[name].equals != value:
            yield Check("switch", ERROR, f"{cost}; unset it", name, value, "on")
    for name in _NO_CACHES:
        if name in seen.environ and _on(seen, name):
            message = "every start of the job compiles everything again; unset it"
            yield Check("switch", WARNING, message, name, seen.environ[name], "on")
    for name, cost in _CACHED.items():
        value = seen.environ.get(name)
        if value is None or _on(seen, name) or misreading(environment().variables[name], value):
            continue
        if name not in wanted or wanted[name].equals != value:
            yield Check("switch", WARNING, cost, name, value, "off")


def _pairs(seen: Surroundings) -> Iterator[Check]:
    """Variables of which one makes the other useless."""
    environ = seen.environ
    off = next((name for name in _NO_CACHES if name in environ and _on(seen, name)), None)
    for name in _CACHES:
        if off and name in environ:
            yield Check("pair", WARNING, f"{off} turns the caches off; unset one", name, environ[name])
    if environ.get(_BACKENDS) and not any(_on(seen, name) for name in _TUNING):
        message = f"autotuning is off, so that this does nothing; set {_TUNING[1]}=1 or unset it"
        yield Check("pair", WARNING, message, _BACKENDS, environ[_BACKENDS])
    first: dict[str, str] = {}
    for name in _ALL_CACHES:
        if value := environ.get(name):
            other = first.setdefault(seen.look(value).path, name)
            if other != name:
                yield Check("pair", WARNING, f"the folder of {other}; give each its own", name, value)
    if environ.get(_MONITORING) == "0" and _HEARTBEAT in environ:
        message = f"{_MONITORING}=0 turns the watch off, so that this does nothing; unset one"
        yield Check("pair", NOTE, message, _HEARTBEAT, environ[_HEARTBEAT])


def _autotuning(seen: Surroundings) -> Iterator[Check]:
    """The limits of autotuning: how much it tries, and what a bad candidate takes along."""
    tuned = next((name for name in _TUNING if name in seen.environ and _on(seen, name)), None)
    if tuned is None:
        return
    value = seen.environ[tuned]
    if not _on(seen, _APART):
        message = f"a candidate that crashes or hangs takes the job along; set {_APART}=1"
        yield Check("autotune", NOTE, message, tuned, value)
    if seen.environ.get(_SPACE) == "EXHAUSTIVE":
        yield Check("autotune", WARNING, "tries out every configuration; unset it", _SPACE, "EXHAUSTIVE")


def _ranks(seen: Surroundings) -> Iterator[Check]:
    """Numbers of processes that are none, and ranks that may take one for dead that compiles for long."""
    for name in RANK_VARIABLES:
        if (value := seen.environ.get(name)) is not None and count(value) is None:
            message = "no number of processes; unset it, or let the launcher set it"
            yield Check("ranks", WARNING, message, name, value, "an error")
    if not seen.ranks or seen.environ.get(_MONITORING) == "0" or _HEARTBEAT in seen.environ:
        return
    message = (
        "a rank that compiles for long may be taken for dead; set it to more than the longest compile, "
        f"or {_MONITORING}=0"
    )
    yield Check("ranks", WARNING, message, _HEARTBEAT)


def _tools(seen: Surroundings) -> Iterator[Check]:
    """The programs that the compiler needs."""
    if not seen.compiler:
        message = "no C++ compiler is on the path, and inductor needs one; install g++, or set CXX"
        yield Check("tools", WARNING, message)
    if seen.gpu and not seen.triton:
        yield Check("tools", WARNING, "there is a GPU, but Triton is not installed; install triton")


def _folders(seen: Surroundings) -> Iterator[Check]:
    """The faults of all folders that variables name."""
    wanted = _in_force(seen)
    named = {name for name, variable in environment().variables.items() if variable.kind == "folder"}
    named |= {name for name, one in wanted.items() if stated(one).keys() & set(FOLDERS)}
    for name in sorted(named):
        value = seen.environ.get(name)
        if value:
            yield from _folder(seen, name, value, wanted.get(name, _NOTHING))
    if _DEFAULT not in seen.environ and not wanted.get(_DEFAULT, _NOTHING).required:
        message = f"torch puts its cache below {seen.temporary}; name a folder that outlives the machine"
        yield Check("folder", NOTE, message, _DEFAULT)


def _folder(seen: Surroundings, name: str, value: str, wanted: Expectation) -> Iterator[Check]:
    """The faults of one folder."""
    found = seen.look(value)

    def check(severity: str, message: str, kind: str = "folder") -> Check:
        return Check(kind, severity, message, name, value)

    if found.problem:
        # It names parts of the path.
        problem = found.problem if environment().shows(name) else "no file can be made there"
        yield check(ERROR, f"{problem}; name a folder in which files can be made")
        return
    if not posixpath.isabs(value):
        yield check(WARNING, "relative, so that each working directory has another; make it absolute")
    for place in wanted.not_under:
        if is_under(found.path, place):
            yield check(ERROR, f"the contract wants it outside of {place}; name another folder", "contract")
            return
    for demand in _demands(seen, wanted, found):
        yield check(ERROR, demand, "contract")
    if wanted.free_gb and (found.free_bytes or 0) < wanted.free_gb * _GIGABYTE:
        message = f"{_gigabytes(found)} free, and the contract wants {wanted.free_gb:g} GB; make room"
        yield check(ERROR, message, "contract")
    elif found.free_bytes is not None and found.free_bytes < _LEAST_BYTES:
        yield check(WARNING, f"{_gigabytes(found)} free; make room")
    if found.free_files is not None and found.free_files < _LEAST_FILES:
        yield check(WARNING, f"room for {found.free_files} more files only; make room")
    if name not in _LOGS and (fault := _fleeting(seen, found)):
        yield check(*fault)


def _demands(seen: Surroundings, wanted: Expectation, found: Folder) -> Iterator[str]:
    """The demands of a contract on the volume and the path of a folder that it does not meet."""
    if wanted.exists and not found.exists:
        yield "the contract wants a folder that is there; mount its volume, or make it"
    if wanted.volume == NOT_ROOT and found.on_root:
        yield "the contract wants it on another volume than `/`; mount that, or name another folder"
    if wanted.mount is not None and wanted.mount not in found.mounts:
        yield f"the contract wants it on the mount {wanted.mount}; mount it, or name a folder there"
    if wanted.per_run is not None:
        run = seen.environ.get(wanted.per_run, "")
        if not run:
            yield f"the contract wants the value of {wanted.per_run} in its path, and that is not set; set it"
        elif re.search(rf"(?<![^\W_]){re.escape(run)}(?![^\W_])", found.path) is None:
            yield f"the contract wants the value of {wanted.per_run} in its path; name a folder for each run"


def _fleeting(seen: Surroundings, found: Folder) -> tuple[str, str] | None:
    """How bad it is that a cache will not be found again by the next job, or not soon, and why."""
    if found.filesystem in _MEMORY:
        return WARNING, f"in memory ({found.filesystem}): gone with the machine; name a folder on a disk"
    if any(is_under(found.path, one) for one in {seen.temporary, "/tmp", "/var/tmp", "/dev/shm"}):
        return WARNING, "a temporary folder, which may be cleared; name a folder that outlives the machine"
    if found.filesystem in _NETWORK or found.filesystem.startswith("fuse."):
        why = f"on a network ({found.filesystem}), where many small files are slow"
        return NOTE, f"{why}; prefer a local disk"
    return None


def _gigabytes(found: Folder) -> str:
    return f"{(found.free_bytes or 0) / _GIGABYTE:.1f} GB"
