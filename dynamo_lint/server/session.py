"""A session with a client: what is open, the projects, and what the client was told."""

from __future__ import annotations

import asyncio
import gc
import threading
import traceback
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, default_converter, lsp_method

from dynamo_lint import __version__
from dynamo_lint.dataclass import dataclass
from dynamo_lint.files import CONFIGURATIONS
from dynamo_lint.findings import Finding
from dynamo_lint.run.reading import Progress
from dynamo_lint.server.diagnostics import SOURCE, ByDocument, diagnostics
from dynamo_lint.server.documents import Documents, Overlay, path_of
from dynamo_lint.server.project import Outdated, Project, Verdict
from dynamo_lint.trouble import Trouble, say

T = TypeVar("T")
NOTEBOOKS = types.NotebookDocumentSyncOptions(
    # Without a filter of cells: they are numbered as the user sees them, those of text included.
    [types.NotebookDocumentFilterWithNotebook(notebook="jupyter-notebook")]
)
WATCHED = ("**/*.{py,ipynb}", *(f"**/{name}" for name in CONFIGURATIONS), "**/{*.lock,requirements*.txt}")
PATIENCE = 1.0
"""Seconds of work before the client is asked to show its progress."""
REST = 1.0
"""Seconds until memory is freed behind some work: nothing else runs meanwhile, so answers go first."""
_BEAT = 0.2
"""Seconds between two messages about it."""


class Messages(LanguageServerProtocol):
    """The messages about documents, kept by us: the client's lines are those of Python's tokenizer."""

    _server: Server

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        """A file is open."""
        self._server.documents.open(params.text_document)
        self._server.edited(params.text_document.uri, pause=0)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        """A file was edited."""
        self._server.documents.change(params.text_document, params.content_changes)
        self._server.edited(params.text_document.uri)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        """A file is closed."""
        self._server.documents.close(params.text_document.uri)
        self._server.closed(params.text_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def lsp_notebook_document__did_open(self, params: types.DidOpenNotebookDocumentParams) -> None:
        """A notebook is open."""
        self._server.documents.open_notebook(params)
        self._server.edited(params.notebook_document.uri, pause=0)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def lsp_notebook_document__did_change(self, params: types.DidChangeNotebookDocumentParams) -> None:
        """A notebook was edited."""
        self._server.documents.change_notebook(params)
        self._server.edited(params.notebook_document.uri)

    @lsp_method(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def lsp_notebook_document__did_close(self, params: types.DidCloseNotebookDocumentParams) -> None:
        """A notebook is closed."""
        self._server.documents.close_notebook(params)
        self._server.closed(params.notebook_document.uri)


@dataclass(frozen=True, slots=True)
class View:
    """A file that is open, and the verdict on it."""

    project: Project
    verdict: Verdict
    path: str
    """As the findings spell it."""

    @property
    def is_compiled(self) -> bool:
        """Whether any code of the file is compiled."""
        return self.path in self.verdict.judgement.report.compiled_paths

    @property
    def findings(self) -> list[Finding]:
        """Those in the file."""
        return [one for one in self.verdict.findings if one.span.path == self.path]


class Server(LanguageServer):
    """The state of a session, for the handlers of messages."""

    protocol: Messages

    def __init__(self, cached: bool = True) -> None:
        super().__init__(
            SOURCE,
            __version__,
            notebook_document_sync=NOTEBOOKS,
            protocol_cls=Messages,
            converter_factory=default_converter,
        )
        self.cached = cached
        self.documents = Documents()
        self.is_shut_down = False
        self._projects: dict[Path, Project] = {}
        self._reports: dict[Path, asyncio.Task[None]] = {}
        self._told: dict[Path, ByDocument] = {}
        """By project the diagnostics that the client has been told of, or could have asked for."""
        self._thread = ThreadPoolExecutor(1, "analysis")
        self._last_trouble = ""
        self._rest: asyncio.TimerHandle | None = None
        """When memory is freed next."""

    # --- what the client can do -------------------------------------------------------------------------

    @property
    def encoding(self) -> str:
        """How positions count."""
        return self.documents.encoding

    def can(self, capability: str) -> bool:
        """Whether the client has a capability."""
        return bool(get_capability(self.client_capabilities, capability, False))

    @property
    def pulls(self) -> bool:
        """Whether the client asks for diagnostics: then nobody pushes them, or it would show them twice."""
        return get_capability(self.client_capabilities, "text_document.diagnostic") is not None

    # --- projects ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Judge the folders of the workspace."""
        self.documents.encoding = str(
            getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding)
        )
        uris = [folder.uri for folder in self.workspace.folders.values()]
        for uri in uris or ([self.workspace.root_uri] if self.workspace.root_uri else []):
            self.add_folder(uri)

    def add_folder(self, uri: str) -> None:
        """Judge a folder from now on, instead of its files one by one."""
        folder = path_of(uri)
        if folder is None or folder in self._projects or not folder.is_dir():
            return
        for path in [path for path, project in self._projects.items() if path != project.folder]:
            if path.is_relative_to(folder):
                self._drop(path)
        self._projects[folder] = Project(folder, folder, self)
        self._report(self._projects[folder])

    def remove_folder(self, uri: str) -> None:
        """Judge a folder no longer; its open files are on their own."""
        folder = path_of(uri)
        if folder is not None and folder in self._projects:
            self._drop(folder)
            for path in self.documents.overlay().files:
                if path.is_relative_to(folder):
                    self._report(self.project_of(path))

    def project_of(self, path: Path) -> Project:
        """The project of a file: the innermost folder that holds it, or the file on its own."""
        around = [folder for folder, project in self._projects.items() if project.folder == folder]
        holding = [folder for folder in around if path.is_relative_to(folder)]
        key = max(holding, key=lambda folder: len(folder.parts)) if holding else path
        if key not in self._projects:
            self._projects[key] = Project(key, key.parent, self)
        return self._projects[key]

    def owner(self, uri: str) -> tuple[Project, Path] | None:
        """The project and the file of a document that is open; None for another."""
        path = self.documents.owner(uri)
        if path is None or path not in self.documents.overlay().files:
            return None
        return self.project_of(path), path

    def overlay_of(self, project: Project) -> Overlay:
        """The open files that a project is judged with: its own, and for a file alone those beside it."""
        overlay = self.documents.overlay()
        return overlay.below(path for path in overlay.files if path.is_relative_to(project.folder))

    def projects(self) -> list[Project]:
        """All projects."""
        return list(self._projects.values())

    async def view(self, uri: str) -> View | None:
        """An open document with the verdict on it; None if there is none."""
        if (owner := self.owner(uri)) is None or (verdict := await owner[0].verdict()) is None:
            return None
        return View(owner[0], verdict, verdict.relative(owner[1]))

    # --- edits ------------------------------------------------------------------------------------------

    def edited(self, uri: str, pause: float | None = None) -> None:
        """A document has changed: all that is judged with it is judged again."""
        path = self.documents.owner(uri)
        if path is None or path not in self.documents.overlay().files:
            return
        self.project_of(path)
        self._touch(path, pause)

    def closed(self, uri: str) -> None:
        """A document is closed: the disk counts; a file on its own is forgotten."""
        path = path_of(uri)
        if path is None:
            return
        if (project := self._projects.get(path)) is not None and project.folder != path:
            self._drop(path)
        self._touch(path, 0)

    def touch_all(self) -> None:
        """Files or settings have changed, nobody says of whom."""
        for project in list(self._projects.values()):
            project.touch()
            self._report(project)

    def _touch(self, path: Path, pause: float | None) -> None:
        for project in list(self._projects.values()):
            if path.is_relative_to(project.folder):
                project.touch() if pause is None else project.touch(pause)
                self._report(project)

    def _drop(self, key: Path) -> None:
        self._projects.pop(key, None)
        if (task := self._reports.pop(key, None)) is not None:
            task.cancel()
        for uri in self._told.pop(key, {}):
            self._publish(uri, [])

    # --- what the client is told ------------------------------------------------------------------------

    def _report(self, project: Project) -> None:
        """Tell the client of the next verdict; who waits for the one before waits no longer."""
        if (task := self._reports.get(project.path)) is not None:
            task.cancel()
        self._reports[project.path] = asyncio.create_task(self._told_of(project))

    async def _told_of(self, project: Project) -> None:
        try:
            if (verdict := await project.verdict()) is not None and not self.is_shut_down:
                self._tell(project, verdict)
        except Exception as error:
            self.failed(error)

    def _tell(self, project: Project, verdict: Verdict) -> None:
        before, now = self._told.get(project.path, {}), self.diagnostics(project, verdict)
        self._told[project.path] = now
        if not self.pulls:
            mine = (file for path, file in verdict.places.open_files.items() if self._is_about(project, path))
            opened = [part.uri for file in mine for part in file.parts]
            changed = (uri for uri in {**before, **now} if before.get(uri) != now.get(uri))
            for uri in dict.fromkeys((*opened, *changed)):  # of what is open the version may be another
                self._publish(uri, now.get(uri, []), verdict)
        elif before != now and self.can("workspace.diagnostics.refresh_support"):
            self.workspace_diagnostic_refresh(None)
        if self.can("workspace.code_lens.refresh_support"):
            self.workspace_code_lens_refresh(None)

    def diagnostics(self, project: Project, verdict: Verdict) -> ByDocument:
        """The diagnostics of a project, without those of files that another project is about."""
        root = verdict.judgement.report.root
        mine = [one for one in verdict.findings if self._is_about(project, root / one.span.path)]
        return diagnostics(mine, verdict.places)

    def _is_about(self, project: Project, path: Path) -> bool:
        if project.path != project.folder:
            return path == project.path
        return self.project_of(path) is project if path.is_relative_to(project.folder) else True

    def _publish(self, uri: str, shown: list[types.Diagnostic], verdict: Verdict | None = None) -> None:
        version = None
        for file in verdict.places.open_files.values() if verdict is not None else ():
            version = next((part.version for part in file.parts if part.uri == uri), version)
        if not self.pulls:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version))

    def report_server_error(self, error: Exception, source: object) -> None:
        """Say on stderr that a message could not be handled or sent.

        A message to the client, as pygls has it, would fail as well where that has gone, and so on for ever.
        """
        say(f"{SOURCE}: {error}")

    def failed(self, error: Exception) -> None:
        """Tell the user that the analysis has failed: a mistake of theirs in one line, of ours in full."""
        if self.is_shut_down:
            return
        if isinstance(error, Trouble):
            text = f"{SOURCE}: {error}"
            if text != self._last_trouble:
                self.window_show_message(types.ShowMessageParams(types.MessageType.Error, text))
            self._last_trouble = text
        else:
            text = "".join(traceback.format_exception(error))
            text = f"{SOURCE}: internal error; the last diagnostics stay, please report it\n{text}"
        self.window_log_message(types.LogMessageParams(types.MessageType.Error, text))

    # --- work -------------------------------------------------------------------------------------------

    async def work(self, work: Callable[[Progress], T], is_outdated: Callable[[], bool]) -> T:
        """The result of some work in the thread of the analysis."""
        counts, cancelled = [0, 0], threading.Event()

        def progress(done: int, total: int) -> None:
            counts[:] = done, total
            if cancelled.is_set() or is_outdated():
                raise Outdated

        loop = asyncio.get_running_loop()
        try:
            with self._shown(counts, cancelled):
                return await loop.run_in_executor(self._thread, partial(_guarded, work, progress))
        finally:
            if self._rest is None:
                self._rest = loop.call_later(REST, self._collect)

    def _collect(self) -> None:
        """Free what an analysis has left: the command line runs without a collector (`cli.main`)."""
        self._rest = None
        if not self.is_shut_down:
            self._thread.submit(gc.collect)

    @contextmanager
    def _shown(self, counts: list[int], cancelled: threading.Event) -> Iterator[None]:
        """Within it the client shows how far the work is, if that takes long enough."""
        if not self.can("window.work_done_progress"):
            yield
            return
        task = asyncio.create_task(self._show(counts, cancelled))
        try:
            yield
        finally:
            task.cancel()

    async def _show(self, counts: list[int], cancelled: threading.Event) -> None:
        await asyncio.sleep(PATIENCE)
        token, shown = str(uuid.uuid4()), self.work_done_progress
        await shown.create_async(token)
        try:
            shown.begin(token, types.WorkDoneProgressBegin(SOURCE, cancellable=True))
            while True:
                done, total = counts
                text = f"reading {done} of {total} files" if done < total else "checking"
                shown.report(token, types.WorkDoneProgressReport(message=text))
                await asyncio.sleep(_BEAT)
                if shown.tokens[token].cancelled():
                    cancelled.set()
        finally:
            shown.tokens.pop(token, None)
            if not self.is_shut_down:
                shown.end(token, types.WorkDoneProgressEnd())

    def stop(self) -> None:
        """Take no more work; what is being done is not waited for."""
        self.is_shut_down = True
        self._thread.shutdown(wait=False, cancel_futures=True)


def _guarded(work: Callable[[Progress], T], progress: Progress) -> T:
    """The result of some work; whatever ends it is an `Exception`, for the server goes on."""
    try:
        return work(progress)
    except Exception:
        raise
    except BaseException as error:
        raise RuntimeError(repr(error)) from error
