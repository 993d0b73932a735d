"""A fix is safe only if every reader is known and keeps its meaning; else it is unsafe, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.fixes.safety import speaks_of_its_own

MODEL = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._calls = 0

    def forward(self, x):
        self._calls += 1
        return self.lin(x)
"""
MAIN = "import torch\nfrom model import Block\n\nblock = Block()\nrun = torch.compile(block)\n"


def fixes(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    cli.run([".", "--output-format", "json", "--no-cache", "-q", "--select", "DYN101"])
    found = json.loads(capsys.readouterr().out)["findings"]
    return [
        (one["fix"]["applicability"], one["fix"]["message"])
        for one in found
        if one["fix"]["kind"] == "fixable"
    ]


def test_a_private_counter_that_only_its_class_uses_is_fixed_safely(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "model.py").write_text(MODEL)
    (here / "main.py").write_text(MAIN + "label = getattr(block, 'name', None)\nsettings = vars(torch)\n")
    assert [applicability for applicability, _ in fixes(capsys)] == ["safe"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("print(block.__dict__['_' + 'calls'])", "computed names"),
        ("print(vars(block))", "computed names"),
        ("from operator import attrgetter\nprint(attrgetter(NAME)(block))", "computed names"),
        ("import operator\nprint(operator.attrgetter(NAME)(block))", "computed names"),
        ("for name in NAMES: print(getattr(block, name))", "computed names"),
        ("def show(one, name): return getattr(one, name)", "computed names"),
        ("for name, value in STATE: setattr(block, name, value)", "computed names"),
        ("with torch.inference_mode(): other = Block()", "inference mode"),
        ("with torch.device('meta'): other = Block()", "meta device"),
        ("other = Block().to(device='meta')", "meta device"),
        ("from torch.utils import checkpoint", "checkpointing"),
        ("torch.func.functional_call(block, STATE, X)", "copies"),
        ("torch.export.export(block, (X,))", "exported"),
        ("other = Block().share_memory()", "shares buffers, but not numbers"),
        (
            "from unittest import mock\nmock.patch.object(block, '_calls', 3)",
            "main.py:7 has `_calls` as a text",
        ),
        (
            "from unittest import mock\nmock.patch.multiple(block, _calls=3)",
            "main.py:7 has `_calls` as a text",
        ),
        ("import copy\nother = copy.copy(block)", "main.py:7 hands a module to `copy`: a copy"),
        ("from copy import copy\nother = copy(run)", "hands a module to `copy`: a copy"),
        ("import launcher\nlauncher.setup(block)", "hands a module to `setup`: code that is not linted"),
        ("from launcher import Launcher\nLauncher(1).setup(model=[block])", "hands a module to `setup`"),
        ("import launcher\nlauncher.run(block.forward)", "hands a module to `run`"),
        ("import launcher\nlauncher.run(Block)", "hands a module to `run`"),
        (
            "import launcher\nclass Job:\n    def __init__(self, net): self.net = net\nlauncher.run(Job(block))",
            "main.py:9 hands a module to `run`",
        ),
        ("import launcher\nclass Job(launcher.Job): pass\nJob(block)", "hands a module to `Job`"),
        (
            "import launcher\nclass Job(launcher.Job):\n    net = None\n    def go(self): self.net = block",
            "derives",
        ),
        ("def go(anything, net): anything.prepare(net)\ngo(ANY, block)", "hands a module to `prepare`"),
        ("torch.nn.DataParallel(block)", "hands a module to `DataParallel`"),
        ("import torch.multiprocessing as mp\nmp.Process(target=print, args=(block,))", "another process"),
        ("import multiprocessing as mp\nmp.get_context('spawn').Process(args=(block,))", "to `Process`"),
        ("torch.save(block, 'block.pt')", "hands a module to `save`: a module that was pickled"),
        ("import pickle\npickle.dumps(block)", "hands a module to `dumps`: a module that was pickled"),
        ("other = torch.load('block.pt', weights_only=False)", "main.py:6 loads whole objects"),
    ],
)
def test_what_the_project_does_elsewhere_makes_it_unsafe(
    here: Path, capsys: pytest.CaptureFixture[str], more: str, why: str
) -> None:
    (here / "model.py").write_text(MODEL)
    (here / "main.py").write_text(f"{MAIN}{more}\n")
    ((applicability, message),) = fixes(capsys)
    assert applicability == "unsafe"
    assert why in message


@pytest.mark.parametrize(
    "more",
    [
        "import copy\nother = copy.deepcopy(block)",
        "torch.save(block.state_dict(), 'block.pt')",
        "torch.save({'block': block.state_dict(), 'epoch': 3}, 'block.pt')",
        "state = torch.load('block.pt', weights_only=True)",
        "import launcher\nlauncher.log(3, run(torch.ones(2, 4)))\nlauncher.Steps(block.parameters())",
        "import threading\nthreading.Thread(target=run, args=(block,)).start()",
        "blocks = [block]\nblocks.append(block)\nprint(len(blocks), isinstance(block, Block))",
        "every = torch.nn.Sequential(block, block)\nfor one in every: one.to('cpu')",
        "def same(net): return net\nsame(block).eval()",
        "optimizer = torch.optim.SGD(block.parameters(), lr=0.1)",
    ],
)
def test_a_module_that_stays_in_the_project_is_fixed_safely(
    here: Path, capsys: pytest.CaptureFixture[str], more: str
) -> None:
    (here / "model.py").write_text(MODEL)
    (here / "main.py").write_text(f"{MAIN}{more}\n")
    assert [applicability for applicability, _ in fixes(capsys)] == ["safe"]


PUBLIC = MODEL.replace("_calls", "calls")


@pytest.mark.parametrize(
    ("name", "text", "applicability"),
    [
        ("notes.txt", "", "safe"),
        ("pyproject.toml", "[tool.black]\n", "safe"),
        ("pyproject.toml", "[project]\nname = 'job'\n", "unsafe"),
        ("pyproject.toml", "[tool.poetry]\nname = 'job'\n", "unsafe"),
        ("pyproject.toml", "[tool.poetry]\npackage-mode = false\n", "safe"),
        ("pyproject.toml", "[project]\nname = 'job'\n[tool.uv]\npackage = false\n", "safe"),
        ("pyproject.toml", "[project]\nname = 'job'\n[tool.dynamo-lint]\napplication = true\n", "safe"),
        ("pyproject.toml", "[project]\nname = 'job'\n[tool.dynamo-lint]\napplication = false\n", "unsafe"),
        ("setup.py", "from setuptools import setup\nsetup(name='job')\n", "unsafe"),
        ("setup.cfg", "[metadata]\nname = job\n", "unsafe"),
        ("setup.cfg", "[flake8]\n", "safe"),
    ],
)
def test_a_name_without_underscore_is_public_where_a_distribution_hands_it_out(
    here: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, applicability: str
) -> None:
    (here / name).write_text(text)
    (here / "model.py").write_text(PUBLIC)
    (here / "main.py").write_text(MAIN)
    assert [applicability for applicability, _ in fixes(capsys)] == [applicability]


@pytest.mark.parametrize(("folder", "applicability"), [("net", "unsafe"), ("examples", "safe")])
@pytest.mark.parametrize("where", [".", "{}"])
def test_metadata_counts_for_the_packages_around_a_file(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
    applicability: str,
    where: str,
) -> None:
    (here / "pyproject.toml").write_text("[project]\nname = 'job'\n")
    (here / folder).mkdir()
    (here / folder / "model.py").write_text(PUBLIC + MAIN.partition("\n\n")[2])
    monkeypatch.chdir(here / where.format(folder))
    assert [applicability for applicability, _ in fixes(capsys)] == [applicability]


def test_a_line_that_is_only_likely_to_be_compiled_is_fixed_as_safely(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "model.py").write_text(PUBLIC)
    (here / "main.py").write_text(
        "from model import Block\nfrom torch import nn\n\n\n"
        "def regional_compile(model):\n    for block in model.children():\n        block.compile()\n\n\n"
        "regional_compile(nn.Sequential(Block(), Block()))\n"
    )
    assert [applicability for applicability, _ in fixes(capsys)] == ["safe"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ("averages = [b.clone() for b in block.buffers(recurse=True)]", "would see one more"),
        ("averaged = torch.optim.swa_utils.AveragedModel(block)", "would see one more"),
        ("import torch.distributed as dist", "copies rank 0's buffers"),
        (
            "from torch.nn.parallel import DistributedDataParallel as DDP\nDDP(block)",
            "copies rank 0's buffers",
        ),
    ],
)
def test_a_number_becomes_no_buffer_where_something_else_is_done_to_all_buffers(
    here: Path, capsys: pytest.CaptureFixture[str], more: str, why: str
) -> None:
    (here / "model.py").write_text(MODEL)
    (here / "main.py").write_text(f"{MAIN}{more}\n")
    ((applicability, message),) = fixes(capsys)
    assert applicability == "safe"
    assert "`self._calls = torch.zeros((), dtype=torch.long)`; no buffer, since" in message
    assert why in message


APPLY = "\n\n    def _apply(self, fn, recurse=True):\n        super()._apply(fn, recurse)\n"


@pytest.mark.parametrize(
    ("more", "moved"),
    [
        ("", f"{APPLY}        self._calls = fn(self._calls)\n        return self\n"),
        (
            f"{APPLY}        self.table = fn(self.table)\n        return self\n",
            "        self.table = fn(self.table)\n        self._calls = fn(self._calls)\n        return self\n",
        ),
        (f"{APPLY}        return self.moved()\n", f"{APPLY}        return self.moved()\n"),
    ],
    ids=["a method of its own", "one that the class has", "not one of another shape"],
)
def test_a_tensor_that_is_no_buffer_moves_with_its_module(here: Path, more: str, moved: str) -> None:
    (here / "model.py").write_text(MODEL.replace("_calls = 0\n", f"_calls = 0\n{more}"))
    (here / "main.py").write_text(f"{MAIN}import torch.distributed as dist\n")
    cli.run([".", "--no-cache", "-q", "--fix", "--select", "DYN101"])
    text = (here / "model.py").read_text()
    assert moved in text
    assert text.count("_calls = fn(") == moved.count("_calls = fn(")
    assert "self._calls = torch.zeros((), dtype=torch.long)" in text


@pytest.mark.parametrize("name", ["__calls", "training"])
def test_a_name_that_no_buffer_can_have_is_left_alone(
    here: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (here / "model.py").write_text(MODEL.replace("_calls", name))
    (here / "main.py").write_text(MAIN)
    assert fixes(capsys) == []


@pytest.mark.parametrize(
    "update",
    [
        "self._calls *= 3",
        "self._calls = self._calls * 31 + 7",
        "self._calls <<= 1",
        "self._calls += self._calls",
        "self._calls = 1 + self._calls + self._calls",
    ],
)
def test_a_number_that_grows_by_a_factor_would_wrap_around(
    here: Path, capsys: pytest.CaptureFixture[str], update: str
) -> None:
    (here / "model.py").write_text(MODEL.replace("self._calls += 1", update).replace("= 0", "= 1"))
    (here / "main.py").write_text(MAIN)
    assert "safe" not in [applicability for applicability, _ in fixes(capsys)]


SUM = "return self.lin(x)"


@pytest.mark.parametrize(
    "used",
    [
        "return self.lin(x).sum() / self._calls",
        "return self.lin(x) * (2 * self._calls + 1) - self._calls % 4",
        "return self.lin(x) * (1.0 / (1 + self._calls))",
        "return self.lin(x) * ((1 + self._calls) / (10 + self._calls))",
        "part = min(self._calls, 100) / 100\n        return self.lin(x) * part",
        "return torch.where(x > 0, self.lin(x), self._calls)",
        "warm = self._calls < 4\n        return self.lin(x) * warm",
        "half = 2  # not .half(), and no bfloat16\n        return self.lin(x) * self._calls / half",
    ],
)
def test_a_count_that_meets_tensors_as_it_is_or_divided_once_is_safe(
    here: Path, capsys: pytest.CaptureFixture[str], used: str
) -> None:
    (here / "model.py").write_text(MODEL.replace(SUM, used))
    (here / "main.py").write_text(MAIN)
    assert [applicability for applicability, _ in fixes(capsys)] == ["safe"]


@pytest.mark.parametrize(
    ("used", "why"),
    [
        ("return self.lin(x) * (0.1 * self._calls)", "`0.1 * self._calls` is rounded otherwise"),
        ("return self.lin(x) * (1 + 1 / (1 + self._calls))", "is rounded otherwise"),
        ("part = 1 / (1 + self._calls)\n        return self.lin(x) * (1 - part)", "`1 - part` is rounded"),
        ("return self.lin(x) * (1 / self._calls)", "`1 / self._calls` is rounded otherwise"),
        ("return self.lin(x) * (10 // self._calls)", "is rounded otherwise"),
        ("return self._calls / self.lin(x)", "is rounded otherwise"),
        ("return self.lin(x) ** self._calls", "is rounded otherwise"),
        ("return self.lin(x).pow(self._calls)", "is rounded otherwise"),
        ("return self.lin(x) * (1 / (1 + self._calls) > 0.1)", "is rounded otherwise"),
        ("return self.lin(x.half().float()) * self._calls", "precision of any tensor as they are"),
        ("return self.lin(x).to(torch.bfloat16) * self._calls", "(`bfloat16` in model.py)"),
        ("return x.argmax().to(torch.int32) + self._calls", "(`int32` in model.py)"),
    ],
)
def test_a_count_that_a_tensor_would_round_otherwise_is_unsafe(
    here: Path, capsys: pytest.CaptureFixture[str], used: str, why: str
) -> None:
    (here / "model.py").write_text(MODEL.replace(SUM, used))
    (here / "main.py").write_text(MAIN)
    ((applicability, message),) = fixes(capsys)
    assert applicability == "unsafe"
    assert why in message


def test_a_count_in_math_is_unsafe_under_cuda_graphs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "model.py").write_text(MODEL.replace(SUM, "return self.lin(x) * self._calls"))
    (here / "main.py").write_text(MAIN.replace("(block)", "(block, mode='reduce-overhead')"))
    ((applicability, message),) = fixes(capsys)
    assert applicability == "unsafe"
    assert "a CUDA graph overwrites" in message


@pytest.mark.parametrize(
    "taken", ["def __init__(self, torch=None):", "def __init__(self):\n        torch = None"]
)
def test_a_file_that_calls_something_else_torch_is_not_fixed(
    here: Path, capsys: pytest.CaptureFixture[str], taken: str
) -> None:
    (here / "model.py").write_text(MODEL.replace("def __init__(self):", taken))
    (here / "main.py").write_text(MAIN)
    assert fixes(capsys) == []


@pytest.mark.parametrize("arguments", [[".", "--extend-exclude", "report.py"], ["src"]])
def test_a_reader_that_is_not_linted_keeps_a_fix_from_being_applied(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    (here / "pyproject.toml").write_text("")
    (here / "src").mkdir()
    (here / "src/model.py").write_text(MODEL + "\n\nrun = torch.compile(Block())\n")
    (here / "report.py").write_text("import json\n\n\ndef report(block): return json.dumps(block._calls)\n")
    before = (here / "src/model.py").read_text()
    assert cli.run([*arguments, "--fix", "--no-cache"]) == 1
    assert "report.py, which this run does not lint, uses the attribute" in capsys.readouterr().err
    assert (here / "src/model.py").read_text() == before


@pytest.mark.parametrize(
    ("text", "own"),
    [
        (
            "class A(nn.Module):\n    def __init__(self):\n        self._n = 0\n    def f(self): return self._n\n",
            True,
        ),
        (
            "class A:\n    def __init__(self):\n        self.register_buffer('_n', 0)\n        self._n += 1\n",
            True,
        ),
        ("class A(Block):\n    def __init__(self):\n        self._n = 0\n", False),
        ("class A:\n    def f(self): return self._n\n", False),
        ("class A:\n    def f(self): self._n = 1\n\n\nprint(block._n)\n", False),
        ("class A:\n    def f(self): self._n = 1\n\n\nprint(getattr(block, '_n'))\n", False),
        ("class A:\n    def f(self): self._n = 1\n\n\npatch(_n=3)\n", False),
        ("class A:\n    def f(self, other): self._n = other._n\n", False),
        (
            "class A:\n    def f(self): self._n = 1\n    class B(Block):\n        def f(self): self._n\n",
            False,
        ),
        ("class A:\n    def f(self): self._n = \n", False),
    ],
)
def test_a_file_that_is_not_linted_matters_if_it_speaks_of_other_objects_than_its_own(
    text: str, own: bool
) -> None:
    assert speaks_of_its_own("_n", text.encode()) == own


ENTRY = MODEL.replace("self._calls = 0", 'self._stats = {"calls": 0, "name": "x"}').replace(
    "self._calls += 1", 'self._stats["calls"] += 1'
)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("print(block._stats['calls'] + 1)", ["safe"]),
        ("print(f\"{block._stats['calls']}\")", ["safe"]),
        ("block._stats['calls'] = 0", ["safe"]),
        ("print(block._stats['name'])", ["safe"]),
        ("print(block._stats)", []),
        ("for name in block._stats: print(name)", []),
        ("block._stats['calls'] = 0.5", []),
        ("del block._stats['calls']", []),
        ("print(block._stats[NAME])", []),
        ("import copy\nother = copy.copy(block)", ["unsafe"]),
        ("other = Block().share_memory()", ["unsafe"]),
    ],
)
def test_a_count_in_a_dict_is_fixed_where_nothing_uses_the_whole_dict(
    here: Path, capsys: pytest.CaptureFixture[str], more: str, expected: list[str]
) -> None:
    (here / "model.py").write_text(ENTRY)
    (here / "main.py").write_text(MAIN + more + "\n")
    assert [applicability for applicability, _ in fixes(capsys)] == expected


GLOBAL = """\
import torch

CALLS = 0


@torch.compile
def step(x: torch.Tensor):
    global CALLS
    CALLS += 1
    return x * CALLS


for _ in range(9):
    step(torch.ones(2))
print(CALLS)
"""


@pytest.mark.parametrize(
    ("text", "other", "kind"),
    [
        (GLOBAL, "", "fixable"),
        (GLOBAL, "from main import CALLS\n", "suggested"),
        (GLOBAL, "import main\nprint(main.CALLS)\n", "suggested"),
        (GLOBAL + "print(globals()['CALLS'])\n", "", "suggested"),
        (GLOBAL.replace("x: torch.Tensor", "x"), "", "suggested"),
    ],
)
def test_a_global_is_fixed_where_one_file_alone_speaks_of_it(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, other: str, kind: str
) -> None:
    (here / "main.py").write_text(text)
    (here / "other.py").write_text(other)
    cli.run([".", "--output-format", "json", "--no-cache", "-q", "--select", "DYN106"])
    (found,) = json.loads(capsys.readouterr().out)["findings"]
    assert found["fix"]["kind"] == kind
    assert found["fix"]["applicability"] == ("unsafe" if kind == "fixable" else "display")
