"""The folders of a job: whether files can be made in them, and whether they will be there tomorrow."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from dynamo_lint.contract import Expectation
from dynamo_lint.doctor.model import ERROR, NOTE, WARNING, Check, Folder, Surroundings
from dynamo_lint.models.environment import environment

_GIGABYTE = 1_000_000_000
_LEAST_BYTES = _GIGABYTE
_LEAST_FILES = 10_000
_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "lustre", "ceph", "gpfs", "beegfs", "9p", "glusterfs"})
_DEFAULT = "TORCHINDUCTOR_CACHE_DIR"
_LOGS = frozenset({"TORCH_TRACE", "TORCH_DTRACE"})
"""Folders whose content is looked at once."""
_NOTHING = Expectation()


def folder_checks(seen: Surroundings, wanted: Mapping[str, Expectation]) -> Iterator[Check]:
    """The faults of all folders that variables name."""
    named = {name for name, variable in environment().variables.items() if variable.kind == "folder"}
    named |= {name for name, one in wanted.items() if one.writable or one.free_gb or one.not_under}
    for name in sorted(named):
        value = seen.environ.get(name)
        if value:
            yield from _one(seen, name, value, wanted.get(name, _NOTHING))
    if _DEFAULT not in seen.environ and not wanted.get(_DEFAULT, _NOTHING).required:
        message = f"torch puts its cache below {seen.temporary}; name a folder that outlives the machine"
        yield Check("folder", NOTE, message, _DEFAULT)


def _one(seen: Surroundings, name: str, value: str, wanted: Expectation) -> Iterator[Check]:
    """The faults of one folder."""
    found = seen.look(value)

    def check(severity: str, message: str, kind: str = "folder") -> Check:
        return Check(kind, severity, message, name, value)

    if found.problem:
        yield check(ERROR, f"{found.problem}; name a folder in which files can be made")
        return
    if not posixpath.isabs(value):
        yield check(WARNING, "relative, so that each working directory has another; make it absolute")
    for place in wanted.not_under:
        if is_under(found.path, place):
            yield check(ERROR, f"the contract wants it outside of {place}; name another folder", "contract")
            return
    if wanted.free_gb and (found.free_bytes or 0) < wanted.free_gb * _GIGABYTE:
        message = f"{_gigabytes(found)} free, and the contract wants {wanted.free_gb:g} GB; make room"
        yield check(ERROR, message, "contract")
    elif found.free_bytes is not None and found.free_bytes < _LEAST_BYTES:
        yield check(WARNING, f"{_gigabytes(found)} free; make room")
    if found.free_files is not None and found.free_files < _LEAST_FILES:
        yield check(WARNING, f"room for {found.free_files} more files only; make room")
    if name not in _LOGS:
        yield from _lasting(seen, found, check(WARNING, ""))


def _lasting(seen: Surroundings, found: Folder, check: Check) -> Iterator[Check]:
    """Whether a cache will be found again by the next job."""
    if found.filesystem in _MEMORY:
        message = f"in memory ({found.filesystem}): gone with the machine; name a folder on a disk"
    elif any(is_under(found.path, one) for one in {seen.temporary, "/tmp", "/var/tmp", "/dev/shm"}):
        message = "a temporary folder, which may be cleared; name a folder that outlives the machine"
    elif found.filesystem in _NETWORK or found.filesystem.startswith("fuse."):
        message = f"on a network ({found.filesystem}), where many small files are slow; prefer a local disk"
        yield Check(check.id, NOTE, message, check.variable, check.value)
        return
    else:
        return
    yield Check(check.id, WARNING, message, check.variable, check.value)


def is_under(path: str, place: str) -> bool:
    """Whether a path lies in a folder, or is that; nothing but `/` itself lies in `/`."""
    path, place = posixpath.normpath(path), posixpath.normpath(place)
    return path == place or (place != "/" and path.startswith(f"{place}/"))


def _gigabytes(found: Folder) -> str:
    return f"{(found.free_bytes or 0) / _GIGABYTE:.1f} GB"
