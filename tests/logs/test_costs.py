"""What compiling cost, from a trace: recorded twice with inductor, with a cold cache and with a warm one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dynamo_lint.cli import app

PROGRAMS = Path(__file__).parent / "programs"


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["logs", *words, "--no-lint", "-q"])


def costs(*words: str) -> Any:
    return json.loads(run(*words, "--output-format", "json").stdout)["costs"]


def trace(start: str) -> str:
    return str(PROGRAMS / f"receipt_{start}.trace")


def test_a_trace_tells_what_each_function_cost() -> None:
    told = costs(trace("cold"))
    functions = {one["function"]: one for one in told["functions"]}
    assert (functions["forward"]["compiles"], functions["forward"]["graphs"]) == (3, 3)
    assert functions["forward"]["guards"] > functions["helper"]["guards"] > 0
    assert functions["forward"]["guard_latency_us"] > 0
    (rank,) = told["ranks"]
    assert rank["rank"] is None
    assert rank["compiles"] == 4
    assert rank["seconds"] == pytest.approx(sum(one["seconds"] for one in told["functions"]), abs=0.01)
    assert 0 < rank["first_seconds"] < rank["seconds"]
    assert rank["last_compile"] > 0
    assert told["programs"] == 4


def test_a_warm_cache_hits_where_a_cold_one_misses() -> None:
    cold, warm = costs(trace("cold"))["caches"], costs(trace("warm"))["caches"]
    assert (cold["fx_graph_cache"]["hits"], warm["fx_graph_cache"]["misses"]) == (0, 0)
    assert cold["fx_graph_cache"]["misses"] == warm["fx_graph_cache"]["hits"] > 0
    assert cold["aotautograd_cache"]["misses"] == warm["aotautograd_cache"]["hits"] == 4


def test_each_rank_has_its_seconds(tmp_path: Path) -> None:
    for rank, start in enumerate(("cold", "warm")):
        text = Path(trace(start)).read_text().replace('"frame_id": ', f'"rank": {rank}, "frame_id": ')
        (tmp_path / f"rank_{rank}.log").write_text(text)
    told = costs(str(tmp_path))
    assert [one["rank"] for one in told["ranks"]] == [0, 1]
    assert told["ranks"][0]["seconds"] > told["ranks"][1]["seconds"]
    assert told["programs"] == 4


@pytest.mark.parametrize(
    ("contract", "log", "status", "said"),
    [
        (
            "max-recompiles-after = { compiles = 1 }",
            "cold",
            1,
            "over     max-recompiles-after 1 compiles: 0 allowed, 2",
        ),
        (
            "max-recompiles-after = { compiles = 3 }",
            "cold",
            0,
            "ok       max-recompiles-after 3 compiles: 0 allowed, 0",
        ),
        ("max-recompiles-after = { seconds = 0.5 }", "warm", 1, "over     max-recompiles-after 0.5 seconds"),
        ("max-recompiles-after = { seconds = 600 }", "warm", 0, "ok       max-recompiles-after 600 seconds"),
        ("max-compile-seconds = 1000", "cold", 0, "ok       max-compile-seconds: 1000 allowed"),
        ("max-compile-seconds = 0.01", "warm", 1, "over     max-compile-seconds: 0.01 allowed"),
        ("min-cache-hits = 4", "warm", 0, "ok       min-cache-hits: 4 wanted"),
        ("min-cache-hits = 4", "cold", 1, "over     min-cache-hits: 4 wanted, 0 seen"),
        ("max-guards = 5", "cold", 1, "over     max-guards: 5 allowed"),
        ("max-guards = 5", "text", 3, "unproved max-guards: 5 allowed, and the log cannot tell"),
        ("min-cache-hits = 1", "text", 3, "unproved min-cache-hits: 1 wanted, and the log cannot tell"),
        ("max-recompiles-after = { compiles = 1 }", "text", 3, "unproved max-recompiles-after 1 compiles"),
    ],
)
def test_a_contract_is_held_to_what_a_trace_proves(
    contract: str, log: str, status: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dynamo-lint.toml").write_text(f"[contract]\n{contract}\n")
    monkeypatch.chdir(tmp_path)
    text = str(Path(__file__).parent / "jobs" / "other_sizes.log")
    done = run(text if log == "text" else trace(log))
    assert said in done.stdout
    assert done.exit_code == status


def test_no_recompile_may_follow_the_warm_up() -> None:
    assert run(trace("cold"), "--warmup", "1").exit_code == 1
    assert run(trace("cold"), "--warmup", "3").exit_code == 0
    text = run(str(Path(__file__).parent / "jobs" / "other_sizes.log"), "--warmup", "3")
    assert text.exit_code == 3
    assert "a trace tells compiles, and no recording calls" in " ".join(text.stdout.split())


def test_two_recordings_are_compared() -> None:
    told = run(trace("warm"), "--compare", trace("cold")).stdout
    assert "What has changed since the older recording\n  compiles: 4, as before\n" in told
    assert "  cache hits: 0 → 11\n  cache misses: 11 → 0\n" in told
    jobs = Path(__file__).parent / "jobs"
    words = (str(jobs / "counter_after_break.log"), "--compare", str(jobs / "other_sizes.log"))
    changes = json.loads(run(*words, "--output-format", "json").stdout)["trend"]
    assert {"what": "recompiles", "before": 3, "after": 5} in changes
    assert {"what": "recompiles of `forward` in other_sizes.py for `x`", "before": 3, "after": 0} in changes
    assert [one["what"] for one in changes if "GB0059" in one["what"]] == [
        "graph breaks GB0059 of `forward` in counter_after_break.py"
    ]
    assert "cache hits" not in [one["what"] for one in changes]


def test_a_backend_without_a_cache_proves_no_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = Path(trace("warm")).read_text().splitlines(keepends=True)
    (tmp_path / "a.log").write_text("".join(line for line in lines if "_cache_hit" not in line))
    (tmp_path / "dynamo-lint.toml").write_text("[contract]\nmin-cache-hits = 0\n")
    monkeypatch.chdir(tmp_path)
    assert run("a.log").exit_code == 3
    assert costs("a.log")["caches"] == {}


def test_the_receipt_stands_in_the_text() -> None:
    told = run(trace("warm")).stdout
    assert "What compiling cost\n  `forward` (" in told
    assert "fx graph cache: 7 hits, 0 misses" in told
    assert "4 programs that differ in text or sizes" in told
    page = run(trace("warm"), "--output-format", "html").stdout
    assert "Hits of the fx graph cache" in page
    assert "What compiling cost" not in run(str(Path(__file__).parent / "jobs" / "other_sizes.log")).stdout
