"""The language server as an editor sees it: a process, asked over stdio."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from dynamo_lint.cli import run as lint
from dynamo_lint.fixes.bytes import parses
from tests.notebooks import COUNTER, notebook
from tests.server.client import MOE, TRAIN, Client, applied, session, write

FRAGILE = """
import time
from dynamo_lint.server import analysis
judge = analysis.judge
def fragile(question, progress=None):
    print("this must not reach the client")
    if any(b"CRASH" in text for text in question.texts.values()):
        raise ValueError("a bug")
    if any(b"SLOW" in text for text in question.texts.values()):
        for _ in range(500):
            time.sleep(0.01)
            progress(1, 2)
    return judge(question, progress)
analysis.judge = fragile
from dynamo_lint.server import session
session.PATIENCE = 0.2
import sys
sys.argv = ["dynamo-lint", "server"]
from dynamo_lint.cli import main
main()
"""
"""The server with an analysis that fails, or takes long, where a text says so."""


class Live:
    """One session for all tests of a kind: each works in a folder of its own."""

    def __init__(self, **options: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self._session = session(**options)
        self.client: Client = self.loop.run_until_complete(self._session.__aenter__())

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self.loop.run_until_complete(asyncio.wait_for(work, 60))

    def add(self, folder: Path) -> Path:
        event = types.WorkspaceFoldersChangeEvent([types.WorkspaceFolder(folder.as_uri(), folder.name)], [])
        params = types.DidChangeWorkspaceFoldersParams(event)
        self.client.workspace_did_change_workspace_folders(params)
        return folder

    def remove(self, folder: Path) -> None:
        event = types.WorkspaceFoldersChangeEvent([], [types.WorkspaceFolder(folder.as_uri(), folder.name)])
        params = types.DidChangeWorkspaceFoldersParams(event)
        self.client.workspace_did_change_workspace_folders(params)

    def close(self) -> None:
        self.loop.run_until_complete(self._session.__aexit__(None, None, None))
        self.loop.close()


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    cache = str(tmp_path_factory.mktemp("cache"))
    live = Live(start=FRAGILE, env={"XDG_CACHE_HOME": cache})
    yield live
    live.close()


@pytest.fixture(scope="module")
def pulled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    cache = str(tmp_path_factory.mktemp("cache"))
    live = Live(pulls=True, encoding="utf-8", env={"XDG_CACHE_HOME": cache})
    yield live
    live.close()


@pytest.fixture
def project(pushed: Live, tmp_path: Path) -> Iterator[Path]:
    yield pushed.add(write(tmp_path / "p", moe=MOE, train=TRAIN))
    pushed.remove(tmp_path / "p")


def test_a_finding_is_shown_with_its_rule_and_the_way_to_it(pushed: Live, project: Path) -> None:
    async def test() -> None:
        client, moe = pushed.client, project / "moe.py"
        await client.until(lambda: client.codes(moe))
        (shown,) = client.shown[moe.as_uri()]
        assert (shown.code, shown.source, shown.severity) == (
            "DYN101",
            "dynamo-lint",
            types.DiagnosticSeverity.Error,
        )
        assert shown.range == types.Range(types.Position(10, 8), types.Position(10, 23))
        assert shown.code_description.href.endswith("rules/DYN101-mutated-scalar-attribute.md")
        ways = [
            (one.location.uri, one.location.range.start.line, one.message)
            for one in shown.related_information
        ]
        assert ((project / "train.py").as_uri(), 4, "compiled here") in ways

    pushed.run(test())


def test_an_edit_that_is_not_saved_changes_the_findings_of_another_file(pushed: Live, project: Path) -> None:
    async def test() -> None:
        client, moe, train = pushed.client, project / "moe.py", project / "train.py"
        await client.until(lambda: client.codes(moe))
        client.open(train)
        text = train.read_text()
        for version in range(2, 6):
            client.edit(train, version, text.replace("model.compile()\n", f"pass  # {version}\n"))
        await client.until(lambda: not client.codes(moe) and client.versions.get(train.as_uri()) == 5)
        client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(train.as_uri()))
        )
        await client.until(lambda: client.codes(moe))

    pushed.run(test())


def test_columns_count_as_the_client_does(pushed: Live, project: Path) -> None:
    async def test() -> None:
        client, moe = pushed.client, project / "moe.py"
        text = MOE.replace("    ", "\t").replace("self.total += 1", "'😋'; self.total += 1")
        client.open(moe, text)
        await client.until(lambda: client.codes(moe) and client.versions.get(moe.as_uri()) == 1)
        (shown,) = client.shown[moe.as_uri()]
        assert shown.range == types.Range(types.Position(10, 8), types.Position(10, 23))
        # A change behind a letter of two units.
        here = types.Position(10, 8)
        client.edit(moe, 2, types.TextDocumentContentChangePartial(types.Range(here, here), "'😋'; "))
        await client.until(lambda: client.versions.get(moe.as_uri()) == 2)
        assert client.shown[moe.as_uri()][0].range.start == types.Position(10, 14)

    pushed.run(test())


def test_a_hover_explains_the_finding_and_a_lens_names_the_compile_entry(pushed: Live, project: Path) -> None:
    async def test() -> None:
        client, moe = pushed.client, project / "moe.py"
        client.open(moe)
        document = types.TextDocumentIdentifier(moe.as_uri())
        hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(10, 9)))
        assert "# DYN101" in hover.contents.value or "mutated-scalar-attribute" in hover.contents.value
        assert f"[train.py:5](<{(project / 'train.py').as_uri()}#L5>) compiled here" in hover.contents.value
        assert "Cost: one recompile per call" in hover.contents.value
        assert (
            await client.text_document_hover_async(types.HoverParams(document, types.Position(0, 0))) is None
        )
        (lens,) = await client.text_document_code_lens_async(types.CodeLensParams(document))
        assert (lens.command.title, lens.range.start.line) == (
            "compiled from train.py:5, 1 guard on state",
            9,
        )

    pushed.run(test())


def test_actions_fix_and_silence_a_finding_and_nothing_is_written(pushed: Live, tmp_path: Path) -> None:
    # The total is only looked at, by eager code.
    counter = MOE.replace("x * self.total", "x") + "\n    def seen(self):\n        return self.total\n"
    folder = write(tmp_path / "p", moe=counter, train=TRAIN)
    moe, line = folder / "moe.py", 10

    async def test() -> None:
        client = pushed.client
        client.open(pushed.add(folder) / "moe.py", version=7)
        fix, silence = await client.actions(moe, line, ["quickfix"])
        assert (fix.is_preferred, "unsafe" in fix.title) == (True, False)
        (change,) = fix.edit.document_changes
        assert (change.text_document.uri, change.text_document.version) == (moe.as_uri(), 7)
        assert 'self.register_buffer("total"' in applied(moe.read_text(), change.edits)
        (change,) = silence.edit.document_changes
        text = applied(moe.read_text(), change.edits)
        assert "ignore[DYN101] TODO" in text.splitlines()[line]
        client.edit(moe, 8, text)
        assert not [one for one in await client.actions(moe, line) if "Fix" in one.title]
        client.edit(moe, 9, moe.read_text())
        (everything,) = await client.actions(moe, 0, ["source.fixAll"])
        assert everything.kind == "source.fixAll.dynamo-lint"
        (change,) = everything.edit.document_changes
        assert change.text_document.version == 9
        assert 'self.register_buffer("total"' in applied(moe.read_text(), change.edits)
        assert moe.read_text() == counter

    pushed.run(test())
    pushed.remove(folder)


def test_a_fix_that_can_change_behaviour_says_so(pushed: Live, project: Path) -> None:
    moe = project / "moe.py"
    moe.write_text(moe.read_text() + "\nprint('all of it in bfloat16')\n")

    async def test() -> None:
        pushed.client.open(project / "moe.py")
        fix, _ = await pushed.client.actions(project / "moe.py", 10)
        assert fix.title.endswith("(unsafe: it can change what the code does)")
        assert not fix.is_preferred

    pushed.run(test())


def test_an_edit_that_a_person_judges_is_offered_as_a_suggestion(pushed: Live, tmp_path: Path) -> None:
    text = (
        "import torch\n\n\n"
        "class Part(torch.nn.Module):\n"
        "    def __init__(self, kind):\n        super().__init__()\n        self.kind = kind\n\n"
        "    def forward(self, x):\n        return x if self.kind == 3 else x * 2\n\n\n"
        "for part in [Part(kind) for kind in range(12)]:\n    part.compile()\n    part(torch.ones(2))\n"
    )
    folder = write(tmp_path / "p", part=text)

    async def test() -> None:
        pushed.client.open(pushed.add(folder) / "part.py")
        offer, _ = await pushed.client.actions(folder / "part.py", 9)
        assert offer.title.startswith("Suggestion for DYN107")
        assert offer.title.endswith("(yours to judge or complete)")
        assert not offer.is_preferred
        (change,) = offer.edit.document_changes
        assert "part.compile(isolate_recompiles=True)" in applied(text, change.edits)

    pushed.run(test())
    pushed.remove(folder)


def test_the_cells_of_a_notebook_are_judged_as_one_module(pushed: Live, tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(notebook("x = 1"))

    async def test() -> None:
        client = pushed.client
        cells, items = [], []
        for number, cell in enumerate(COUNTER):
            kind, text = ("code", cell) if isinstance(cell, str) else cell
            uri = f"vscode-notebook-cell:{path}#{number}"
            is_code = kind == "code"
            cells.append(types.NotebookCell(types.NotebookCellKind(2 if is_code else 1), uri))
            items.append(types.TextDocumentItem(uri, "python" if is_code else "markdown", 1, text))
        document = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
        client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, items))
        await client.until(lambda: client.shown.get(cells[2].document))
        (shown,) = client.shown[cells[2].document]
        assert (shown.code, shown.range.start) == ("DYN101", types.Position(7, 4 * 2))
        assert shown.related_information[0].location.uri == cells[4].document
        (lens,) = await client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(cells[2].document))
        )
        assert lens.range.start.line == 6
        offered = await client.actions_at(cells[2].document, 7)
        uris = {change.text_document.uri for one in offered for change in one.edit.document_changes}
        assert (len(offered) > 1, uris) == (True, {cells[2].document})
        closed = [types.TextDocumentIdentifier(one.uri) for one in items]
        client.notebook_document_did_close(
            types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(path.as_uri()), closed)
        )
        await client.until(lambda: not client.shown[cells[2].document])

    pushed.run(test())


def test_what_is_compiled_is_told_as_the_command_line_prints_it(
    pushed: Live, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    lint(["regions", "--output-format", "json", "--no-cache"])
    printed = json.loads(capsys.readouterr().out)

    async def test() -> None:
        client, train = pushed.client, project / "train.py"
        assert {"root": project.as_uri(), "regions": printed} in await client.regions()
        (function,) = printed["functions"]
        assert (function["path"], function["line"], function["cell"]) == ("moe.py", 10, None)
        client.open(train, TRAIN.replace("model.compile()", "pass"))
        (answer,) = [one for one in await client.regions() if one["root"] == project.as_uri()]
        assert answer["regions"]["functions"] == []

    pushed.run(test())


def test_a_file_outside_of_the_workspace_is_judged_while_it_is_open(pushed: Live, tmp_path: Path) -> None:
    moe = write(tmp_path, moe=MOE, train=TRAIN) / "moe.py"
    single = tmp_path / "single.py"
    single.write_text(MOE + TRAIN.partition("MoE\n")[2])

    async def test() -> None:
        client = pushed.client
        client.open(single)
        await client.until(lambda: client.codes(single))
        assert not client.codes(moe)
        client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(single.as_uri()))
        )
        await client.until(lambda: not client.codes(single))

    pushed.run(test())


def test_a_configuration_is_read_again_and_a_mistake_in_it_is_told(pushed: Live, project: Path) -> None:
    async def test() -> None:
        client, moe, file = pushed.client, project / "moe.py", project / "dynamo-lint.toml"
        globs = [one["globPattern"] for one in client.registered[0].register_options["watchers"]]
        assert {"**/*.{py,ipynb}", "**/pyproject.toml", "**/dynamo-lint.toml"} <= set(globs)
        await client.until(lambda: client.codes(moe))
        event = types.FileEvent(file.as_uri(), types.FileChangeType.Changed)
        file.write_text("ignore = 7\n")
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await client.until(lambda: any("ignore" in one for one in client.messages))
        assert client.codes(moe)
        file.write_text('ignore = ["DYN1"]\n')
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
        await client.until(lambda: not client.codes(moe))

    pushed.run(test())


def test_a_crash_of_the_analysis_leaves_the_last_findings_and_the_next_edit_works(
    pushed: Live, project: Path
) -> None:
    async def test() -> None:
        client, moe = pushed.client, project / "moe.py"
        client.open(moe)
        await client.until(lambda: client.codes(moe) and client.versions.get(moe.as_uri()) == 1)
        client.edit(moe, 2, MOE + "# CRASH\n")
        await client.until(lambda: any("ValueError: a bug" in one for one in client.logged))
        assert client.codes(moe)
        client.edit(moe, 3, MOE.replace("self.total += 1", "pass"))
        await client.until(lambda: client.versions.get(moe.as_uri()) == 3)
        assert client.codes(moe) == []

    pushed.run(test())


def test_long_work_is_shown_and_a_newer_edit_or_the_client_ends_it(pushed: Live, project: Path) -> None:
    async def test() -> None:
        client, moe = pushed.client, project / "moe.py"
        document = types.TextDocumentIdentifier(moe.as_uri())
        client.open(moe, MOE + "# SLOW\n")
        begun = asyncio.ensure_future(
            client.protocol.send_request_async(
                "textDocument/codeLens", types.CodeLensParams(document), msg_id="lens"
            )
        )
        await client.until(lambda: any(one["kind"] == "report" for one in client.progress))
        # The server reads on while it works.
        client.protocol.notify("$/cancelRequest", types.CancelParams("lens"))
        with pytest.raises(Exception, match="cancel"):
            await asyncio.wait_for(begun, 2)
        client.edit(moe, 2, MOE)
        lenses = client.text_document_code_lens_async(types.CodeLensParams(document))
        assert len(await asyncio.wait_for(lenses, 4)) == 1
        await client.until(lambda: client.progress[-1]["kind"] == "end")

    pushed.run(test())


def test_a_file_that_is_not_on_the_disk_yet_is_judged(pushed: Live, tmp_path: Path) -> None:
    folder = write(tmp_path / "a b ü", moe=MOE)

    async def test() -> None:
        client = pushed.client
        pushed.add(folder)
        client.open(folder / "train.py", TRAIN.replace("\n", "\r\n"))
        await client.until(lambda: client.codes(folder / "moe.py"))

    pushed.run(test())
    pushed.remove(folder)


def test_the_server_ends_at_once_though_it_works(tmp_path: Path) -> None:
    moe = write(tmp_path / "p", moe=MOE) / "moe.py"

    async def test() -> float:
        async with session(moe.parent, start=FRAGILE) as client:
            client.open(moe, MOE + "# SLOW\n")
            await client.until(lambda: any(one["kind"] == "report" for one in client.progress))
            start = time.monotonic()
        return time.monotonic() - start

    assert asyncio.run(test()) < 3


def test_the_server_ends_where_the_client_has_gone() -> None:
    command = [sys.executable, "-m", "dynamo_lint", "server"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_client_that_asks_for_diagnostics_gets_them_once(pulled: Live, tmp_path: Path) -> None:
    folder = write(tmp_path / "p", moe=MOE, train=TRAIN)
    moe, train = folder / "moe.py", folder / "train.py"

    async def test() -> None:
        client = pulled.client
        pulled.add(folder)
        client.open(moe, MOE.replace("self.total += 1", "'é'; self.total += 1"))
        report = await client.pull(moe)
        assert [(one.code, one.range.start.character) for one in report.items] == [("DYN101", 14)]
        assert (await client.pull(moe, report.result_id)).kind == "unchanged"
        whole = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([]))
        assert {one.uri for one in whole.items} == {moe.as_uri()}
        refreshed = client.refreshed
        client.open(train)
        client.edit(train, 2, train.read_text().replace("model.compile()\n", ""))
        await client.until(lambda: client.refreshed > refreshed)
        known = types.PreviousResultId(moe.as_uri(), report.result_id)
        whole = await client.workspace_diagnostic_async(types.WorkspaceDiagnosticParams([known]))
        assert [(one.uri, one.items) for one in whole.items] == [(moe.as_uri(), ())] or whole.items[
            0
        ].items == []
        assert (await client.pull(moe)).items == [] or not (await client.pull(moe)).items
        assert client.shown == {}

    pulled.run(test())
    pulled.remove(folder)


def test_after_random_edits_the_diagnostics_are_those_of_a_fresh_check(
    pulled: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "p", moe=MOE, train=TRAIN)
    monkeypatch.chdir(folder)

    async def test() -> None:
        client = pulled.client
        pulled.add(folder)
        assert await random_edits(client, folder, 40, random.Random(7)) == checked(folder, capsys)

    pulled.run(test())
    pulled.remove(folder)


JUNK = ["self.total += 1", "(", "\n", "    ", "'😋'", "# x"]
SWAPS = [
    ("self.total += 1", "self.total = self.total + 1"), ("self.total += 1", "self.seen = x"),
    ("self.total = 0", "self.total = 0.5"), ("x * self.total", "x"), ("model.compile()", "model.eval()"),
    ("import torch\n", "import torch  # '😋'\n"), ("    def forward", "\n    def forward"),
]  # fmt: skip


def randomly_edited(text: str, rng: random.Random) -> tuple[int, int, str]:
    """A stretch of a text and what replaces it: mostly code that parses."""
    swaps = [pair for one in SWAPS for pair in (one, one[::-1]) if pair[0] in text]
    if rng.random() < 0.8 and swaps:
        old, new = rng.choice(swaps)
        start = text.index(old)
        return start, start + len(old), new
    start = rng.randrange(len(text) + 1)
    return start, min(start + rng.choice((0, 0, 3)), len(text)), rng.choice(JUNK)


async def random_edits(client: Client, folder: Path, count: int, rng: random.Random) -> dict[str, list[Any]]:
    """The diagnostics after so many edits of open files, which are saved then."""
    texts = {path: path.read_text() for path in sorted(folder.glob("*.py"))}
    for path in texts:
        client.open(path)
    for version in range(2, count + 2):
        path = rng.choice(list(texts))
        text = texts[path]
        start, end, new = randomly_edited(text, rng)
        if not parses(text.encode()) and rng.random() < 0.7:  # back to what it was
            start, end, new = 0, len(text), path.read_text()
        where = types.Range(position(text, start), position(text, end))
        client.edit(path, version, types.TextDocumentContentChangePartial(where, new))
        texts[path] = text[:start] + new + text[end:]
        if rng.random() < 0.1:
            await client.pull(path)
    shown = {path.name: (await client.pull(path)).items for path in texts}
    for path, text in texts.items():
        path.write_text(text)
    return {
        name: [(one.code, one.range.start.line + 1, one.data) for one in items]
        for name, items in shown.items()
    }


def position(text: str, offset: int) -> types.Position:
    """Where an offset of a text is, for a client that counts bytes."""
    before = text[:offset]
    return types.Position(before.count("\n"), len(before.rpartition("\n")[2].encode()))


def checked(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[Any]]:
    """What `check` says of a folder."""
    capsys.readouterr()
    lint([".", "--output-format", "json", "--no-cache", "-q"])
    found = json.loads(capsys.readouterr().out)["findings"]
    paths = sorted(path.name for path in folder.glob("*.py"))
    return {
        name: [(one["code"], one["line"], one["fingerprint"]) for one in found if one["path"] == name]
        for name in paths
    }


@pytest.mark.parametrize(("command", "package", "extra"), [("server", "pygls", "lsp"), ("mcp", "mcp", "mcp")])
def test_without_its_package_a_command_says_what_to_install(command: str, package: str, extra: str) -> None:
    start = f"import sys; sys.modules[{package!r}] = None; from dynamo_lint.cli import run; sys.exit(run([{command!r}]))"
    done = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'dynamo-lint[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1
