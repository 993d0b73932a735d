"""A quick look at each file: what it sees, and that a file is looked at once until it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint import glances
from dynamo_lint.cache.place import open_store
from dynamo_lint.cache.store import Store
from dynamo_lint.glances import ADDRESSED, BUILDS, FINDS, Glances

FIRST, SECOND = b"1" * 16, b"2" * 16
WHERE = b"w" * 16


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = open_store(tmp_path, None, print)
    assert opened is not None
    return opened


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The sources that were looked into."""
    seen: list[bytes] = []
    look = glances._look

    def counted(source: bytes) -> int:
        seen.append(source)
        return look(source)

    monkeypatch.setattr(glances, "_look", counted)
    return seen


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        (b"x = 1  # dynamo-lint: ignore[DYN101]", ADDRESSED),
        (b"x = 1  # NoQA: dyn101", ADDRESSED),
        (b"net = hydra.utils.instantiate(cfg)", BUILDS),
        (b"CONFIG = {'_target_': 'net.Net'}", BUILDS),
        (b"import_module(name)\nkind = config['class']", BUILDS),
        (b"module, name = said.split('@')\nimport_module(module)", BUILDS),
        (b'import_module(said.rpartition(".")[0])', BUILDS),
        (b"net = pydoc.locate(cfg.name)()", BUILDS),
        (b"net = hydra.utils.get_class(cfg.name)()", BUILDS),
        (b"loss = getattr(losses, cfg.loss.name)()", BUILDS),
        (b"loss = getattr(losses, str(config['loss']))()", BUILDS),
        (b"nets = __import__(path, fromlist=[''])", BUILDS),
        (b"nets = import_module(f'nets.{name}')", BUILDS),
        (b"value = getattr(self, config.name)", 0),
        (b"value = getattr(losses, name)", 0),
        (b"nets = __import__(path)", 0),
        (b"parts = name.split('.')\nmemory = allocate(2)", 0),
        (b"import_module(name)\nparts = text.split(',')", 0),
        (b"kind = config['class']\nself.get_class(kind)", 0),
        (b"found = entry_points(group='models')", FINDS),
        (b"net = instantiate(cfg)  # noqa: DYN101", ADDRESSED | BUILDS),
        (b"x = 1  # noqa: E501", 0),
        (b"text = 'dynamo-lint: '", 0),
        (b"instantiated = target_ = config['classes']", 0),
        (b"import_module(name)", 0),
        (b"", 0),
    ],
)
def test_a_glance_sees_the_words_that_matter(source: bytes, seen: int) -> None:
    assert Glances(None, WHERE).at(FIRST, source) == seen


def test_a_file_is_looked_at_again_only_when_it_has_changed(store: Store, looks: list[bytes]) -> None:
    for source, content in ((b"# noqa: DYN1", FIRST), (b"# noqa: DYN1", FIRST), (b"# changed", SECOND)):
        seen = Glances(store, WHERE)
        assert bool(seen.at(content, source)) == (content == FIRST)
        seen.keep()
    assert looks == [b"# noqa: DYN1", b"# changed"]


def test_what_no_file_holds_any_more_is_not_kept(store: Store) -> None:
    for content in (FIRST, SECOND):
        seen = Glances(store, WHERE)
        seen.at(content, b"")
        seen.keep()
    assert set(Glances(store, WHERE)._before) == {SECOND}


@pytest.mark.parametrize("kept", [b"", b"x", b"x" * 16, b"x" * 17, b"x" * 40])
def test_what_was_kept_may_have_any_length(store: Store, kept: bytes) -> None:
    store.save({WHERE: kept})
    assert Glances(store, WHERE).at(FIRST, b"# noqa: DYN1") == ADDRESSED
