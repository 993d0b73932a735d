"""Every fix under real torch: it compiles once and nobody can tell it from the program it replaced.

What was run as it stands, before and after the fix, is run again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_snapshot.plugin import Snapshot

pytest.importorskip("torch")

import torch
from torch._dynamo.backends.registry import lookup_backend

from tests.fixes.fixing import fixed
from tests.receipts import outcome_of, texts_of

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
CALLS = 12
each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def rewritten(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The fixed text of each program; fixed one by one, as a project of its own."""
    texts = {}
    for program in PROGRAMS:
        folder = tmp_path_factory.mktemp(program.stem)
        (folder / "model.py").write_text(program.read_text())
        done = fixed(folder)
        assert [finding.message for finding in done.report.findings] == []
        assert done.refused == ()
        texts[program.stem] = done.files["model.py"].decode()
    return texts


def load(text: str) -> SimpleNamespace:
    """A program as an object: `Model`, `state`, and `between` if it has one."""
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), namespace)
    namespace.setdefault("between", lambda model, call: None)
    return SimpleNamespace(**namespace)


def same(ours: Any, theirs: Any) -> bool:
    match ours, theirs:
        case torch.Tensor(), torch.Tensor():
            return ours.shape == theirs.shape and torch.allclose(ours, theirs, rtol=1e-4)
        case tuple(), tuple():
            return len(ours) == len(theirs) and all(map(same, ours, theirs))
        case (torch.Tensor(), _) | (_, torch.Tensor()):
            return same(torch.as_tensor(ours), torch.as_tensor(theirs, dtype=torch.as_tensor(ours).dtype))
        case float(), float():
            return abs(ours - theirs) < 1e-4
        case _:
            return type(ours) is type(theirs) and bool(ours == theirs)


def run(program: SimpleNamespace, model: Any, call: Any, dtype: Any = torch.float32) -> list[Any]:
    """Outputs and state over all calls, in training and then in evaluation."""
    torch.manual_seed(1)
    seen = []
    for number in range(CALLS):
        model.train(number < CALLS // 2)
        seen.append((call(torch.randn(3, 4, dtype=dtype)).detach().clone(), frozen(program.state(model))))
        program.between(model, number)
    return [*seen, frozen(program.state(model))]


def frozen(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return tuple(map(frozen, value)) if isinstance(value, tuple) else value


def build(program: SimpleNamespace) -> Any:
    torch.manual_seed(0)
    return program.Model()


def compiled(model: Any) -> tuple[Any, list[int]]:
    torch._dynamo.reset()
    count, backend = [0], lookup_backend("aot_eager")

    def counting(graph, inputs):
        done = backend(graph, inputs)
        count[0] += 1
        return done

    return torch.compile(model, backend=counting), count


@each_program
def test_the_edit_is_what_a_reviewer_saw(
    program: Path, rewritten: dict[str, str], snapshot: Snapshot
) -> None:
    before, after = program.read_text().splitlines(True), rewritten[program.stem].splitlines(True)
    snapshot.snapshot_dir = Path(__file__).parent / "snapshots"
    snapshot.assert_match("".join(difflib.unified_diff(before, after, n=1)), f"{program.stem}.diff")


def outcome(told: Callable[[str, str], Any], texts: tuple[str, str], name: str, config: pytest.Config) -> Any:
    """What a function of this file tells of the text of a program and of its fixed one."""
    named = [("old", texts[0]), ("new", texts[1]), *texts_of(Path(__file__))]
    return outcome_of(recorded_as(name, told), named, lambda: told(*texts), config)


def recorded_as(name: str, told: Callable[[str, str], Any]) -> str:
    """The name of the row of a program and a function."""
    return f"rewritten: {name}, {told.__name__}"


def compiles_and_equals(old_text: str, new_text: str) -> tuple[int, bool]:
    """The number of compiles, and whether the fixed program does what the unfixed one does eagerly."""
    old, new = load(old_text), load(new_text)
    model = build(new)
    call, count = compiled(model)
    expected = run(old, reference := build(old), reference)
    found = run(new, model, call)
    return count[0], all(map(same, found, expected))


def loads_copies_and_converts(old_text: str, new_text: str) -> tuple[bool, bool, bool, int]:
    """Whether old checkpoints fit, and copies and doubles do what they did, and the compiles of doubles."""
    old, new = load(old_text), load(new_text)
    reference, model = build(old), program_with_other_weights(new)
    fits = model.state_dict().keys() == reference.state_dict().keys()
    model.load_state_dict(reference.state_dict(), strict=True)
    model = copy.deepcopy(model)
    call, _ = compiled(model)
    equal = all(map(same, run(new, model, call), run(old, reference, reference)))

    reference, model = build(old).to(torch.float64), build(new).to(torch.float64)
    call, count = compiled(model)
    found, expected = run(new, model, call, torch.float64), run(old, reference, reference, torch.float64)
    return fits, equal, all(map(same, found, expected)), count[0]


def program_with_other_weights(program: SimpleNamespace) -> Any:
    torch.manual_seed(5)
    return program.Model()


def has_the_gradients(old_text: str, new_text: str) -> bool:
    """Whether the gradients of two forwards before a backward are those of the unfixed program."""
    grads = []
    for text, compiling in ((old_text, False), (new_text, True)):
        model = build(load(text))
        call = compiled(model)[0] if compiling else model
        torch.manual_seed(1)
        first, second = call(torch.randn(3, 4)), call(torch.randn(3, 4))
        (first.sum() + second.pow(2).sum()).backward()
        grads.append([p.grad for p in model.parameters()])
    return all(same(ours, theirs) for ours, theirs in zip(*grads, strict=True))


@each_program
def test_the_fixed_program_compiles_once_and_equals_the_unfixed_one_run_eagerly(
    program: Path, rewritten: dict[str, str], pytestconfig: pytest.Config
) -> None:
    texts = program.read_text(), rewritten[program.stem]
    compiles, equal = outcome(compiles_and_equals, texts, program.stem, pytestconfig)
    assert compiles == (2 if "self.training" in program.read_text() else 1)
    assert equal


@each_program
def test_old_checkpoints_load_and_copies_and_other_dtypes_go_on_counting(
    program: Path, rewritten: dict[str, str], pytestconfig: pytest.Config
) -> None:
    texts = program.read_text(), rewritten[program.stem]
    *equal, compiles = outcome(loads_copies_and_converts, texts, program.stem, pytestconfig)
    assert equal == [True, True, True]
    assert compiles <= 2


@each_program
def test_two_forwards_may_come_before_a_backward(
    program: Path, rewritten: dict[str, str], pytestconfig: pytest.Config
) -> None:
    texts = program.read_text(), rewritten[program.stem]
    assert outcome(has_the_gradients, texts, program.stem, pytestconfig)


ROWS = {
    recorded_as(program.stem, told)
    for program in PROGRAMS
    for told in (compiles_and_equals, loads_copies_and_converts, has_the_gradients)
}
"""The names of all rows that are asked for here."""
