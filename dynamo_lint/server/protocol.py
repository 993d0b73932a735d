"""The messages of the protocol: which asks what of a session."""

from __future__ import annotations

import hashlib
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from dynamo_lint.files import CONFIGURATIONS
from dynamo_lint.server import actions, lenses
from dynamo_lint.server.diagnostics import SOURCE, ByDocument, diagnostic
from dynamo_lint.server.documents import path_of
from dynamo_lint.server.hover import covers, hover
from dynamo_lint.server.session import WATCHED, Server, View

REGIONS = "dynamoLint/regions"
"""A request of our own: what is compiled, for a client that shows it."""


def build(cached: bool = True) -> Server:
    """The server with all its features."""
    server = Server(cached)
    _of_workspace(server)
    _of_diagnostics(server)
    _of_places(server)
    _of_regions(server)
    return server


def _of_workspace(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        if server.can("workspace.did_change_watched_files.dynamic_registration"):
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            server.client_register_capability(
                types.RegistrationParams([types.Registration("watched", method, options)])
            )
        server.start()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.touch_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        server.touch_all()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None and path.name in CONFIGURATIONS:
            server.touch_all()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            server.remove_folder(folder.uri)
        for folder in params.event.added:
            server.add_folder(folder.uri)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: Any = None) -> None:
        server.stop()


def _of_diagnostics(server: Server) -> None:
    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=True, identifier=SOURCE),
    )
    async def document_diagnostic(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        uri, shown = params.text_document.uri, list[types.Diagnostic]()
        if (owner := server.owner(uri)) is not None and (verdict := await owner[0].verdict()) is not None:
            shown = server.diagnostics(owner[0], verdict).get(uri, [])
        result = _digest(shown)
        if result == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result)
        return types.RelatedFullDocumentDiagnosticReport(shown, result_id=result)

    @server.feature(types.WORKSPACE_DIAGNOSTIC)
    async def workspace_diagnostic(
        params: types.WorkspaceDiagnosticParams,
    ) -> types.WorkspaceDiagnosticReport:
        known = {one.uri: one.value for one in params.previous_result_ids}
        shown: ByDocument = {uri: [] for uri in known}
        for project in server.projects():
            if (verdict := await project.verdict()) is not None:
                shown |= server.diagnostics(project, verdict)
        return types.WorkspaceDiagnosticReport(
            [_report(uri, one, known.get(uri)) for uri, one in shown.items()]
        )


def _report(
    uri: str, shown: list[types.Diagnostic], known: str | None
) -> types.WorkspaceFullDocumentDiagnosticReport | types.WorkspaceUnchangedDocumentDiagnosticReport:
    result = _digest(shown)
    if result == known:
        return types.WorkspaceUnchangedDocumentDiagnosticReport(uri, result)
    return types.WorkspaceFullDocumentDiagnosticReport(uri, shown, result_id=result)


def _digest(shown: list[types.Diagnostic]) -> str:
    return hashlib.blake2b(repr(shown).encode(errors="surrogatepass"), digest_size=16).hexdigest()


def _of_places(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def text_hover(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        if (view := await server.view(uri)) is None:
            return None
        place = view.verdict.places.position(view.path, uri, params.position)
        here = [one for one in view.findings if place is not None and covers(one, *place)]
        return hover(here, view.verdict.places, view.verdict.judgement.settings.torch_version)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[*actions.KINDS])
    )
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        view = await server.view(params.text_document.uri)
        return [] if view is None else await _actions(server, view, params)

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        if (view := await server.view(uri)) is None or not view.is_compiled:
            return []
        compiled = await view.project.compiled_lines(view.verdict)
        return [*lenses.lenses(compiled, view.path, uri, view.verdict.places)]


def _of_regions(server: Server) -> None:
    @server.feature(REGIONS)
    async def regions(_: Any = None) -> list[dict[str, Any]]:
        """The regions of each project: where its paths start, and the document about them."""
        answer = []
        for project in server.projects():
            if (verdict := await project.verdict()) is None:
                continue
            if (document := await project.regions(verdict)) is None:
                raise JsonRpcException(
                    "the files have changed meanwhile", types.LSPErrorCodes.ContentModified
                )
            answer.append({"root": verdict.judgement.report.root.as_uri(), "regions": document})
        return answer


async def _actions(server: Server, view: View, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The quick fixes of the findings in a range, and the action that makes all safe fixes."""
    uri, only, places = params.text_document.uri, params.context.only, view.verdict.places
    versioned = server.can("workspace.workspace_edit.document_changes")
    first = places.position(view.path, uri, params.range.start)
    last = places.position(view.path, uri, params.range.end)
    offered: list[types.CodeAction] = []
    if actions.is_wanted(actions.KINDS[0], only) and first is not None and last is not None:
        fixable = {one.fingerprint: one for one in await view.project.findings(view.verdict)}
        for finding in view.findings:
            if finding.span.line <= last[0] and first[0] <= finding.span.end_line:
                about, fixed = [diagnostic(finding, places)], fixable.get(finding.fingerprint, finding)
                offered += actions.actions(fixed, about, places, versioned)
    has_safe = any(one.fix is not None and one.fix.applicability == "safe" for one in view.findings)
    if actions.is_wanted(actions.FIX_ALL, only) and has_safe:
        done = await view.project.with_safe_fixes(view.verdict, view.path)
        action = None if done is None else actions.fix_all(done, places, versioned)
        offered += [] if action is None else [action]
    return offered
