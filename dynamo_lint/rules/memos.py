"""Functions with a memo (`functools.lru_cache`) in compiled code: Dynamo leaves the memo out."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.index.expressions import terminal_name
from dynamo_lint.index.facts import Call
from dynamo_lint.regions.model import HotFunction
from dynamo_lint.rules.base import Claim, region
from dynamo_lint.state.model import Position
from dynamo_lint.state.origins import Tables

MEMOS = frozenset({"lru_cache", "cache"})


def bypassed(tables: Tables) -> Iterator[tuple[HotFunction, Position, Claim]]:
    """Hot functions with a memo, at their definition.

    Dynamo inlines `__wrapped__` and warns (`WrapperUserFunctionVariable` in torch/_dynamo/variables).
    """
    for hot in tables.regions.hot:
        function = tables.project.function(hot.function)
        marks = (d.function if isinstance(d, Call) else d for d in function.decorators)
        memo = next((name for mark in marks if (name := terminal_name(mark)) in MEMOS), None)
        if memo is None:
            continue
        name, where = function.qualname.rpartition(".")[2], region(tables, hot)
        claim = Claim(
            message=f"the `{memo}` of `{name}` is bypassed in the compiled `{where}`: Dynamo traces the "
            "function itself and neither reads nor fills the memo",
            cost="what it computes is part of every compiled call, and the memo stays as eager code left it",
            effect="stale",
            severity="note",
            subject=f"{function.qualname}.{memo}",
            advice=f"call `{name}` outside the compiled code and pass in what it returns",
            step=f"leaves out the memo of `{name}`",
        )
        yield hot, Position(function.line, 1, function.line, 1), claim
