"""A client of the language server over stdio, and projects to edit with it."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

MOE = """\
import torch
from torch import nn


class MoE(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0

    def forward(self, x):
        self.total += 1
        return x * self.total
"""
TRAIN = """\
import torch
from moe import MoE

model = MoE()
model.compile()
for _ in range(30):
    model(torch.ones(2))
"""
PATIENCE = 15.0
ENCODINGS = [types.PositionEncodingKind.Utf16]


class Client(LanguageClient):
    """What a test sees of a session."""

    def __init__(self) -> None:
        super().__init__("tests", "1")
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.versions: dict[str, int | None] = {}
        self.logged: list[str] = []
        self.messages: list[str] = []
        self.refreshed = 0
        self.progress: list[Any] = []
        self.registered: list[types.Registration] = []
        self.arrived = asyncio.Event()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._publish(params))
        self.feature(types.WINDOW_LOG_MESSAGE)(lambda params: self._note(self.logged, params.message))
        self.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self._note(self.messages, params.message))
        self.feature(types.PROGRESS)(lambda params: self._note(self.progress, params.value))
        self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda params: None)
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(
            lambda params: self.registered.extend(params.registrations)
        )
        self.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)(lambda *_: self._refresh())
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda *_: None)

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self.shown[params.uri] = list(params.diagnostics)
        self.versions[params.uri] = params.version
        self.arrived.set()

    def _note(self, kept: list[Any], what: Any) -> None:
        kept.append(what)
        self.arrived.set()

    def _refresh(self) -> None:
        self.refreshed += 1
        self.arrived.set()

    async def until(self, true: Callable[[], Any]) -> None:
        """Wait for messages until something is true of them."""
        ends = time.monotonic() + PATIENCE
        while not true():
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), ends - time.monotonic())

    def codes(self, path: Path) -> list[tuple[str, int]]:
        """The codes that are shown in a file, with their lines from 0."""
        return [(str(one.code), one.range.start.line) for one in self.shown.get(path.as_uri(), [])]

    def open(self, path: Path, text: str | None = None, version: int = 1) -> None:
        item = types.TextDocumentItem(
            path.as_uri(), "python", version, path.read_text() if text is None else text
        )
        self.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def edit(self, path: Path, version: int, *changes: types.TextDocumentContentChangeEvent | str) -> None:
        document = types.VersionedTextDocumentIdentifier(version, path.as_uri())
        made = [
            types.TextDocumentContentChangeWholeDocument(one) if isinstance(one, str) else one
            for one in changes
        ]
        self.text_document_did_change(types.DidChangeTextDocumentParams(document, made))

    async def actions(self, path: Path, line: int, only: list[str] | None = None) -> list[types.CodeAction]:
        """The code actions on a line."""
        return await self.actions_at(path.as_uri(), line, only)

    async def actions_at(self, uri: str, line: int, only: list[str] | None = None) -> list[types.CodeAction]:
        where = types.Range(types.Position(line, 0), types.Position(line, 200))
        context = types.CodeActionContext([], only)
        document = types.TextDocumentIdentifier(uri)
        return (
            await self.text_document_code_action_async(types.CodeActionParams(document, where, context)) or []
        )

    async def regions(self) -> Any:
        """What is compiled in each project, as JSON."""
        return self.protocol._converter.unstructure(
            await self.protocol.send_request_async("dynamoLint/regions")
        )

    async def pull(self, path: Path, previous: str | None = None) -> Any:
        document = types.TextDocumentIdentifier(path.as_uri())
        params = types.DocumentDiagnosticParams(document, previous_result_id=previous)
        return await self.text_document_diagnostic_async(params)


def capabilities(pulls: bool = False, encoding: str = "utf-16") -> types.ClientCapabilities:
    return types.ClientCapabilities(
        general=types.GeneralClientCapabilities(position_encodings=[encoding]),
        notebook_document=types.NotebookDocumentClientCapabilities(
            types.NotebookDocumentSyncClientCapabilities()
        ),
        text_document=types.TextDocumentClientCapabilities(
            diagnostic=types.DiagnosticClientCapabilities() if pulls else None
        ),
        window=types.WindowClientCapabilities(work_done_progress=True),
        workspace=types.WorkspaceClientCapabilities(
            workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
            diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
            did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True),
        ),
    )


@asynccontextmanager
async def session(
    *folders: Path, start: str | None = None, env: dict[str, str] | None = None, **can: Any
) -> AsyncIterator[Client]:
    """A session with the server, which is shut down in order; `start` is a program that stands in for it."""
    client = Client()
    program = ["-c", start] if start else ["-m", "dynamo_lint", "server"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **(env or {})}
    await client.start_io(sys.executable, *program, env=environment)
    try:
        opened = [types.WorkspaceFolder(folder.as_uri(), folder.name) for folder in folders]
        params = types.InitializeParams(capabilities(**can), workspace_folders=opened)
        await asyncio.wait_for(client.initialize_async(params), PATIENCE)
        client.initialized(types.InitializedParams())
        yield client
        await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        client.exit(None)
        await asyncio.wait_for(client.stop(), PATIENCE)
        assert client._server is not None
        assert client._server.returncode == 0
    finally:
        if client._server is not None and client._server.returncode is None:
            client._server.kill()


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def write(folder: Path, **files: str) -> Path:
    """A folder with modules of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """A text of ASCII lines after some edits."""
    lines = text.splitlines(keepends=True)

    def at(place: types.Position) -> int:
        return sum(map(len, lines[: place.line])) + place.character

    for edit in sorted(edits, key=lambda one: at(one.range.start), reverse=True):
        text = text[: at(edit.range.start)] + edit.new_text + text[at(edit.range.end) :]
    return text
