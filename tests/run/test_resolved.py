"""What is compiled is resolved once for `check` and `regions`, and comes back from the cache as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dynamo_lint.cache.codec import Codec
from dynamo_lint.config import Settings
from dynamo_lint.discovery import discover
from dynamo_lint.regions import resolve
from dynamo_lint.run.reading import ALONE, read_content
from dynamo_lint.run.resolved import Resolved, regions_of
from dynamo_lint.sources import Sources
from tests.run.test_named import BEYOND, WITHIN, project, said

__all__ = ["project"]


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each time that the regions are resolved."""
    monkeypatch.setattr("dynamo_lint.run.rewrite.promised", lambda report, *_: report)
    times: list[str] = []
    whole: Callable[..., object] = resolve.resolve

    def counted(*given: object, **more: object) -> object:
        times.append("resolved")
        return whole(*given, **more)

    monkeypatch.setattr(resolve, "resolve", counted)
    return times


@pytest.mark.parametrize("command", ["check", "regions"])
def test_check_and_regions_share_what_was_resolved_whatever_is_named(
    project: Path, resolved: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    said(capsys, command, "cold.py")
    for names in WITHIN:
        said(capsys, "regions", *names)
        said(capsys, "check", *names)
    said(capsys, "regions", "--why", "Block.forward")
    assert len(resolved) == 1


def test_regions_from_the_cache_are_those_of_a_fresh_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        for names in (*WITHIN, *BEYOND):
            for options in ([], ["--output-format", "json"]):
                with_cache = said(capsys, "regions", *names, *options)
                assert with_cache == said(capsys, "regions", *names, *options, "--no-cache"), names
        for name in ("Block.forward", "total", "helper", "nothing"):
            assert said(capsys, "regions", "--why", name) == said(
                capsys, "regions", "--why", name, "--no-cache"
            )
        (project / "train.py").write_text("# a comment\n" + (project / "train.py").read_text())


def test_regions_are_resolved_again_if_what_was_kept_cannot_be_read(
    project: Path,
    resolved: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = said(capsys, "regions")
    with monkeypatch.context() as broken:
        broken.setattr(Codec, "encode", lambda codec, value: b"[]")
        (project / "cold.py").write_text("LIMIT = 11\n")
        assert said(capsys, "regions") == first
    del resolved[:]
    assert said(capsys, "regions") == first
    assert len(resolved) == 1


def test_all_that_is_shown_of_regions_comes_back(project: Path) -> None:
    found = discover([Path()], [])
    sources = Sources(found.root)
    regions = regions_of(Settings(), read_content(None, found, sources), sources, ALONE)
    assert regions.entries
    assert regions.unresolved
    assert regions.skipped
    kept = Resolved(regions.entries, regions.hot, regions.unresolved, regions.skipped, regions.idle)
    assert Codec(Resolved).decode(Codec(Resolved).encode(kept)) == kept
