"""DYN110: gradients, autocast or training mode change between calls of a region.

Interpreted runs tell it: here the modes of the process, and in `recompiles` those of modules and tensors.
"""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.models.drivers import AUTOCAST, GRADIENTS
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.interpreted import stated, turning
from dynamo_lint.state.provenance import Tables


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding for each mode that some calls of a program have and others have not."""
    for one in turning(tables, lambda met: met.what if met.what in (GRADIENTS, AUTOCAST) else ""):
        effect, entries = one.effect(context)
        what = one.met[-1].what
        claim = Claim(
            message=f"{what} differs between calls of the compiled code, and Dynamo guards on it",
            cost=one.cost(context, "it"),
            effect=effect,
            entries=entries,
            subject=f"{one.site.where.id}: {what}",
            advice="accept the extra compile, or keep the mode the same for all compiled calls",
            step=f"changes {what}",
        )
        yield stated(rule, tables, context, one.site, claim, one.met[-1])


MODE_FLIP = Rule("DYN110", "mode-flip", check)
