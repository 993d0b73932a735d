"""Confirm under real Dynamo: what it hears, what it blames, and how it takes probes that go wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import OrderedDict
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.utils._traceback import shorten_filename

from dynamo_lint import cli
from dynamo_lint.confirm.child import stacks
from dynamo_lint.confirm.child.testimony import reply_to
from dynamo_lint.confirm.child.witness import minimal_sets, observe
from dynamo_lint.confirm.model import Cause, Receipt, Reply, Request, Setting
from dynamo_lint.confirm.run import run
from tests.proof import watch

torch.set_num_threads(1)
X = torch.ones(2, 4)


class Config:
    def __init__(self):
        self.k = 3


class Block(nn.Module):
    SHARED = 1

    def __init__(self):
        super().__init__()
        self.n, self.flag, self.mode, self.aux = 0, True, "a", None
        self.cfg, self.names, self.table = Config(), [1], {"x": 1}
        self.parts = nn.ModuleList([nn.ReLU()])

    def forward(self, x):
        if self.flag:
            x = x + self.cfg.k + self.n
        x = x * 2 if self.mode == "a" else x * 3
        x = x + len(self.names)
        for key in self.table:
            x = x + self.table[key]
        if hasattr(self, "late"):
            x = x + 1
        x = x if self.aux is None else x + self.aux
        return self.parts[0](x) * self.SHARED


def seen(*changes, inputs=X):
    """The receipt of one call before and one call after each change."""
    block = Block()
    made = []

    def call(change):
        def go():
            if not made:
                made.append(torch.compile(block))
            change(block)
            return made[0](inputs)

        return go

    return observe([call(change) for change in (lambda block: None, *changes)])


def sole(receipt: Receipt) -> Cause:
    (recompile,) = receipt.recompiles
    ((cause,),) = recompile.causes
    return cause


def put(name, value, of=lambda block: block):
    return lambda block: setattr(of(block), name, value)


@pytest.mark.parametrize("installed", ["/nowhere/torch", "{folder}/lib/torch", "{folder}"])
def test_a_path_in_a_comment_is_found_again_wherever_torch_is_installed(installed, tmp_path, monkeypatch):
    file = tmp_path / "model.py"
    file.touch()
    torch_at = Path(installed.format(folder=tmp_path))
    shown = shorten_filename(str(file), base=str(torch_at.parent))
    monkeypatch.setattr(stacks, "TORCH", torch_at)
    (frame,) = stacks.stack_of(f"L['x'] == 1  # y = x + 1  # {shown}:3 in forward", {})
    assert (frame.path, frame.line, frame.function) == (str(file), 3, "forward")


@pytest.mark.parametrize(
    ("change", "owner", "attribute", "inside", "expected", "actual"),
    [
        (put("n", 5), "Block", "n", "", "0", "5"),
        (put("flag", False), "Block", "flag", "", "True", "False"),
        (put("mode", "b"), "Block", "mode", "", "'a'", "'b'"),
        (put("k", 7, lambda block: block.cfg), "Config", "k", "", "3", "7"),
        (put("names", [1, 2]), "Block", "names", "", "1", "2"),
        (put("table", {"x": 1, "y": 2}), "Block", "table", "", "1", "2"),
        (put("table", {"x": 4}), "Block", "table", "['x']", "1", "4"),
        (put("late", 1), "Block", "late", "", "absent", "present"),
        (put("aux", X), "Block", "aux", "", "None", "Tensor float32[2, 4]"),
    ],
)
def test_a_recompile_is_blamed_on_the_state_that_changed(change, owner, attribute, inside, expected, actual):
    cause = sole(seen(change))
    assert cause.owner.rpartition(".")[2] == owner
    assert (cause.attribute, cause.inside) == (attribute, inside)
    assert (cause.expected, cause.actual) == (expected, actual)
    assert cause.path == __file__
    assert cause.stack[0].function == "forward"


def test_a_part_of_another_type_is_blamed_on_the_list_that_holds_it():
    def change(block):
        block.parts[0] = nn.GELU()

    cause = sole(seen(change))
    assert (cause.attribute, cause.inside) == ("parts", "[0]")
    assert cause.actual == "torch.nn.modules.activation.GELU"


def test_state_that_changed_together_is_a_joint_cause_although_dynamo_names_the_first_only():
    def change(block):
        block.n, block.mode = 5, "b"

    (recompile,) = seen(change).recompiles
    ((*joint,),) = recompile.causes
    assert {cause.attribute for cause in joint} == {"n", "mode"}


def test_an_old_version_does_not_blame_what_has_long_changed():
    receipt = seen(put("mode", "b"), put("n", 5), put("n", 6))
    assert [[cause.attribute for cause in joint] for one in receipt.recompiles for joint in one.causes] == [
        ["mode"],
        ["n"],
        ["n"],
    ]


def test_a_held_value_costs_nothing():
    receipt = seen(put("n", 0), put("names", [9]))
    assert receipt.recompiles == ()
    assert len(receipt.compiles) == 1


class OnDemand(OrderedDict):
    """A table of activations: every lookup makes a new object, which is not what its guard finds in the dict."""

    def __getitem__(self, key):
        return super().__getitem__(key)()


TABLE = OnDemand((str(number), nn.ReLU) for number in range(5))


class UsesTheTable(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1
        return TABLE["3"](x)


def test_a_guard_that_cannot_be_evaluated_is_no_cause():
    model = UsesTheTable()
    made = []

    def call():
        if not made:
            made.append(torch.compile(model))
        return made[0](X)

    receipt = observe([call, call, call])
    assert [[cause.attribute for cause in joint] for one in receipt.recompiles for joint in one.causes] == [
        ["n"],
        ["n"],
    ]


def test_another_shape_is_told_as_that():
    block = torch.nn.ReLU()

    def call(rows):
        return lambda: torch.compile(block)(torch.ones(rows, 4))

    cause = sole(observe([call(2), call(3), call(5)]))
    assert (cause.kind, cause.aspect, cause.attribute) == ("TENSOR_MATCH", "size", "args")
    assert cause.actual == "Tensor float32[3, 4]"


def test_grad_mode_is_told_by_its_name():
    block = Block()

    def call():
        return torch.compile(block)(X)

    cause = sole(observe([call, torch.no_grad()(call)]))
    assert (cause.kind, cause.attribute) == ("GLOBAL_STATE", "grad_mode")


def test_a_break_has_its_line_its_id_and_its_stack():
    def helper(x):
        print(end="")
        return x + 1

    def function(x):
        return helper(x * 2)

    (found,) = observe([lambda: torch.compile(function)(X)]).breaks
    assert (found.id, found.function, found.skips_frame) == ("GB0059", "helper", False)
    assert [frame.function for frame in found.stack[-2:]] == ["function", "helper"]


def test_an_exception_ends_the_calls_and_is_told():
    def function(x):
        return x @ x

    receipt = observe([lambda: torch.compile(function)(X), lambda: None])
    assert receipt.failure is not None
    assert receipt.calls == 0


def test_a_break_that_fullgraph_forbids_is_a_break_as_well():
    def function(x):
        print(end="")
        return x + 1

    receipt = observe([lambda: torch.compile(function, fullgraph=True)(X)])
    assert [one.id for one in receipt.breaks] == ["GB0059"]
    assert receipt.failure is not None


PROGRAM = """
import os
import torch
from torch import nn

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.scale = 2
        self.late = None

    def forward(self, x):
        self.n += 1
        if os.getenv("STALE") == "1":
            x = x + 1
        if self.n < 0:
            x = x - 1
        return x * self.scale

def probe_counter():
    return torch.compile(M()), [(torch.ones(2),)]

def probe_scale():
    model = M()
    compiled = torch.compile(model)
    def call(x):
        model.n = 0
        return compiled(x)
    return call, [(torch.ones(2),)]

def probe_stale():
    model = M()
    compiled = torch.compile(model)
    def call(x, value):
        os.environ["STALE"] = value
        model.n = 0
        return compiled(x)
    return call, [(torch.ones(2), "0"), (torch.ones(2), "1")]

def probe_without_a_compile_site():
    return M(), [torch.ones(2)]

def probe_raises():
    raise ValueError("no data")

def probe_wrong():
    return 1
"""


def told(tmp_path: Path, probe: str, **changes: object) -> Reply:
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    request = Request(str(tmp_path / "program.py"), probe, str(tmp_path), calls=4, **changes)  # type: ignore[arg-type]
    replies: list[Reply] = []

    def write(reply: Reply) -> Reply:
        replies.append(reply)
        return reply

    reply_to(request, write, separate=lambda step: step())
    return replies[-1]


def test_a_storm_is_seen_in_full_and_ends_eager_with_the_usual_limit(tmp_path: Path):
    reply = told(tmp_path, "probe_counter", recompile_limit=2, watch=("M.n", "M.scale", "M.late"))
    assert reply.receipt is not None
    assert len(reply.receipt.recompiles) == 3
    assert (reply.hit_limit, reply.eager_calls) == (True, (2, 3))
    assert {one.subject: one.over_time for one in reply.met} == {
        "M.n": ("0", "1", "2", "3"),
        "M.scale": ("2",),
        "M.late": ("None",),
    }


def test_lines_that_ran_are_known_and_so_are_those_that_did_not(tmp_path: Path):
    reply = told(tmp_path, "probe_counter")
    lines = PROGRAM.splitlines()
    ran = {lines[line - 1].strip() for line in (reply.ran or {})[str(tmp_path / "program.py")]}
    assert "self.n += 1" in ran
    assert "x = x - 1" not in ran


def test_state_set_from_outside_recompiles_once_for_each_value(tmp_path: Path):
    reply = told(tmp_path, "probe_scale", settings=(Setting("M.scale", (3, 5, 9)),))
    assert reply.receipt is not None
    assert [one.call for one in reply.receipt.recompiles] == [4, 6, 8]
    assert [one.causes[0][0].actual for one in reply.receipt.recompiles] == ["3", "5", "9"]
    assert reply.receipt.matches_eager


def test_values_to_set_are_found_by_the_kind_of_the_value(tmp_path: Path):
    reply = told(tmp_path, "probe_scale", settings=(Setting("M.scale"),))
    assert reply.receipt is not None
    assert [one.causes[0][0].actual for one in reply.receipt.recompiles] == ["4", "7", "11"]


def test_a_stale_value_is_a_difference_from_eager_without_a_recompile(tmp_path: Path):
    reply = told(tmp_path, "probe_stale")
    assert reply.receipt is not None
    assert (reply.receipt.matches_eager, reply.receipt.recompiles) == (False, ())
    assert reply.receipt.mismatch.startswith("call 1: ")


def test_a_probe_that_compiles_nothing_has_its_call_compiled(tmp_path: Path):
    reply = told(tmp_path, "probe_without_a_compile_site")
    assert reply.receipt is not None
    assert len(reply.receipt.compiles) == 4


@pytest.mark.parametrize(
    ("probe", "error"),
    [
        ("probe_raises", "ValueError: no data"),
        ("probe_wrong", "probe_wrong() must return (call, batches)"),
        ("probe_gone", "the file has no function probe_gone"),
    ],
)
def test_a_probe_that_cannot_be_run_says_why(tmp_path: Path, probe: str, error: str):
    reply = told(tmp_path, probe)
    assert reply.receipt is None
    assert error in reply.error


def test_a_crash_is_a_reply_with_the_last_words(tmp_path: Path, python_with_torch: str):
    (tmp_path / "crash.py").write_text(
        "import os\nprint('last words')\ndef probe_crash():\n    os.kill(os.getpid(), 11)\n"
    )
    reply = run(Request(str(tmp_path / "crash.py"), "probe_crash", str(tmp_path)), 120, python_with_torch)
    assert reply.error == "crashed with SIGSEGV while it ran without the compiler"
    assert "last words" in reply.detail


def test_a_probe_that_hangs_is_stopped(tmp_path: Path):
    (tmp_path / "hang.py").write_text("while True: pass\ndef probe_hang(): ...\n")
    reply = run(Request(str(tmp_path / "hang.py"), "probe_hang", str(tmp_path)), timeout=1)
    assert reply.error.startswith("took longer than 1 seconds and was stopped")


CHILD = """import os, pathlib, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("probe").write_text(f"{os.getpid()} {os.getpgrp()}")
pathlib.Path("child").write_text(str(child.pid))
"""


def lives(process: int) -> bool:
    """Whether a process runs: one that ended and is not waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def ends(process: int) -> bool:
    return any(not lives(process) or time.sleep(0.1) for _ in range(100))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc what runs")
def test_nothing_that_a_probe_started_outlives_it(tmp_path: Path):
    (tmp_path / "child.py").write_text(CHILD + "def probe_child(): ...\n")
    run(Request(str(tmp_path / "child.py"), "probe_child", str(tmp_path)), timeout=120)
    assert not Path("/proc", (tmp_path / "child").read_text()).exists()  # not even as a zombie


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc what runs")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_no_probe_outlives_a_command_that_is_ended(by: signal.Signals, tmp_path: Path):
    (tmp_path / "hang.py").write_text(CHILD + "while True: pass\ndef probe_hang(): ...\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    program = [sys.executable, "-m", "dynamo_lint", "confirm", str(tmp_path / "hang.py")]
    command = subprocess.Popen(program, env={**os.environ, "TMPDIR": str(folder)}, cwd=tmp_path)
    told = tmp_path / "child"
    while not (told.exists() and told.read_text()):
        assert command.poll() is None
        time.sleep(0.1)
    command.send_signal(by)
    assert command.wait(20) == (128 + by if by == signal.SIGTERM else -by)
    for process in (told.read_text(), *(tmp_path / "probe").read_text().split()):
        assert ends(int(process))
        assert by == signal.SIGKILL or not Path("/proc", process).exists()
    assert not list(folder.iterdir())


def test_a_probe_finds_nothing_to_read(tmp_path: Path, python_with_torch: str):
    (tmp_path / "reads.py").write_text(
        "import sys\ndef probe_reads():\n    raise ValueError(repr(sys.stdin.read()))\n"
    )
    reply = run(Request(str(tmp_path / "reads.py"), "probe_reads", str(tmp_path)), 120, python_with_torch)
    assert reply.error == "ValueError: ''"


BREAKS = """
import torch

@torch.compiler.disable  # a library
def island(x):
    return x + 1

def step(x):
    x = x * 2
    print(end="")
    return island(x) + 1

def probe_step():
    return torch.compile(step), [(torch.ones(2),)]
"""


@pytest.mark.parametrize(
    ("contract", "status", "said"),
    [
        ("max-breaks = 1", 0, ""),
        ("max-breaks = 0", 1, "over budget: probe_step: 1 graph breaks, but the budget is 0 (main.py:10)"),
        ("max-breaks = 0\nexpected-breaks = { 'main.py' = 2 }", 0, ""),
        (
            "expected-breaks = { 'main.py' = 1 }",
            1,
            "over budget: main.py: the graph breaks on 2 lines, but 1",
        ),
        ("expected-breaks = { 'main.py:step' = 2 }", 0, ""),
        ("expected-breaks = { 'main.py:island' = 1 }", 0, ""),
        ("expected-breaks = { 'main.py:island' = 0 }", 1, "main.py:island: the graph breaks on 1 lines"),
        ("\nexpected-breaks = { 'other.py' = 2 }", 2, ':3: contract.expected-breaks."other.py": there is no'),
        (
            "expected-breaks = { 'main.py:stop' = 2 }",
            2,
            ":2: contract.expected-breaks.\"main.py:stop\": there is no such function; did you mean 'step'?",
        ),
    ],
)
def test_a_contract_pins_the_breaks_of_a_file(
    contract: str,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    python_with_torch: str,
):
    monkeypatch.setattr(sys, "executable", python_with_torch)
    (tmp_path / "main.py").write_text(BREAKS)
    (tmp_path / "dynamo-lint.toml").write_text(f"[contract]\n{contract}\n")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["confirm", "main.py", "--calls", "2", "-q"]) == status
    err = capsys.readouterr().err
    assert said in err if said else err == ""


PAIR = """
import torch

def plain(x):
    return torch.relu(x * 2)

def broken(x):
    x = x * 2
    print(end="")
    return x + 1

def probe_plain():
    return torch.compile(plain), [(torch.ones(2),)]

def probe_again():
    return torch.compile(lambda x: torch.relu(x * 2)), [(torch.ones(2),)]

def probe_broken():
    return torch.compile(broken), [(torch.ones(2),)]
"""


def test_two_probes_are_compared_by_the_shape_of_their_graphs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    python_with_torch: str,
):
    monkeypatch.setattr(sys, "executable", python_with_torch)
    (tmp_path / "pair.py").write_text(PAIR)
    monkeypatch.chdir(tmp_path)
    words = ["confirm", "--compare", "--calls", "1", "-q", "pair.py::probe_plain"]
    assert cli.run([*words, "pair.py::probe_again"]) == 0
    assert "The graphs of probe_plain and probe_again are alike" in capsys.readouterr().out
    assert cli.run([*words, "pair.py::probe_broken"]) == 1
    told = capsys.readouterr().out
    assert "The graphs of probe_plain and probe_broken differ" in told
    assert "graphs            1 -> 2" in told
    assert "+ pair.py:9 GB" in told
    assert "operators     - relu, + add" in told


def test_the_command_line_comes_before_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, python_with_torch: str
):
    monkeypatch.setattr(sys, "executable", python_with_torch)
    (tmp_path / "main.py").write_text(BREAKS)
    (tmp_path / "dynamo-lint.toml").write_text("[contract]\nmax-breaks = 0\n")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["confirm", "main.py", "--calls", "2", "-q", "--max-breaks", "1"]) == 0


SCHEDULED = """
import torch
from torch import nn


@torch.compile(fullgraph=False)
def step(model, optimizer, x):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()


def drive():
    model = nn.Linear(4, 4)
    optimizer = Grow(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for _ in range(3):
        yield step(model, optimizer, torch.ones(2, 4))
        schedule.step()


class Grow(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=helper(group["lr"]))


def helper(rate):
    return rate * SCALE


SCALE = 2
"""


def test_programs_of_one_name_do_not_meet_in_the_libraries_that_their_code_is_called_from(
    tmp_path: Path,
) -> None:
    for folder in (tmp_path / "first", tmp_path / "second"):
        folder.mkdir()
        (folder / "program.py").write_text(SCHEDULED)
        told = watch(folder / "program.py", 8)
        assert told.compiles


def test_what_failed_in_every_version_is_the_cause_and_what_failed_besides_in_old_ones_is_not() -> None:
    assert minimal_sets([{"n": 1}, {"n": 1, "x": 2}, {"n": 1, "y": 3}]) == [(1,)]


def test_state_that_failed_together_in_the_only_version_is_a_joint_cause() -> None:
    assert minimal_sets([{"n": 1, "x": 2}]) == [(1, 2)]


def test_versions_that_failed_in_different_state_are_alternatives() -> None:
    assert minimal_sets([{"a": 1, "b": 2}, {"c": 3}, {}]) == [(3,), (1, 2)]
