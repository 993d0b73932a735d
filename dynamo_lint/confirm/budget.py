"""Budgets for CI: how much a probe may compile, and which graph breaks a team expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dynamo_lint.confirm.model import GraphBreak, Receipt, relative
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.contract import Contract, ExpectedBreaks
from dynamo_lint.logs.functions import functions
from dynamo_lint.logs.texts import INTENDED, disabled_function

_MOST_LINES = 12
"""Lines that a sentence names."""


def exceeded(reports: Sequence[ProbeReport], contract: Contract, home: Path = Path()) -> list[str]:
    """One sentence for each thing that a probe costs too much of, and for each file that breaks too often.

    The paths of a contract are relative to `home`.
    """
    receipts = [(report.name, report.reply.receipt) for report in reports if report.reply.receipt is not None]
    found = [f"{name}: {text}" for name, receipt in receipts for text in over(receipt, contract, home)]
    return found + list(_unexpected([receipt for _, receipt in receipts], contract, home))


def over(receipt: Receipt, contract: Contract, home: Path = Path()) -> Iterator[str]:
    """Return the figures of a receipt that exceed a contract; breaks that the code asks for do not count."""
    breaks = [
        place(one, home)
        for one in receipt.breaks
        if one.id not in INTENDED and not any(_is_in(one, entry, home) for entry in contract.expected_breaks)
    ]
    for what, count, most, lines in (
        ("recompiles", len(receipt.recompiles), contract.max_recompiles, ()),
        ("graph breaks", len(breaks), contract.max_breaks, breaks),
        ("graphs", len(receipt.compiles), contract.max_compiles, ()),
    ):
        if most is not None and count > most:
            yield f"{count} {what}, but the budget is {most}" + _named(
                f"{path}:{line}" for path, line in lines
            )


def _unexpected(receipts: Sequence[Receipt], contract: Contract, home: Path) -> Iterator[str]:
    """The files and functions with more lines that break, in all probes together, than are expected."""
    for entry in contract.expected_breaks:
        lines = {
            place(one, home) for receipt in receipts for one in receipt.breaks if _is_in(one, entry, home)
        }
        if len(lines) > entry.count:
            named = _named(
                f"line {line}" if path == entry.path else f"{path}:{line}" for path, line in sorted(lines)
            )
            what = f"the graph breaks on {len(lines)} lines, but {entry.count} are expected"
            yield f"{entry.place}: {what}{named}"


def idle(reports: Sequence[ProbeReport], contract: Contract, home: Path = Path()) -> Iterator[str]:
    """One sentence for each place of a contract that counts nothing, while islands elsewhere break graphs."""
    receipts = [report.reply.receipt for report in reports if report.reply.receipt is not None]
    breaks = [broken for receipt in receipts for broken in receipt.breaks]
    counts = {
        entry: [broken for broken in breaks if _is_in(broken, entry, home)]
        for entry in contract.expected_breaks
    }
    islands = [
        "{}:{}".format(*place(broken, home))
        for broken in breaks
        if broken.id in INTENDED and not any(broken in counted for counted in counts.values())
    ]
    for entry, counted in counts.items():
        if islands and entry.count and not counted:
            yield f"{entry.place}: this entry counts nothing: islands break graphs elsewhere{_named(islands)}"


def _named(lines: Iterable[str]) -> str:
    known = list(dict.fromkeys(lines))
    shown = ", ".join(known[:_MOST_LINES])
    rest = f" and {len(known) - _MOST_LINES} more" if len(known) > _MOST_LINES else ""
    return f" ({shown}{rest})" if known else ""


def place(found: GraphBreak, home: Path) -> tuple[str, int]:
    """The innermost line of a project at which a graph broke, with the file below its folder."""
    own = [frame for frame in found.stack if Path(frame.path).is_relative_to(home)]
    path, line = (own[-1].path, own[-1].line) if own else (found.path, found.line)
    return relative(path, home), line


def _is_in(found: GraphBreak, entry: ExpectedBreaks, home: Path) -> bool:
    if entry.function and disabled_function(found.id, found.reason) == entry.function:
        return True
    path, line = place(found, home)
    if path != entry.path:
        return False
    return not entry.function or any(
        name == entry.function and first <= line <= last for name, first, last in functions(home / path)
    )
