"""Probes that never exercise a hazard: they neither refute its finding nor call it stale, and say what to do.

A probe that was judged as it stands before is judged again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from dynamo_lint.findings import Finding
from tests.confirm.judging import findings_in, judged

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


def verdict_on(
    name: str, folder: Path, program: str, probe: str, config: pytest.Config, finding: Finding | None = None
) -> tuple[str, str]:
    """The verdict on the only finding in a program, or on one that is made up, and its reason."""
    (folder / "m.py").write_text(program)
    probes = folder / "probes.py"
    probes.write_text(
        f"import torch\nimport m\n\n\ndef probe_it():{probe}    return call, [(torch.ones(2),)]\n"
    )
    mine = [one for one in findings_in(folder) if one.span.path == "m.py"]
    if finding is not None:
        mine = [replace(finding, unit=one.unit, span=one.span, region=one.region) for one in mine]
    done = judged(recorded_as(name), probes, mine, config)
    assert done.error == ""
    ((_, verdict, why),) = done.verdicts
    return verdict, why


def recorded_as(name: str) -> str:
    """The name of the row of a probe."""
    return f"exercised: {name}"


NOT_EXERCISED = {
    "Dynamo is reset between calls": (COUNTER, RESET, "do not reset Dynamo between calls"),
    "a new object for each call": (COUNTER, NEW_OBJECTS, "`A._n` never changed: 0"),
    "all of it is forced to run eagerly": (COUNTER, FORCED_EAGER, "Dynamo compiled nothing in this probe"),
    "all but the first call is forced to run eagerly": (COUNTER, EAGER_LATER, "`A._n` never changed: 0"),
    "the model as a whole instead of its blocks": (
        BLOCKS,
        WHOLE,
        "the probe compiles `Model.forward`, and this is about `Block.forward` as it is compiled",
    ),
    "a function around the model": (
        BLOCKS,
        WRAPPED,
        "the probe compiles `probe_it.<locals>.call`, and this is about `Block.forward`",
    ),
    "one block of many": (BLOCKS, ONE_BLOCK, "as when only some calls of `Block.forward` are compiled"),
    "each block without the versions of the others": (
        BLOCKS,
        EACH_BLOCK_ANEW,
        "no compiled code met two objects with different `Block.index`",
    ),
    "the same argument each time": (SAMPLER, ONE_STEP, "`Sampler.forward(rounds)` never changed: 2"),
}
EXERCISED = {
    "the same object compiled again for each call": (COUNTER, AGAIN),
    "each block": (BLOCKS, EACH_BLOCK),
    "another argument each time": (SAMPLER, SOME_STEPS),
}


@pytest.mark.parametrize("name", NOT_EXERCISED)
def test_a_probe_that_does_not_exercise_a_hazard_says_why(
    name: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    program, probe, reason = NOT_EXERCISED[name]
    verdict, why = verdict_on(name, tmp_path, program, probe, pytestconfig)
    assert verdict == "unobserved"
    assert reason in why


@pytest.mark.parametrize("name", EXERCISED)
def test_a_probe_that_exercises_a_hazard_confirms_it(
    name: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    assert verdict_on(name, tmp_path, *EXERCISED[name], pytestconfig)[0] == "confirmed"


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


REFUTED = {"plain": COUNTER, "decorated": "import functools\n" + DECORATED}


@pytest.mark.parametrize("name", REFUTED)
def test_a_value_that_compiled_code_met_and_never_guarded_on_refutes_its_finding(
    name: str, tmp_path: Path, pytestconfig: pytest.Config
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
    verdict, why = verdict_on(name, tmp_path, REFUTED[name], OTHER, pytestconfig, made_up)
    assert verdict == "refuted"
    assert "`A.label` was 1, then 2, then 3" in why
