"""Errors for people: what happened, where, what to do, and the exit status."""

from __future__ import annotations

EXIT_CLEAN, EXIT_FINDINGS, EXIT_TROUBLE, EXIT_INTERRUPTED, EXIT_PIPE = 0, 1, 2, 130, 141
EXIT_UNPROVED = 3
"""That of `logs` where the logs prove nothing."""
EXIT_CANNOT_RUN, EXIT_NOT_FOUND = 126, 127
"""The statuses of a shell for a command that cannot be run, and for one that is not there."""


class Trouble(Exception):
    """Something that a person must put right, in one line: the command line prints it and exits 2."""


class ReaderLeft(Exception):
    """Whoever read our output has closed the pipe; not a BrokenPipeError, which click makes an exit 1."""


def say(line: str) -> None:
    """Print a line for people to stderr, whatever the names in it hold."""
    import click  # late: confirm runs in environments that have torch and nothing of ours

    from dynamo_lint.terminal import clean

    click.echo(clean(line), err=True)
