"""What a job left behind, told as it was: recorded jobs, the forms that logs take, and the command."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import random
import re
import shutil
import sys
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamo_lint import cli
from dynamo_lint.cli import app
from dynamo_lint.logs.causes import Places, explain, explanation
from dynamo_lint.logs.model import Job, LogReport
from dynamo_lint.logs.records import LONGEST_LINE, records
from dynamo_lint.logs.tally import MOST_MOMENTS, Tally, Told
from dynamo_lint.logs.texts import Frame, read_check
from dynamo_lint.sources import Sources

JOBS = Path(__file__).parent / "jobs"
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
HAS_ZSTD = find_spec(ZSTD.partition(".")[0]) is not None and find_spec(ZSTD) is not None

# For each recorded job: its recompiles as (line of the frame, source, kind, count), its breaks as (line, id, count,
# whether the frame is lost), and its causes as (line, code).
TOLD = {
    "break_in_loop": ([], [(14, "GB0059", 1, True)], [(14, "DYN401")]),
    "changing_argument": ([(6, "mode", "value", 4)], [], [(15, "DYN109")]),
    "closure_counter": ([(9, "state['n']", "value", 1)], [], [(11, "DYN106")]),
    "counter_after_break": (
        [(14, "self.calls", "value", 5)],
        [(14, "GB0059", 1, False)],
        [(15, "DYN101"), (14, "DYN401")],
    ),
    "dict_key": ([(12, "self.cfg['scale']", "presence", 1)], [], [(24, "DYN105")]),
    "dropout_rates": ([(12, "self._modules['drop'].p", "value", 3)], [], [(10, "DYN107")]),
    "environment": ([(11, "G['os'].environ._data[b'NOISE']", "value", 5)], [], [(12, "DYN201")]),
    "global_step": ([(9, "G['STEP']", "value", 5)], [], [(17, "DYN102")]),
    "grad_mode": ([(11, "GLOBAL_STATE", "expression", 1)], [], [(19, "DYN110")]),
    "growing_list": ([(12, "self.seen", "length", 5)], [], [(14, "DYN105")]),
    "hit_limit": ([(11, "self.index", "value", 3)], [], [(12, "DYN107")]),
    "island": ([], [(17, "GB0098", 1, False)], [(17, "DYN406")]),
    "item_used": (
        [(13, "___stack1", "value", 5)],
        [(13, "GB0124", 1, False)],
        [(13, "DYN402")],
    ),
    "late_attribute": ([(11, "self.gain", "presence", 1)], [], [(13, "DYN203")]),
    "longer_argument": ([(11, "xs", "length", 4)], [], [(20, "DYN109")]),
    "masked_by_argument": ([(12, "x", "requires_grad", 6)], [], [(20, "DYN102")]),
    "none_or_tensor": ([(12, "self.aux", "value", 1)], [], [(16, "DYN103")]),
    "other_dtype": ([(11, "x", "type", 1)], [], [(19, "DYN109")]),
    "other_rank": ([(11, "x", "size", 2)], [], []),
    "other_sizes": ([(11, "x", "size", 3)], [], []),
    "quiet": ([], [], []),
    "replaced_callable": ([(12, "self.act.__defaults__[0]", "value", 5)], [], [(20, "DYN102")]),
    "reset_between": ([(12, "self.calls", "value", 6)], [], [(13, "DYN101")]),
    "settings_object": ([(18, "G['SETTINGS'].kernel", "value", 5)], [], [(26, "DYN102")]),
    "train_and_eval": ([(12, "self._modules['drop'].training", "value", 1)], [], [(20, "DYN110")]),
    "two_kinds_of_block": ([(12, "self._modules['norm']", "type", 1)], [], [(10, "DYN108")]),
}


HEAD = "V1126 10:00:00.000000 7 torch/_dynamo/guards.py:1] [0/1] [__recompiles] "
BREAK = "V1126 10:00:00.000000 7 torch/_dynamo/symbolic_convert.py:1] [0/0] [__graph_breaks] "
TRACE = "V1126 10:00:00.000000 7 torch/_logging/structured.py:1] "
DIGITS = "1" * 5_000
PAYLOAD = '{"artifact": {"name": "recompile_reasons"}, "frame_id": 0, "frame_compile_id": 1}'


def _recompile(guard: str) -> str:
    return f"{HEAD}Recompiling function f in /a.py:1\n{HEAD}    - 0/0: {guard}\n"


def islands(line: int, function: str, ident: str = "0/0") -> list[str]:
    """The record of a break that `torch.compiler.disable` makes, as torch 2.13 writes it."""
    head = BREAK.replace("0/0", ident)
    return [
        f"{head}Graph break in user code at /job/net.py:{line}\n",
        f"{head}  Explanation: Skip inlining function <function {function} at 0x7f> since it was wrapped\n",
        f"{head}  https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0099.html\n",
    ]


HOSTILE = [
    pytest.param(_recompile(f"n == 0  # x  # a.py:{DIGITS} in f"), id="line of many digits"),
    pytest.param(_recompile(f"n == {DIGITS}"), id="value of many digits"),
    pytest.param(_recompile("n == 0" + " " * 400_000 + "x"), id="blanks"),
    pytest.param(_recompile("n == 0" + "  # x" * 80_000), id="comments"),
    pytest.param(_recompile("a" * 400_000 + ".size()"), id="a long name"),
    pytest.param(_recompile("___dict_contains(" + ", a" * 100_000), id="arguments"),
    pytest.param(_recompile("n" + ".a" * 400 + " == 0"), id="a long chain"),
    pytest.param(_recompile("(" * 300 + "n" + ")" * 300 + " is None"), id="parentheses"),
    pytest.param("V1126 10:00:00.000000 1 " + "torch/" * 60_000, id="a header without an end"),
    pytest.param(f"{HEAD}Recompiling function {' in :' * 60_000}", id="places in a function"),
    pytest.param(
        f"{BREAK}Graph break in user code at /a.py:7\n{BREAK}User code traceback:\n"
        f'{BREAK}  File "/a.py", line {DIGITS}, in f\n{BREAK}    x\n',
        id="frame of many digits",
    ),
    pytest.param(BREAK + "Graph break " + "in user code at a:1 " * 20_000, id="places in a line"),
    pytest.param(f"{TRACE}{PAYLOAD}\n\t{'[' * 100_000}\n", id="nested payload"),
    pytest.param(f"{TRACE}{PAYLOAD}\n\t[{'[' * 900}{']' * 900}]\n", id="payload of lists"),
    pytest.param('{"a":' * 100_000, id="nested line"),
    pytest.param(f'{TRACE}{{"str": ["a", {"1" * 4_000}]}}', id="number of a file"),
    pytest.param(
        f'{TRACE}{{"dynamo_start": {{"stack": [{{"line": {"1" * 4_000}, "filename": "a.py"}}]}}, '
        f'"frame_id": {"1" * 4_000}, "frame_compile_id": "²"}}',
        id="numbers of a trace",
    ),
    pytest.param(
        f"V1126 10:00:00.000000 7 torch/_dynamo/x.py:1] [0/1] torch._dynamo hit config.recompile_limit ({DIGITS})\n"
        "V1126 10:00:00.000000 7 torch/_dynamo/x.py:1] [0/1]    function: 'f' (/a.py:1)\n",
        id="limit of many digits",
    ),
]


def _cut(line: bytes, chance: random.Random) -> bytes:
    return line[: chance.randint(0, len(line))]


def _doubled(line: bytes, chance: random.Random) -> bytes:
    start = chance.randint(0, len(line))
    return line[:start] + line[start : start + chance.randint(1, 30)] * chance.choice((2, 300)) + line[start:]


def _number(line: bytes, chance: random.Random) -> bytes:
    digits = chance.choice((b"9" * 5_000, b"0", b"-1", b"1e999", "²".encode(), "٣".encode(), b"65535"))
    return re.sub(rb"\d+", lambda found: digits if chance.random() < 0.3 else found[0], line)


def _nested(line: bytes, chance: random.Random) -> bytes:
    return line.replace(b'"', b'"' + b"[" * 3_000, 1) + chance.choice((b"[", b"(", b'{"a":')) * 3_000


def _noise(line: bytes, chance: random.Random) -> bytes:
    place = chance.randint(0, len(line))
    return line[:place] + bytes(chance.randrange(256) for _ in range(20)).replace(b"\n", b"") + line[place:]


def _payload(line: bytes, chance: random.Random) -> bytes:
    words = (b"null", b"true", b"[]", b"{}", b'"\\ud800\\u0000"', b"NaN", b"1.5")
    return re.sub(rb': ("[^"]*"|\d+)', lambda found: b": " + chance.choice(words), line)


MUTATIONS = (_cut, _doubled, _number, _nested, _noise, _payload)


def read(data: bytes, ignored: tuple[str, ...] = ()) -> Job:
    tally = Tally(ignored)
    for record in records(BytesIO(data)):
        tally.add(record)
    return tally.job()


def test_a_header_that_goes_on_where_the_last_one_ended_is_read_as_its_own() -> None:
    head = b"V1126 19:20:59.361000 6606 torch/_dynamo/guards.py:5396] [0/1] "
    told = (
        b"%ssomething else\n%s[__recompiles] Recompiling function f in /job/a.py:3\n"
        b"%s[__recompiles]     - 0/0: self.n == 1\n%sand another\n"
    )
    (only,) = read(told % ((head,) * 4)).recompiles
    assert (only.frame.function, only.count, only.source) == ("f", 1, "self.n")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["logs", *words], catch_exceptions=False)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "dynamo-lint.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def lay(folder: Path, name: str) -> dict[str, object]:
    """Put a recorded job in a folder, and return the account of its log."""
    for ending in (".py", ".log", ".trace"):
        if (JOBS / f"{name}{ending}").exists():
            shutil.copy(JOBS / f"{name}{ending}", folder)
    done = run(f"{name}.log", "--output-format", "json", "--allow-empty")
    assert done.exit_code in (0, 1), done.output
    return dict(json.loads(done.stdout))


class TestRecordedJobs:
    @pytest.mark.parametrize("name", sorted(TOLD))
    def test_a_recorded_job_is_told_as_it_was(self, job: Path, name: str) -> None:
        told = lay(job, name)
        recompiles, breaks, causes = TOLD[name]
        assert [
            (one["line"], one["source"], one["kind"], one["count"]) for one in told["recompiles"]
        ] == recompiles
        assert [
            (one["line"], one["id"], one["count"], one["skips_frame"]) for one in told["breaks"]
        ] == breaks
        assert [(one["line"], one["code"]) for one in told["causes"]] == causes

    def test_every_recorded_job_is_in_the_table(self) -> None:
        assert sorted(TOLD) == sorted(one.stem for one in JOBS.glob("*.py"))

    @pytest.mark.parametrize("name", sorted(one.stem for one in JOBS.glob("*.trace")))
    def test_a_trace_tells_the_same_as_the_text_and_knows_every_compile(self, job: Path, name: str) -> None:
        text = lay(job, name)
        traced = json.loads(run(f"{name}.trace", "--output-format", "json").stdout)
        assert (text["proof"], traced["proof"], traced["torch"]) == ("text", "trace", "2.13.0")
        assert (text["compiles"], traced["compiles"] > 0) == (None, True)
        for key in ("recompiles", "breaks", "causes", "limits"):
            assert traced[key] == text[key]

    def test_text_and_trace_of_one_job_are_not_counted_twice(self, job: Path) -> None:
        alone = lay(job, "environment")
        both = json.loads(run("environment.log", "environment.trace", "--output-format", "json").stdout)
        assert both["recompiles"] == alone["recompiles"]
        assert (both["proof"], both["ranks"]) == ("trace", {})

    def test_the_attempt_that_ran_into_the_limit_is_no_recompile(self, job: Path) -> None:
        told = lay(job, "hit_limit")
        assert told["limits"] == [
            {
                "path": "hit_limit.py",
                "line": 11,
                "function": "forward",
                "limit": "recompile_limit",
                "value": 4,
                "source": "self.index",
            }
        ]

    def test_the_first_reason_is_not_taken_for_the_cause(self, job: Path) -> None:
        told = lay(job, "masked_by_argument")
        assert told["notes"] == ["masked"]
        assert [one["masked"] for one in told["causes"]] == [True]

    def test_a_reset_is_told(self, job: Path) -> None:
        assert lay(job, "reset_between")["notes"] == ["reset"]

    def test_what_only_the_sizes_of_inputs_explain_is_told_as_that(self, job: Path) -> None:
        told = lay(job, "other_sizes")
        assert told["notes"] == ["sizes"]
        assert [one["source"] for one in told["unexplained"]] == ["x"]

    def test_a_finding_about_sizes_is_borne_out_by_recompiles_for_sizes(self, job: Path) -> None:
        lay(job, "other_sizes")
        file = job / "other_sizes.py"
        file.write_text(file.read_text().replace('backend="aot_eager"', 'backend="aot_eager", dynamic=False'))
        assert "DYN506" in CliRunner().invoke(app, ["check", "other_sizes.py"]).stdout
        assert json.loads(run("other_sizes.log", "--output-format", "json").stdout)["unseen"] == []

    def test_lines_that_moved_are_found_again(self, job: Path) -> None:
        lay(job, "break_in_loop")
        file = job / "break_in_loop.py"
        file.write_text("# one\n# two\n" + file.read_text())
        told = json.loads(run("break_in_loop.log", "--output-format", "json").stdout)
        assert told["notes"] == ["sources-moved"]
        assert [(one["line"], one["code"]) for one in told["causes"]] == [(16, "DYN401")]


def lines(name: str) -> list[bytes]:
    return (JOBS / f"{name}.log").read_bytes().splitlines()


class TestForms:
    COUNTER = "reset_between"

    @pytest.fixture
    def plain(self) -> Job:
        return read((JOBS / f"{self.COUNTER}.log").read_bytes())

    @pytest.mark.parametrize(
        "form",
        [
            pytest.param(lambda line: b"2026-03-01T10:00:07.000Z worker-7 | " + line, id="time stamp"),
            pytest.param(lambda line: b"2026-03-01T10:00:07.000Z stderr F " + line, id="container"),
            pytest.param(lambda line: b"\x1b[32m" + line + b"\x1b[0m", id="colours"),
            pytest.param(lambda line: b"\r 5/12 [00:05<00:41]\r" + line + b"\r 6/12", id="progress bar"),
            pytest.param(lambda line: line + b"\r", id="CRLF"),
            pytest.param(
                lambda line: json.dumps({"log": line.decode() + "\n", "stream": "stderr"}).encode(), id="JSON"
            ),
            pytest.param(lambda line: line + b"\nloss 2.031 \xff\x00", id="other lines that are no text"),
            pytest.param(lambda line: b"[rank0]:" + line, id="rank"),
        ],
    )
    def test_what_stands_around_the_lines_changes_nothing(self, plain: Job, form) -> None:  # type: ignore[no-untyped-def]
        told = read(b"\n".join(form(line) for line in lines(self.COUNTER)) + b"\n")
        assert (told.recompiles, told.notes) == (plain.recompiles, plain.notes)

    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
    def test_other_encodings_are_read(self, plain: Job, encoding: str) -> None:
        text = (JOBS / f"{self.COUNTER}.log").read_text()
        assert read(text.encode(encoding)).recompiles == plain.recompiles

    def test_ranks_that_write_into_each_other_are_told_apart(self) -> None:
        one = [b"[rank0]:" + line for line in lines(self.COUNTER)]
        other = [b"[rank1]:" + line.replace(b" 1", b" 2", 1) for line in lines("environment")]
        mixed = [
            one.pop(0) if (one and k % 2) or not other else other.pop(0) for k in range(len(one) + len(other))
        ]
        told = read(b"\n".join(mixed) + b"\n")
        assert {number: rank.recompiles for number, rank in told.ranks.items()} == {0: 6, 1: 5}
        assert "ranks-diverge" in told.notes

    def test_ranks_that_did_the_same_do_not_diverge(self) -> None:
        both = [b"[rank%d]:" % rank + line for line in lines(self.COUNTER) for rank in (0, 1)]
        told = read(b"\n".join(both) + b"\n")
        assert (len(told.ranks), "ranks-diverge" in told.notes) == (2, False)

    def test_a_rank_that_says_nothing_did_nothing_that_was_logged(self) -> None:
        told = read(b"\n".join(b"[rank1]:" + line for line in lines("environment")) + b"\n")
        assert {number: rank.recompiles for number, rank in told.ranks.items()} == {0: 0, 1: 5}

    def test_a_log_without_its_beginning_says_so(self) -> None:
        text = (JOBS / "environment.log").read_bytes()
        later = text[text.index(b"[0/3] [__recompiles] Recompiling") - 60 :].partition(b"\n")[2]
        assert "head-lost" in read(later).notes

    def test_nothing_of_torch_proves_nothing(self) -> None:
        told = read(
            b"epoch 1 loss 2.0\nW1126 10:00:00.000000 1 torch/distributed/run.py:793] setting OMP_NUM_THREADS\n"
        )
        assert (told.proof, told.notes, told.compiles) == ("none", ("no-log-lines",), None)

    def test_a_limit_alone_says_that_recompiles_were_not_logged(self) -> None:
        kept = [line for line in lines("hit_limit") if b"[__recompiles]" not in line]
        told = read(b"\n".join(kept) + b"\n")
        assert (told.recompiles, len(told.limits), told.notes) == ((), 1, ("recompiles-not-logged",))

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 20_000))
    def test_a_log_that_is_cut_anywhere_tells_no_more_than_the_whole(self, end: int) -> None:
        whole = (JOBS / "counter_after_break.log").read_bytes()
        cut = read(whole[:end])
        assert sum(one.count for one in cut.recompiles) <= 5
        assert sum(one.count for one in cut.breaks) <= 1

    @settings(max_examples=60, deadline=None)
    @given(st.randoms(use_true_random=False))
    def test_damaged_logs_and_traces_never_crash(self, chance: random.Random) -> None:
        for ending in ("log", "trace"):
            data = bytearray((JOBS / f"masked_by_argument.{ending}").read_bytes())
            for _ in range(40):
                data[chance.randrange(len(data))] = chance.randrange(256)
            read(bytes(data))

    def test_mutated_recordings_are_read_or_passed_over(self, job: Path) -> None:
        chance = random.Random(52)
        recordings = [one.read_bytes() for one in sorted(JOBS.glob("*.[lt]*")) if one.stat().st_size]
        (job / "a.py").write_text("x = 1\n")
        for number in range(120):
            lines = chance.choice(recordings).splitlines()
            for _ in range(chance.randint(1, 6)):
                place, mutate = chance.randrange(len(lines)), chance.choice(MUTATIONS)
                lines[place] = mutate(lines[place], chance)
            (job / "mutated.log").write_bytes(b"\n".join(lines))
            form = chance.choice((*["json"] * 9, "text", "html", "github"))
            done = run("mutated.log", "--no-lint", "--output-format", form)
            assert done.exit_code in (0, 1, 3), (number, form, done.output)

    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_what_no_program_writes_is_read_or_passed_over(self, job: Path, hostile: str) -> None:
        (job / "a.py").write_text("x = 1\n")
        (job / "hostile.log").write_text(hostile)
        assert run("hostile.log").exit_code in (0, 1, 3)

    def test_a_record_with_very_many_reasons_is_one_recompile(self) -> None:
        reasons = "".join(f"{HEAD}    - 0/{number}: n{number} == 0\n" for number in range(20_000))
        told = read(f"{HEAD}Recompiling function f in /a.py:1\n{reasons}".encode())
        assert [(one.source, one.count) for one in told.recompiles] == [("n0", 1)]

    def test_a_break_that_another_one_made_is_of_the_same_record(self) -> None:
        text = (
            f"{BREAK}Graph break in user code at /a.py:7\n"
            f"{BREAK}Graph Break Reason: Data dependent operator\n"
            f"{BREAK}*** While handling this graph break, another graph break occurred: ***\n"
            f"{BREAK}Graph break under GenericContextWrappingVariable\n"
            f'{BREAK}User code traceback:\n{BREAK}  File "/a.py", line 9, in f\n{BREAK}    x\n'
        )
        assert [(one.path, one.line, one.count) for one in read(text.encode()).breaks] == [("/a.py", 7, 1)]

    def test_known_noise_can_be_ignored(self) -> None:
        data = (JOBS / "environment.log").read_bytes()
        assert read(data, ("environ._data[b'NOISE']",)).recompiles == ()

    def test_a_line_without_end_takes_bounded_memory(self) -> None:
        assert read(b"x" * (LONGEST_LINE * 2)).proof == "none"

    def test_moments_of_a_long_job_are_thinned_out(self) -> None:
        head = "V1126 10:00:{:02d}.{:06d} 7 torch/_dynamo/guards.py:1] [0/{}] [__recompiles] "
        text = []
        for number in range(1, MOST_MOMENTS + 50):
            prefix = head.format(number % 60, number, number)
            text += [
                prefix + "Recompiling function f in /job/a.py:1",
                f"{prefix}    - 0/{number - 1}: n == {number}",
            ]
        told = read("\n".join(text).encode())
        assert told.recompiles[0].count == MOST_MOMENTS + 49
        assert len(told.moments) <= MOST_MOMENTS


class TestChecks:
    @pytest.mark.parametrize(
        ("told", "source", "kind", "value"),
        [
            ("self.n == 3        # self.n += 1  # src/a.py:13 in forward (HINT: x)", "self.n", "value", "3"),
            ("self.cache is None", "self.cache", "value", "None"),
            (
                "tensor 'mask' size mismatch at index 1. expected 16, actual 12",
                "mask",
                "size",
                "at index 1. expected 16",
            ),
            (
                "tensor 'x' requires_grad mismatch. expected requires_grad=0",
                "x",
                "requires_grad",
                "expected requires_grad=0",
            ),
            ("tensor 'x' dtype mismatch. expected Float, actual Double", "x", "type", "expected Float"),
            ("2 <= tokens.size()[1]", "tokens", "size", ""),
            ("___check_type_id(self.norm, 99), type=<class 'a.B'>", "self.norm", "type", "<class 'a.B'>"),
            (
                "___check_obj_id(self.act, 99), type=<class 'function'>",
                "self.act",
                "identity",
                "<class 'function'>",
            ),
            ("not self.seen", "self.seen", "length", "0"),
            ("len(self.seen) == 2", "self.seen", "length", "2"),
            ("not ___dict_contains('k', self.cfg)", "self.cfg['k']", "presence", "absent"),
            ("not hasattr(self, 'gain')", "self.gain", "presence", "absent"),
            ("GLOBAL_STATE changed: grad_mode ", "GLOBAL_STATE", "expression", "grad_mode"),
            ("something new that torch says", "something new that torch says", "expression", ""),
        ],
    )
    def test_a_check_is_read(self, told: str, source: str, kind: str, value: str) -> None:
        check = read_check(told)
        assert (check.source, check.kind, check.value) == (source, kind, value)

    def test_the_line_that_made_dynamo_check_is_read(self) -> None:
        check = read_check("self.n == 3        # self.n += 1  # src/a.py:13 in forward (HINT: x)")
        assert (check.path, check.line, check.text) == ("src/a.py", 13, "self.n += 1")


def told_of(*recompiles: dict[int, tuple[str, str]]) -> list[Told]:
    """The account of recompiles 1, 2, ...: for each earlier entry the source that failed and its value."""
    one = Told(Frame("a.py", 1, "f"))
    for number, failed in enumerate(recompiles, 1):
        for entry, (source, value) in failed.items():
            one.checks.setdefault(source, read_check(f"{source} == {value}"))
            one.guarded[source][f"0:0/{entry}"] = value
        pairs = tuple((f"0:0/{entry}", source) for entry, (source, _) in failed.items())
        one.entries.append((f"0:0/{number}", pairs))
    return [one]


class TestExplanations:
    def test_one_check_that_fails_for_every_entry_explains_all(self) -> None:
        assert explanation(told_of({0: ("n", "0")}, {1: ("n", "1"), 0: ("n", "0")})) == ("n",)

    def test_a_check_that_held_for_an_entry_is_not_the_cause(self) -> None:
        told = told_of(
            {0: ("flag", "True")},
            {1: ("flag", "False"), 0: ("n", "0")},
            {2: ("flag", "True"), 1: ("n", "1"), 0: ("flag", "True")},
        )
        assert explanation(told) == ("n",)

    def test_two_changes_at_different_times_are_two_causes(self) -> None:
        told = told_of({0: ("mode", "'a'")}, {1: ("size", "4"), 0: ("mode", "'a'")})
        assert set(explanation(told)) == {"mode", "size"}

    def test_nothing_is_explained_by_nothing(self) -> None:
        assert explanation([]) == ()


RECORDINGS = sorted(one for one in JOBS.iterdir() if one.suffix in (".log", ".trace") and one.stat().st_size)


def sums(report: LogReport) -> tuple[int, int]:
    """The recompiles and the breaks that an account has in its parts."""
    return (
        sum(one.recompiles for one in report.causes) + sum(one.count for one in report.unexplained),
        sum(one.breaks for one in report.causes) + sum(one.count for one in report.unexplained_breaks),
    )


def headline(job: Job) -> tuple[int, int]:
    return sum(one.count for one in job.recompiles), sum(one.count for one in job.breaks)


class TestCausesAddUp:
    @pytest.mark.parametrize("words", [(), ("--no-lint",)])
    @pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
    def test_a_recorded_job_is_counted_once_in_a_cause_or_where_no_line_explains(
        self, job: Path, recording: Path, words: tuple[str, ...]
    ) -> None:
        shutil.copy(recording, job)
        shutil.copy(recording.with_suffix(".py"), job)
        told = json.loads(run(recording.name, "--output-format", "json", "--allow-empty", *words).stdout)
        for noun, rest in (("recompiles", "unexplained"), ("breaks", "unexplained_breaks")):
            parts = sum(one[noun] for one in told["causes"]) + sum(one["count"] for one in told[rest])
            assert parts == sum(one["count"] for one in told[noun])

    @settings(max_examples=150, deadline=None)
    @given(st.randoms(use_true_random=False), st.booleans())
    def test_so_is_each_record_of_jobs_that_lost_lines_and_had_their_reasons_exchanged(
        self, chance: random.Random, with_sources: bool
    ) -> None:
        tally = Tally()
        for number, recording in enumerate(chance.choices(RECORDINGS, k=3)):
            lost = chance.choice((0, 0.05, 0.3))
            kept = [line for line in recording.read_bytes().splitlines(True) if chance.random() >= lost]
            reasons = [place for place, line in enumerate(kept) if b"    - 0/" in line]
            for place in reasons if chance.random() < 0.5 else ():
                kept[place] = kept[chance.choice(reasons)]
            for record in records(BytesIO(b"".join(kept))):
                tally.add(record, None, number)
        paths = [one.name for one in JOBS.glob("*.py")] if with_sources else []
        report = explain(tally.processes(), tally.job(), (), Places(Sources(JOBS), paths), {})
        assert sums(report) == headline(report.job) == headline(tally.job())

    def test_recompiles_that_another_check_hides_are_among_those_that_no_line_explains(self) -> None:
        told = {
            1: ["0/0: flag == True"],
            2: ["0/1: flag == False", "0/0: n == 0"],
            3: ["0/2: flag == True", "0/1: n == 1", "0/0: flag == True"],
        }
        text = ""
        for number, reasons in told.items():
            head = HEAD.replace("[0/1]", f"[0/{number}]")
            text += f"{head}Recompiling function f in /a.py:1\n"
            text += "".join(f"{head}    - {reason}\n" for reason in reasons)
        tally = Tally()
        for record in records(BytesIO(text.encode())):
            tally.add(record)
        report = explain(tally.processes(), tally.job(), (), Places(Sources(JOBS), []), {})
        assert [(one.source, one.count) for one in report.job.recompiles] == [("flag", 3)]
        assert [(one.source, one.guard, one.count) for one in report.unexplained] == [("n", "n == 0", 3)]
        assert report.job.notes == ("masked",)


STEPS = """class First:
    def step(self):
        group = self.groups[0]
        group["momentum"] = 0.5

class Second:
    def __init__(self, groups):
        groups[0]["momentum"] = 0.9
        self.groups = groups

    def step(self):
        for group in self.groups:
            used = group["momentum"]
            group["d"] = used
            group["d_hat"] = used

    def wrap(self, *args):
        return args
"""


class TestItemsAndArguments:
    @staticmethod
    def lines_to_change(folder: Path, function: str, check: str) -> list[tuple[int, str]]:
        """Lines and codes of the causes of one recompile of a function of `STEPS`."""
        (folder / "steps.py").write_text(STEPS)
        text = f"{HEAD}Recompiling function {function} in /job/steps.py:"
        text += f"{11 if function == 'step' else 17}\n{HEAD}    - 0/0: {check}\n"
        tally = Tally()
        for record in records(BytesIO(text.encode())):
            tally.add(record)
        places = Places(Sources(folder), ["steps.py"])
        report = explain(tally.processes(), tally.job(), (), places, {})
        return [(one.line, one.code) for one in report.causes]

    def test_an_item_is_written_where_the_frame_ran(self, tmp_path: Path) -> None:
        assert self.lines_to_change(tmp_path, "step", "self.groups[0]['d_hat'] == 0.5") == [(15, "DYN101")]

    def test_neither_another_class_nor_a_constructor_changes_an_item(self, tmp_path: Path) -> None:
        assert self.lines_to_change(tmp_path, "step", "self.groups[0]['momentum'] == 0.5") == [(13, "DYN102")]

    def test_an_argument_of_which_no_read_is_known_is_told_at_its_function(self, tmp_path: Path) -> None:
        check = "expected type of 'args[0]' to be a tensor type, ' but found <class 'steps.First'>"
        assert self.lines_to_change(tmp_path, "wrap", check) == [(17, "DYN109")]


class TestPlaces:
    def test_the_file_with_the_longest_common_end_is_meant(self, tmp_path: Path) -> None:
        places = Places(Sources(tmp_path), ["src/a/net.py", "src/b/net.py", "tool.py"])
        assert places.file("/job/code/src/b/net.py") == "src/b/net.py"
        assert places.file("C:\\job\\tool.py") == "tool.py"
        assert places.spelled("/job/other.py") == "/job/other.py"

    def test_of_two_that_fit_alike_none_is_meant(self, tmp_path: Path) -> None:
        assert Places(Sources(tmp_path), ["a/net.py", "b/net.py"]).file("/job/net.py") is None

    def test_a_file_of_an_installed_package_is_not_taken_for_one_of_the_project(self, tmp_path: Path) -> None:
        places = Places(Sources(tmp_path), ["nn/module.py"])
        assert places.file("/venv/lib/python3.11/site-packages/torch/nn/modules/module.py") is None


class TestCommand:
    def test_a_person_reads_the_line_to_change_and_what_it_cost(self, job: Path) -> None:
        lay(job, "hit_limit")
        done = run("hit_limit.log")
        assert done.exit_code == 1
        assert "hit_limit.py:12: DYN107 per-instance-constant" in done.stdout
        assert (
            "3 recompiles of `forward` (hit_limit.py:11), then its recompile limit (4): eager since"
            in done.stdout
        )
        assert "a limit was hit" in done.stderr

    @pytest.mark.parametrize(
        ("words", "status"),
        [
            ((), 0),
            (("--max-recompiles", "5"), 0),
            (("--max-recompiles", "4"), 1),
            (("--max-breaks", "0"), 3),
            (("--max-breaks", "0", "--settings", "graph_breaks"), 0),
            (("--max-graphs", "9"), 3),
            (("--max-graphs", "9", "--allow-empty"), 0),
            (("--max-limit-hits", "0"), 0),
        ],
    )
    def test_budgets_decide_and_what_the_log_cannot_tell_is_no_pass(
        self, job: Path, words: tuple[str, ...], status: int
    ) -> None:
        lay(job, "environment")
        assert run("environment.log", *words).exit_code == status

    def test_a_limit_fails_unless_it_is_allowed(self, job: Path) -> None:
        lay(job, "hit_limit")
        assert run("hit_limit.log", "--fail-on", "divergence").exit_code == 0
        assert run("hit_limit.log", "--fail-on", "none").exit_code == 0
        assert run("hit_limit.log", "--fail-on", "limits").exit_code == 2

    def test_an_empty_log_is_no_pass(self, job: Path) -> None:
        (job / "empty.log").write_text("")
        done = run("empty.log")
        assert (done.exit_code, "nothing is proved" in done.stderr) == (3, True)
        assert run("empty.log", "--allow-empty").exit_code == 0
        assert (
            run("empty.log", "--settings", "recompiles,graph_breaks", "--max-recompiles", "0").exit_code == 0
        )

    def test_what_cannot_be_read_is_one_line(self, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (job / "folder").mkdir()
        for name in ("missing.log", "folder"):
            assert cli.run(["logs", name]) == 2
            assert len(capsys.readouterr().err.splitlines()) == 1

    def test_a_contract_is_held(self, job: Path) -> None:
        lay(job, "break_in_loop")
        contract = '[contract]\nmax-breaks = 0\nexpected-breaks = {{ "break_in_loop.py" = {} }}\n'
        for expected, status in ((1, 0), (0, 1)):
            (job / "dynamo-lint.toml").write_text(contract.format(expected))
            assert run("break_in_loop.log").exit_code == status

    def test_an_island_counts_by_its_line_or_by_its_name(self, job: Path) -> None:
        for module in ("net.py", "mamba.py"):
            (job / module).write_text("class MBlock:\n    def forward(self):\n        pass\n")
        lines = [line for place in (15, 16, 17, 19) for line in islands(place, "MBlock.forward")]
        (job / "a.log").write_text("".join([*lines, *islands(15, "MBlock.forward", "0/1")]))

        def told(entry: str, count: int) -> tuple[int, str]:
            (job / "dynamo-lint.toml").write_text(
                f"[contract]\nmax-breaks = 0\nexpected-breaks = {{ {entry!r} = {count} }}\n"
            )
            done = run("a.log")
            (line,) = [line for line in done.stdout.splitlines() if "expected-breaks" in line]
            return done.exit_code, line.strip()

        over = "over     expected-breaks {}: 3 allowed, 4 seen ({})"
        assert told("net.py", 3) == (1, over.format("net.py", "lines 15, 16, 17, 19"))
        assert told("net.py", 4) == (0, "ok       expected-breaks net.py: 4 allowed, 4 seen")
        assert told("mamba.py:MBlock.forward", 4)[0] == 0
        status, line = told("mamba.py:MBlock.forward", 3)
        assert (status, line.endswith("net.py:16,")) == (1, True)
        status, line = told("mamba.py", 3)
        assert status == 0
        assert line.startswith("ok       expected-breaks mamba.py: 3 allowed, 0 seen; it counts nothing:")
        budgets = json.loads(run("a.log", "--output-format", "json").stdout)["budgets"]
        assert [line for _, line in budgets[1]["elsewhere"]] == [15, 16, 17, 19]

    def test_of_functions_with_one_name_the_source_says_which_broke(self, job: Path) -> None:
        forward = "    def forward(self):\n        pass\n        pass\n\n"
        (job / "net.py").write_text(f"class A:\n{forward}class B:\n{forward}")
        stack = '{0}User code traceback:\n{0}  File "/job/net.py", line {1}, in forward\n'
        lines = [*islands(3, "f"), stack.format(BREAK, 3), *islands(8, "A.forward"), stack.format(BREAK, 8)]
        (job / "a.log").write_text("".join(lines))
        entries = "{ 'net.py:A.forward' = 2, 'net.py:B.forward' = 1 }"
        for contract, status in (
            (entries, 0),
            (entries.replace("2", "1"), 1),
            (entries.replace("1", "0"), 1),
        ):
            (job / "dynamo-lint.toml").write_text(f"[contract]\nexpected-breaks = {contract}\n")
            assert run("a.log", "--no-lint").exit_code == status

    def test_breaks_are_counted_by_reason_and_by_package(self, job: Path) -> None:
        inside = islands(7, "f")
        inside[0] = inside[0].replace("/job/net.py", "/venv/lib/python3.11/site-packages/einops/ops.py")
        inside.append(f'{BREAK}User code traceback:\n{BREAK}  File "/job/net.py", line 21, in forward\n')
        (job / "a.log").write_text("".join([*islands(15, "f"), *islands(16, "g"), *inside]))
        told = json.loads(run("a.log", "--no-lint", "--output-format", "json").stdout)
        ((reason, lines, count),) = [tuple(one.values()) for one in told["breaks_by_reason"]]
        assert (reason[:7], lines, count) == ("GB0099:", 3, 3)
        assert [tuple(one.values()) for one in told["breaks_by_package"]] == [
            ("the project", 2, 2),
            ("einops", 1, 1),
        ]
        assert "lines by package: the project 2, einops 1" in run("a.log", "--no-lint").stdout

    def test_each_rank_may_have_the_breaks_that_are_expected(self, job: Path) -> None:
        (job / "net.py").write_text("")
        (job / "dynamo-lint.toml").write_text("[contract]\nexpected-breaks = { 'net.py' = 1 }\n")
        text = "".join(islands(15, "dash"))
        (job / "a.log").write_text(text.replace("V1", "[rank0]:V1") + text.replace("V1", "[rank1]:V1"))
        assert run("a.log").exit_code == 0

    def test_folders_packed_files_and_stdin_are_read(self, job: Path) -> None:
        text = (JOBS / "environment.log").read_bytes()
        for rank in (0, 1):
            (job / f"logs/{rank}").mkdir(parents=True)
            with gzip.open(job / f"logs/{rank}/stderr.log.gz", "wb") as packed:
                packed.write(text)
        told = json.loads(run("logs", "--output-format", "json", "--no-lint").stdout)
        assert {rank: one["recompiles"] for rank, one in told["ranks"].items()} == {"0": 5, "1": 5}
        done = CliRunner().invoke(app, ["logs", "-", "--no-lint"], input=text)
        assert "5 recompiles" in done.stdout

    @pytest.mark.skipif(not HAS_ZSTD, reason="this Python cannot read Zstandard")
    def test_zstandard_is_read_also_where_it_is_cut_off_or_broken(self, job: Path) -> None:
        zstd = importlib.import_module(ZSTD)
        packed = zstd.compress((JOBS / "environment.log").read_bytes())
        told = []
        for data in (packed, packed[:-40], packed[:20] + b"x" * 9 + packed[29:], b"none"):
            (job / "a.log.zst").write_bytes(data)
            told.append(json.loads(run("a.log.zst", "--no-lint", "--output-format", "json").stdout))
        assert (told[0]["recompiles"][0]["count"], told[0]["notes"]) == (5, [])
        assert all(one["proof"] in ("none", "text") for one in told[1:])

    @pytest.mark.skipif(HAS_ZSTD, reason="this Python can read Zstandard")
    def test_where_zstandard_cannot_be_read_the_way_to_it_is_told(
        self, job: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (job / "a.log.zst").write_bytes(b"")
        assert cli.run(["logs", "a.log.zst"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(
            "dynamo-lint: a.log.zst: Zstandard cannot be read here: `pip install backports.zstd`"
        )

    def test_a_link_that_leads_out_of_a_folder_is_not_read(self, job: Path) -> None:
        (job / "logs").mkdir()
        shutil.copy(JOBS / "environment.log", job / "secret.log")
        os.symlink(job / "secret.log", job / "logs" / "a.log")
        (job / "logs" / "b.log").write_text("")
        (job / "logs" / ".git").mkdir()
        assert json.loads(run("logs", "--output-format", "json", "--no-lint").stdout)["proof"] == "none"

    @pytest.mark.parametrize("name", sorted(TOLD))
    def test_each_format_renders_each_job(self, job: Path, name: str) -> None:
        lay(job, name)
        for form in ("text", "github", "sarif", "html"):
            assert run(f"{name}.log", "--output-format", form, "--allow-empty").exit_code in (0, 1)

    def test_annotations_tell_what_the_job_has_cost(self, job: Path) -> None:
        lay(job, "environment")
        done = run("environment.log", "--output-format", "github")
        assert "title=DYN201" in done.stdout
        assert "This job: 5 recompiles" in done.stdout

    def test_nothing_in_a_log_steers_the_terminal(self, job: Path) -> None:
        text = (JOBS / "environment.log").read_text()
        (job / "evil.log").write_text(text.replace("forward", "for\x1b]0;evil\x07ward\u202e"))
        done = run("evil.log", "--no-lint")
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout

    def test_without_sources_only_counts_are_told(self, job: Path) -> None:
        lay(job, "environment")
        told = json.loads(run("environment.log", "--no-lint", "--output-format", "json").stdout)
        assert (told["causes"], told["recompiles"][0]["path"]) == ([], "/job/environment.py")
