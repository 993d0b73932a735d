"""DYN505: compiled code that cannot be compiled runs eagerly, and nobody is told."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.breaks.frames import Break
from dynamo_lint.findings import Finding, Related
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import caught, failures, name_of, stated, told
from dynamo_lint.state.provenance import Tables

_WAYS = {
    "suppressed": (
        "`suppress_errors` hides that `{}` cannot be compiled",
        "all calls of it run eagerly, for good",
    ),
    "swallowed": (
        "this `except` hides that `{}` cannot be compiled",
        "every call fails, and runs eagerly instead",
    ),
    "suppressing": (
        "`suppress_errors` would hide it if `{}` could not be compiled",
        "nothing yet; from the first failure on, its calls would run eagerly",
    ),
    "hiding": (
        "this `except` would hide it if `{}` could not be compiled",
        "nothing yet; calls that fail would run eagerly",
    ),
}
"""What is said, and what it costs."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each setting or handler; a note where nothing is known to fail."""
    failing = {one.site for one in (*told(tables, "suppressed"), *caught(tables))}
    for one in told(tables, *_WAYS):
        if one.met[0].what == "swallowed" and one.site not in failing:
            continue  # it is compiled in another way then
        what = next((met.what for met in one.met if met.what in {"suppressed", "swallowed"}), one.met[0].what)
        message, cost = _WAYS[what]
        name = name_of(one.met[0].unit)
        claim = Claim(
            message=message.format(name),
            cost=cost,
            effect="eager",
            severity="warning" if one.site in failing and not one.doubt else "note",
            subject=f"{name}: {what}",
            advice="let it fail, or catch only what is expected, and log and count it",
            step="hides a failure to compile",
            related=tuple(_reason(failure) for failure in failures(tables, one))
            if what == "swallowed"
            else (),
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


def _reason(failure: Break) -> Related:
    place = failure.position
    return Related(failure.hot.function.path, place.line, place.column, f"{failure.row.does}: fails here")


HIDDEN_COMPILE_FAILURE = Rule("DYN505", "hidden-compile-failure", check)
