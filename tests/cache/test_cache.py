"""The cache: same answers with and without it, every fault is a miss, and nothing in it can run."""

from __future__ import annotations

import gc
import json
import os
import random
import time
from pathlib import Path

import pytest

from dynamo_lint import cli
from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.store import Store, folder_of, home, open_store
from dynamo_lint.files import DRAFT
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.summarize import summarize

SOURCES = sorted((Path(__file__).parent.parent.parent / "dynamo_lint").rglob("*.py"))[::4]
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


# --- the files ------------------------------------------------------------------------------------------


def entries_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("??/*") if path.is_file())


def test_entries_outlive_the_run_that_made_them(tmp_path: Path) -> None:
    first, _ = warnings_of(tmp_path / "cache")
    assert first is not None
    first.save({key("a"): b"one", key("b"): b"two"})
    first.close()
    second, said = warnings_of(tmp_path / "cache")
    assert second is not None
    assert second.load([key("a"), key("b"), key("c")]) == {key("a"): b"one", key("b"): b"two"}
    assert said == []


def test_an_entry_made_with_another_key_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = warnings_of(tmp_path / "cache")
    assert store is not None
    store.save({key("a"): b"one"})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "somebody else"))
    store, said = warnings_of(tmp_path / "cache")
    assert store is not None
    assert (store.load([key("a")]), said) == ({}, [])


def test_an_entry_under_another_address_is_a_miss(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path / "cache")
    assert store is not None
    store.save({key("a"): b"one", key("b"): b"two"})
    one, two = (tmp_path / "cache" / key(name)[:1].hex() / key(name).hex() for name in "ab")
    one.write_bytes(two.read_bytes())
    assert store.load([key("a"), key("b")]) == {key("b"): b"two"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize(
    "kind", ["link", "dangling link", "device", "fifo", "folder", "empty", "text", "short"]
)
def test_anything_else_in_the_place_of_an_entry_is_a_miss(tmp_path: Path, kind: str) -> None:
    store, _ = warnings_of(tmp_path / "cache")
    assert store is not None
    store.save({key("a"): b"one"})
    (entry,) = entries_of(tmp_path / "cache")
    whole = entry.read_bytes()
    entry.unlink()
    (tmp_path / "elsewhere").write_bytes(whole)
    match kind:
        case "link":
            entry.symlink_to(tmp_path / "elsewhere")
        case "dangling link":
            entry.symlink_to(tmp_path / "nowhere")
        case "device":
            entry.symlink_to("/dev/zero")
        case "fifo":
            os.mkfifo(entry)
        case "folder":
            entry.mkdir()
        case _:
            entry.write_bytes({"empty": b"", "text": b"text " * 99}.get(kind, whole[:-1]))
    store, said = warnings_of(tmp_path / "cache")
    assert store is not None
    assert (store.load([key("a")]), said) == ({}, [])
    store.save({key("a"): b"one"})
    assert (tmp_path / "elsewhere").read_bytes() == whole
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_of_entries_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache" / key("a")[:1].hex()).symlink_to(tmp_path / "elsewhere")
    store, _ = warnings_of(tmp_path / "cache")
    assert store is not None
    store.save({key("a"): b"one"})
    assert store.load([key("a")]) == {}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_damage_anywhere_never_gives_a_wrong_entry(tmp_path: Path) -> None:
    chance = random.Random(7)
    entries = {key(n): bytes([n]) * 300 for n in range(40)}
    for _ in range(30):
        store, said = warnings_of(tmp_path)
        assert store is not None
        store.save(entries)
        file = chance.choice(entries_of(tmp_path))
        data = bytearray(file.read_bytes())
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data[: chance.randrange(len(data) // 2, len(data) + 1)])
        assert store.load(entries).items() <= entries.items()
        assert said == []


def test_what_nobody_asked_for_in_two_weeks_is_dropped(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path)
    assert store is not None
    store.save({key("old"): b"old", key("asked"): b"asked"})
    long_ago = time.time() - 20 * 86400
    for path in entries_of(tmp_path):
        os.utime(path, (long_ago, long_ago))
    store.load([key("asked")])
    store.close()
    assert store.load([key("old"), key("asked")]) == {key("asked"): b"asked"}


def test_drafts_of_runs_that_were_killed_are_swept_away(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path)
    assert store is not None
    store.save({key("a"): b"one"})
    (entry,) = entries_of(tmp_path)
    draft = entry.with_name(f"{DRAFT}{entry.name}-0")
    draft.write_bytes(b"half")
    os.utime(draft, (0, 0))
    store.close()
    assert entries_of(tmp_path) == [entry]


def test_runs_share_the_folder_while_another_is_writing(tmp_path: Path) -> None:
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
    assert said[0].startswith("no cache is used")


@pytest.mark.skipif(os.name != "posix", reason="needs modes and links")
def test_a_folder_that_others_may_write_to_or_a_link_to_one_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    for name in ("open", "link"):
        store, said = warnings_of(tmp_path / name)
        assert store is None
        assert len(said) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs modes")
def test_folders_entries_and_the_key_are_for_this_user_alone(tmp_path: Path) -> None:
    store, _ = warnings_of(tmp_path / "cache")
    assert store is not None
    store.save({key("a"): b"one"})
    made = [home() / "key", tmp_path / "cache", *(tmp_path / "cache").rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in made} == {0}


def test_no_module_of_the_cache_can_unpickle_or_import_by_name() -> None:
    for path in (Path(cli.__file__).parent / "cache").glob("*.py"):
        for word in ("pickle", "marshal", "importlib", "__import__"):
            assert word not in path.read_text(), path.name


# --- the run --------------------------------------------------------------------------------------------


def test_a_second_run_says_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = lint(capsys)
    assert first == (1, [("DYN101", 9)], "")
    assert entries_of(folder_of(project))
    assert lint(capsys) == first
    assert lint(capsys, "--no-cache") == first


def test_no_cache_leaves_nothing_behind(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint(capsys, "--no-cache")
    assert not folder_of(project).exists()


def test_nothing_is_kept_in_the_project(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.rglob("*"))
    lint(capsys)
    assert sorted(project.rglob("*")) == before


def test_a_cache_that_came_with_the_project_is_not_opened_and_said(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".dynamo_lint_cache").mkdir()
    (project / ".dynamo_lint_cache" / "entries.db").write_bytes(b"SQLite format 3")
    status, found, said = lint(capsys)
    assert (status, found) == (1, [("DYN101", 9)])
    assert said == (
        "dynamo-lint: .dynamo_lint_cache is not read: the cache is kept outside of the project; "
        "delete the folder\n"
    )
    assert [path.name for path in (project / ".dynamo_lint_cache").iterdir()] == ["entries.db"]


def test_cache_dir_is_where_it_goes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint(capsys, "--cache-dir", "elsewhere")
    assert not folder_of(project).exists()
    assert entries_of(project / "elsewhere")
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
    home().mkdir(parents=True, exist_ok=True)
    folder_of(project).write_text("in the way")
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
