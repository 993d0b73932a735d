"""The cache: same answers with and without it, every fault is a miss, and nothing in it can run."""

from __future__ import annotations

import gc
import io
import json
import os
import random
from pathlib import Path

import pytest

from dynamo_lint import cli, files
from dynamo_lint.cache import store as store_module
from dynamo_lint.cache.codec import BadData, Codec
from dynamo_lint.cache.keys import key
from dynamo_lint.cache.place import FORMER, open_store
from dynamo_lint.cache.store import Store
from dynamo_lint.index.ir import FileFacts
from dynamo_lint.index.summarize import summarize

SOURCES = sorted((Path(__file__).parents[2] / "dynamo_lint").rglob("*.py"))[::4]
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
    return open_store(folder.parent / "project", folder, said.append), said


def opened(folder: Path, seal: bytes = b"k" * 32) -> Store:
    return Store(folder, seal, pytest.fail)


def packs(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.pack"))


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


# --- the packs ------------------------------------------------------------------------------------------


def test_entries_outlive_the_run_that_made_them(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.save({key("a"): b"one", key("b"): b"two"})
    assert first.load([key("a")]) == {key("a"): b"one"}
    first.close()
    assert opened(tmp_path).load([key("a"), key("b"), key("c")]) == {key("a"): b"one", key("b"): b"two"}


def test_the_latest_value_of_an_address_counts_unless_it_is_kept_once(tmp_path: Path) -> None:
    for value in (b"one", b"two"):
        store = opened(tmp_path)
        store.save({key("a"): value})
        store.save_new([(key("b"), value)])
        store.close()
    assert opened(tmp_path).load([key("a"), key("b")]) == {key("a"): b"two", key("b"): b"one"}


def test_entries_that_were_sealed_with_another_key_are_a_miss(tmp_path: Path) -> None:
    store = opened(tmp_path, b"x" * 32)
    store.save({key("a"): b"forged"})
    store.close()
    assert opened(tmp_path).load([key("a")]) == {}


def test_an_entry_under_the_address_of_another_is_a_miss(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.save({key("a"): b"one", key("b"): b"two"})
    store.close()
    (pack,) = packs(tmp_path)
    data = pack.read_bytes()
    pack.write_bytes(
        data.replace(key("a"), b"-" * 16).replace(key("b"), key("a")).replace(b"-" * 16, key("b"))
    )
    assert opened(tmp_path).load([key("a"), key("b")]) == {}


def test_an_entry_that_was_lost_is_kept_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.save({key("a"): b"one"})
    store.close()
    (pack,) = packs(tmp_path)
    pack.write_bytes(pack.read_bytes()[:-1] + b"x")
    store = opened(tmp_path)
    assert store.load([key("a")]) == {}
    store.save_new([(key("a"), b"one")])
    store.close()
    assert opened(tmp_path).load([key("a")]) == {key("a"): b"one"}


def test_damage_anywhere_in_a_pack_never_gives_a_wrong_entry(tmp_path: Path) -> None:
    chance = random.Random(7)
    entries = {key(n): bytes([n]) * 3000 for n in range(40)}
    for _ in range(100):
        store = opened(tmp_path)
        store.save(entries)
        store.close()
        (pack,) = packs(tmp_path)
        data = bytearray(pack.read_bytes())
        for _ in range(chance.randrange(1, 200)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        pack.write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
        assert opened(tmp_path).load(entries).items() <= entries.items()
        pack.unlink()


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
@pytest.mark.parametrize("what", ["pipe", "folder", "device", "loop", "link", "empty", "text"])
def test_what_lies_in_the_place_of_a_pack_is_a_miss(tmp_path: Path, what: str) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    place, elsewhere = cache / f"{'f' * 16}-{'0' * 16}.pack", tmp_path / "elsewhere"
    elsewhere.write_text("precious")
    match what:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case "device":
            place.symlink_to("/dev/zero")
        case "loop":
            place.symlink_to(place.name)
        case "link":
            place.symlink_to(elsewhere)
        case _:
            place.write_text("" if what == "empty" else "text" * 1000)
    store = opened(cache)
    store.save({key("a"): b"one"})
    store.close()
    assert opened(cache).load([key("a")]) == {key("a"): b"one"}
    assert elsewhere.read_text() == "precious"


def test_many_small_packs_become_one(tmp_path: Path) -> None:
    for n in range(40):
        store = opened(tmp_path)
        store.save({key(n): bytes([n]), key("latest"): bytes([n])})
        store.close()
    assert len(packs(tmp_path)) < 10
    found = opened(tmp_path).load([key("latest"), *map(key, range(40))])
    assert found == {key("latest"): bytes([39]), **{key(n): bytes([n]) for n in range(40)}}


def test_what_nobody_asked_for_in_two_weeks_is_dropped(tmp_path: Path) -> None:
    for name in ("old", "asked"):
        store = opened(tmp_path)
        store.save({key(name): name.encode()})
        store.close()
    handle, _ = files.create_beside(packs(tmp_path)[0])
    os.close(handle)  # and killed
    (tmp_path / "mine.txt").write_text("of somebody else")
    for file in tmp_path.iterdir():
        os.utime(file, (0, 0))
    store = opened(tmp_path)
    store.load([key("asked")])
    store.close()
    assert opened(tmp_path).load([key("old"), key("asked")]) == {key("asked"): b"asked"}
    assert len(list(tmp_path.iterdir())) == 2
    assert packs(tmp_path)[0].stat().st_mtime > 0


def test_the_oldest_packs_go_where_all_together_are_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_MOST_BYTES", 3000)
    for n in range(5):
        store = opened(tmp_path)
        store.save({key(n): b"x" * 1000})
        store.close()
    assert list(opened(tmp_path).load(map(key, range(5)))) == [key(3), key(4)]


def test_runs_that_share_the_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    one, two = opened(tmp_path), opened(tmp_path)
    for n in range(20):
        (one if n % 2 else two).save({key(n): bytes([n])})
    one.close()
    two.close()
    keys = [key(n) for n in range(20)]
    assert opened(tmp_path).load(keys) == {key(n): bytes([n]) for n in range(20)}


def test_a_pack_that_another_run_has_removed_is_a_miss(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.save({key("a"): b"one"})
    store.close()
    store = opened(tmp_path)
    packs(tmp_path)[0].unlink()
    assert store.load([key("a")]) == {}


# --- the place ------------------------------------------------------------------------------------------


def test_the_key_is_made_once_and_for_the_user_alone(tmp_path: Path, folder_for_caches: Path) -> None:
    file = folder_for_caches / "dynamo-lint" / "key"
    for _ in range(2):
        store, said = warnings_of(tmp_path / "cache")
        assert (store is not None, said) == (True, [])
        made = file.read_bytes()
    assert len(made) == 32
    assert file.read_bytes() == made
    if os.name == "posix":
        assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [path.name for path in (tmp_path / "cache").iterdir()] != ["key"]


def test_a_key_of_another_size_is_made_anew(tmp_path: Path, folder_for_caches: Path) -> None:
    warnings_of(tmp_path / "cache")
    file = folder_for_caches / "dynamo-lint" / "key"
    file.write_bytes(b"")
    assert warnings_of(tmp_path / "cache")[1] == []
    assert len(file.read_bytes()) == 32


@pytest.mark.skipif(os.name != "posix", reason="modes and links as POSIX has them")
@pytest.mark.parametrize(
    "fault", ["open key", "linked key", "open home", "linked home", "project", "other", "nowhere"]
)
def test_what_others_may_have_touched_is_not_used(
    tmp_path: Path, folder_for_caches: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    home = folder_for_caches / "dynamo-lint"
    home.mkdir(mode=0o700)
    match fault:
        case "open key":
            (home / "key").write_bytes(b"k" * 32)
            (home / "key").chmod(0o644)
        case "linked key":
            (tmp_path / "key").write_bytes(b"k" * 32)
            (tmp_path / "key").chmod(0o600)
            (home / "key").symlink_to(tmp_path / "key")
        case "open home":
            home.chmod(0o777)
        case "linked home":
            home.rename(tmp_path / "home")
            home.symlink_to(tmp_path / "home")
        case "project":
            monkeypatch.setenv("XDG_CACHE_HOME", str(project / ".cache"))
        case "other":
            (tmp_path / "other/.git").mkdir(parents=True)
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other/.cache"))
        case _:
            monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    said: list[str] = []
    assert open_store(project, None, said.append) is None
    assert (len(said), said[0][:10]) == (1, "no cache: ")
    assert list(project.iterdir()) == []


def test_the_cache_of_a_project_that_is_gone_is_dropped(tmp_path: Path, folder_for_caches: Path) -> None:
    home = folder_for_caches / "dynamo-lint"
    for name in ("gone", "new", "newest"):
        store = open_store(tmp_path / name, None, pytest.fail)
        assert store is not None
        store.save({key("a"): b"one"})
        store.close()
        if name == "gone":
            (old,) = (path for path in home.iterdir() if path.is_dir())
            os.utime(old, (0, 0))
    assert not old.exists()
    assert len([path for path in home.iterdir() if path.is_dir()]) == 2


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


def test_a_second_run_says_the_same(
    project: Path, capsys: pytest.CaptureFixture[str], folder_for_caches: Path
) -> None:
    first = lint(capsys)
    assert first == (1, [("DYN101", 9)], "")
    assert packs(folder_for_caches)
    assert lint(capsys) == first
    assert lint(capsys, "--no-cache") == first
    assert sorted(path.name for path in project.iterdir()) == ["model.py", "train.py"]


def test_every_run_names_the_same_sites_that_are_no_entries(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from dynamo_lint.run import reading

    text = "import torch\ndef run(fn): torch.compile(fn)\nfast = torch.compile(torch.relu)\n"
    (project / "sites.py").write_text(text)

    def sites(*options: str) -> dict[str, list[dict[str, object]]]:
        cli.run([*(options or (".",)), "--output-format", "json", "--quiet"])
        document = json.loads(capsys.readouterr().out)
        return {kind: document[kind] for kind in ("unresolved", "skipped")}

    first = sites()
    assert [(one["line"], one["expression"]) for one in first["unresolved"]] == [(2, "torch.compile(fn)")]
    assert first["skipped"] == [
        {
            "path": "sites.py",
            "line": 3,
            "cell": None,
            "cell_line": None,
            "expression": "torch.compile(torch.relu)",
            "why": "torch.relu is not part of this project",
        }
    ]
    assert sites() == first
    cli.run(["regions", "--output-format", "json"])
    document = json.loads(capsys.readouterr().out)
    assert {kind: document[kind] for kind in first} == first
    assert sites("sites.py") == first
    assert sites("model.py") == {"unresolved": [], "skipped": []}
    monkeypatch.setattr(reading, "_WORTH_A_POOL", 1)
    assert sites(".", "--no-cache", "--jobs", "2") == first
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert sites("-", "--stdin-filename", "sites.py") == first
    (project / "sites.py").write_text("\n" + text)
    assert [one["line"] for kind in sites().values() for one in kind] == [3, 4]


def test_no_cache_leaves_nothing_behind(
    project: Path, capsys: pytest.CaptureFixture[str], folder_for_caches: Path
) -> None:
    lint(capsys, "--no-cache")
    assert list(folder_for_caches.iterdir()) == []


def test_cache_dir_is_where_it_goes(
    project: Path, capsys: pytest.CaptureFixture[str], folder_for_caches: Path
) -> None:
    lint(capsys, "--cache-dir", "elsewhere")
    assert not packs(folder_for_caches)
    assert packs(project / "elsewhere")
    assert (project / "elsewhere" / ".gitignore").read_text() == "*\n"
    lint(capsys)
    assert len([path for path in folder_for_caches.rglob("*") if path.name == ".gitignore"]) == 0


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
@pytest.mark.parametrize("named", ["planted", "planted/below"])
def test_cache_dir_is_not_behind_a_link_out_of_the_checkout(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path_factory: pytest.TempPathFactory, named: str
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (project / "planted").symlink_to(elsewhere)
    status, found, said = lint(capsys, "--cache-dir", named)
    assert (status, found, len(said.splitlines())) == (1, [("DYN101", 9)], 1)
    assert list(elsewhere.iterdir()) == []


def test_a_cache_that_came_with_the_checkout_is_not_believed(
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    (project / "model.py").write_text(MODEL.replace("self.steps += 1", "pass"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("attacker")))
    lint(capsys, "--cache-dir", "shipped")
    (made,) = packs(project / "shipped")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("user")))
    reads = []
    monkeypatch.setattr(Store, "_read", lambda *given: reads.append(given) or {})
    assert lint(capsys, "--cache-dir", "shipped")[0] == 0
    assert (reads, made.exists()) == ([], True)


def test_a_cache_of_an_earlier_version_is_left_alone_and_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / FORMER).mkdir()
    (project / FORMER / "entries.db").write_bytes(b"any")
    assert lint(capsys) == (1, [("DYN101", 9)], "")
    assert cli.run(["."]) == 1
    assert f"{FORMER} is no longer used: delete it\n" in capsys.readouterr().err
    assert (project / FORMER / "entries.db").read_bytes() == b"any"


def test_no_damage_to_the_cache_changes_the_verdict(
    project: Path, capsys: pytest.CaptureFixture[str], folder_for_caches: Path
) -> None:
    chance = random.Random(3)
    want = lint(capsys)
    (pack,) = packs(folder_for_caches)
    whole = pack.read_bytes()
    for trial in range(int(os.environ.get("CORRUPTIONS", "60"))):
        data = bytearray(whole)
        at = chance.randrange(len(data))
        match trial % 5:
            case 0:
                for _ in range(chance.choice([1, 10, 1000])):
                    data[chance.randrange(len(data))] = chance.randrange(256)
            case 1:
                del data[at:]
            case 2:
                data[at : at + 4096] = chance.randbytes(min(4096, len(data) - at))
            case 3:
                data[chance.randrange(100)] ^= 1 << chance.randrange(8)
            case _:
                data[400:] = chance.randbytes(len(data) - 400)
        for other in packs(folder_for_caches):
            other.unlink()
        pack.write_bytes(data)
        assert lint(capsys) == want, trial


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
    project: Path, capsys: pytest.CaptureFixture[str], folder_for_caches: Path
) -> None:
    (folder_for_caches / "dynamo-lint").write_text("in the way")
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
