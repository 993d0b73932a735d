"""DYN524: buffers that take, in place, what needs a gradient."""

from __future__ import annotations

from collections.abc import Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, is_quiet, named, region
from dynamo_lint.state.gradient_buffers import gradient_buffers
from dynamo_lint.state.provenance import Tables


@named("DYN524", "buffer-takes-gradient")
def buffer_takes_gradient(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per statement."""
    project = tables.project
    for one in gradient_buffers(project, tables.bodies, tables.regions):
        if is_quiet(project, one.hot.function):
            continue
        claim = Claim(
            message=f"the buffer `{one.buffer}` takes what needs a gradient in the compiled "
            f"`{region(tables, one.hot)}`",
            cost="one extra compile, as the buffer needs a gradient from then on; the next `backward` goes "
            "through this step as well, and raises",
            severity="warning",
            subject=f"{one.hot.receiver.name if one.hot.receiver else ''}.{one.buffer}",
            advice="do it under `torch.no_grad()`, or with `.detach()`",
            step="changes a buffer",
        )
        yield at_line(rule, tables, context, one.hot.function, one.line, claim, one.hot)
