"""The judge's bookkeeping, on records made by hand: what is true, missed, false, unknown, or nobody's to know."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from bench.oracle.born import from_birth
from bench.oracle.join import Outcome, by_subject, outcome
from bench.oracle.paths import path_of
from dynamo_lint.confirm.model import Cause, Receipt, Recompile
from dynamo_lint.findings import Finding, Span
from dynamo_lint.logs.texts import Frame

ROOT = Path("/library")
NUMBERED = Finding(
    code="DYN107",
    name="per-instance-number",
    span=Span("models/a.py", 8, 9, 8, 20),
    message="",
    cost="",
    severity="warning",
    effect="per-instance",
    confidence="certain",
    symbol="models/a.py::Attention.forward",
    subject="Attention.layer_idx",
    fingerprint="numbered",
)
LAYER = Cause(
    kind="EQUALS_MATCH",
    source="L['self'].attention.layer_idx",
    guard="self.attention.layer_idx == 0",
    owner="models.a.Attention",
    bases=("models.a.Attention", "torch.nn.modules.module.Module"),
    attribute="layer_idx",
    inside="",
    expected="0",
    actual="1",
    path="/library/models/a.py",
    line=8,
    stack=(Frame("/library/models/a.py", 8, "forward"),),
)
PART = "L['self']._modules['attention'].layer_idx"
SIZE = replace(
    LAYER, kind="TENSOR_MATCH", source="L['x']", owner="Block.forward", bases=(), attribute="x", aspect="size"
)
WEIGHT = replace(LAYER, kind="TENSOR_MATCH", source="L['self']._parameters['weight']", aspect="size")
MODE = replace(LAYER, kind="TRUE_MATCH", attribute="training")
CACHE = replace(
    LAYER, kind="NONE_MATCH", source="L['cache']", owner="Block.forward", bases=(), attribute="cache"
)
RETURNED = replace(
    LAYER,
    kind="LENGTH_CHECK",
    source="L['___stack0'].hidden_states",
    owner="outputs.Output",
    bases=("outputs.Output", "collections.OrderedDict", "builtins.dict"),
    attribute="hidden_states",
)


def recompile(*causes: Cause) -> Recompile:
    return Recompile("Block.forward", "/library/models/a.py", 3, 1, "", "0/1", False, ("",), (causes,))


def joined(
    findings: list[Finding], *recompiles: Recompile, lasting: Collection[str] = (), **record: Any
) -> Outcome:
    receipt = Receipt(
        torch_version="2.13.0",
        backend="aot_eager",
        calls=4,
        compiles=(),
        recompiles=recompiles,
        breaks=(),
        graph_calls=(),
        limit_hit=(),
        traced={"/library/models/a.py": (8, 9)},
        matches_eager=True,
    )
    whole = {"source": "library", "family": "causal", "name": "a", "receipt": asdict(receipt)}
    return outcome(whole | record, findings, ROOT, lasting)


def test_a_finding_whose_guard_failed_is_true() -> None:
    found = joined([NUMBERED], recompile(LAYER))
    assert [state.text for state in found.true] == ["Attention.layer_idx"]
    assert (found.missed, found.false, found.unknown) == ([], [], [])


def test_state_that_nothing_was_said_of_is_missed_once_however_often_it_costs() -> None:
    found = joined([], recompile(LAYER), recompile(replace(LAYER, actual="2")))
    assert [state.text for state in found.missed] == ["Attention.layer_idx"]


@pytest.mark.parametrize("severity", ["error", "warning", "note"])
def test_a_finding_whose_line_ran_compiled_and_cost_nothing_is_false_whatever_its_severity(
    severity: str,
) -> None:
    found = joined([replace(NUMBERED, severity=severity)])
    assert [one.subject for one in found.false] == ["Attention.layer_idx"]


def test_a_finding_whose_line_never_ran_compiled_is_unknown() -> None:
    found = joined([replace(NUMBERED, span=Span("models/a.py", 30, 1, 30, 9))])
    assert (len(found.unknown), found.false) == (1, [])


def test_a_finding_in_a_file_that_the_model_never_loads_is_not_counted() -> None:
    found = joined([replace(NUMBERED, span=Span("models/b.py", 8, 1, 8, 9))])
    assert (found.unknown, found.false) == ([], [])


def test_a_difference_between_instances_that_are_all_alike_here_is_unknown() -> None:
    alike = joined([NUMBERED], held=["Attention.layer_idx"], differing=[])
    assert (len(alike.unknown), alike.false) == (1, [])
    unlike = joined([NUMBERED], held=["Attention.layer_idx"], differing=["Attention.layer_idx"])
    assert (unlike.unknown, len(unlike.false)) == ([], 1)


def test_a_counter_is_not_excused_by_instances_that_are_alike() -> None:
    counter = replace(NUMBERED, code="DYN101", effect="storm")
    held = {"held": ["Attention.layer_idx"], "differing": []}
    assert len(joined([counter], **held, changed=["Attention.layer_idx"]).false) == 1
    assert len(joined([counter], **held, changed=[]).unknown) == 1


FLAG = replace(NUMBERED, code="DYN101", effect="per-value", subject="CacheLayer.is_initialized")


def test_state_of_a_cache_that_nobody_passed_is_unknown() -> None:
    apart = joined([FLAG], lasting=["CacheLayer"], watched=True)
    assert (len(apart.unknown), apart.false) == (1, [])


def test_state_of_a_class_whose_objects_never_outlive_a_call_is_false() -> None:
    assert len(joined([FLAG], lasting=["Attention"], watched=True).false) == 1


def test_state_of_a_cache_that_was_passed_and_changed_is_false() -> None:
    passed = {"watched": True, "changed": ["CacheLayer.is_initialized"]}
    assert len(joined([FLAG], lasting=["CacheLayer"], **passed).false) == 1
    assert (
        len(joined([replace(FLAG, subject=f"{FLAG.subject}[...]")], lasting=["CacheLayer"], **passed).false)
        == 1
    )


def test_a_record_that_did_not_watch_what_calls_are_given_excuses_nothing() -> None:
    assert len(joined([FLAG], lasting=["CacheLayer"]).false) == 1


def test_an_attribute_that_never_appeared_is_unknown() -> None:
    absent = replace(NUMBERED, code="DYN203", effect="once", subject="Attention.mask")
    assert len(joined([absent], lasting=["Attention"], watched=True).unknown) == 1


def test_an_environment_that_never_changed_is_unknown() -> None:
    read = replace(NUMBERED, code="DYN301", effect="stale", subject="os.environ['DEBUG']")
    assert len(joined([read], watched=True).unknown) == 1
    assert len(joined([read], watched=True, changed=['os.environ["DEBUG"]']).false) == 1


@pytest.mark.parametrize(
    ("cause", "column"),
    [(RETURNED, "arguments"), (SIZE, "inputs"), (WEIGHT, "weights"), (MODE, "modes"), (CACHE, "arguments")],
)
def test_what_no_reading_can_know_has_a_column_of_its_own(cause: Cause, column: str) -> None:
    found = joined([], recompile(cause))
    assert getattr(found, column) == 1
    assert found.missed == []
    assert found.recompiles == 1


def test_what_a_cache_holds_that_broken_code_returned_is_state() -> None:
    deeper = replace(RETURNED, source="L['___stack0'].cache.layers", owner="Cache", bases=("Cache",))
    plain = replace(RETURNED, bases=("outputs.Output", "builtins.object"))
    assert len(joined([], recompile(deeper)).missed) == 1
    assert len(joined([], recompile(plain)).missed) == 1


def test_a_new_size_beside_changed_state_counts_as_state() -> None:
    found = joined([], recompile(LAYER, SIZE))
    assert (found.inputs, len(found.missed)) == (0, 1)


def test_weights_of_another_shape_excuse_whatever_else_differs() -> None:
    found = joined([], recompile(LAYER, WEIGHT))
    assert (found.weights, found.missed) == (1, [])


def test_state_that_differs_between_sizes_alone_stands_for_the_weights() -> None:
    sized = {"Block.forward": ["attention.layer_idx"]}
    found = joined([], recompile(replace(LAYER, source=PART)), sized=sized)
    assert (found.weights, found.missed) == (1, [])


def test_the_same_state_of_another_function_is_missed() -> None:
    sized = {"Stage.forward": ["attention.layer_idx"]}
    found = joined([], recompile(replace(LAYER, source=PART)), sized=sized)
    assert (found.weights, len(found.missed)) == (0, 1)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (PART, "attention.layer_idx"),
        (
            "L['self']._modules['blocks']._modules['0']._modules['norm']._parameters['weight']",
            "blocks.0.norm.weight",
        ),
        ("L['self']._modules['blocks']._modules", "blocks._modules"),
        ("L['self'].kinds[0]", ""),
        ("L['x']", ""),
    ],
)
def test_a_guarded_value_is_found_below_its_module(source: str, path: str) -> None:
    assert path_of(source) == path


def test_only_the_best_explanation_counts() -> None:
    older = replace(recompile(SIZE), causes=((SIZE,), (LAYER,)))
    found = joined([], older)
    assert (found.inputs, found.missed) == (1, [])


def test_a_finding_that_an_older_version_bears_out_is_not_false() -> None:
    older = replace(recompile(SIZE), causes=((SIZE,), (LAYER,)))
    assert joined([NUMBERED], older).false == []


def test_what_many_architectures_show_comes_first() -> None:
    rare = recompile(replace(LAYER, attribute="scale"))
    table = by_subject([joined([], recompile(LAYER), rare), joined([], recompile(LAYER))], "missed")
    assert list(table) == ["Attention.layer_idx", "Attention.scale"]


BORN = """class Pair:
    def __init__(self, first, second):
        self.first = first
        self.second = second
        self.rounds = 0

    def swap(self):
        self.second = None
"""


@pytest.mark.parametrize(
    ("owner", "attribute", "expected"),
    [
        ("library.caches.Pair", "first", True),
        ("library.caches.Pair", "second", False),
        ("library.caches.Pair", "third", False),
        ("library.other.Pair", "first", False),
        ("Pair", "first", False),
    ],
    ids=["constructor", "changed-later", "never-stored", "no-such-file", "no-module"],
)
def test_an_object_has_from_birth_what_constructors_alone_store(
    owner: str, attribute: str, expected: bool, tmp_path: Path
) -> None:
    (tmp_path / "caches.py").write_text(BORN)
    assert from_birth(owner, attribute, tmp_path) is expected
