"""Under `fullgraph=True` a number out of a tensor is a symbol in the graph: what decides on it raises."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

RAISING = [
    "return x * 2 if x.sum().item() > 0 else x",
    "return x * 2 if int(x.sum()) > 0 else x",
    "return x * 2 if bool(x.sum() > 0) else x",
    "return x * 2 if float(x.mean()) == 16.0 else x",
    "return x * 2 if not x.sum().item() else x",
    "return x * (x.sum().item() > 0 and 2 or 3)",
    "n = x.sum().item(); return x * 2 if -1 < n < 100 else x",
    "n = x.sum().item()\n    while n > 3: n = n - 1\n    return x * n",
    "n = int(x.sum())\n    for _ in range(n): x = x + 1\n    return x",
    "n = x.sum().item()\n    if n < 0: raise ValueError\n    return x",
    "return x * [0, 1, 2, 3, 4][int(x.mean())]",
]
CAPTURED = [
    "return x * x.sum().item()",
    "return x * max(abs(x.sum().item()), 1.0)",
    "n = x.sum().item(); return x * (n > 0)",
    "n = x.sum().item(); assert n > 0; return x * n",
    "n = int(x.sum()); torch._check(n > 0); return x * 2 if n > 0 else x",
    "n = x.sum().item(); return x if n is None else x * n",
    "n = x.sum().item(); return x * n if x.shape[0] > 1 else x",
    "return x[: int(x.mean())]",
]


def program(body: str) -> str:
    """A module with a function that is compiled whole, and a call of it."""
    return (
        f"import torch\n\n\ndef function(x):\n    {body}\n\n\n"
        'run = torch.compile(function, fullgraph=True, backend="aot_eager")\n'
        "result = run(torch.ones(4, 4))\n"
    )


@pytest.mark.parametrize("body", RAISING)
def test_a_decision_on_a_number_out_of_a_tensor_is_an_error(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == [("DYN403", "error")]


@pytest.mark.parametrize("body", CAPTURED)
def test_what_the_graph_can_hold_is_quiet(body: str, tmp_path: Path) -> None:
    assert not said(tmp_path, body)


@pytest.mark.parametrize("body", [*RAISING, *CAPTURED])
def test_torch_raises_in_just_these(body: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    path = tmp_path / "model.py"
    path.write_text(program(body))
    torch._dynamo.reset()
    code = compile(path.read_text(), str(path), "exec")
    raising = pytest.raises(Exception, match="data-dependent") if body in RAISING else nullcontext()
    with raising:
        exec(code, {"__name__": "model"})


def said(folder: Path, body: str) -> list[tuple[str, str]]:
    """The errors and warnings about a program."""
    (folder / "model.py").write_text(program(body))
    found = discover((folder,), [], force_exclude=False)
    report = check(Settings(), found, catalogue(), Sources(found.root))
    return [(one.code, one.severity) for one in report.findings if one.severity != "note"]
