"""Summarising files in several processes: work is dealt out by size, results come back as plain bytes."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from dynamo_lint.cache.packed import facts_codec
from dynamo_lint.index.source_file import SourceFile
from dynamo_lint.recursion import with_deep_stack

Job = tuple[SourceFile, bytes]
Result = tuple[SourceFile, bytes]
_BATCH = 250_000
"""Bytes of source per message: a tenth of a second of work, so that no process idles long at the end."""
_AHEAD = 3
"""Messages in flight per process; more would only fill memory."""


def summaries(missing: Iterable[Job], jobs: int) -> Iterator[Result]:
    """The packed facts of each file, in any order."""
    left = {place.path: (place, source) for place, source in missing}
    try:
        for place, packed in _distributed(_batches(left.values()), jobs):
            del left[place.path]
            yield place, packed
        return
    except BrokenProcessPool:
        # The system has killed a process, or the parser has crashed: find the file, spare the others.
        summarize = _alone
    except (OSError, RuntimeError):
        # No more processes, pipes or threads are to be had: slower is better than not at all.
        summarize = _here
    for job in left.values():
        yield summarize(*job)


def _distributed(batches: Iterator[list[Job]], jobs: int) -> Iterator[Result]:
    with _pool(jobs) as pool:
        running: set[Future[list[Result]]] = set()
        while True:
            while len(running) < jobs * _AHEAD and (batch := next(batches, None)):
                running.add(pool.submit(_summarize, batch))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()


def _alone(place: SourceFile, source: bytes) -> Result:
    with _pool(1) as pool:
        try:
            return pool.submit(_summarize, [(place, source)]).result()[0]
        except BrokenProcessPool:
            return place, facts_codec().encode(place.unreadable("Python itself crashed while parsing it"))


def _here(place: SourceFile, source: bytes) -> Result:
    return _summarize([(place, source)])[0]


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Files in messages of about the same size, in their order but for large ones, which come first."""
    batch: list[Job] = []
    size = 0
    for job in sorted(jobs, key=lambda job: -max(len(job[1]), _BATCH)):
        batch.append(job)
        size += len(job[1])
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


@contextmanager
def _pool(jobs: int) -> Iterator[ProcessPoolExecutor]:
    # A fork has everything imported already; elsewhere than on Linux it is not safe.
    method = "fork" if sys.platform == "linux" else "spawn"
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context(method), _start)
    try:
        yield pool
    except BaseException:
        # What is still being summarised is not worth waiting for. A process that ends in the middle of its
        # answer leaves the pool's own thread waiting for the rest: the program ends without it (cli.main).
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()
        raise
    pool.shutdown()


def _start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says what happens
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a fork has the parent's way of ending
    gc.disable()  # facts and syntax trees hold no cycles
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A run that is killed cannot end its processes: they would wait for work without end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _summarize(batch: list[Job]) -> list[Result]:
    return with_deep_stack(
        lambda: [(place, facts_codec().encode(place.summarize(source))) for place, source in batch]
    )
