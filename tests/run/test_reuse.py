"""One file changed: the verdict is kept where it cannot be another one, and is always that of a fresh run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from dynamo_lint import cli, discovery
from dynamo_lint.cache.store import Store
from dynamo_lint.index import ir
from dynamo_lint.index.summarize import summarize
from dynamo_lint.program.dependencies import ALL, Recorder, RecordingTable
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef
from dynamo_lint.run import judge, reuse

MODEL = """\
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0
        self.scale = 1.0

    def forward(self, x):  # in a small dtype, so that no fix is safe, and none asks who is handed a block
        self.steps += 1
        return x.to(torch.bfloat16) * self.steps * self.scale
"""
TRAIN = """\
import torch
from model import Block

def train(batches):
    block = Block()
    step = torch.compile(block)
    for batch in batches:
        block.scale = 0.5 * block.scale
        step(batch)
"""
COLD = '''\
"""Reads tables."""
from pathlib import Path

LIMIT = 10


class Table:
    """Rows of a file."""

    def __init__(self, rows):
        self.rows = rows

    def total(self):
        result = 0
        for row in self.rows:
            result = result + row * 2
        return result


def read(path):
    if not Path(path).exists():
        return Table([])
    return Table([float(line) for line in Path(path).read_text().splitlines()])
'''
STATEMENTS = (
    "other = 3",
    "print(len('a'))",
    "block.scale = 0.25",
    "self.steps = 2",
    "rows.append(3)",
    "from model import Block",
    "Block().steps = 4",
    "train([1])",
    "step = torch.compile(Table([]).total)",
    "def forward(self, x):\n    return x + self.scale",
    "class Wider(Block):\n    steps = 1",
    "@property\ndef scale(self):\n    return 2.0",
    "key = lambda block: block.scale",
)
"""What random edits put somewhere: much of it has to do with what is compiled."""
FILES = {"model.py": MODEL, "train.py": TRAIN, "cold.py": COLD}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that everything is judged."""
    # A dry run of the fixes judges other texts, which do not count here.
    monkeypatch.setattr("dynamo_lint.run.rewrite.promised", lambda report, *_: report)
    times: list[str] = []
    whole: Callable[..., object] = judge._judge

    def counted(*given: object) -> object:
        times.append("judged")
        return whole(*given)

    monkeypatch.setattr(judge, "_judge", counted)
    return times


def lint(capsys: pytest.CaptureFixture[str], *options: str) -> object:
    cli.run([".", "--output-format", "json", "--quiet", *options])
    return json.loads(capsys.readouterr().out)


def edited(
    project: Path, name: str, old: str, new: str, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> int:
    """Lint before and after an edit, compare with a fresh run, and say how often the edit was judged."""
    lint(capsys)
    path = project / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    judged.clear()
    with_cache = lint(capsys)
    times = len(judged)
    assert with_cache == lint(capsys, "--no-cache")
    return times


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT", "# how many\nLIMIT"),
        ('"""Reads tables."""', '"""Reads tables.\n\nAnd that is all.\n"""'),
        ("row * 2", "row * 3"),
        ("    def total(self):", "\n\n    def total(self):"),
        ("    return Table([])", "    return Table([])  # nothing there"),
        ("LIMIT = 10", "LIMIT = 11"),
        ("LIMIT = 10", "LIMIT = 10\nMOST = [LIMIT, 20]"),
        ("from pathlib", "import json\nfrom pathlib"),
        ("def total(self)", "def total(self, block=None)"),
        ("result = 0", "result = 0\n        first = result"),
        ("return result", "return Table(result)"),
        ("return result", "self.rows.unheard_of()\n        return result"),
    ],
)
def test_an_edit_of_a_cold_file_that_answers_as_before_is_not_judged(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    assert edited(project, "cold.py", old, new, judged, capsys) == 0


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("cold.py", "return result", "return result)"),
        ("cold.py", "LIMIT = 10", 'LIMIT = 10\nif __name__ == "__main__":\n    print(LIMIT)'),
        ("cold.py", "LIMIT = 10", "import model\nmodel.Block().steps = 3"),
        ("cold.py", "LIMIT = 10", "from model import Block\n\n\nclass Wider(Block):\n    scale = 2.0\n"),
        ("cold.py", "return result", "self.rows.scale()\n        return result"),
        ("cold.py", "return result", "self.unheard = len\n        self.unheard('a')\n        return result"),
        ("cold.py", "result = 0", "rows = self.rows\n        rows.steps = result = 0"),
        (
            "cold.py",
            "from pathlib import Path",
            "from pathlib import Path\nfrom torch import compile as faster",
        ),
        ("model.py", "self.steps += 1", "self.steps += 2"),
        ("model.py", "import torch", "import torch  # that is all"),
        ("train.py", "def train", "# a comment above what a finding shows\ndef train"),
        ("train.py", "0.5 *", "0.25 *"),
    ],
)
def test_any_other_edit_is_judged(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], name: str, old: str, new: str
) -> None:
    assert edited(project, name, old, new, judged, capsys) == 1


EAGER = """\
import re
import torch

def apply(fn, rows):
    done = fn(rows, 3)
    return done

def words(text):
    found = re.compile("[a-z]+")
    return found.findall(text)

class Row(torch.nn.Module):
    def __init__(self, block):
        super().__init__()
        self.block = block
        self.first = block.name

    def reset(self, block):
        self.block = block
        self.first = 1
"""


@pytest.mark.parametrize(
    ("old", "new", "times"),
    [
        ("return done", "print(rows)\n    return done", 0),
        ("return done", "other = [rows, 4]\n    return done", 0),
        ("return done", "fn(rows, 4)\n    return done", 1),
        ("fn(rows, 3)", "fn(rows, rows)", 1),
        ("return found", "print(text)\n    return found", 0),
        ("return found", "torch.compile(text)\n    return found", 1),
        ('re.compile("[a-z]+")', "torch.compile(text)", 1),
        ("self.first = 1", "print(block)\n        self.first = 1", 0),
    ],
)
def test_of_an_eager_function_only_the_calls_that_may_run_compiled_code_count(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], old: str, new: str, times: int
) -> None:
    (project / "eager.py").write_text(EAGER)
    assert edited(project, "eager.py", old, new, judged, capsys) == times


def test_a_verdict_is_kept_over_many_edits(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(4):
        assert edited(project, "cold.py", "LIMIT", f"# {number}\nLIMIT", judged, capsys) == 0


KIND = """
class Kind{i}(torch.nn.Module):
    def forward(self, x):
        return x + {i}
"""
ZOO = (
    "import torch\n"
    + "".join(KIND.format(i=i) for i in range(10))
    + f"KINDS = {{{', '.join(f'{i}: Kind{i}' for i in range(10))}}}\n"
    + """
def build(name):
    return KINDS[name]()

def prepare(model):
    for name, part in model.named_modules():
        if "head" in name:
            part.compile()
    for block in model.blocks:
        block.compile()

class Wrapped(torch.nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        return self.part(x)

compiled = torch.compile(Wrapped(build(3)))
"""
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 10", "LIMIT = 10\nMOST = 20"),
        ("LIMIT = 10", "LIMIT = 10\nMOST = [LIMIT, 20]"),
        ("result = 0", "result = 0\n        first = result"),
    ],
)
def test_an_edit_beside_a_table_of_models_and_helpers_for_any_model_is_not_judged(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    (project / "zoo.py").write_text(ZOO)
    assert edited(project, "cold.py", old, new, judged, capsys) == 0


@pytest.mark.parametrize(("comment", "times"), [("not .steps", 1), ("not the steps", 0), ("'steps'", 1)])
def test_an_attribute_that_a_fix_would_have_to_rename_is_looked_for_in_the_changed_file(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], comment: str, times: int
) -> None:
    assert edited(project, "cold.py", "row * 2", f"row * 2  # {comment}", judged, capsys) == times


def test_a_new_file_is_judged(project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    lint(capsys)
    (project / "more.py").write_text("from model import Block\n\nBlock().scale = 2\n")
    judged.clear()
    assert lint(capsys) == lint(capsys, "--no-cache")
    assert len(judged) == 2


OWN = """
from mylib.nets.blocks import Block, Table
from mylib.nets.rows import Row
step = torch.compile(Block())(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("old", "new", "times"),
    [
        ("LIMIT = 10", "from json import loads\nfrom mylibs import Tables", 0),
        ("LIMIT = 10", "import mylib", 1),
        ("LIMIT = 10", "from mylib import Tables", 1),  # which the project lacks: it is a library
    ],
)
def test_an_edit_is_judged_if_it_imports_what_may_be_the_project(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], old: str, new: str, times: int
) -> None:
    (project / "nets").mkdir()
    (project / "nets" / "blocks.py").write_text(MODEL + "\nclass Table: ...\n")
    (project / "nets" / "rows.py").write_text("class Row: ...\n")
    (project / "train.py").write_text("import torch\n" + OWN)
    assert found_in(lint(capsys)) == ["nets/blocks.py"]
    assert edited(project, "cold.py", old, new, judged, capsys) == times


LAUNCH = """
import torch
from hydra.utils import instantiate

def launch(cfg):
    compiled = torch.compile(instantiate(cfg.block))(torch.ones(2))
"""
SETTINGS = """
# How it is built.
block:
  _target_: model.Block
logger:
  _target_: cold.Table
"""


def found_in(report: object) -> list[str]:
    return [finding["path"] for finding in report["findings"]]  # type: ignore[index]


@pytest.mark.parametrize(
    ("old", "new", "times"),
    [
        ("# How", "# This is how", 0),
        ("cold.Table", "cold.Tables", 0),
        ("block:\n", "\nblock:\n", 0),
        ("model.Block", "model.Blocks", 1),
        ("block:", "blocks:", 1),
        ("block:", "block: &b\n  scale: 2", 1),
        ("model.Block", "{model.Block", 1),
    ],
)
def test_an_edit_of_a_configuration_is_judged_if_it_describes_something_else(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], old: str, new: str, times: int
) -> None:
    (project / "train.py").write_text(LAUNCH)
    (project / "conf.yaml").write_text(SETTINGS)
    assert found_in(lint(capsys)) == ["model.py"]
    assert edited(project, "conf.yaml", old, new, judged, capsys) == times


def test_a_configuration_that_comes_or_goes_is_judged(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.py").write_text(LAUNCH)
    assert found_in(lint(capsys)) == []
    (project / "conf.yaml").write_text(SETTINGS)
    assert found_in(lint(capsys)) == ["model.py"]
    (project / "conf.yaml").unlink()
    assert found_in(lint(capsys)) == []
    assert len(judged) == 2  # the first verdict is known


def test_a_configuration_of_code_that_builds_nothing_is_not_even_looked_for(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []
    monkeypatch.setattr(discovery, "_settings", lambda *given: looked.append(given))
    lint(capsys)
    (project / "conf.yaml").write_text(SETTINGS)
    lint(capsys)
    assert (len(judged), looked) == (1, [])


UNRELATED = {
    "empty": "",
    "a function": "def second(first):\n    return [first][0]\n",
    "a function that calls libraries": "import json\n\ndef second(text):\n    return json.loads(text)\n",
    "a comment": "# nothing else\n",
}
ASKED = {
    "a module that is imported": ("helpers.py", "def scaled(x):\n    return x\n"),
    "one that Python has": ("random.py", "def random():\n    return 4\n"),
    "a folder": ("model/more.py", ""),
    "a package": ("__init__.py", ""),
    "a script": ("run.py", "if __name__ == '__main__':\n    print('on')\n"),
    "a use": ("more.py", "from model import Block\n\nBlock().scale = 2\n"),
    "a declaration": ("more.py", "# dynamo-lint: region\ndef step(x):\n    return x\n"),
    "an error": ("more.py", "def step(:\n"),
}
COMING = [
    *(("unrelated.py", text) for text in UNRELATED.values()),
    *((n, t) for n, t in ASKED.values() if "/" not in n),
]
"""Files that random edits bring."""


@pytest.mark.parametrize("seed", range(16))
def test_after_random_edits_of_any_file_the_answer_is_that_of_a_fresh_run(
    project: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(8):
        path = project / chance.choice([*FILES, "cold.py", "train.py"])
        if chance.random() < 0.2:
            name, text = chance.choice([*COMING, *((name, None) for name, _ in COMING)])
            if text is None:
                (project / name).unlink(missing_ok=True)
            else:
                (project / name).write_text(text)
            assert lint(capsys) == lint(capsys, "--no-cache")
            continue
        lines = path.read_text().splitlines()
        at = chance.randrange(len(lines))
        match chance.randrange(9):
            case 0 | 1:
                lines.insert(at, " " * (len(lines[at]) - len(lines[at].lstrip())) + "# a comment")
            case 2:
                del lines[at]
            case 3:
                lines[at] = lines[at].replace("2", "7").replace("1", "4")
            case 4:
                lines.insert(at, lines[at])
            case 5:
                lines[at] += "  # .scale and .steps"
            case 6 | 7:
                indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
                lines.insert(at, indent + chance.choice(STATEMENTS).replace("\n", "\n" + indent))
            case _:
                lines = FILES[path.name].splitlines()
        path.write_text("\n".join(lines or ["pass"]) + "\n")
        assert lint(capsys) == lint(capsys, "--no-cache")


def test_every_number_in_facts_is_known_to_be_a_line_or_not() -> None:
    kinds = [kind for kind in vars(ir).values() if isinstance(kind, type) and is_dataclass(kind)]
    numbers = {
        field.name for kind in kinds for field in fields(kind) if "int" in str(field.type).replace("Int", "")
    }
    assert numbers - reuse._LINES == {"value", "level", "error", "error_column", "needs"}


def test_a_table_notes_what_it_is_asked_for_also_in_vain() -> None:
    asked: dict[str, None] = {}
    table = RecordingTable({"a": 1, "b": 2}, asked)
    assert (table.get("a"), "c" in table, table.get("d", 3)) == (1, False, 3)
    assert asked.keys() == {"a", "c", "d"}
    assert len(list(table.items())) == 2
    assert ALL in asked


def test_a_definition_notes_the_fields_that_are_read_and_no_others() -> None:
    notes = Recorder()
    file = summarize("a.py", "a", False, b"def f(x): return x\ndef g(y): return y\n")
    assert Project({"a.py": file}, notes).function(FunctionRef("a.py", "f")).parameters[0].name == "x"
    assert {question: set(asked) for question, asked in notes.files["a.py"].items()} == {
        ("functions", ""): {"f"},
        ("classes", ""): set(),
        ("function", "f"): {"parameters"},
    }


def test_an_edit_after_one_that_was_undone_is_compared_with_what_was_before(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert edited(project, "model.py", "self.steps += 1", "self.steps += 2", judged, capsys) == 1
    (project / "model.py").write_text(MODEL)
    assert edited(project, "cold.py", "LIMIT = 10", "LIMIT = 11", judged, capsys) == 0


@pytest.mark.parametrize("left", [None, b"[[", b"[1]", b'[["no such table", "", []]]'])
def test_what_was_asked_of_a_file_is_a_miss_if_it_is_lost_or_damaged(
    project: Path,
    judged: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    left: bytes | None,
) -> None:
    load = Store.load

    def without(store: Store, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        found = load(store, keys)
        damaged = {key: left for key, value in found.items() if value.startswith(b'[["')}
        return {key: kept for key, value in found.items() if (kept := damaged.get(key, value)) is not None}

    monkeypatch.setattr(Store, "load", without)
    assert edited(project, "cold.py", "row * 2", "row * 3", judged, capsys) == 1


DRIVEN = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        torch.manual_seed(0)
        return x * 2


def helper(rows):
    return len(rows)


def drive(net, batches):
    step = torch.compile(net)
    for batch in batches:
        step(batch)


drive(Net(), [])
"""


@pytest.mark.parametrize(
    ("old", "new", "times"),
    [
        ("class Net", "# above all that is compiled\nclass Net", 0),
        ("def drive", "\n# above the driver\ndef drive", 0),
        ("return len(rows)", "first = 3\n    return len(rows)", 0),
        ("        step(batch", "        # in the driver\n        step(batch", 1),
        ("return x * 2", "x = x + 1\n        return x * 2", 1),
        ("drive(Net(), [])", "drive(Net(), [1])", 1),
    ],
)
def test_the_places_of_a_verdict_move_along_with_the_lines(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], old: str, new: str, times: int
) -> None:
    (project / "gefahren-ß.py").write_text(DRIVEN)
    assert "gefahren-ß.py" in found_in(lint(capsys))
    assert edited(project, "gefahren-ß.py", old, new, judged, capsys) == times


@pytest.mark.parametrize("text", UNRELATED.values(), ids=UNRELATED)
def test_a_file_that_nobody_asked_for_comes_and_goes_without_being_judged(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (project / "train.py").write_text(f"{TRAIN}\ntorch._dynamo.config.recompile_limit = 4\n")  # who runs it?
    lint(capsys)
    (project / "unrelated.py").write_text(text)
    with_it = lint(capsys)
    (project / "cold.py").write_text(COLD + "# other content\n")
    lint(capsys)
    (project / "unrelated.py").unlink()
    without_it = lint(capsys)
    assert len(judged) == 1
    assert without_it == lint(capsys, "--no-cache")
    (project / "unrelated.py").write_text(text)
    assert with_it == lint(capsys, "--no-cache")


@pytest.mark.parametrize(("name", "text"), ASKED.values(), ids=ASKED)
def test_a_file_that_may_change_what_names_mean_is_judged_when_it_comes_and_when_it_goes(
    project: Path, judged: list[str], capsys: pytest.CaptureFixture[str], name: str, text: str
) -> None:
    (project / "train.py").write_text(f"import random\nfrom helpers import scaled\n{TRAIN}")
    before = lint(capsys)
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text(text)
    assert lint(capsys) == lint(capsys, "--no-cache")
    (project / name).unlink()
    assert lint(capsys) == lint(capsys, "--no-cache") == before
