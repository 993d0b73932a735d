"""A job as its logs might tell of it, on the sources of `fixtures/moe/hazard`: for tests and for pictures."""

from __future__ import annotations

from dataclasses import replace

from dynamo_lint.findings import Finding
from dynamo_lint.logs.model import (
    Break,
    Budget,
    Cause,
    Job,
    Limit,
    LogReport,
    Moment,
    Rank,
    Recompiles,
)
from dynamo_lint.logs.texts import Frame

MOE = "fixtures/moe/hazard/moe.py"
ATTENTION = "fixtures/moe/hazard/attention.py"
BLOCK = Frame(MOE, 60, "MoEBlock.forward")
ROUTER = Frame(MOE, 18, "Router.forward")
WINDOW = Frame(ATTENTION, 31, "CausalAttention.forward")
OVERFLOW = Recompiles(
    BLOCK,
    "self._overflow_total",
    "value",
    "self._overflow_total == 0",
    7,
    tuple(map(str, range(1, 6))),
)
NOISE = Recompiles(
    ROUTER, "os.environ['MOE_ROUTER_NOISE']", "value", "os.environ['MOE_ROUTER_NOISE'] == '0'", 2, ("'1'",)
)
SIZE = Recompiles(WINDOW, "x.size()[1]", "size", "x.size()[1] == 512", 1, ("768",))
RANK = Rank(7, 2, 1, None, ((BLOCK, "self._overflow_total", 7),))
STACK = (("fixtures/moe/hazard/train.py", 15), (MOE, 60), (ATTENTION, 34))


def _moments() -> tuple[Moment, ...]:
    found = []
    for rank in (0, 1):
        late = 0.3 * rank
        found += [
            Moment(1.2 + late, BLOCK, "compile", rank),
            Moment(2.0 + late, ROUTER, "compile", rank),
            Moment(2.4 + late, WINDOW, "compile", rank),
            Moment(2.5 + late, WINDOW, "break", rank),
            *(Moment(4.0 + 3.1 * call + late, BLOCK, "recompile", rank) for call in range(7)),
            Moment(26.0 + late, BLOCK, "limit", rank),
            Moment(31.0 + late, WINDOW, "recompile", rank),
        ]
    found += [Moment(12.0, ROUTER, "recompile", 1), Moment(38.5, ROUTER, "recompile", 1)]
    return tuple(sorted(found, key=lambda one: one.seconds))


JOB = Job(
    proof="text",
    torch="2.13.0",
    compiles=None,
    recompiles=(replace(OVERFLOW, count=14), NOISE, replace(SIZE, count=2)),
    breaks=(
        Break(
            ATTENTION,
            34,
            "forward",
            "GB0131",
            "Attempted to call `getattr` with a name that is not constant",
            2,
            False,
            tuple(Frame(path, line, "") for path, line in STACK),
        ),
    ),
    limits=tuple(Limit(BLOCK, "recompile_limit", 8, "self._overflow_total", rank) for rank in (0, 1)),
    ranks={0: RANK, 1: replace(RANK, recompiles=9, frames=(*RANK.frames, (ROUTER, NOISE.source, 2)))},
    moments=_moments(),
    notes=("ranks-diverge", "sizes"),
)


def report(findings: tuple[Finding, ...] = ()) -> LogReport:
    """The job with causes that some findings explain; those that it does not bear out stand at the end."""
    by_code = {finding.code: finding for finding in findings}
    causes = (
        Cause(MOE, 63, "DYN101", "self._overflow_total", (BLOCK,), 14, 0, 2, "finding", False, by_code.get("DYN101"), OVERFLOW.values),
        Cause(MOE, 21, "DYN201", "os.environ['MOE_ROUTER_NOISE']", (ROUTER,), 2, 0, 0, "finding", False, by_code.get("DYN201")),
        Cause(ATTENTION, 34, "DYN202", "getattr(self, f\"window_{stage}\")", (Frame(ATTENTION, 34, ""),), 0, 2, 0, "reading"),
    )  # fmt: skip
    unseen = tuple(finding for finding in findings if finding.code == "DYN103")
    budgets = (Budget("max-recompiles", 0, 18), Budget("max-breaks", 4, 2), Budget("max-compiles", 60, None))
    return LogReport(JOB, causes, (replace(SIZE, count=2),), unseen, budgets)
