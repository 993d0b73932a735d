"""When the analysis runs: after the last edit of a burst, once for all who wait, never twice at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from dynamo_lint.dataclass import dataclass, field
from dynamo_lint.findings import Finding
from dynamo_lint.run.reading import Progress
from dynamo_lint.run.rewrite import Rewritten
from dynamo_lint.server import analysis
from dynamo_lint.server.analysis import CompiledLine, Judgement, Question
from dynamo_lint.server.documents import Overlay
from dynamo_lint.server.places import Places

T = TypeVar("T")
PAUSE = 0.3
"""Seconds without an edit before the analysis starts."""


class Outdated(Exception):
    """Raised within an analysis, to end it: a newer edit is there, or the user has cancelled it."""


class Host(Protocol):
    """The surroundings of a project: a thread for the analysis, and somebody to tell of errors."""

    cached: bool

    @property
    def encoding(self) -> str:
        """How positions count."""

    def overlay_of(self, project: Project) -> Overlay:
        """The open files of a project, as they are now."""

    def work(self, work: Callable[[Progress], T], is_outdated: Callable[[], bool]) -> Awaitable[T]:
        """The result of some work in the thread of the analysis, which may end in `Outdated`."""

    def failed(self, error: Exception) -> None:
        """The analysis has failed: the user is told, and what was known before stays."""


@dataclass(slots=True)
class Verdict:
    """A judgement with the places that it speaks of, and what has been asked about it since."""

    judgement: Judgement
    places: Places
    asked: dict[object, asyncio.Future[Any]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Those of the report."""
        return self.judgement.report.findings

    def relative(self, path: Path) -> str:
        """A path as the findings spell it."""
        root = self.judgement.report.root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


class Project:
    """A folder of the workspace, or a file that is in none of them."""

    def __init__(self, path: Path, folder: Path, host: Host) -> None:
        self.path, self.folder = path, folder
        self._host = host
        self._edits = 1
        self._judged = 0
        """The number of edits that the verdict knows of."""
        self._ready_at = 0.0
        self._verdict: Verdict | None = None
        self._running: asyncio.Task[None] | None = None

    def touch(self, pause: float = PAUSE) -> None:
        """Something has changed: the next verdict is another one."""
        self._edits += 1
        self._ready_at = time.monotonic() + pause

    async def verdict(self) -> Verdict | None:
        """The verdict on all that is open and saved now, or the last one there is if the analysis fails."""
        while self._judged != self._edits:
            if (wait := self._ready_at - time.monotonic()) > 0:
                await asyncio.sleep(wait)
                continue
            if self._running is None:
                self._running = asyncio.create_task(self._judge())
            # Who waits may be cancelled; others may wait for the same.
            await asyncio.shield(self._running)
        return self._verdict

    async def findings(self, verdict: Verdict) -> tuple[Finding, ...]:
        """The findings with those fixes that can be made."""
        work = partial(analysis.with_promised_fixes, verdict.judgement)
        return await self._about(verdict, "fixes", work, verdict.findings)

    async def compiled_lines(self, verdict: Verdict) -> Sequence[CompiledLine]:
        """The compiled functions."""
        work = partial(analysis.compiled_lines, verdict.judgement)
        return await self._about(verdict, "compiled", work, ())

    async def regions(self, verdict: Verdict) -> dict[str, Any] | None:
        """The document of what is compiled; None if that cannot be said."""
        work = partial(analysis.regions_document, verdict.judgement)
        return await self._about(verdict, "regions", work, None)

    async def with_safe_fixes(self, verdict: Verdict, path: str) -> Rewritten | None:
        """The files as the safe fixes for one of them leave them; None if that cannot be said."""
        work = partial(analysis.with_safe_fixes, verdict.judgement, path)
        return await self._about(verdict, ("fixed", path), work, None)

    async def _judge(self) -> None:
        """Make a verdict; one that is outdated before it is ready is not made."""
        edits, overlay = self._edits, self._host.overlay_of(self)
        question = Question(self.folder, self.path, overlay.texts(), self._host.cached)
        try:
            judgement = await self._host.work(partial(analysis.judge, question), lambda: self._edits != edits)
        except Outdated:
            if self._edits != edits:
                return
        except Exception as error:
            self._host.failed(error)
        else:
            root = judgement.report.root
            places = Places(root, judgement.sources, overlay.files, self._host.encoding)
            self._verdict = Verdict(judgement, places)
        finally:
            self._running = None
        self._judged = edits

    async def _about(self, verdict: Verdict, what: object, work: Callable[[Progress], T], otherwise: T) -> T:
        """The answer to a question about a verdict, which is asked once."""
        if what not in verdict.asked:
            edits = self._edits
            answer = self._host.work(work, lambda: self._edits != edits)
            verdict.asked[what] = asyncio.ensure_future(answer)
        try:
            result: T = await asyncio.shield(verdict.asked[what])
        except Outdated:
            return otherwise
        except Exception as error:
            self._host.failed(error)
            return otherwise
        return result
