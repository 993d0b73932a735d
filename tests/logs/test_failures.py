"""Failures that logs tell of without a record of Dynamo: each class once, with the texts that torch writes."""

from __future__ import annotations

import json
import time
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dynamo_lint.cli import app
from dynamo_lint.logs.failures import CLASSES, Failure, Watcher, failures
from dynamo_lint.logs.records import records

TUNING = "[rank0]:E1127 10:00:00.000000 7 torch/_inductor/select_algorithm.py:5067] [0/0] "
KILLED = (
    "[rank0]:[E1127 10:20:00.426415540 ProcessGroupNCCL.cpp:629] [Rank 0] Watchdog caught collective operation "
    "timeout: WorkNCCL(SeqNum=1, OpType=BROADCAST) ran for 600081 milliseconds before timing out.\n"
)
RECOMPILED = "[rank1]:V1127 10:00:00.000000 8 torch/_dynamo/guards.py:1] [1/1] [__recompiles] "
REASON = f"{RECOMPILED}    - 1/0: tensor 'x' size mismatch at index 0. expected 4, actual 5\n"
LIMITED = "[rank1]:W1127 10:00:00.000000 8 torch/_dynamo/convert_frame.py:1000] [0/8] "
LIMIT = (
    f"{LIMITED}torch._dynamo hit config.recompile_limit (8)\n"
    f"{LIMITED}   function: 'forward' (/elsewhere/a.py:11)\n"
    f"{LIMITED}   last reason: 0/7: self.n == 7\n"
)


def read(text: str, hint: int | None = None) -> dict[str, Failure]:
    watcher = Watcher("a.log", hint)
    for _ in records(BytesIO(text.encode()), watcher=watcher):
        pass
    return {one.kind: one for one in failures([watcher], (), several=False)}


def run(folder: Path, text: str, *options: str) -> Result:
    (folder / "a.log").write_text(text)
    return CliRunner().invoke(app, ["logs", str(folder / "a.log"), "--no-lint", *options])


def test_a_choice_that_failed_in_autotuning_counts_once_however_often_it_is_told() -> None:
    text = (
        "step 3 loss 2.1 step_time 200 ms\nstep 4 loss 2.1 step_time 210 ms\n"
        f"{TUNING}Runtime error during autotuning: \n{TUNING}CUDA out of memory. Tried to allocate 2.00 GiB. \n"
        f"{TUNING}Ignoring this choice.\nAUTOTUNE mm(4096x4096, 4096x4096)\n  mm 0.0420 ms 100.0% \n"
        "  triton_mm_3 inf ms 0.0% BLOCK_K=32\nstep 5 step_time: 0.35s\nstep 6 step_time: 0.35s\n"
    )
    told = read(text)["autotune"]
    assert (told.count, told.ranks, told.line, told.step) == (1, (0,), 4, 4)
    assert told.detail == "out of memory; a step took 0.205 s before and 0.35 s after"


@pytest.mark.parametrize("before", [0, 1, 2, 5_000, 30_000])
def test_a_failure_is_found_and_counted_on_whatever_line_of_whatever_piece_it_stands(before: int) -> None:
    quiet = "step 3: all is well, and this line is as long as those of a program are\n"
    found = read(quiet * before + "RuntimeError: No space left on device, inductor\n" + quiet * 3)
    (only,) = found.values()
    assert (only.count, only.line) == (1, before + 1)


def test_memory_that_runs_out_elsewhere_is_not_of_autotuning() -> None:
    assert read("step 3\nRuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n") == {}


@pytest.mark.parametrize(
    ("after", "detail"),
    [
        ("", "; rank 1 was compiling: Recompiling function g in /job/a.py:30"),
        ("[rank1]: step 8 loss 2\n", ""),
        ("[rank1]:[W1127 TCPStore.cpp:125] recvValue failed\n", "; rank 1 was compiling: Recompiling"),
    ],
)
def test_a_rank_that_was_compiling_is_named_beside_the_ones_that_were_killed(after: str, detail: str) -> None:
    told = read(f"{RECOMPILED}Recompiling function g in /job/a.py:30\n{REASON}{after}{KILLED}")["watchdog"]
    assert (told.count, told.ranks) == (1, (0,))
    assert told.detail.startswith(f"a collective ran into its timeout{detail}")
    assert ("compiling" in told.detail) == bool(detail)


def test_a_full_disk_is_told_only_where_the_compiler_writes() -> None:
    full = "OSError: [Errno 28] No space left on device"
    assert read(f"{full}: '/data/checkpoints/1.pt'\n") == {}
    assert (
        read(f"{full}: '/tmp/torchinductor_me/ab/c.py'\n")["disk"].detail == "/tmp/torchinductor_me/ab/c.py"
    )
    traceback = '  File "/x/triton/runtime/cache.py", line 108, in put\n    f.write(data)\n'
    assert read(f"{traceback}{full}\n", hint=3)["disk"].ranks == (3,)


def test_a_kernel_without_data_is_told() -> None:
    told = read(
        "RuntimeError: Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If\n"
    )
    assert told["data-pointer"].count == 1


def test_a_loss_that_is_nan_is_told_behind_a_limit_where_there_are_ranks() -> None:
    loss = "[rank0]: step 7 | train/loss=nan | lr 1e-4\n"
    assert list(read(LIMIT + loss)) == ["limit", "nan"]
    assert (read(LIMIT + loss)["nan"].step, read(LIMIT + loss)["nan"].line) == (7, 4)
    assert list(read(loss + LIMIT)) == ["limit"]
    assert list(read((LIMIT + loss).replace("[rank0]:", ""))) == ["limit"]
    assert "nan" in read("DistributedDataParallel(\n" + (LIMIT + loss).replace("[rank0]:", ""))


def test_ranks_are_told_by_the_names_of_logs_as_well(tmp_path: Path) -> None:
    (tmp_path / "rank0.log").write_text("step 7 loss: nan\n")
    (tmp_path / "rank1.log").write_text(LIMIT.replace("[rank1]:", ""))
    words = ["logs", str(tmp_path), "--no-lint", "--output-format", "json"]
    told = {one["kind"]: one for one in json.loads(CliRunner().invoke(app, words).stdout)["failures"]}
    assert (told["limit"]["ranks"], told["nan"]["ranks"], told["nan"]["step"]) == ([1], [0], 7)
    assert told["nan"]["log"].endswith("rank0.log")


def test_failures_are_told_where_no_record_of_dynamo_is(tmp_path: Path) -> None:
    text = "step 3\nOSError: [Errno 28] No space left on device: '/tmp/torchinductor_me/ab/c.py'\n"
    done = run(tmp_path, text)
    assert done.exit_code == 3
    assert "What else these logs say\n  disk         1 time no space was left" in done.stdout
    assert "first in line 2 behind step 3: /tmp/torchinductor_me/ab/c.py." in " ".join(done.stdout.split())
    assert run(tmp_path, text, "--fail-on", "disk").exit_code == 1
    assert run(tmp_path, text, "--fail-on", "nan,autotune").exit_code == 3
    assert run(tmp_path, text, "--ignore-nothing").exit_code == 2
    (told,) = json.loads(run(tmp_path, text, "--output-format", "json").stdout)["failures"]
    assert (told["kind"], told["line"], told["step"]) == ("disk", 2, 3)
    assert "No space" not in run(tmp_path, text, "--output-format", "html").stdout
    assert "1 time no space was left" in run(tmp_path, text, "--output-format", "html").stdout


def test_a_limit_names_function_file_and_last_reason_without_sources(tmp_path: Path) -> None:
    told = " ".join(run(tmp_path, f"step 40\n{LIMIT}").stdout.split())
    assert (
        "limit 1 limit hit on rank 1, first in line 2 behind step 40: `forward` (/elsewhere/a.py:11) hit its "
        "recompile limit (8), last because `self.n == 7` failed"
    ) in told


def test_every_class_can_fail_a_run() -> None:
    from dynamo_lint.commands.logs import CLASSES as NAMES
    from dynamo_lint.render.log_text import FAILED

    assert set(CLASSES) <= set(NAMES)
    assert set(FAILED) == set(CLASSES)


@pytest.mark.parametrize("part", ["step ", "1" * 9 + ".", "loss nan", "inf ms ", " iteration_time ("])
def test_a_long_line_takes_no_time(part: str) -> None:
    line = (part * (1 << 22))[: 1 << 22]
    before = time.process_time()
    read(f"{LIMIT}{line}\nout of resource: x\n")
    assert time.process_time() - before < 1
