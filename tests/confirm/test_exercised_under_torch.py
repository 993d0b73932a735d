"""Probes that never exercise a hazard: they neither refute its finding nor call it stale, and say what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynamo_lint.config import Settings
from dynamo_lint.confirm.child.testimony import reply_to
from dynamo_lint.confirm.model import Reply
from dynamo_lint.confirm.probes import probes_of
from dynamo_lint.confirm.run import report, requested
from dynamo_lint.confirm.verdicts import Verdict
from dynamo_lint.discovery import discover
from dynamo_lint.findings import Finding
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

COUNTER = """
import torch
from torch import nn


class A(nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0
        self.label = 0

    def forward(self, x):
        self._n += 1
        return x * 2


step = torch.compile(A())
"""

BLOCKS = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x):
        return x * self.index


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(i) for i in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def train():
    model = Model()
    for block in model.blocks:
        block.compile()
    return model
"""

SAMPLER = """
import torch
from torch import nn


class Sampler(nn.Module):
    def forward(self, x, rounds):
        for _ in range(rounds):
            x = x * 2
        return x


def sample(model, x, steps):
    for step in range(steps):
        x = model(x, step + 2)
    return x


def main():
    return sample(torch.compile(Sampler()), torch.ones(2), 12)
"""

RESET = """
    model = torch.compile(m.A())
    def call(x):
        torch._dynamo.reset()
        return model(x)
"""
NEW_OBJECTS = """
    def call(x):
        model = m.A()
        model.compile()
        return model(x)
"""
FORCED_EAGER = """
    torch.compiler.set_stance("force_eager")
    call = torch.compile(m.A())
"""
EAGER_LATER = """
    model = torch.compile(m.A())
    calls = []
    def call(x):
        calls.append(x)
        with torch.compiler.set_stance("default" if len(calls) == 1 else "force_eager"):
            return model(x)
"""
AGAIN = """
    model = m.A()
    def call(x):
        return torch.compile(model)(x)
"""
WHOLE = """
    call = torch.compile(m.Model())
"""
WRAPPED = """
    model = m.Model()
    def call(x):
        return model(x)
"""
ONE_BLOCK = """
    call = m.Model()
    call.blocks[0].compile()
"""
EACH_BLOCK_ANEW = """
    model = m.Model()
    def call(x):
        for block in model.blocks:
            torch._dynamo.reset()
            x = torch.compile(block)(x)
        return x
"""
EACH_BLOCK = """
    call = m.train()
"""
ONE_STEP = """
    model = torch.compile(m.Sampler())
    def call(x):
        return m.sample(model, x, 1)
"""
SOME_STEPS = """
    model = torch.compile(m.Sampler())
    def call(x):
        return m.sample(model, x, 4)
"""


def judged(folder: Path, program: str, probe: str, finding: Finding | None = None) -> Verdict:
    """The verdict on the only finding in a program, or on one that is made up."""
    (folder / "m.py").write_text(program)
    (folder / "probes.py").write_text(
        f"import torch\nimport m\n\n\ndef probe_it():{probe}    return call, [(torch.ones(2),)]\n"
    )
    found = discover((folder,), [])
    findings = check(Settings(), found, catalogue(), Sources(found.root)).findings
    mine = [one for one in findings if one.span.path == "m.py"]
    if finding is not None:
        mine = [replace(finding, unit=one.unit, span=one.span, region=one.region) for one in mine]
    (ref,) = probes_of(folder / "probes.py")
    replies: list[Reply] = []

    def write(reply: Reply) -> Reply:
        replies.append(reply)
        return reply

    reply_to(requested(ref, mine, found.root), write)
    assert replies[-1].error == ""
    (verdict,) = report(ref, replies[-1], mine, found.root).verdicts
    return verdict


@pytest.mark.parametrize(
    ("program", "probe", "why"),
    [
        (COUNTER, RESET, "do not reset Dynamo between calls"),
        (COUNTER, NEW_OBJECTS, "`A._n` never changed: 0"),
        (COUNTER, FORCED_EAGER, "Dynamo compiled nothing in this probe"),
        (COUNTER, EAGER_LATER, "`A._n` never changed: 0"),
        (
            BLOCKS,
            WHOLE,
            "the probe compiles `Model.forward`, and this is about `Block.forward` as it is compiled",
        ),
        (BLOCKS, WRAPPED, "the probe compiles `probe_it.<locals>.call`, and this is about `Block.forward`"),
        (BLOCKS, ONE_BLOCK, "as when only some calls of `Block.forward` are compiled"),
        (BLOCKS, EACH_BLOCK_ANEW, "no compiled code met two objects with different `Block.index`"),
        (SAMPLER, ONE_STEP, "`Sampler.forward(rounds)` never changed: 2"),
    ],
    ids=[
        "Dynamo is reset between calls",
        "a new object for each call",
        "all of it is forced to run eagerly",
        "all but the first call is forced to run eagerly",
        "the model as a whole instead of its blocks",
        "a function around the model",
        "one block of many",
        "each block without the versions of the others",
        "the same argument each time",
    ],
)
def test_a_probe_that_does_not_exercise_a_hazard_says_why(
    program: str, probe: str, why: str, tmp_path: Path
) -> None:
    verdict = judged(tmp_path, program, probe)
    assert verdict.verdict == "unobserved"
    assert why in verdict.why


@pytest.mark.parametrize(
    ("program", "probe"),
    [(COUNTER, AGAIN), (BLOCKS, EACH_BLOCK), (SAMPLER, SOME_STEPS)],
    ids=["the same object compiled again for each call", "each block", "another argument each time"],
)
def test_a_probe_that_exercises_a_hazard_confirms_it(program: str, probe: str, tmp_path: Path) -> None:
    assert judged(tmp_path, program, probe).verdict == "confirmed"


OTHER = """
    model = m.A()
    compiled = torch.compile(model)
    def call(x):
        model._n = 0
        model.label += 1
        return compiled(x)
"""


DECORATED = COUNTER.replace("    def forward", "    @decorated\n    def forward").replace(
    "class A",
    """def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


class A""",
)


@pytest.mark.parametrize("program", [COUNTER, "import functools\n" + DECORATED], ids=["plain", "decorated"])
def test_a_value_that_compiled_code_met_and_never_guarded_on_refutes_its_finding(
    program: str, tmp_path: Path
) -> None:
    made_up = Finding(
        "DYN102",
        "",
        None,
        "",
        "",
        "error",
        "storm",
        "certain",
        "m.py::A.forward",
        "A.label",  # type: ignore[arg-type]
    )
    verdict = judged(tmp_path, program, OTHER, made_up)
    assert verdict.verdict == "refuted"
    assert "`A.label` was 1, then 2, then 3" in verdict.why
