"""The rows of models/torch.toml and models/libraries.toml: what is asked for is there, and what is there is asked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynamo_lint import knowledge
from dynamo_lint.cache.keys import _stamps

PACKAGE = Path(knowledge.__file__).parent
VERBS = {verb for rows in knowledge.libraries().values() for verb in rows}


def test_every_verb_is_asked_for_and_every_verb_asked_for_has_rows() -> None:
    texts = [path.read_text() for path in PACKAGE.rglob("*.py")]
    asked = re.compile(
        r"""(?:knowledge\.(?:names|in_order|last_names|pairs)\(|NAMES\[|\]\[|_begins\(.*, )"(\w+)"[)\]]"""
    )
    found = {verb for text in texts for verb in asked.findall(text)}
    assert VERBS - found == set()
    for verb in re.findall(r'knowledge\.\w+\("(\w+)"\)', "".join(texts)):
        assert verb in VERBS or (PACKAGE / "models" / f"{verb}.toml").is_file()


def test_the_head_of_the_table_says_what_each_verb_means() -> None:
    head = (PACKAGE / "models" / "libraries.toml").read_text().partition("\n[")[0]
    used = {verb for rows in knowledge.table("libraries").values() for verb in rows}
    assert {verb for verb in used if not re.search(rf"\b{verb}\b", head)} == set()


def test_rows_of_several_libraries_under_one_verb_are_one_set() -> None:
    assert {"hydra.utils.instantiate", "fiddle.build"} <= knowledge.names("builds")
    assert knowledge.last_names("reset") == {"reset"}
    assert knowledge.pairs("argument_keys")["class_path"] == "init_args"
    with pytest.raises(KeyError, match="no library has a row for bilds"):
        knowledge.names("bilds")


def test_an_edited_row_makes_cached_answers_void() -> None:
    assert {"torch.toml", "libraries.toml"} <= {Path(path).name for path, _, _ in _stamps(PACKAGE)}
