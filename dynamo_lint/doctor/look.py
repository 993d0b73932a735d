"""The surroundings of a job: versions, programs and folders of this machine, without an import of torch."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

from dynamo_lint.config import Settings
from dynamo_lint.contract import Contract
from dynamo_lint.dataclass import dataclass
from dynamo_lint.models.environment import environment

RANK_VARIABLES = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
"""What torch.distributed takes for numbers."""

_COUNTS = ("--nproc-per-node", "--nproc_per_node", "--nnodes")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, or the place where it would be made, as it was tried out."""

    path: str
    """Absolute."""
    problem: str = ""
    """Why no file can be made in it; empty where one was made and removed."""
    filesystem: str = ""
    """Its type, such as `ext4`; empty where the system does not say."""
    free_bytes: int | None = None
    free_files: int | None = None
    """None where the file system does not count them."""
    exists: bool = True
    on_root: bool = False
    """It is, or would be, on the volume of `/`."""
    mounts: tuple[str, ...] = ()
    """The places above it at which volumes are mounted."""


@dataclass(frozen=True, slots=True)
class SetInCode:
    """A line of the project that gives a setting a value."""

    name: str
    """Dotted, the newest of its names."""
    value: object
    """None where only a run tells it."""
    place: str
    """The file and the line."""
    at_site: bool
    """It stands in the `settings-site` of the contract, under no condition."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """All that the checks look at."""

    environ: Mapping[str, str]
    torch: tuple[int, ...] | None
    """The installed version, or the one that was named; None where neither is known."""
    judged_as: tuple[int, int]
    """The version whose table of variables applies."""
    ranks: bool
    """The job has several processes."""
    xla: bool
    compiler: bool
    """A C++ compiler is on the path."""
    gpu: bool
    triton: bool
    temporary: str
    """The folder for temporary files."""
    look: Callable[[str], Folder]
    """Tries a folder out."""
    contract: Contract
    judged_from: str = ""
    """Where that comes from, if torch is not there and no setting names it."""
    in_code: tuple[SetInCode, ...] | None = None
    """All that the code beside the contract sets; None where nobody asks, or there is no code."""


def environment_of(environ: Mapping[str, str], command: Sequence[str]) -> Mapping[str, str]:
    """The environment that a command sees which `env` starts: `env -u A B=1 torchrun train.py`."""
    changed, words = dict(environ), list(command)
    while words and Path(words.pop(0)).name == "env":
        while words and (words[0].startswith("-") or "=" in words[0]):
            word = words.pop(0)
            option, _, value = word.partition("=")
            if word in ("-", "-i", "--ignore-environment"):
                changed.clear()
            elif option in ("-u", "--unset", "-C", "--chdir"):
                value = value or (words.pop(0) if words else "")
                changed.pop(value if option in ("-u", "--unset") else "", None)
            elif word.startswith(("-S", "--split-string")):
                words[:0] = _split(value or word.removeprefix("-S") or (words.pop(0) if words else ""))
            elif not word.startswith("-"):
                changed[option] = value
    return changed


def _split(text: str) -> list[str]:
    """The words of a text as `env -S` takes it apart; none where a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError:
        return []


def surroundings(
    environ: Mapping[str, str],
    command: Sequence[str],
    settings: Settings,
    torch: tuple[int, ...] | None,
    in_code: tuple[SetInCode, ...] | None = None,
) -> Surroundings:
    """The surroundings of a command that will run here, with the torch that was named or is installed."""
    compilers = [environ["CXX"].split()[0]] if environ.get("CXX", "").strip() else ["g++", "clang++"]
    return Surroundings(
        environ=environ,
        torch=torch,
        judged_as=(torch[0], torch[1]) if torch else settings.torch_version,
        judged_from=settings.torch_from,
        ranks=_world(environ) > 1 or launches_ranks(command),
        xla=_is_there("torch_xla") or _is_there("jax"),
        compiler=any(shutil.which(one, path=environ.get("PATH")) for one in compilers),
        gpu=any(Path(one).exists() for one in ("/dev/nvidia0", "/dev/kfd")),
        triton=_is_there("triton"),
        temporary=tempfile.gettempdir(),
        look=cache(look),
        contract=settings.contract,
        in_code=in_code,
    )


def _is_there(package: str) -> bool:
    """Whether a package can be imported; it is not."""
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):
        return False


def rank(environ: Mapping[str, str]) -> int:
    """The number of this process in its job; 0 for one that stands alone."""
    names = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "LOCAL_RANK")
    numbered = (count(environ.get(name, "")) for name in names)
    return next((number for number in numbered if number is not None), 0)


def count(text: str) -> int | None:
    """The number of a process, or of processes; None for what is none, however many digits it has."""
    return int(text) if text.isdecimal() and len(text) < 10 else None


def _world(environ: Mapping[str, str]) -> int:
    """The number of processes of the job; where nothing counts them, two if it has numbers for them."""
    for name in ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"):
        if (number := count(environ.get(name, ""))) is not None:
            return number
    return 2 if "RANK" in environ or "LOCAL_RANK" in environ else 1


def launches_ranks(command: Sequence[str]) -> bool:
    """Whether a command starts several processes of one job: `torchrun --nproc-per-node 8`."""
    words = [word for one in command for word in one.split("=", 1)]
    if not any(Path(word).name in environment().launchers for word in words):
        return False
    return any(option in _COUNTS and count not in {"1", "1:1"} for option, count in pairwise(words))


def look(folder: str) -> Folder:
    """Try a folder out: make a file where it is, or where it would be made, and remove that."""
    path = os.path.abspath(folder)
    above = path
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return Folder(
        path,
        _problem(above, above == path),
        _filesystem(above),
        *_room(above),
        exists=os.path.isdir(path),
        on_root=_device(above) == _device("/"),
        mounts=tuple(dict.fromkeys([*_mounts(above), *_mounts(os.path.realpath(above))])),
    )


def _device(path: str) -> int | None:
    """The number of the volume that a path is on; None where that is not known."""
    try:
        return os.stat(path).st_dev
    except OSError:
        return None


def _mounts(path: str) -> Iterator[str]:
    """The path and those above it at which volumes are mounted."""
    yield from (str(place) for place in (Path(path), *Path(path).parents) if os.path.ismount(place))


def _problem(above: str, is_it: bool) -> str:
    """Why no file can be made in a folder, which is the one that was named or the nearest above it."""
    where = "" if is_it else f" ({above} is the nearest folder that is there)"
    if not os.path.isdir(above):
        return f"{above} is a file" if os.path.exists(above) else f"{above} is a link to nothing"
    try:
        with tempfile.NamedTemporaryFile(dir=above, prefix=".dynamo-lint-"):
            return ""
    except OSError as error:
        return f"cannot be {'written to' if is_it else 'made'}: {error.strerror}{where}"


def _room(path: str) -> tuple[int | None, int | None]:
    """The bytes and the files that there is room for."""
    try:
        found = os.statvfs(path)
    except (OSError, AttributeError):
        return None, None
    return found.f_bavail * found.f_frsize, found.f_favail if found.f_files else None


def _filesystem(path: str) -> str:
    """The type of the file system of a path, as Linux lists them."""
    best = ("", "")
    real = os.path.realpath(path)
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        _, place, kind, *_ = line.split(" ")
        place = place.replace("\\040", " ")
        inside = real == place or real.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best[0]):
            best = place, kind
    return best[1]
