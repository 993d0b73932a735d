"""When a program has loaded torch and its compiler, as far as the text alone tells (DYN513), and DYN514 beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources

LOGS = 'os.environ["TORCH_LOGS"] = "recompiles"'
CACHE = 'os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "1"'


def lines(tmp_path: Path, settings: Settings = Settings(), **files: str) -> list[tuple[str, int, str]]:  # noqa: B008
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    found = discover((tmp_path,), [])
    report = check(settings, found, catalogue(), Sources(found.root))
    return [(one.span.path, one.span.line, one.code) for one in report.findings]


@pytest.mark.parametrize(
    ("text", "late"),
    [
        (f"import os\nimport torch\n{LOGS}\n", 3),
        (f"import os\n{LOGS}\nimport torch\n", None),
        (f"import os\nfrom torch import nn\n{LOGS}\n", 3),
        (f"import os\nimport torchvision_like\n{LOGS}\n", None),
        (f"import os\nimport torch\n{CACHE}\n", None),
        (f"import os\nimport torch._dynamo\n{CACHE}\n", 3),
        (f"import os\nfrom torch._inductor import config\n{CACHE}\n", 3),
        (f"import os\nimport torch\nstep = torch.compile(print)\n{CACHE}\n", 4),
        (f"import os\nimport torch\n@torch.compile\ndef f(x):\n    return x\n{CACHE}\n", 6),
        (
            f"import os\nimport torch\nclass A:\n    @torch.compiler.disable\n    def f(self):\n        'why'\n{CACHE}\n",
            7,
        ),
        (f"import os\nimport torch\ndef main(m):\n    torch.optim.SGD(m.parameters())\n    {CACHE}\n", 5),
        (f"import os\nimport torch\ntorch._dynamo.config.verbose = True\n{CACHE}\n", 4),
        (f"import os\ndef main():\n    {LOGS}\n    import torch\n", None),
        (f"import os\ndef main():\n    import torch\n    {LOGS}\n", 4),
        (f"import os\ndef a():\n    {LOGS}\ndef b():\n    a()\nb()\nimport torch\n", None),
        (f"import os\ndef a():\n    {LOGS}\nimport torch\na()\n", 3),
        (f"import os\nif os.name == 'nt':\n    import torch\n{LOGS}\n", None),
        (f"import os\nif os.name == 'nt':\n    import torch\n    {LOGS}\n", 4),
        (
            f"import os, torch\nfrom multiprocessing import Process\n{LOGS}\ndef go():\n    Process(target=go).start()\n",
            None,
        ),
        (f"import os, torch\ndef test_it():\n    {LOGS}\n", None),
    ],
)
def test_a_variable_is_late_where_its_reader_has_surely_been_loaded(
    tmp_path: Path, text: str, late: int | None
) -> None:
    found = [line for _, line, code in lines(tmp_path, main=text) if code == "DYN513"]
    assert found == ([late] if late else [])


def test_a_file_of_the_project_loads_what_its_own_top_level_loads(tmp_path: Path) -> None:
    found = lines(
        tmp_path,
        main=f"import os\nimport plain\n{CACHE}\nimport model\n{LOGS}\n{CACHE}\n",
        model="import main\nfrom block import f\n",
        block="import torch\n\n@torch.compile\ndef f(x):\n    return x\n",
        plain="def later():\n    import torch._dynamo\n",
    )
    assert found == [("main.py", 5, "DYN513"), ("main.py", 6, "DYN513")]


def test_a_name_is_judged_by_the_version_of_torch(tmp_path: Path) -> None:
    text = 'import os\nos.environ["TORCHINDUCTOR_ORIGAMI"] = "1"\n'
    assert lines(tmp_path, Settings(torch_version=(2, 13)), main=text) == []
    assert lines(tmp_path, Settings(torch_version=(2, 9)), main=text) == [("main.py", 2, "DYN514")]


def test_suppression_by_a_zero_is_an_error_and_other_misreadings_are_warnings(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(
        "import os\nos.environ.update(TORCHDYNAMO_SUPPRESS_ERRORS='0')\nos.putenv('TORCHDYNAMO_VERBOSE', 'yes')\n"
    )
    found = discover((tmp_path,), [])
    report = check(Settings(), found, catalogue(), Sources(found.root))
    assert [(one.subject, one.severity) for one in report.findings] == [
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "error"),
        ("TORCHDYNAMO_VERBOSE", "warning"),
    ]
