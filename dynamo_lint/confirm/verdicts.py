"""Joins what Dynamo did with what the linter said: a verdict for each finding, and what none predicted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from dynamo_lint.confirm.model import (
    MODES as VARIED_MODES,
)
from dynamo_lint.confirm.model import (
    SIZES as VARIED_SIZES,
)
from dynamo_lint.confirm.model import (
    TENSORS,
    Cause,
    GraphBreak,
    Met,
    Receipt,
    Recompile,
    Reply,
    Unit,
    Way,
    relative,
)
from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Finding
from dynamo_lint.logs.modes import REQUIRED, TRAINING, failed_modes, flipped
from dynamo_lint.logs.texts import INTENDED, Frame, Subject, compatible, read_subject
from dynamo_lint.program.item_path import ANY_ITEM

VERDICTS = ("confirmed", "stale", "refuted", "unobserved")

OUTSIDE = frozenset({"DYN109", "DYN110", "DYN111", "DYN302", "DYN501", "DYN506", "DYN507", "DYN509"})
"""Rules whose line is meant to run outside compiled code."""

TRACELESS = frozenset({"DYN501", "DYN502", "DYN503", "DYN504", "DYN505", "DYN516"})
"""Rules about code that is never compiled, so that Dynamo cannot say anything of it."""

SIZES = frozenset({"DYN506", "DYN507"})
"""Rules about the sizes of inputs."""

DISCARDS = frozenset({"DYN111"})
"""Rules about versions that are thrown away, so that the next compile has no failed guard to show."""

MODES = frozenset({"GLOBAL_STATE", "GRAD_MODE", "BACKEND"})
"""Guards on what holds for the whole process, gradients on or off among them."""

GROWING = frozenset({"DYN104", "DYN105"})
"""Rules about what a container holds, rather than about the value of one item."""

EXPRESSIONS = frozenset({"DYN202", "DYN302", "DYN305"})
"""Rules whose subject is what the line says, not the name of state whose values could be watched."""

_INDEX = re.compile(r"\[\d+\]")
_LAST_KEY = re.compile(r"\['(\w+)'\]$")
_RESUMED = re.compile(r"torch_dynamo_resume_in_\w+_at_(\d+)$")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a probe on a finding."""

    finding: Finding
    verdict: str
    why: str
    """In one sentence without its end."""
    recompiles: tuple[int, ...] = ()
    """Indices into the receipt's recompiles that bear it out."""
    breaks: tuple[int, ...] = ()
    joint: bool = False
    """In all of them, something else had changed as well."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """A probe with all that came of it."""

    name: str
    path: str
    """Relative to the project where it lies inside."""
    line: int
    reply: Reply
    verdicts: tuple[Verdict, ...] = ()
    unpredicted_recompiles: tuple[int, ...] = ()
    unpredicted_breaks: tuple[int, ...] = ()
    way: Way | None = None
    """How it was made, if no person wrote it."""

    @property
    def flat_since(self) -> int | None:
        """Calls since the last compile; None if nothing was compiled."""
        receipt = self.reply.receipt
        if receipt is None or not receipt.compiles:
            return None
        return receipt.calls - 1 - max(one.call for one in receipt.compiles)


def unpredicted(verdicts: Iterable[Verdict], receipt: Receipt) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Recompiles and breaks that no finding predicted; what the code asks for is none of them.

    Recompiles for new shapes and types of inputs are: the linter does not speak of tensors, but who reads
    a receipt wants to know.
    """
    listed = list(verdicts)
    foretold = {index for one in listed for index in one.recompiles}
    broken = {index for one in listed for index in one.breaks}
    return (
        tuple(index for index in range(len(receipt.recompiles)) if index not in foretold),
        tuple(
            index
            for index, one in enumerate(receipt.breaks)
            if index not in broken and one.id not in INTENDED
        ),
    )


def of_mode(cause: Cause) -> bool:
    """Train or eval, or what holds for the whole process."""
    return cause.kind in MODES or cause.attribute == "training"


def overall(reports: Iterable[ProbeReport]) -> list[Verdict]:
    """One verdict for each finding over all probes: a single witness is enough."""
    best: dict[str, Verdict] = {}
    for report in reports:
        for one in report.verdicts:
            known = best.setdefault(one.finding.fingerprint, one)
            if VERDICTS.index(one.verdict) < VERDICTS.index(known.verdict):
                best[one.finding.fingerprint] = one
    return list(best.values())


def judged(finding: Finding, reply: Reply, root: Path) -> Verdict:
    """Return the verdict of one probe on a finding."""
    receipt = reply.receipt
    if receipt is None:
        return Verdict(finding, "unobserved", "the probe stopped before that line")
    subject = _subjects(finding)[0]
    recompiles = tuple(
        index for index, one in enumerate(receipt.recompiles) if explaining(finding, one, root) is not None
    )
    breaks = tuple(index for index, one in enumerate(receipt.breaks) if _breaks(finding, one, root))
    if breaks:
        after = (n for n, one in enumerate(receipt.recompiles) if _follows(finding, one, root))
        recompiles = tuple(sorted({*recompiles, *after}))
    if recompiles or breaks:
        joint = bool(recompiles) and all(_jointly(subject, receipt.recompiles[index]) for index in recompiles)
        return Verdict(
            finding,
            "confirmed",
            _evidence(finding, receipt, recompiles, breaks),
            recompiles,
            breaks,
            joint and not breaks,
        )
    return _without_evidence(finding, subject, reply, receipt, root)


def tempered(verdict: Verdict, way: Way) -> Verdict:
    """The verdict of a probe that no person wrote: what it made up itself proves nothing."""
    finding = verdict.finding
    varied = (
        (VARIED_MODES, flipped(finding.code, finding.subject) == TRAINING),
        (VARIED_SIZES, finding.code in SIZES),
    )
    if verdict.verdict == "unobserved":
        return verdict
    for what, is_about in varied:
        if is_about and what in way.varied:
            why = f"the probe itself varies {what}, whether or not the program does"
            return replace(verdict, verdict="unobserved", why=why)
    circular = [guess for guess in way.guessed if guess.startswith(TENSORS)]
    if verdict.breaks and circular:
        why = f"the graph broke here, but it is a guess {circular[0]}"
        return replace(verdict, verdict="unobserved", why=why)
    if verdict.verdict == "refuted" and way.guessed:
        why = f"nothing happened, but the program was not seen to run so: {way.guessed[0]}"
        return Verdict(finding, "unobserved", why)
    return verdict


def _follows(finding: Finding, recompile: Recompile, root: Path) -> bool:
    """Whether the code behind a break was compiled again for the value that the line with the break left.

    Dynamo names that code by the line and keeps such values on its stack (torch/_dynamo/resume_execution.py).
    """
    behind = _RESUMED.search(recompile.function)
    return (
        behind is not None
        and finding.span.line <= int(behind[1]) <= finding.span.end_line
        and relative(recompile.path, root) == finding.span.path
        and any(all("___stack" in cause.source for cause in joint) for joint in recompile.causes)
    )


def _without_evidence(
    finding: Finding, subject: Subject | None, reply: Reply, receipt: Receipt, root: Path
) -> Verdict:
    """The verdict where no recompile and no break speaks: `stale` and `refuted` need an exercised hazard."""
    if why := _not_reached(finding, reply, receipt, root):
        return Verdict(finding, "unobserved", why)
    if finding.code in DISCARDS:
        again = _compiled_again(receipt)
        verdict = "confirmed" if again else "unobserved"
        what = f"{again} compiles of code that was" if again else "nothing was compiled that had been"
        return Verdict(finding, verdict, f"{what} already compiled")
    values: list[Met] | None = None
    if subject is not None and finding.code not in EXPRESSIONS:
        units = _concerned(finding, receipt, root)
        values = [one for one in reply.met if one.subject == finding.subject and one.unit in units]
        if why := _unvaried(finding, values, [receipt.units[index] for index in units]):
            return Verdict(finding, "unobserved", why)
    if finding.subject in reply.diverged:
        return Verdict(finding, "stale", f"`{finding.subject}` has another value than after an eager run")
    if receipt.matches_eager is False and finding.effect in ("stale", "per-value"):
        return Verdict(finding, "stale", f"no guard failed and {receipt.mismatch}")
    line = f"line {finding.span.line}"
    compiled = finding.code in OUTSIDE or finding.effect == "stale"
    if not compiled and not _any_line(finding, receipt.traced, root):
        why = f"{line} ran, but not in compiled code{_lost(finding, receipt, root)}"
        return Verdict(finding, "unobserved", why)
    if finding.code in OUTSIDE and (eager := [one for one in receipt.breaks if one.skips_frame]):
        where = f"{relative(eager[0].path, root)}:{eager[0].line}"
        why = (
            f"the graph breaks at {where}, and what ran eagerly for it may be what reads `{finding.subject}`"
        )
        return Verdict(finding, "unobserved", why)
    if receipt.failure is not None:
        return Verdict(finding, "unobserved", f"the compiled program raises {receipt.failure.type}")
    if values is None and finding.effect != "break":
        return Verdict(finding, "unobserved", f"whether `{finding.subject}` changed cannot be watched")
    if subject is not None and subject.argument and _of_wrapper(finding, receipt, root):
        why = "a wrapper was compiled again, and its arguments do not tell whether this was among them"
        return Verdict(finding, "unobserved", why)
    if subject is not None and any(map(partial(_hides, subject), receipt.recompiles)):
        why = "what holds it got more or fewer items at the same time, and Dynamo looked no further"
        return Verdict(finding, "unobserved", why)
    if subject is not None and subject.text != finding.subject:
        why = f"whether `{subject.text}` changed was not watched apart from the other items"
        return Verdict(finding, "unobserved", why)
    how = (
        f"`{finding.subject}` was {_listed(_different(finding, values))}"
        if values
        else f"{line} ran compiled"
    )
    return Verdict(finding, "refuted", f"{how}, and Dynamo neither recompiled nor changed the results")


def _not_reached(finding: Finding, reply: Reply, receipt: Receipt, root: Path) -> str:
    """Why a probe says nothing of a finding whatever values it had; empty if it may."""
    if finding.code in TRACELESS:
        return "code that is never compiled cannot be observed"
    if not _any_line(finding, reply.ran or {}, root):
        return f"line {finding.span.line} never ran"
    if not receipt.units:
        return "Dynamo compiled nothing in this probe"
    if not any(_is_unit(finding, one, root) for one in receipt.units):
        others = ", ".join(dict.fromkeys(f"`{one.function}`" for one in receipt.units))
        unit = finding.unit.rpartition("::")[2]
        where = " at {}:{}".format(*finding.region) if finding.region else ""
        return (
            f"the probe compiles {others}, and this is about `{unit}` as it is compiled{where}: "
            f"compile that in the probe"
        )
    return ""


def _lost(finding: Finding, receipt: Receipt, root: Path) -> str:
    """Why the code around a finding ran eagerly: a break that took the frame; empty if there was none."""
    function = finding.symbol.rpartition("::")[2].rpartition(".")[2]
    for broken in receipt.breaks:
        frames = (*broken.stack, Frame(broken.path, broken.line, broken.function))
        own = any(
            relative(one.path, root) == finding.span.path and one.function.rpartition(".")[2] == function
            for one in frames
        )
        if broken.skips_frame and own:
            where = f"{relative(broken.path, root)}:{broken.line}"
            return f": the graph breaks at {where}, and the whole function runs eagerly for it"
    return ""


def _is_unit(finding: Finding, unit: Unit, root: Path) -> bool:
    """Whether a unit is what the entry of a finding compiles, or a decorator's wrapper of it."""
    names = ((unit.path, unit.function), *unit.inside)
    return not finding.unit or any(f"{relative(path, root)}::{name}" == finding.unit for path, name in names)


def _compiled_again(receipt: Receipt) -> int:
    """Compiles of known functions that no failed guard explains: their versions had been thrown away."""
    functions = {(one.path, one.first_line) for one in receipt.compiles}
    return max(0, len(receipt.compiles) - len(functions) - len(receipt.recompiles))


def _concerned(finding: Finding, receipt: Receipt, root: Path) -> list[int]:
    """Indices of the units of a finding's entry that its line is compiled in, or else of all of them."""
    own = [index for index, one in enumerate(receipt.units) if _is_unit(finding, one, root)]
    return [index for index in own if _any_line(finding, receipt.units[index].lines, root)] or own


def _different(finding: Finding, values: Sequence[Met]) -> tuple[str, ...]:
    """The most values that one generation of compiled code met in the way that a finding is about."""
    shared = finding.effect == "per-instance"
    return max((one.across if shared else one.over_time for one in values), key=len, default=())


def _unvaried(finding: Finding, values: Sequence[Met], units: Sequence[Unit]) -> str:
    """Why compiled code never met the change that a finding is about; empty if it did."""
    recomputed = finding.effect == "stale" and any(one.recomputed for one in values)
    if recomputed or len(_different(finding, values)) > 1:
        return ""
    seen = dict.fromkeys(value for one in values for value in one.seen)
    if not seen:
        names = " or ".join(f"`{one.function}`" for one in units)
        if not any(one.runs for one in units):
            return f"no compiled graph of {names} ever ran"
        return (
            f"which `{finding.subject}` compiled code met is not known, as when only some calls of {names} "
            "are compiled: compile all of them"
        )
    anew = any(len({generation for _, generation in one.runs}) > 1 for one in units)
    if len(seen) == 1 and not anew:
        return f"`{finding.subject}` never changed: {next(iter(seen))}"
    if finding.effect == "per-instance":
        return (
            f"no compiled code met two objects with different `{finding.subject}`: compile several of them, "
            "and do not reset Dynamo in between"
        )
    return (
        f"`{finding.subject}` was {_listed(tuple(seen))}, but did not change in one object between two runs "
        "of the same compiled code: make and compile it once, and do not reset Dynamo between calls"
    )


def _listed(values: Sequence[str]) -> str:
    return ", then ".join(values[:3]) + (", ..." if len(values) > 3 else "")


def explaining(finding: Finding, recompile: Recompile, root: Path) -> Cause | None:
    """The first cause of a recompile that a finding names."""
    return next(spoken_of(finding, recompile, root), None)


def spoken_of(finding: Finding, recompile: Recompile, root: Path) -> Iterator[Cause]:
    """The causes of a recompile that a finding names."""
    subjects = _subjects(finding)
    for joint in recompile.causes:
        for cause in joint:
            if any(_is_about(finding, one, cause, root) for one in subjects):
                yield cause


def _subjects(finding: Finding) -> list[Subject | None]:
    """The state that a finding is about; where it says which items it means, those and not any item."""
    own, *others = [read_subject(text) for text in (finding.subject, *finding.also)]
    if own is None or not own.inside.startswith(ANY_ITEM):
        return [own, *others]
    exact = [
        replace(one, inside=_INDEX.sub(ANY_ITEM, one.inside))
        for one in others
        if one is not None and one.attribute == own.attribute and _LAST_KEY.search(one.inside)
    ]
    apart = [one for one in others if one is None or one.attribute != own.attribute]
    return [*exact, *apart] if exact else [own, *others]


def _same_key(one: str, other: str) -> bool:
    """Whether two ways into a container may end at the same key."""
    ends = _LAST_KEY.search(one), _LAST_KEY.search(other)
    return ends[0] is None or ends[1] is None or ends[0][1] == ends[1][1]


def _is_about(finding: Finding, subject: Subject | None, cause: Cause, root: Path) -> bool:
    """Whether a finding is about the state whose guard failed."""
    if finding.code in SIZES:
        return cause.kind == "SHAPE_ENV" or cause.aspect in ("size", "rank")
    if mode := flipped(finding.code, finding.subject):
        apart = mode == REQUIRED and subject is not None and not _same_state(subject, cause)
        return mode in _modes_of(cause) and not apart
    if subject is not None and finding.code not in GROWING and _counts_around(subject, cause):
        return False
    if subject is not None and (
        _same_state(subject, cause)
        or _part_of(subject, finding, cause)
        or _wrapped(subject, finding, cause)
        or _handed_on(subject, cause)
    ):
        return True
    # A lookup has no state of its own to join on; its line does.
    frame = _near(cause.stack, root)
    own = subject is None or not subject.owner
    return own and frame is not None and _on_line(finding, frame, root)


def _modes_of(cause: Cause) -> frozenset[str]:
    """The modes whose guard failed, as findings name them."""
    of_process = cause.kind in ("GLOBAL_STATE", "GRAD_MODE")
    source = "GLOBAL_STATE" if of_process else f"self.{cause.attribute}"
    return failed_modes(source, cause.aspect, cause.attribute or "grad_mode")


def _same_state(subject: Subject, cause: Cause) -> bool:
    if subject.environment:
        return subject.is_variable_in(cause.source)
    if cause.attribute != subject.attribute:
        return False
    if subject.argument:
        return not cause.bases and cause.owner == subject.owner
    if subject.owner:
        names = {base.rpartition(".")[2] for base in cause.bases} | {cause.owner.rpartition(".")[2]}
        return subject.owner in names and _may_be(subject.inside, cause.inside)
    return not cause.bases and _may_be(subject.inside, cause.inside)


def _may_be(one: str, other: str) -> bool:
    """Whether two ways into a container may lead to the same item."""
    return compatible(one, other) and _same_key(one, other)


def _hides(subject: Subject, recompile: Recompile) -> bool:
    """Whether a recompile for the number of items around a subject may have been one for it as well."""
    causes = (cause for joint in recompile.causes for cause in joint)
    return any(one.attribute == subject.attribute and _counts_around(subject, one) for one in causes)


def _counts_around(subject: Subject, cause: Cause) -> bool:
    """Whether the number of items of a container failed, of which the subject is one item's value."""
    return cause.kind.endswith("LENGTH") and _depth(subject.inside) > _depth(cause.inside)


def _depth(inside: str) -> int:
    """How many items deep `['a'][0]` leads into a container."""
    return len(re.findall(r"\](?=\[|$)", inside))


def _part_of(subject: Subject, finding: Finding, cause: Cause) -> bool:
    """A number inside a layer of torch, which the finding knows by the attribute that holds the layer."""
    if not cause.owner.startswith("torch.nn.") or cause.kind == "TENSOR_MATCH":
        return False
    held = re.findall(r"\._modules\['(\w+)'\]", cause.source)
    names = [name for name in held if not name.isdigit()]
    return bool(names) and names[-1] == subject.attribute and cause.path.endswith(f"/{finding.span.path}")


def _wrapped(subject: Subject, finding: Finding, cause: Cause) -> bool:
    """Which function a wrapper has inside goes with the class that it was put around."""
    return (
        subject.argument
        and finding.effect == "per-instance"
        and cause.owner == subject.owner
        and cause.inside.endswith(".__code__")
    )


def _handed_on(subject: Subject, cause: Cause) -> bool:
    """Whether a wrapper that takes anything was given the argument by its name, for the function it calls."""
    if not subject.argument or cause.inside != f"['{subject.attribute}']":
        return False
    names = {frame.function.rpartition(".")[2] for frame in cause.stack}
    return subject.owner.rpartition(".")[2] in names


def _of_wrapper(finding: Finding, receipt: Receipt, root: Path) -> bool:
    """Whether code was compiled again for a wrapper around what the entry of a finding compiles."""
    wrappers = {
        (one.path, one.function)
        for one in receipt.units
        if any(f"{relative(path, root)}::{name}" == finding.unit for path, name in one.inside)
    }
    return any((one.path, one.function) in wrappers for one in receipt.recompiles)


def _jointly(subject: Subject | None, recompile: Recompile) -> bool:
    mine = [
        joint
        for joint in recompile.causes
        if subject is None or any(_same_state(subject, cause) for cause in joint)
    ]
    return bool(mine) and all(len(joint) > 1 for joint in mine)


def _breaks(finding: Finding, found: GraphBreak, root: Path) -> bool:
    frame = _near(found.stack, root)
    here = Frame(found.path, found.line, found.function)
    return any(_on_line(finding, one, root) for one in (here, frame) if one is not None)


def _near(stack: Sequence[Frame], root: Path) -> Frame | None:
    """The innermost frame in the project."""
    return next((frame for frame in reversed(stack) if Path(frame.path).is_relative_to(root)), None)


def _on_line(finding: Finding, frame: Frame, root: Path) -> bool:
    return (
        Path(frame.path) == root / finding.span.path
        and finding.span.line <= frame.line <= finding.span.end_line
    )


def _any_line(finding: Finding, lines: dict[str, tuple[int, ...]], root: Path) -> bool:
    known = lines.get(str(root / finding.span.path), ())
    return any(finding.span.line <= line <= finding.span.end_line for line in known)


def _evidence(finding: Finding, receipt: Receipt, recompiles: Sequence[int], breaks: Sequence[int]) -> str:
    parts = []
    if recompiles:
        count = len(recompiles)
        parts.append(f"{count} recompile{'s' * (count > 1)}")
    if breaks:
        broken = receipt.breaks[breaks[0]]
        word = "the frame ran eagerly" if broken.skips_frame else "the graph broke"
        parts.append(f"{word} here" + (f" ({broken.id})" if broken.id else ""))
    return " and ".join(parts)
