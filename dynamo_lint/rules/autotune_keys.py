"""DYN519: a Triton kernel is tuned for every number of tokens anew, once for all sizes, or for too long."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule
from dynamo_lint.rules.practices import at_line, is_quiet
from dynamo_lint.state.provenance import Tables
from dynamo_lint.state.tuning import Tuning

_COUNT = re.compile(
    r"(n|num|total|max|cu|nr)?_?(tokens?|seq_?lens?|seqlens?|sequence_?lengths?|rows|seqs)(_[qk])?|n_?ctx"
    r"|batch(_?size)?|bsz|n_?elements|numel",
    re.IGNORECASE,
)
"""The names of arguments that differ from batch to batch."""


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per kernel, for all that is wrong with how it is tuned."""
    for one in tables.practice.tunings:
        faults = [] if is_quiet(tables.project, one.where) else list(_faults(one, context))
        if not faults:
            continue
        claim = Claim(
            message=f"`triton.autotune` {' and '.join(what for what, _ in faults)}",
            cost=faults[0][1],
            effect="",
            severity="note",
            subject="triton.autotune",
            advice="a short list of configurations, and dimensions of the model as the key",
            step="tunes a kernel",
        )
        yield at_line(rule, tables, context, one.where, one.line, claim)


def _faults(one: Tuning, context: Context) -> Iterator[tuple[str, str]]:
    """The faults, each with what it costs."""
    many = one.configurations
    if many != 1:
        counts = [name for name in one.key or () if _COUNT.fullmatch(name)]
        if counts:
            tried = f"{many} configurations" if many is not None else "all configurations"
            yield (
                f"has `{counts[0]}` in its key",
                f"{tried} are tried for each number of tokens that comes up",
            )
        if one.key == ():
            yield "has an empty key", "what is fastest for the first call is used for all sizes"
    most = context.contract_of(one.where.path).max_autotune_configs
    if most is not None and many is not None and many > most:
        yield f"tries {many} configurations, and the contract allows {most}", "tuning takes that much longer"


AUTOTUNE_KEYS = Rule("DYN519", "autotune-keys", check)
