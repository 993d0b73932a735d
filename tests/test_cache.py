"""The cache: same answers with and without it, every fault is a miss, and nothing in it can run."""

from __future__ import annotations

import gc
import json
import random
import sqlite3
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import FOLDER, Store, open_store
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.summarize import summarize

SOURCES = sorted((Path(__file__).parent.parent / "dynamo_lint").rglob("*.py"))[::4]
MODEL = """\
import torch

class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        self.steps += 1
        return x * self.steps
"""
TRAIN = "import torch\nfrom model import Block\n\ncompiled = torch.compile(Block())\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "train.py").write_text(TRAIN)
    return tmp_path


def lint(capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, list[tuple[str, int]], str]:
    status = cli.run([".", "--output-format", "json", "--quiet", *options])
    said = capsys.readouterr()
    found = [(one["code"], one["line"]) for one in json.loads(said.out)["findings"]]
    return status, found, said.err


def warnings_of(folder: Path) -> tuple[Store | None, list[str]]:
    said: list[str] = []
    return open_store(folder, said.append), said


# --- the codec ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_facts_come_back_as_they_were(path: Path) -> None:
    codec = Codec(FileFacts)
    facts = summarize(path.name, "module", False, path.read_bytes())
    assert codec.decode(codec.encode(facts)) == facts


def test_equal_values_of_different_types_stay_what_they_are() -> None:
    codec = Codec(FileFacts)
    facts = summarize("a.py", "a", False, b"x = 1\ny = True\nz = 1.0\nw = '\\ud800'\nv = 0x" + b"f" * 9000)
    values = [b.value.value for b in codec.decode(codec.encode(facts)).functions["<module>"].bindings]
    assert [(type(v), v) for v in values[:4]] == [(int, 1), (bool, True), (float, 1.0), (str, "\ud800")]


def test_halves_of_a_character_stay_two_and_zeros_keep_their_sign() -> None:
    codec = Codec(FileFacts)
    facts = summarize("a.py", "a", False, b"x = '\\ud800\\udc00'\ny = 0.0\nz = -0.0\n")
    values = [b.value.value for b in codec.decode(codec.encode(facts)).functions["<module>"].bindings]
    assert [repr(value) for value in values] == ["'\\ud800\\udc00'", "0.0", "-0.0"]


def test_a_tree_does_not_outlive_its_facts() -> None:
    codec = Codec(FileFacts)
    source = SOURCES[0].read_bytes()
    gc.collect()
    gc.disable()  # as in a run
    try:
        codec.encode(summarize("a.py", "a", False, source))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_files_that_say_the_same_share_their_names_and_parameters() -> None:
    codec = Codec(FileFacts)
    source = b"from a import made\n\nclass A:\n    def run(self, one):\n        return made(key=one)\n"
    first, second = (
        codec.decode(codec.encode(summarize(path, "a", False, source))) for path in ("a.py", "b.py")
    )
    (key, mine), (same_key, yours) = first.functions.popitem(), second.functions.popitem()
    assert key is same_key
    assert mine.owner is yours.owner
    assert mine.outer is yours.outer
    assert mine.parameters[1] is yours.parameters[1]
    assert mine.calls[0].call.keywords[0][0] is yours.calls[0].call.keywords[0][0]


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"[[0]]", b"[[99]]", b"[1]", b"\xff", b"[" * 100_000])
def test_data_of_another_kind_is_refused(data: bytes) -> None:
    with pytest.raises(BadData):
        Codec(FileFacts).decode(data)


# --- the file -------------------------------------------------------------------------------------------


def test_entries_outlive_the_run_that_made_them(tmp_path: Path) -> None:
    first, _ = warnings_of(tmp_path / "cache")
    assert first is not None
    first.save({key("a"): b"one", key("b"): b"two"})
    first.close()
    second, said = warnings_of(tmp_path / "cache")
    assert second is not None
    assert second.load([key("a"), key("b"), key("c")]) == {key("a"): b"one", key("b"): b"two"}
    assert said == []


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_file_that_is_no_database_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "entries.db").write_bytes(content)
    store, said = warnings_of(tmp_path)
    assert store is not None
    store.save({key("a"): b"one"})
    assert (store.load([key("a")]), said) == ({key("a"): b"one"}, [])


def test_a_database_with_other_tables_or_triggers_is_replaced(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path)
    assert store is not None
    store.close()
    with sqlite3.connect(tmp_path / "entries.db") as database:
        database.execute("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END")
    store, said = warnings_of(tmp_path)
    assert store is not None
    store.save({key("a"): b"one"})
    assert (store.load([key("a")]), said) == ({key("a"): b"one"}, [])


def test_an_entry_that_was_changed_is_a_miss(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path)
    assert store is not None
    store.save({key("a"): b"one", key("b"): b"two"})
    store.close()
    with sqlite3.connect(tmp_path / "entries.db") as database:
        database.execute("UPDATE entries SET value = ? WHERE key = ?", (b"checksumOne", key("a")))
        database.execute("UPDATE entries SET value = 'text' WHERE key = ?", (key("b"),))
    store, said = warnings_of(tmp_path)
    assert store is not None
    assert (store.load([key("a"), key("b")]), said) == ({}, [])


def test_damage_anywhere_in_the_file_never_gives_a_wrong_entry(tmp_path: Path) -> None:
    chance = random.Random(7)
    entries = {key(n): bytes([n]) * 3000 for n in range(40)}
    for _ in range(30):
        store, said = warnings_of(tmp_path)
        assert store is not None
        store.save(entries)
        store.close()
        file = tmp_path / "entries.db"
        data = bytearray(file.read_bytes())
        for _ in range(chance.randrange(1, 200)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data[: chance.randrange(len(data) // 2, len(data) + 1)])
        store, said = warnings_of(tmp_path)
        if store is not None:
            assert store.load(entries).items() <= entries.items()
            store.save({key("new"): b"new"})
            store.close()
        file.unlink(missing_ok=True)
        assert len(said) <= 1


def test_what_nobody_asked_for_in_two_weeks_is_dropped(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path)
    assert store is not None
    store.save({key("old"): b"old", key("asked"): b"asked"})
    store.close()
    with sqlite3.connect(tmp_path / "entries.db") as database:
        database.execute("UPDATE entries SET used = used - 20")
    store, _ = warnings_of(tmp_path)
    assert store is not None
    store.load([key("asked")])
    store.close()
    store, _ = warnings_of(tmp_path)
    assert store is not None
    assert store.load([key("old"), key("asked")]) == {key("asked"): b"asked"}


def test_runs_share_the_file_while_another_is_writing(tmp_path: Path) -> None:
    one, said_one = warnings_of(tmp_path)
    two, said_two = warnings_of(tmp_path)
    assert one is not None
    assert two is not None
    for n in range(20):
        (one if n % 2 else two).save({key(n): bytes([n])})
    keys = [key(n) for n in range(20)]
    assert one.load(keys) == two.load(keys) == {key(n): bytes([n]) for n in range(20)}
    assert said_one == said_two == []


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store, said = warnings_of(tmp_path / "file" / "cache")
    assert store is None
    assert len(said) == 1
    assert "cannot be used" in said[0]


def test_no_module_of_the_cache_can_unpickle_or_import_by_name() -> None:
    for path in (Path(cli.__file__).parent / "cache").glob("*.py"):
        for word in ("pickle", "marshal", "importlib", "__import__"):
            assert word not in path.read_text(), path.name


# --- the run --------------------------------------------------------------------------------------------


def test_a_second_run_says_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = lint(capsys)
    assert first == (1, [("DYN101", 9)], "")
    assert (project / FOLDER / "entries.db").is_file()
    assert lint(capsys) == first
    assert lint(capsys, "--no-cache") == first


def test_no_cache_leaves_nothing_behind(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint(capsys, "--no-cache")
    assert not (project / FOLDER).exists()


def test_cache_dir_is_where_it_goes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint(capsys, "--cache-dir", "elsewhere")
    assert not (project / FOLDER).exists()
    assert (project / "elsewhere" / "entries.db").is_file()
    assert (project / "elsewhere" / ".gitignore").read_text() == "*\n"


def test_a_cache_folder_that_is_in_use_for_something_else_gets_no_gitignore(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "kept").mkdir()
    lint(capsys, "--cache-dir", "kept")
    assert not (project / "kept" / ".gitignore").exists()


@pytest.mark.parametrize(
    ("option", "findings"),
    [
        (("--torch-version", "2.7"), [("DYN101", 9)]),
        (("--ignore", "DYN101"), []),
        (("--select", "DYN2"), []),
        (("--assume", "modules"), [("DYN101", 9)]),
    ],
)
def test_options_are_heeded_by_a_run_from_the_cache(
    project: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str], findings: list[object]
) -> None:
    lint(capsys)
    assert lint(capsys, *option)[1] == findings
    assert lint(capsys, *option)[1] == findings


def test_an_edit_in_one_file_changes_the_verdict_on_another(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lint(capsys)
    (project / "train.py").write_text("from model import Block\n\nplain = Block()\n")
    assert lint(capsys)[1] == []
    (project / "train.py").write_text(TRAIN)
    assert lint(capsys)[1] == [("DYN101", 9)]


def test_a_suppression_added_later_is_heeded(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint(capsys)
    (project / "model.py").write_text(MODEL.replace("+= 1", "+= 1  # dynamo-lint: ignore[DYN101]"))
    assert lint(capsys) == (0, [], "")


def test_an_unreadable_cache_is_one_warning_and_the_run_goes_on(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / FOLDER).write_text("in the way")
    status, found, said = lint(capsys)
    assert (status, found) == (1, [("DYN101", 9)])
    assert len(said.splitlines()) == 1


def test_jobs_do_not_change_the_answer(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynamo_lint.run import reading

    monkeypatch.setattr(reading, "_WORTH_A_POOL", 1)
    (project / "broken.py").write_text("def (:\n")
    alone = lint(capsys, "--jobs", "1", "--no-cache")
    assert lint(capsys, "--jobs", "3", "--no-cache") == alone
    assert lint(capsys, "--jobs", "3") == alone
    assert lint(capsys, "--jobs", "3") == alone


@pytest.mark.parametrize("seed", range(6))
def test_after_random_edits_the_cache_answers_as_a_fresh_run(
    project: Path, capsys: pytest.CaptureFixture[str], seed: int
) -> None:
    chance = random.Random(seed)
    lines = {path: path.read_text().splitlines() for path in (project / "model.py", project / "train.py")}
    for _ in range(6):
        path = chance.choice(sorted(lines))
        edited = list(lines[path])
        match chance.randrange(4):
            case 0:
                edited.insert(chance.randrange(len(edited) + 1), "# a comment")
            case 1:
                del edited[chance.randrange(len(edited))]
            case 2:
                edited[chance.randrange(len(edited))] += "  # dynamo-lint: ignore[DYN101]"
            case _:
                edited = list(MODEL.splitlines() if path.name == "model.py" else TRAIN.splitlines())
        path.write_text("\n".join(edited) + "\n")
        lines[path] = edited or ["pass"]
        assert lint(capsys) == lint(capsys, "--no-cache")
