"""A compiled callable that nobody keeps gets the name of what it was made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.findings import Finding, Span
from dynamo_lint.fixes import compile_result
from dynamo_lint.fixes.bytes import apply
from dynamo_lint.fixes.edit_session import Unclear, Workbench
from dynamo_lint.index.summarize import summarize
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.sources import Sources
from dynamo_lint.state.tables import build

HEAD = "import torch\n\nmodel = torch.nn.Linear(2, 2)\n"


def fixed(text: str, line: int) -> str:
    """The text with the fix for a finding on one line."""
    sources = Sources(Path(), {"a.py": text.encode()})
    project, regions = resolve({"a.py": summarize("a.py", "a", False, text.encode())}, RegionOptions())
    bench = Workbench(build(project, regions, sources.text), sources)
    span = Span("a.py", line, 1, line, 2)
    finding = Finding("DYN501", "", span, "", "", "error", "eager", "certain", "a.py::<module>", "")
    return apply(text.encode(), compile_result.fix(finding, bench).edits).decode()


def test_a_bare_call_is_assigned_to_the_name_that_is_used_afterwards() -> None:
    text = HEAD + "torch.compile(model, dynamic=True)\nmodel(torch.ones(2))\n"
    assert fixed(text, 4) == text.replace("torch.compile", "model = torch.compile")


def test_a_module_that_binds_itself_is_compiled_in_place() -> None:
    text = (
        "class M(nn.Module):\n    def __init__(self):\n        self = torch.compile(self, mode='m', **more)\n"
    )
    assert fixed("import torch\nfrom torch import nn\n" + text, 5).endswith(
        "        self.compile(mode='m', **more)\n"
    )


@pytest.mark.parametrize(
    "line", ["torch.compile(model)", "torch.compile(model.layer)", "other = torch.compile(model)"]
)
def test_a_result_that_has_no_obvious_use_is_left_alone(line: str) -> None:
    with pytest.raises(Unclear):
        fixed(HEAD + line + "\n", 4)
