"""The torch that a project is judged by where no setting names one: required, installed or the newest."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from dynamo_lint import files
from dynamo_lint.config import TORCH_VERSIONS, Settings
from dynamo_lint.requirements import Requirement, requirements

Version = tuple[int, int]

_OLDEST, _NEWEST = TORCH_VERSIONS[0], TORCH_VERSIONS[-1]
_RELEASES = (
    *((1, minor) for minor in range(14)),
    *((2, minor) for minor in range(_NEWEST[1] + 2)),
    (3, 0),
)
"""All minor versions of torch, and two that are not known."""
_PATCHES = 3


def with_torch(settings: Settings, root: Path | None = None) -> Settings:
    """Settings that name the torch of the project, where nobody has named one."""
    if "torch-version" in settings.given or ("torch-version",) in settings.places:
        return settings
    version, where = torch_of(root or files.project_above(settings.folder) or settings.folder)
    return replace(settings, torch_version=version, torch_from=where)


def torch_of(root: Path) -> tuple[Version, str]:
    """A version that is known, for the project in a folder, and where it comes from.

    It is what a lock file states, else what a requirement pins to one minor version, else what is installed,
    if the requirements allow that, else the newest known that they allow.
    """
    required, unread = requirements(root)
    required = [one for one in required if one.applies()] or required
    minors = {one: _minors(one) for one in required}
    remarks = [f"{file} cannot be read" for file in unread]
    exact = [one for one in required if len(minors[one]) == 1]
    if exact:
        first = exact[0]
        version = max(minor for one in exact if one.file == first.file for minor in minors[one])
        others = [one for one in required if minors[one] and version not in minors[one]]
        where = f"{'locked' if first.locked else 'pinned'} in {first.file}"
        return _judged(version, where, [*_differing(others), *(() if first.locked else remarks)])
    allowed, by, others = _allowed_together(minors)
    there = list(_installed(root))
    for full, where in there:
        if (version := (full[0], full[1])) in allowed or not by:
            return _judged(version, where, remarks)
    remarks = [*_differing(others), *remarks, *(f"{_text(full)} is {where}" for full, where in there[:1])]
    if not by:
        why = "the newest known, as the project pins none and none is installed beside it"
        return _judged(_NEWEST, why, remarks)
    known = allowed.intersection(TORCH_VERSIONS)
    if known:
        verb = "allows" if len(by) == 1 else "allow"
        return _judged(max(known), f"the newest known that {' and '.join(by)} {verb}", remarks)
    newer = [version for version in allowed if version > _NEWEST]
    return _judged(min(newer) if newer else max(allowed), f"allowed in {' and '.join(by)}", remarks)


def installed(folders: Iterable[Path] | None = None) -> tuple[int, ...] | None:
    """The release of the torch in some folders of packages, which by default are those of this Python.

    The folder of its metadata is named after it; importlib.metadata would take long to load.
    """
    for folder in folders if folders is not None else (Path(place or ".") for place in sys.path):
        with suppress(OSError):
            for name in sorted(path.name for path in folder.glob("torch-*-info")):
                if found := release(name.removeprefix("torch-").rpartition(".")[0]):
                    return found
    return None


def release(text: str) -> tuple[int, ...] | None:
    """The release in a version: `2.13.0+cu130` is 2, 13, 0; None if it has no two numbers."""
    from packaging.version import Version

    try:
        numbers = Version(text).release
    except ValueError:  # none, or one with a number of thousands of digits
        return None
    return numbers if len(numbers) > 1 else None


def _judged(version: Version, where: str, remarks: Iterable[str]) -> tuple[Version, str]:
    """The known version that stands for one, and all that is said of where it comes from."""
    judged = min(max(version, _OLDEST), _NEWEST)
    if judged != version:
        word = "older" if version < judged else "newer"
        where = f"{where} as {_text(version)}, which is {word} than all that are known here"
    return judged, "; ".join([where, *remarks])


def _minors(required: Requirement) -> frozenset[Version]:
    """The minor versions of which a requirement allows some release; such as are not known stand for more."""
    named = [numbers for text in required.named if (numbers := release(text)) is not None]
    candidates = {f"{major}.{minor}.{patch}" for major, minor in _RELEASES for patch in range(_PATCHES)}
    candidates.update(required.named)
    candidates.update(f"{major}.{minor + 1}" for major, minor, *_ in named)
    found = {release(text) for text in candidates if required.admits(text)}
    return frozenset((numbers[0], numbers[1]) for numbers in found if numbers is not None)


def _allowed_together(
    minors: dict[Requirement, frozenset[Version]],
) -> tuple[frozenset[Version], list[str], list[Requirement]]:
    """The versions that ranges allow together, the files of these, and ranges that rule out all of them."""
    allowed, by, others = frozenset[Version](), dict[str, None](), []
    for one, own in minors.items():
        both = allowed & own if by else own
        if both:
            allowed = both
            by[one.file] = None
        else:
            others.append(one)
    return allowed, [*by], others


def _differing(others: list[Requirement]) -> Iterator[str]:
    """That requirements do not agree with what is taken, the first of them by name."""
    if others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        alternatives = " | ".join(map(str, others[0].alternatives))
        yield f"torch{alternatives} in {others[0].file}{more} would be another"


def _installed(root: Path) -> Iterator[tuple[tuple[int, ...], str]]:
    """The releases in the project's own environment, and in that of this program."""
    for name in (".venv", "venv"):
        folders = [*root.glob(f"{name}/lib/python3*/site-packages"), root / name / "Lib" / "site-packages"]
        if (own := installed(folders)) is not None:
            yield own, f"installed in {name}"
    if (beside := installed()) is not None:
        yield beside, "installed beside dynamo-lint"


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
