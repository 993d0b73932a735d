"""The data of a look at the surroundings of a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dynamo_lint.contract import Contract

ERROR, WARNING, NOTE = "error", "warning", "note"
"""An error keeps the job from being started."""


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
    """None where the variable is not set."""
    read_as: str | None = None
    """The reading of torch, where that is not what the value says."""


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
    in_code: tuple[SetInCode, ...] | None = None
    """All that the code beside the contract sets; None where nobody asks, or there is no code."""
