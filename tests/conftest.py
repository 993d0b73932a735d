"""What every test may count on, however the suite was started."""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import forked
from tests.lints import Shared

if TYPE_CHECKING:
    from tests.translated import Translated

# Each process that a test starts would compile the whole program anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# What is printed is as wide as no terminal asks for, also where readline has told children of one.
os.environ.setdefault("COLUMNS", "")
del os.environ["COLUMNS"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all-under-torch",
        action="store_true",
        help="run every program under torch, also where tests/verdicts.py has its verdict from an earlier run",
    )


def pytest_collection_finish() -> None:
    # What the modules of tests have loaded, torch above all, is there for good: searches for garbage, of which
    # Dynamo makes some at each reset, and ours for the owners of state need not go through it each time.
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def interrupts_are_heard() -> None:
    # A shell starts what it runs in the background with SIGINT ignored, and so would be all that tests start:
    # those that interrupt a run would wait for ever.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def lints_are_shared(tmp_path_factory: pytest.TempPathFactory) -> None:
    """All processes of a run find what one of them has asked the linter about a program."""
    folder = tmp_path_factory.getbasetemp()
    Shared.folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "lints"


@pytest.fixture(scope="session")
def new_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """What makes an empty folder with a name that begins so.

    pytest itself looks through all folders of a run for a number that is free, which takes longer for each.
    """
    base, numbers = tmp_path_factory.mktemp("tests"), itertools.count()

    def make(name: str) -> Path:
        folder = base / f"{name}{next(numbers)}"
        folder.mkdir()
        return folder

    return make


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, new_folder: Callable[[str], Path]) -> Path:
    """An empty folder for a test."""
    return new_folder(re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(autouse=True)
def folder_for_caches(new_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the user of a test keeps caches: no test finds what another has left there."""
    folder = new_folder("caches")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def python_with_torch() -> Iterator[str]:
    """A Python that has imported torch already: see tests/forked.py."""
    pytest.importorskip("torch")
    with forked.python_with(forked.TORCH) as python:
        yield python


@pytest.fixture(scope="session")
def python_with_linter() -> Iterator[str]:
    """A Python that has imported the linter already: see tests/forked.py."""
    with forked.python_with(forked.modules_of_linter()) as python:
        yield python


@pytest.fixture
def translated(request: pytest.FixtureRequest, tmp_path: Path) -> Translated:
    """What Dynamo translates of a program: see tests/translated.py. A test may ask once."""
    pytest.importorskip("torch")
    from tests.translated import recorded

    return recorded(request.node, tmp_path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which the test runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
