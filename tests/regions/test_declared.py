"""Declared regions: comments, markers and settings that say what is compiled."""

from __future__ import annotations

from dynamo_lint.program.refs import Confidence
from dynamo_lint.values.model import Slot, Text
from tests.programs import hot, resolve_text
from tests.small_model import MIXED_BLOCK, MIXED_MODEL, MIXED_WHOLE, with_mixed_model


def test_configured_regions_wrappers_and_cuts_are_followed() -> None:
    source = with_mixed_model("m = maybe_compile(cfg, Model())")
    assert hot(source, compile_wrappers=("m:maybe_compile#1",)) == {}  # nothing of that name is defined here
    defined = "def maybe_compile(cfg, model): return model\n" + source
    assert set(hot({"m.py": defined}, compile_wrappers=("m:maybe_compile#1",))) == MIXED_WHOLE
    assert set(hot(MIXED_MODEL, declared=("m:Model",))) == MIXED_WHOLE
    assert set(hot(MIXED_MODEL, declared=("m.*lock",))) == MIXED_BLOCK
    assert set(hot(MIXED_MODEL, declared=("m:Model",), cut=("m:helper",))) == MIXED_WHOLE - {"helper"}


def test_half_a_pair_of_region_markers_is_reported() -> None:
    _, regions = resolve_text("# dynamo-lint: region-begin\ndef f(): ...\n")
    assert [(site.line, site.why) for site in regions.unresolved] == [
        (3, "the comment has no `# dynamo-lint: region-end`")  # below two lines of imports
    ]
    assert not regions.hot


def test_what_a_position_holds_is_equal_in_any_order_and_walked_in_its_own() -> None:
    a, b = (Text("a"), Confidence.CERTAIN), (Text("b"), Confidence.LIKELY)
    assert Slot([a, b]) == Slot([b, a])
    assert hash(Slot([a, b])) == hash(Slot([b, a]))
    assert list(Slot([b, a])) == [b, a]
    assert Slot([a]) != Slot([a, b])


def test_a_declared_name_that_matches_nothing_is_reported() -> None:
    _, regions = resolve_text(MIXED_MODEL, declared=("m:Gone",))
    assert [(one.key, one.value) for one in regions.idle] == [("regions", "m:Gone")]
    assert not regions.unresolved


def test_assume_modules_takes_every_forward_and_assume_blocks_only_repeated_ones() -> None:
    assert hot(MIXED_MODEL, assume="modules") == dict.fromkeys(MIXED_WHOLE, "likely")
    assert hot(MIXED_MODEL, assume="blocks") == dict.fromkeys(MIXED_BLOCK, "likely")
