"""Tables that are filled while files come in say what those say that are filled when asked for."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from dynamo_lint.discovery import discover
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.summarize import summarize
from dynamo_lint.program.tables import READINGS, GrowingTables, tables_of
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.run.reading import Effort, read_content, read_facts
from dynamo_lint.sources import Sources
from tests.programs import facts_of

MODEL = """
class Part(nn.Module):
    def forward(self, x): return x
class Model(nn.Module):
    def __init__(self): self.part = Part()
    def forward(self, x): return self.part(x)
compiled = torch.compile(Model())
"""
PLAIN = "def run(model, x=None): return model(x)\n"
DEEP = "value = " + "[" * 180 + "Part" + "]" * 180 + "\n"


def gathered(files: dict[str, FileFacts]) -> GrowingTables:
    gathering = GrowingTables(READINGS)
    for file in files.values():
        gathering.add(file)
    return gathering


def test_they_are_those_that_are_filled_when_asked_for() -> None:
    files = facts_of({"first.py": PLAIN, "model.py": MODEL, "last.py": PLAIN.replace("run", "walk")})
    asked = {name: table for one in READINGS for name, table in tables_of(files.values(), one).items()}
    assert gathered(files).tables == asked
    assert [ref.path for ref, _ in asked["calls"]["model"]] == ["first.py", "last.py"]


def test_what_is_compiled_is_the_same_with_them() -> None:
    files = facts_of({"first.py": PLAIN, "model.py": MODEL})
    _, alone = resolve(files, RegionOptions())
    _, found = resolve(files, RegionOptions(), gathered=gathered(files).tables)
    assert found == alone
    assert [hot.function.key for hot in found.hot] == ["Model.forward", "Part.forward"]


@pytest.mark.parametrize(
    "text",
    ["import re\nword = re.compile('a')\n", "import torch\n", "from torchlike import compile\ncompile(1)\n"],
    ids=["compile alone", "torch alone", "no torch"],
)
def test_nothing_is_gathered_where_nobody_will_ask(text: str) -> None:
    files = {path: summarize(path, path, False, one.encode()) for path, one in (("a", text), ("b", PLAIN))}
    assert gathered(files).tables == {}


@pytest.mark.parametrize("order", [("model.py", "deep.py"), ("deep.py", "model.py")])
def test_what_nests_too_deeply_is_left_to_who_asks(order: tuple[str, str]) -> None:
    texts = {"model.py": MODEL, "deep.py": DEEP}
    files = facts_of({path: texts[path] for path in order})
    assert gathered(files).tables != {}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        gathering = gathered(files)
        gathering.add(files["model.py"])
    finally:
        sys.setrecursionlimit(limit)
    assert gathering.tables == {}


def test_files_come_in_their_order_whatever_process_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynamo_lint.run import reading

    monkeypatch.setattr(reading, "_WORTH_A_POOL", 1)
    for number in range(40):
        (tmp_path / f"f{number:02}.py").write_text(f"x = {number}\n" * (60_000 if number == 7 else 10))
    (tmp_path / "broken.py").write_text("def (:\n")
    found = discover([tmp_path], [(tmp_path, ())], False)
    sources = Sources(tmp_path)
    content = read_content(None, found, sources)
    seen: list[FileFacts] = []
    files = read_facts(content, sources, Effort(jobs=2), seen.append)
    assert seen == list(files.values())
    assert len(seen) == 41
    alone: list[FileFacts] = []
    read_facts(content, sources, Effort(jobs=1), alone.append)
    assert alone == []
