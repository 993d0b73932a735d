"""DYN503: a call goes around the compiled code that is there."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import Told, name_of, stated, told
from dynamo_lint.state.provenance import Tables

_WAYS = {
    "forward": (
        "calls the method of the module, not the module, which alone is compiled",
        "call the module itself",
    ),
    "unwrapped": (
        "calls the module below the compiled one",
        "call what `torch.compile` returned",
    ),
    "copy": (
        "copies a module that is compiled in place, and the copy is not compiled",
        "compile the copy as well",
    ),
    "disabled": (
        "compiles what a decorator keeps Dynamo from",
        "take the decorator away, or do not compile it",
    ),
}
"""What a line does, and the way out."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each line by which compiled code is not reached."""
    for one in told(tables, *_WAYS):
        does, advice = _WAYS[one.met[0].what]
        name = name_of(one.met[0].unit)
        claim = Claim(
            message=f"`{one.source}` {does}: `{name}` runs eagerly",
            cost="these calls run eagerly, without a warning",
            effect="eager",
            severity=_severity(one),
            subject=f"{name}: {one.source}",
            advice=advice,
            step="goes around the compiled code",
        )
        yield stated(rule, tables, context, one.site, claim, one.likeliest)


def _severity(one: Told) -> str | None:
    """Who unwraps a model beside calling it compiled means to; what may not happen is a note."""
    meant = one.partly and one.met[0].what == "unwrapped"
    return "note" if one.doubt or meant else None


BYPASSED_COMPILE = Rule("DYN503", "bypassed-compile", check)
