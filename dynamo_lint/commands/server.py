"""`dynamo-lint server`: the language server, for editors."""

from __future__ import annotations

import os
import sys

import click

from dynamo_lint.trouble import Trouble

MISSING = "the language server needs pygls; install it with `pip install 'dynamo-lint[lsp]'`"


@click.command(short_help="Speak the Language Server Protocol, for editors.")
@click.option("--stdio", is_flag=True, help="Speak over stdin and stdout, as it does anyway.")
@click.option("--no-cache", is_flag=True, help="Do not read or write the cache.")
def server(stdio: bool, no_cache: bool) -> int:
    """Speak the Language Server Protocol over stdin and stdout.

    Editors start it; docs/guides/editors.md has the settings of each. It judges the folders of the workspace
    with all texts that are not saved, and writes no file: edits are the editor's.
    """
    try:
        from dynamo_lint.server.protocol import build
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise Trouble(MISSING) from None
    language_server = build(cached=not no_cache)
    # Whatever prints would end the session: only the protocol has the stdout that the client reads.
    with os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        language_server.start_io(sys.stdin.buffer, stdout)
    return 0 if language_server.is_shut_down else 1
