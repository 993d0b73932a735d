"""Two probes beside each other: what of their graphs differs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.confirm.model import Compile, GraphBreak, Receipt, Reply
from dynamo_lint.confirm.shape import difference
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.render import receipt, receipt_json
from dynamo_lint.terminal import Look

ROOT = Path("/project")


def broken(line: int, ident: str) -> GraphBreak:
    return GraphBreak(f"{ROOT}/m.py", line, "f", ident, "cannot", False, 0, "", 1, ())


def probe(name: str, *graphs: tuple[str, ...], breaks: tuple[GraphBreak, ...] = ()) -> ProbeReport:
    compiles = tuple(Compile("f", "m.py", 1, 0, "", f"{n}/0", graph) for n, graph in enumerate(graphs))
    told = Receipt("2.13", "aot_eager", 1, compiles, (), breaks, (0,), (), {})
    return ProbeReport(name, "m.py", 1, Reply("done", receipt=told))


def test_probes_are_alike_whose_graphs_call_the_same_operators() -> None:
    plain = probe("plain", ("mul", "relu"), breaks=(broken(3, "GB0059"),))
    other = probe("other", ("relu", "mul"), breaks=(broken(9, "GB0059"),))
    found = difference(plain, other)
    assert not found.differs
    assert receipt.compared(found, ROOT, Look()).splitlines() == [
        "The graphs of plain and other are alike",
        "    graphs            1 -> 1",
        "    graph breaks      1 -> 1",
        "    operators     the same",
    ]


def test_what_only_one_probe_has_is_told() -> None:
    plain = probe("plain", ("mul", "mul", "relu"), breaks=(broken(3, "GB0059"),))
    kernel = probe("kernel", ("relu",), ("fused",), breaks=(broken(3, "GB0059"), broken(4, "GB0124")))
    found = difference(plain, kernel)
    assert found.differs
    assert receipt.compared(found, ROOT, Look()).splitlines() == [
        "The graphs of plain and kernel differ",
        "    graphs            1 -> 2",
        "    graph breaks      1 -> 2",
        "                  + m.py:4 GB0124 cannot",
        "    operators     - mul (2 times), + fused",
    ]
    told = json.loads(receipt_json.render([plain, kernel], ROOT, between=found))["comparison"]
    assert (told["differs"], told["graphs"], told["breaks"]) == (True, [1, 2], [1, 2])
    assert told["breaks_added"] == [
        {"path": "m.py", "line": 4, "function": "f", "id": "GB0124", "reason": "cannot"}
    ]
    assert (told["operators_removed"], told["operators_added"]) == ({"mul": 2}, {"fused": 1})


@pytest.mark.parametrize("other", [probe("b", ("mul",), ("mul",)), probe("b", ("add",)), probe("b")])
def test_one_difference_is_enough(other: ProbeReport) -> None:
    assert difference(probe("a", ("mul",)), other).differs
    assert not difference(other, replace(other, name="c")).differs


def test_not_two_probes_are_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "a.py").write_text("def probe_a():\n    pass\n")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["confirm", "--compare", "a.py"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--compare is about two probes, and 1 are named" in line
