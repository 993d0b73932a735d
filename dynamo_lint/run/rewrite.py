"""Applies fixes in memory, round by round, and keeps only those that do what they promise."""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from textwrap import dedent

from dynamo_lint import files
from dynamo_lint.baseline import Baseline
from dynamo_lint.config import Settings
from dynamo_lint.dataclass import dataclass, field, replace
from dynamo_lint.discovery import CODE, ENVIRONMENT, Discovered
from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.bytes import CannotEdit, apply, parses
from dynamo_lint.fixes.cells import apply_to_cells
from dynamo_lint.index.notebooks import code_of, is_notebook
from dynamo_lint.older import Older
from dynamo_lint.report import Report
from dynamo_lint.run.check import check
from dynamo_lint.run.reading import ALONE, Effort
from dynamo_lint.searches import speaks_of
from dynamo_lint.sources import Sources

Identity = tuple[str, str, str, str]
"""The identity of a finding, wherever in its file it has moved: code, path, symbol, subject."""
_TRIED = 4
"""Times that a project is linted for what is said of its fixes."""
_PASSED = frozenset({".git", ".hg", "node_modules", "__pycache__", "site-packages"})
"""Folders in which no code of a project stands."""
_ON_POLICY = "DYN5"
"""How the codes of rules on compile policy begin."""
UNUSED = "DYN903"
"""A fix may leave a suppression idle; the next round removes it."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The files as the fixes leave them; nothing has been written."""

    files: Mapping[str, bytes]
    """New bytes by path relative to the linted root."""
    originals: Mapping[str, bytes]
    """The bytes of these files when they were read."""
    applied: tuple[Finding, ...]
    """The findings that are gone, with the fixes that did it."""
    refused: tuple[tuple[Finding, str], ...]
    """Fixes that were tried and taken back, and why."""
    report: Report
    """The findings that are left."""
    suggested: tuple[Finding, ...] = ()
    """Those of them whose suggested edits are in the files as well."""

    @property
    def groups(self) -> list[frozenset[str]]:
        """Files that belong together, because one fix changed all of them."""
        groups: list[set[str]] = []
        for finding in self.applied:
            paths = _paths(finding)
            joined = [group for group in groups if group & paths]
            groups = [group for group in groups if not group & paths]
            groups.append(paths.union(*joined))
        return [frozenset(group) for group in groups]


@dataclass(slots=True)
class _State:
    files: dict[str, bytes]
    report: Report
    refused: dict[Identity, tuple[Finding, str]] = field(default_factory=dict)
    held: dict[Identity, tuple[Finding, str]] = field(default_factory=dict)
    """Safe fixes that only `--unsafe-fixes` applies, because of a reader that is not linted."""
    applied: list[Finding] = field(default_factory=list)


class _Unseen:
    """The code of the project that a run does not read: excluded files, and folders beside those named."""

    def __init__(self, found: Discovered) -> None:
        self._found = found
        self._code: dict[str, bytes] | None = None

    def reader(self, finding: Finding) -> str | None:
        """A file that names the attribute that a finding is about; None if none does."""
        name = finding.subject.rpartition(".")[2]
        if not name.isidentifier():
            return None
        if self._code is None:
            self._code = dict(self._read())
        from dynamo_lint.fixes.safety import speaks_of_its_own  # late: with it comes all that evaluates

        for path, raw in self._code.items():
            if speaks_of(name.encode(), raw) and (is_notebook(path) or not speaks_of_its_own(name, raw)):
                return path
        return None

    def _read(self) -> Iterator[tuple[str, bytes]]:
        top = files.around(self._found.root)
        known = {os.path.realpath(self._found.root / path) for path in self._found.files}
        for folder, folders, names in os.walk(top):
            folders[:] = [] if ENVIRONMENT in names else [one for one in folders if one not in _PASSED]
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(CODE) and os.path.realpath(path) not in known:
                    with suppress(OSError):
                        yield os.path.relpath(path, self._found.root), files.read(path, links=False)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A run that applies fixes, for all of its rounds."""

    settings: Settings
    found: Discovered
    catalogue: Mapping[str, str]
    sources: Sources
    accepted: Baseline | None
    effort: Effort
    older: Older | None
    unseen: _Unseen

    def lint(self, files: Mapping[str, bytes]) -> Report:
        """The report on the whole project, with other bytes for some files."""
        everywhere = replace(self.found, reported=frozenset(self.found.files))
        overlaid = Sources(self.found.root, {**self.sources.overlay, **files})
        return check(
            self.settings, everywhere, self.catalogue, overlaid, self.accepted, self.effort, self.older
        )

    def proceed(self, state: _State, unsafe: bool, most: int | None = None) -> bool:
        """Apply the fixes that may be, round by round; whether all of them were tried.

        Every round applies the fixes that do not overlap, lints again, and takes back those whose finding
        is still there or that brought a new one. Each round leaves fewer findings, so the rounds end; `most`
        ends them earlier, after so many times of linting.
        """
        linted = 0
        while chosen := _choose(state, self.found, unsafe, self.unseen):
            # What is taken back is not chosen again, so the inner loop ends as well.
            while chosen:
                if linted == most:
                    return False
                files, guilty = _try(state, chosen, self.sources)
                linted += not guilty
                report = state.report if guilty else self.lint(files)
                guilty = guilty or _guilty(state.report, report, chosen)
                if not guilty:
                    state.files, state.report = files, report
                    state.applied += chosen
                    break
                for finding, why in guilty:
                    state.refused[_identity(finding)] = (finding, why)
                chosen = [one for one in chosen if _identity(one) not in state.refused]
        return True


def rewrite(
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    unsafe: bool,
    accepted: Baseline | None = None,
    effort: Effort = ALONE,
    older: Older | None = None,
) -> Rewritten:
    """The files with all fixes applied that may be, safe ones first; what is accepted or older stays."""
    attempt = _Attempt(settings, found, catalogue, sources, accepted, effort, older, _Unseen(found))
    state = _State({}, attempt.lint({}))
    attempt.proceed(state, unsafe=False)
    if unsafe:
        attempt.proceed(state, unsafe=True)
    refused = [*state.refused.values()]
    if not unsafe:
        refused += [(one, f"{why}; `--unsafe-fixes` applies it") for one, why in state.held.values()]
    originals = {path: sources.stored(path) for path in state.files}
    return Rewritten(
        files={path: raw for path, raw in state.files.items() if raw != originals[path]},
        originals=originals,
        applied=tuple(state.applied),
        refused=tuple(refused),
        report=state.report,
    )


def promised(
    report: Report,
    settings: Settings,
    found: Discovered,
    catalogue: Mapping[str, str],
    sources: Sources,
    accepted: Baseline | None = None,
    effort: Effort = ALONE,
    older: Older | None = None,
) -> Report:
    """The report with each fix as `--fix`, or `--fix --unsafe-fixes`, makes it: they are tried in memory.

    Of fixes that overlap in very many rounds only the first are tried; the others are told as they are.
    """
    kinds = {one.fix.applicability for one in report.findings if one.fix is not None and one.is_fixable}
    if not kinds:
        return report
    attempt = _Attempt(settings, found, catalogue, sources, accepted, effort, older, _Unseen(found))
    whole = found.reported == frozenset(found.files)
    state = _State({}, report if whole else attempt.lint({}))
    whole_tried = "safe" not in kinds or attempt.proceed(state, unsafe=False, most=_TRIED)
    safely, tried = _ended(report, state), dict(state.held)
    if "unsafe" in kinds or tried:
        whole_tried &= attempt.proceed(state, unsafe=True, most=_TRIED)
    ended = _ended(report, state)

    def outcome(finding: Finding) -> Finding:
        fix, mine = finding.fix, _identity(finding)
        if fix is None or not finding.is_fixable:
            return finding
        if finding in (safely if fix.applicability == "safe" else ended):
            return finding
        if not (whole_tried or mine in tried or mine in state.refused):
            return finding
        _, why = tried.get(mine) or state.refused.get(mine) or (finding, "it needs edits outside this run")
        if finding in ended:
            return replace(finding, fix=Fix("unsafe", f"{fix.message} (unsafe: {why})", fix.edits, why))
        return replace(finding, fix=fix.left(why))

    return replace(report, findings=tuple(map(outcome, report.findings)))


def with_suggestions(done: Rewritten, found: Discovered, sources: Sources) -> Rewritten:
    """The same with the suggested edits of the findings that are left, where they do not overlap.

    Nobody has linted what they make: they are for a person to judge. `sources` has the fixed files.
    """
    state = _State(dict(done.files), done.report)
    shown: list[Finding] = []
    taken: dict[str, list[Edit]] = {}
    for finding in done.report.findings:
        if finding.fix is None or finding.fix.kind != "suggested" or finding.span.path not in found.reported:
            continue
        before = [edit for path in _paths(finding) for edit in taken.get(path, ())]
        new = [edit for edit in finding.fix.edits if edit not in before]
        if any(_overlap(edit, other) for edit in new for other in before):
            continue
        if not _try(state, [finding], sources)[1]:
            shown.append(finding)
            for edit in new:
                taken.setdefault(edit.span.path, []).append(edit)
    files, _ = _try(state, shown, sources)
    originals = {path: done.originals.get(path) or sources.stored(path) for path in files}
    return replace(done, files=files, originals=originals, suggested=tuple(shown))


def _ended(report: Report, state: _State) -> frozenset[Finding]:
    """The findings of a report that are gone, or whose own fix was applied."""
    left, applied = _count(state.report.findings), {(one.fingerprint, one.span) for one in state.applied}
    return frozenset(
        one for one in report.findings if not left[_identity(one)] or (one.fingerprint, one.span) in applied
    )


def _choose(state: _State, found: Discovered, unsafe: bool, unseen: _Unseen) -> list[Finding]:
    """The fixes of one round, in file order: where two overlap, the second one waits."""
    allowed = {"safe", "unsafe"} if unsafe else {"safe"}
    writable = frozenset(found.given or found.files)
    taken: list[Edit] = []
    chosen: list[Finding] = []
    for finding in state.report.findings:
        fix = finding.fix
        if fix is None or not fix.edits or fix.applicability not in allowed:
            continue
        if finding.span.path not in found.reported or _identity(finding) in state.refused:
            continue
        if not _paths(finding) <= writable:
            continue  # text from stdin is the only file that can be given back
        if not unsafe and _identity(finding) in state.held:
            continue
        if not unsafe and (reader := unseen.reader(finding)):
            why = f"{reader}, which this run does not lint, uses the attribute"
            state.held[_identity(finding)] = (finding, why)
            continue
        if any(_overlap(edit, other) for edit in fix.edits for other in taken):
            continue
        taken += fix.edits
        chosen.append(finding)
    return chosen


def _try(
    state: _State, chosen: list[Finding], sources: Sources
) -> tuple[dict[str, bytes], list[tuple[Finding, str]]]:
    """The files after one round, or the fixes that cannot be made."""
    edits: dict[str, dict[Edit, None]] = {}
    for finding in chosen:
        for edit in finding.fix.edits if finding.fix is not None else ():
            edits.setdefault(edit.span.path, {})[edit] = None
    files = dict(state.files)
    for path, changes in edits.items():
        why = "the file would no longer parse"
        try:
            stored = state.files.get(path) or sources.stored(path)
            change = apply_to_cells if is_notebook(path) else apply
            files[path] = change(stored, [*changes])
            if parses(code_of(path, files[path])):
                continue
        except CannotEdit as error:
            why = str(error)
        except OSError as error:
            why = f"{path} cannot be read: {error.strerror}"
        return files, [(one, why) for one in chosen if path in _paths(one)][:1]
    return files, []


def _guilty(before: Report, after: Report, chosen: list[Finding]) -> list[tuple[Finding, str]]:
    """The fixes that did not end their finding, or that brought a new one.

    Where an error or a warning goes, a note on how it is compiled may come to light that was of no account
    beside it.
    """
    old, new = _count(before.findings), _count(after.findings)
    ended = _count(chosen)
    still = {one for one in ended if new[one] > old[one] - ended[one]}
    if still:
        return [(one, "the finding would still be there") for one in chosen if _identity(one) in still]
    hides = any(one.severity != "note" for one in chosen)
    worse = [
        one
        for one in after.findings
        if new[_identity(one)] > old[_identity(one)]
        and one.code != UNUSED
        and not (hides and one.severity == "note" and one.code.startswith(_ON_POLICY))
    ]
    if not worse:
        return []
    path, why = worse[0].span.path, f"it would cause {worse[0].code} on {worse[0].subject}"
    nearby = [one for one in chosen if path in _paths(one)] or chosen
    return [(nearby[0], why)]


def _identity(finding: Finding) -> Identity:
    return finding.code, finding.span.path, finding.symbol, finding.subject


def _count(findings: Iterable[Finding]) -> Counter[Identity]:
    return Counter(_identity(finding) for finding in findings)


def _paths(finding: Finding) -> set[str]:
    return {edit.span.path for edit in finding.fix.edits} if finding.fix is not None else set()


def _stand_side_by_side(one: Edit, other: Edit) -> bool:
    """Two insertions at one place are the same lines, or lines that assign to other names each."""
    if (one.span.line, one.span.column) != (one.span.end_line, one.span.end_column):
        return False
    names = _assigned(one.replacement), _assigned(other.replacement)
    return all(names) and (one == other or names[0].isdisjoint(names[1]))


def _assigned(text: str) -> frozenset[str]:
    """The names that whole new lines assign to, if they do nothing else."""
    try:
        body = ast.parse(dedent(text)).body if text[:1] == "\n" else []
    except SyntaxError:
        return frozenset()
    targets = [one.targets[0] if isinstance(one, ast.Assign) else None for one in body]
    found = frozenset(one.id for one in targets if isinstance(one, ast.Name))
    return found if len(found) == len(targets) else frozenset()


def _overlap(one: Edit, other: Edit) -> bool:
    """Two edits touch the same text; two insertions at one place do where their order matters."""
    if one.span.path != other.span.path:
        return False
    if one.span == other.span and _stand_side_by_side(one, other):
        return False
    a = (one.span.line, one.span.column), (one.span.end_line, one.span.end_column)
    b = (other.span.line, other.span.column), (other.span.end_line, other.span.end_column)
    return a == b or (a[0] < b[1] and b[0] < a[1])
