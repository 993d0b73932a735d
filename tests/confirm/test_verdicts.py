"""Verdicts from receipts made by hand: what Dynamo would have to show for each of them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from dynamo_lint.confirm.budget import exceeded, idle
from dynamo_lint.confirm.model import (
    MODES,
    Cause,
    Compile,
    GraphBreak,
    Met,
    Receipt,
    Recompile,
    Reply,
    Request,
    Setting,
    Unit,
    Way,
    from_json,
)
from dynamo_lint.confirm.probes import ProbeRef, folder_of
from dynamo_lint.confirm.run import automatic, environment, read_setting, report
from dynamo_lint.confirm.verdicts import ProbeReport, Verdict, overall, tempered
from dynamo_lint.contract import Contract, ExpectedBreaks
from dynamo_lint.findings import Finding, Span
from dynamo_lint.logs.texts import Frame, Subject, read_subject
from dynamo_lint.render import receipt as text
from dynamo_lint.render import receipt_json
from dynamo_lint.terminal import Look

ROOT = Path("/project")
PROBE = ProbeRef(ROOT / "probes.py", "probe_it", 3)
COUNTER = Finding(
    code="DYN101",
    name="mutated-scalar-attribute",
    span=Span("moe.py", 8, 9, 8, 20),
    message="",
    cost="",
    severity="error",
    effect="storm",
    confidence="certain",
    symbol="moe.py::MoE.forward",
    subject="MoE.n",
    unit="moe.py::MoE.forward",
    fingerprint="f1",
)
LOOKUP = replace(
    COUNTER,
    code="DYN202",
    subject='getattr(self, f"e_{k}")',
    effect="eager",
    span=Span("moe.py", 9, 9, 9, 30),
)
CAUSE = Cause(
    kind="EQUALS_MATCH",
    source="L['self'].n",
    guard="self.n == 0",
    owner="moe.MoE",
    bases=("moe.MoE", "torch.nn.modules.module.Module"),
    attribute="n",
    inside="",
    expected="0",
    actual="1",
    path="/project/moe.py",
    line=8,
    stack=(Frame("/project/moe.py", 8, "forward"),),
)
SHAPE = replace(
    CAUSE, kind="TENSOR_MATCH", source="L['x']", owner="MoE.forward", bases=(), attribute="x", aspect="size"
)


def recompile(*causes: Cause) -> Recompile:
    return Recompile(
        "MoE.forward", "/project/moe.py", 6, 1, "", "0/1", False, ("0/0: self.n == 0",), (causes,)
    )


UNIT = Unit(
    "MoE.forward",
    "/project/moe.py",
    6,
    lines={"/project/moe.py": (8, 9)},
    inside=(),
    runs=tuple((call, 1) for call in range(12)),
)


def met(subject: str, *values: str, unit: int = 0) -> Met:
    """Values that the compiled code of a unit met in one object, and those that it met in several."""
    return Met(subject, unit, over_time=values, across=values, seen=values)


def receipt(*recompiles: Recompile, **changes: object) -> Receipt:
    known = Receipt(
        torch_version="2.13.0",
        backend="aot_eager",
        calls=12,
        compiles=(Compile("MoE.forward", "/project/moe.py", 6, 0, "", "0/0"),),
        recompiles=recompiles,
        breaks=(),
        graph_calls=tuple(range(12)),
        limit_hit=(),
        traced={"/project/moe.py": (8, 9)},
        units=(UNIT,),
        matches_eager=True,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


def judged(finding: Finding, of: Receipt | None, **changes: object) -> Verdict:
    reply = Reply(
        "done",
        receipt=of,
        ran={"/project/moe.py": (6, 8, 9)},
        met=(met("MoE.n", "0", "1"),),
    )
    (verdict,) = report(PROBE, replace(reply, **changes), [finding], ROOT).verdicts  # type: ignore[arg-type]
    return verdict


def test_a_recompile_for_the_attribute_confirms_its_finding() -> None:
    verdict = judged(COUNTER, receipt(recompile(CAUSE)))
    assert (verdict.verdict, verdict.recompiles, verdict.joint) == ("confirmed", (0,), False)


def test_a_recompile_that_had_another_cause_as_well_is_joint() -> None:
    assert judged(COUNTER, receipt(recompile(CAUSE, SHAPE))).joint


def test_a_subclass_owns_the_attributes_of_its_bases() -> None:
    derived = replace(CAUSE, owner="moe.Big", bases=("moe.Big", "moe.MoE"))
    assert judged(COUNTER, receipt(recompile(derived))).verdict == "confirmed"


def test_the_same_attribute_of_another_class_confirms_nothing() -> None:
    other = replace(CAUSE, owner="moe.Router", bases=("moe.Router",))
    assert judged(COUNTER, receipt(recompile(other))).verdict == "refuted"


def test_another_key_of_the_same_dict_confirms_nothing() -> None:
    finding = replace(COUNTER, subject="MoE.n['a']")
    values = {"met": (met("MoE.n['a']", "1", "2"),)}
    assert judged(finding, receipt(recompile(replace(CAUSE, inside="['b']"))), **values).verdict == "refuted"
    assert (
        judged(finding, receipt(recompile(replace(CAUSE, inside="['a']"))), **values).verdict == "confirmed"
    )


@pytest.mark.parametrize(
    ("code", "subject", "inside", "verdict"),
    [
        ("DYN106", "MoE.n[0]['k']", "[0]", "unobserved"),
        ("DYN106", "MoE.n[...]['k']", "[0]", "unobserved"),
        ("DYN105", "MoE.n[0]['k']", "[0]", "confirmed"),
        ("DYN106", "MoE.n[0]", "[0]", "confirmed"),
        ("DYN106", "MoE.n", "[0]", "confirmed"),
    ],
)
def test_a_container_that_grew_says_nothing_of_the_value_of_its_items(
    code: str, subject: str, inside: str, verdict: str
) -> None:
    grew = recompile(replace(CAUSE, kind="DICT_LENGTH", inside=inside, stack=()))
    finding = replace(COUNTER, code=code, subject="train.<locals>.step: n", also=(subject,))
    assert judged(finding, receipt(grew)).verdict == verdict


@pytest.mark.parametrize(
    ("inside", "verdict"),
    [
        ("[0]['step']", "confirmed"),
        ("[1]['step']", "confirmed"),
        ("[0]['sum']", "unobserved"),
        ("[0]", "unobserved"),
    ],
)
def test_a_finding_that_says_which_items_it_means_is_about_those_and_not_about_any(
    inside: str, verdict: str
) -> None:
    subject, exact = "MoE.n[...][...]", "MoE.n[0]['step']"
    failed = recompile(
        replace(CAUSE, kind="DICT_LENGTH" if inside == "[0]" else "EQUALS_MATCH", inside=inside, stack=())
    )
    finding = replace(COUNTER, code="DYN106", subject=subject, also=(exact,))
    known = {"met": (met(subject, "0", "1"),)}
    assert judged(finding, receipt(failed), **known).verdict == verdict


def test_a_hazard_that_was_exercised_without_cost_is_refuted_with_its_values() -> None:
    verdict = judged(COUNTER, receipt())
    assert verdict.verdict == "refuted"
    assert "0, then 1" in verdict.why


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"ran": {"/project/moe.py": (6,)}}, "line 8 never ran"),
        ({"met": (met("MoE.n", "0"),)}, "never changed: 0"),
        ({"met": ()}, "as when only some calls of `MoE.forward` are compiled"),
        (
            {"receipt": receipt(units=(replace(UNIT, runs=()),)), "met": ()},
            "no compiled graph of `MoE.forward`",
        ),
        ({"met": (Met("MoE.n", 0, ("0",), ("0",), ("0", "1")),)}, "did not change in one object"),
        ({"receipt": receipt(units=())}, "Dynamo compiled nothing"),
        ({"receipt": receipt(units=(replace(UNIT, function="Model.forward"),))}, "compiles `Model.forward`"),
        ({"receipt": None}, "stopped before that line"),
        ({"receipt": receipt(traced={})}, "not in compiled code"),
    ],
)
def test_a_hazard_that_was_not_exercised_is_unobserved(changes: dict[str, object], why: str) -> None:
    verdict = judged(COUNTER, receipt(), **changes)
    assert verdict.verdict == "unobserved"
    assert why in verdict.why


@pytest.mark.parametrize("effect", ["storm", "per-value", "per-instance", "once", "stale", "eager", "break"])
@pytest.mark.parametrize(
    "changes",
    [
        {"receipt": receipt(units=(replace(UNIT, function="Model.forward"),))},
        {"met": (met("MoE.n", "0"),)},
        {"met": (met("MoE.n", "0", "1", unit=1),)},
    ],
    ids=["compiles something else", "one value", "other values in other code"],
)
def test_no_effect_is_refuted_by_a_probe_that_does_not_exercise_it(
    effect: str, changes: dict[str, object]
) -> None:
    assert judged(replace(COUNTER, effect=effect), receipt(), **changes).verdict == "unobserved"


PASSED = replace(
    COUNTER,
    code="DYN109",
    effect="per-value",
    subject="Sampler.forward(rounds)",
    span=Span("run.py", 4, 1, 4, 9),
)
ARGUMENT = replace(
    CAUSE, source="L['rounds']", guard="rounds == 1", owner="Sampler.forward", bases=(), attribute="rounds"
)
RAN = {
    "ran": {"/project/moe.py": (8,), "/project/run.py": (4,)},
    "met": (met("Sampler.forward(rounds)", "1", "2"),),
}


def test_an_argument_is_confirmed_by_the_function_that_guards_on_it() -> None:
    assert judged(PASSED, receipt(recompile(ARGUMENT)), **RAN).verdict == "confirmed"


@pytest.mark.parametrize(
    "other",
    [
        replace(ARGUMENT, owner="Router.forward"),
        replace(ARGUMENT, attribute="steps"),
        replace(ARGUMENT, owner="moe.Sampler", bases=("moe.Sampler",), source="L['self'].rounds"),
    ],
    ids=["same name elsewhere", "another argument", "an attribute of that name"],
)
def test_another_argument_or_an_attribute_of_its_name_confirms_nothing(other: Cause) -> None:
    assert judged(PASSED, receipt(recompile(other)), **RAN).verdict == "refuted"


FLIP = replace(
    COUNTER, code="DYN110", effect="once", subject="Block.training", span=Span("run.py", 4, 1, 4, 9)
)


NO_GRAD = replace(FLIP, subject="run.py::main: gradient mode")
LEAF = replace(FLIP, subject="MoE.forward(x)")
TRAINED = replace(CAUSE, attribute="training")
TURNED_OFF = replace(
    CAUSE, kind="GLOBAL_STATE", source="torch", owner="torch", bases=(), attribute="grad_mode"
)
REQUIRED = replace(SHAPE, aspect="requires_grad")


@pytest.mark.parametrize(
    ("flip", "cause"),
    [
        (FLIP, TRAINED),
        (NO_GRAD, TURNED_OFF),
        (NO_GRAD, replace(TURNED_OFF, kind="GRAD_MODE", attribute="")),
        (LEAF, REQUIRED),
    ],
    ids=[
        "train or eval",
        "gradients on or off",
        "as older torch names it",
        "a leaf that requires a gradient",
    ],
)
def test_a_mode_flip_is_confirmed_by_a_guard_on_its_mode(flip: Finding, cause: Cause) -> None:
    assert judged(flip, receipt(recompile(cause)), **RAN).verdict == "confirmed"


@pytest.mark.parametrize(
    ("flip", "cause"),
    [
        (NO_GRAD, REQUIRED),
        (NO_GRAD, TRAINED),
        (NO_GRAD, replace(TURNED_OFF, attribute="num_threads")),
        (FLIP, TURNED_OFF),
        (LEAF, TURNED_OFF),
        (LEAF, replace(REQUIRED, attribute="y")),
    ],
    ids=[
        "a leaf alone",
        "train or eval",
        "another state",
        "gradients alone",
        "the mode alone",
        "another leaf",
    ],
)
def test_a_guard_on_another_mode_confirms_no_flip(flip: Finding, cause: Cause) -> None:
    assert judged(flip, receipt(recompile(cause)), **RAN).verdict != "confirmed"


def test_a_finding_in_code_that_a_break_took_out_is_told_so() -> None:
    lost = replace(broken(9)[0], function="MoE.forward", skips_frame=True)
    verdict = judged(COUNTER, receipt(breaks=(lost,), traced={}))
    assert (verdict.verdict, verdict.why) == (
        "unobserved",
        "line 8 ran, but not in compiled code: the graph breaks at moe.py:9, and the whole function runs "
        "eagerly for it",
    )


@pytest.mark.parametrize(
    ("code", "skips", "verdict"),
    [
        ("DYN109", True, "unobserved"),
        ("DYN109", False, "refuted"),
        ("DYN101", True, "refuted"),
    ],
)
def test_a_change_outside_is_not_refuted_where_its_reader_may_run_eagerly(
    code: str, skips: bool, verdict: str
) -> None:
    broke = replace(broken(30)[0], function="MoE.route", skips_frame=skips)
    assert judged(replace(COUNTER, code=code), receipt(breaks=(broke,))).verdict == verdict


def test_what_the_probe_varies_itself_is_predicted_nonetheless() -> None:
    reply = Reply("done", receipt=receipt(recompile(TRAINED)), ran={"/project/run.py": (4,)})
    told = report(PROBE, reply, [FLIP], ROOT)
    made = tempered(told.verdicts[0], Way("probe", "origin", varied=(MODES,)))
    assert (made.verdict, made.recompiles) == ("unobserved", (0,))


def test_neither_a_counter_nor_a_shape_confirms_a_mode_flip() -> None:
    assert judged(FLIP, receipt(recompile(CAUSE), recompile(SHAPE)), **RAN).verdict == "unobserved"


def test_a_mode_confirms_no_counter() -> None:
    assert judged(COUNTER, receipt(recompile(replace(CAUSE, attribute="training")))).verdict == "refuted"


COMPILE = Compile("MoE.forward", "/project/moe.py", 6, 0, "", "0/0")
RESET = replace(
    COUNTER, code="DYN111", effect="storm", subject="torch._dynamo.reset", span=Span("run.py", 4, 1, 4, 9)
)


def test_versions_thrown_away_show_as_compiles_that_no_failed_guard_explains() -> None:
    verdict = judged(RESET, receipt(compiles=(COMPILE, COMPILE, COMPILE)), **RAN)
    assert verdict.verdict == "confirmed"
    assert "2 compiles of code that was already compiled" in verdict.why


@pytest.mark.parametrize(
    ("recompiles", "compiles"),
    [
        ((), (COMPILE,)),
        ((), (COMPILE, replace(COMPILE, first_line=20))),
        ((recompile(CAUSE),), (COMPILE, COMPILE)),
    ],
    ids=["compiled once", "two functions", "a guard failed"],
)
def test_compiles_with_a_reason_of_their_own_confirm_no_reset(
    recompiles: tuple[Recompile, ...], compiles: tuple[Compile, ...]
) -> None:
    assert judged(RESET, receipt(*recompiles, compiles=compiles), **RAN).verdict == "unobserved"


LAYER = replace(COUNTER, code="DYN107", effect="per-instance", subject="MoE.drop")
RATE = replace(
    CAUSE,
    source="L['self']._modules['drop'].p",
    owner="torch.nn.modules.dropout.Dropout",
    bases=("torch.nn.modules.dropout.Dropout",),
    attribute="p",
)
RATES = {"met": (met("MoE.drop", "0.1", "0.2"),)}


def test_a_number_inside_a_layer_of_torch_belongs_to_the_attribute_that_holds_the_layer() -> None:
    assert judged(LAYER, receipt(recompile(RATE)), **RATES).verdict == "confirmed"
    listed = replace(RATE, source="L['self']._modules['drop']._modules['0'].p")
    assert judged(LAYER, receipt(recompile(listed)), **RATES).verdict == "confirmed"


@pytest.mark.parametrize(
    "other",
    [
        replace(RATE, source="L['self']._modules['norm'].p"),
        replace(RATE, owner="moe.Drop", bases=("moe.Drop",)),
        replace(RATE, kind="TENSOR_MATCH", aspect="size"),
        replace(RATE, path="/project/other.py"),
    ],
    ids=["another layer", "a class of the project", "its weight", "another file"],
)
def test_what_is_not_a_number_of_that_layer_confirms_nothing(other: Cause) -> None:
    other = replace(other, stack=())
    assert judged(LAYER, receipt(recompile(other)), **RATES).verdict == "refuted"


def test_a_value_that_differs_from_eager_code_is_stale_if_compiled_code_met_its_change() -> None:
    assert judged(COUNTER, receipt(), diverged=("MoE.n",)).verdict == "stale"
    never = judged(COUNTER, receipt(), diverged=("MoE.n",), met=(met("MoE.n", "0"),))
    assert never.verdict == "unobserved"


def test_what_one_object_had_in_turn_is_no_difference_between_objects() -> None:
    finding = replace(COUNTER, effect="per-instance")
    in_turn = Met("MoE.n", 0, over_time=("0", "1"), across=("0",), seen=("0", "1"))
    verdict = judged(finding, receipt(), met=(in_turn,))
    assert verdict.verdict == "unobserved"
    assert "no compiled code met two objects" in verdict.why


def test_values_that_other_compiled_code_met_refute_nothing() -> None:
    units = (UNIT, replace(UNIT, function="Router.forward", first_line=20, lines={"/project/moe.py": (21,)}))
    assert (
        judged(COUNTER, receipt(units=units), met=(met("MoE.n", "0", "1", unit=1),)).verdict == "unobserved"
    )


def test_a_wrapper_that_a_decorator_put_around_a_function_stands_for_it() -> None:
    wrapper = replace(UNIT, function="kept.<locals>.inner", inside=(("/project/moe.py", "MoE.forward"),))
    assert judged(COUNTER, receipt(units=(wrapper,))).verdict == "refuted"


def test_wrong_results_without_a_failing_guard_are_stale_for_a_finding_that_says_so() -> None:
    wrong = receipt(matches_eager=False, mismatch="call 3: output differs")
    finding = replace(COUNTER, effect="stale")
    assert judged(finding, wrong).verdict == "stale"
    assert judged(finding, wrong, met=(met("MoE.n", "0"),)).verdict == "unobserved"
    tensor = replace(met("MoE.n", "Tensor float32[]"), recomputed=True)
    assert judged(finding, wrong, met=(tensor,)).verdict == "stale"


def test_a_lookup_is_confirmed_by_a_break_on_its_line_only() -> None:
    here = GraphBreak("/project/moe.py", 9, "forward", "GB0190", "name", True, 0, "", 1, ())
    assert judged(LOOKUP, receipt(breaks=(here,))).verdict == "confirmed"
    assert judged(LOOKUP, receipt(breaks=(replace(here, line=10),))).verdict == "unobserved"
    certain = replace(LOOKUP, effect="break")
    assert judged(certain, receipt(breaks=(replace(here, line=10),))).verdict == "refuted"


def test_a_break_below_the_line_confirms_when_the_line_is_the_innermost_of_the_project() -> None:
    stack = (Frame("/project/moe.py", 9, "forward"), Frame("/lib/other.py", 3, "helper"))
    below = GraphBreak("/lib/other.py", 3, "helper", "", "print", False, 0, "", 1, stack)
    assert judged(LOOKUP, receipt(breaks=(below,))).verdict == "confirmed"


def test_what_no_finding_predicted_is_listed_but_not_what_the_code_asks_for() -> None:
    print_call = GraphBreak("/project/moe.py", 5, "forward", "GB0059", "print", False, 0, "", 1, ())
    disabled = replace(print_call, line=4, id="GB0098")
    reply = Reply("done", receipt=receipt(recompile(SHAPE), breaks=(print_call, disabled)), ran={})
    found = report(PROBE, reply, [COUNTER], ROOT)
    assert (found.unpredicted_recompiles, found.unpredicted_breaks) == ((0,), (0,))


def test_findings_in_files_that_the_probe_never_loads_are_not_judged() -> None:
    reply = Reply("done", receipt=receipt(), ran={"/project/other.py": (1,)})
    assert report(PROBE, reply, [COUNTER], ROOT).verdicts == ()


def test_one_probe_that_confirms_is_enough() -> None:
    good, bad = (
        ProbeReport("p", "p.py", 1, Reply("done"), (Verdict(COUNTER, word, ""),))
        for word in ("confirmed", "unobserved")
    )
    assert [one.verdict for one in overall([bad, good])] == ["confirmed"]


def test_a_budget_names_what_is_over_it() -> None:
    found = report(PROBE, Reply("done", receipt=receipt(recompile(CAUSE))), [], ROOT)
    assert exceeded([found], Contract(max_recompiles=1, max_breaks=0, max_compiles=1)) == []
    assert exceeded([found], Contract(max_recompiles=0)) == ["probe_it: 1 recompiles, but the budget is 0"]


def broken(*lines: int, id: str = "GB0059") -> tuple[GraphBreak, ...]:
    return tuple(
        GraphBreak("/project/moe.py", line, "forward", id, "print", False, 0, "", 1, ()) for line in lines
    )


def test_a_budget_of_breaks_names_their_lines_and_leaves_out_what_the_code_asks_for() -> None:
    breaks = broken(5, 9) + broken(7, id="GB0098")
    found = report(PROBE, Reply("done", receipt=receipt(breaks=breaks)), [], ROOT)
    assert exceeded([found], Contract(max_breaks=2), ROOT) == []
    assert exceeded([found], Contract(max_breaks=1), ROOT) == [
        "probe_it: 2 graph breaks, but the budget is 1 (moe.py:5, moe.py:9)"
    ]


def test_breaks_that_are_expected_count_against_their_own_number(tmp_path: Path) -> None:
    (tmp_path / "moe.py").write_text(
        "class MoE:\n    def forward(self):\n        pass\n\n\ndef other():\n    pass\n"
    )
    breaks = tuple(
        replace(one, path=str(tmp_path / "moe.py")) for one in (*broken(3, 7), *broken(3, id="GB0098"))
    )
    found = report(PROBE, Reply("done", receipt=receipt(breaks=breaks)), [], tmp_path)

    def said(count: int, function: str = "", most: int | None = 0, path: str = "moe.py") -> list[str]:
        return exceeded(
            [found, found],
            Contract(max_breaks=most, expected_breaks=(ExpectedBreaks(path, function, count),)),
            tmp_path,
        )

    assert said(2) == []
    assert said(1) == ["moe.py: the graph breaks on 2 lines, but 1 are expected (line 3, line 7)"]
    assert said(1, "MoE.forward", most=None) == []
    assert said(0, "MoE.forward", most=None) == [
        "moe.py:MoE.forward: the graph breaks on 1 lines, but 0 are expected (line 3)"
    ]
    assert said(1, "MoE.forward") == ["probe_it: 1 graph breaks, but the budget is 0 (moe.py:7)"] * 2
    assert len(said(0, path="other.py")) == 2


def test_an_island_counts_for_the_entry_that_names_it_wherever_it_is_called() -> None:
    reason = "Skip inlining function <function MBlock.forward at 0x7f> since it was wrapped"
    breaks = tuple(replace(one, reason=reason) for one in broken(5, 9, id="GB0099"))
    found = report(PROBE, Reply("done", receipt=receipt(breaks=breaks)), [], ROOT)

    def told(function: str, count: int) -> tuple[list[str], list[str]]:
        contract = Contract(expected_breaks=(ExpectedBreaks("mamba.py", function, count),))
        return exceeded([found], contract, ROOT), list(idle([found], contract, ROOT))

    assert told("MBlock.forward", 2) == ([], [])
    assert told("MBlock.forward", 1) == (
        ["mamba.py:MBlock.forward: the graph breaks on 2 lines, but 1 are expected (moe.py:5, moe.py:9)"],
        [],
    )
    assert told("", 3) == (
        [],
        ["mamba.py: this entry counts nothing: islands break graphs elsewhere (moe.py:5, moe.py:9)"],
    )
    assert told("", 0) == ([], [])


@pytest.mark.parametrize(
    ("subject", "state"),
    [
        ("MoE.n", Subject("MoE.n", "MoE", "n")),
        ("MoE.log['a']", Subject("MoE.log['a']", "MoE", "log", "['a']")),
        ("COUNT", Subject("COUNT", "", "COUNT")),
        ('os.environ["MODE"]', Subject('os.environ["MODE"]', "", "MODE", environment=True)),
        ('getattr(self, f"e_{k}")', None),
    ],
)
def test_a_subject_names_state_or_is_an_expression(subject: str, state: Subject | None) -> None:
    assert read_subject(subject) == state


def test_values_to_set_are_literals_or_words() -> None:
    assert read_setting("Block.scale=0.5,2") == Setting("Block.scale", (0.5, 2))
    assert read_setting("Block.mode=a,b") == Setting("Block.mode", ("a", "b"))
    with pytest.raises(ValueError, match=r"NAME=VALUE"):
        read_setting("Block.mode")


def test_state_changed_from_outside_gets_a_schedule_unless_values_are_given() -> None:
    outside = replace(COUNTER, code="DYN102")
    assert automatic([COUNTER, outside], []) == [Setting("MoE.n")]
    assert automatic([outside], [Setting("MoE.n", (1,))]) == []


def test_messages_survive_json() -> None:
    request = Request("p.py", "probe_a", "/", watch=("M.n",), settings=(Setting("M.n", (1, "a")),))
    assert from_json(Request, json.loads(json.dumps(asdict(request)))) == request
    reply = Reply("done", receipt=receipt(recompile(CAUSE)), ran={"m.py": (1,)}, met=(met("M.n", "0"),))
    assert from_json(Reply, json.loads(json.dumps(asdict(reply)))) == reply


def test_a_probe_runs_without_what_would_hide_or_cache() -> None:
    outer = {
        "TORCH_LOGS": "all",
        "TORCH_COMPILE_DISABLE": "1",
        "TORCH_COMPILE_JOB_ID": "x",
        "HOME": "/home/me",
    }
    inner = environment(outer, "/scratch")
    assert inner["HOME"] == "/home/me"
    assert not {"TORCH_LOGS", "TORCH_COMPILE_DISABLE", "TORCH_COMPILE_JOB_ID"} & inner.keys()


def test_the_project_of_a_probe_holds_what_it_imports(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for file, code in {
        "src/pkg/__init__.py": "",
        "src/pkg/model.py": "from . import block",
        "src/pkg/block.py": "",
        "tests/probes.py": "import torch\nfrom pkg.model import Model",
        "tests/alone.py": "import math",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(code)
    assert folder_of(tmp_path / "tests" / "probes.py") == tmp_path.resolve()
    assert folder_of(tmp_path / "tests" / "alone.py") == (tmp_path / "tests").resolve()


def test_a_receipt_for_people_names_guard_and_values_and_what_was_not_predicted() -> None:
    full = receipt(recompile(CAUSE), recompile(replace(SHAPE, expected="[2]", actual="[3]")))
    reply = Reply("done", receipt=full, hit_limit=True, ran={"/project/moe.py": (8,)})
    shown = text.render([report(PROBE, reply, [COUNTER, LOOKUP], ROOT)], Look(root=ROOT, cwd=ROOT))
    assert shown.splitlines() == [
        "probe_it  probes.py:3",
        "  12 calls, 1 graph, 2 recompiles; same results as eager",
        "  the last 11 calls compiled nothing",
        "  over the recompile limit (8): runs eagerly after that",
        "",
        "  confirmed   moe.py:8 DYN101 MoE.n",
        "              1 recompile",
        "              guard `self.n == 0` met 1",
        "",
        "  not predicted by any finding moe.py:8 1 recompile of MoE.forward, first in call 2",
        "              `x` was [2], is [3] (size)",
        "",
        "  unobserved  moe.py:9 DYN202: line 9 never ran",
    ]


def test_a_probe_that_failed_says_why() -> None:
    failed = ProbeReport("probe_it", "probes.py", 3, Reply("eager", "ValueError: no", "/project/probes.py:9"))
    shown = text.render([failed], Look(root=ROOT, cwd=ROOT))
    assert "failed: ValueError: no" in shown
    assert "/project/probes.py:9" in shown
    assert text.conclusion([failed]) == "1 probe: 1 of 1 probes failed.\n"


def test_the_json_receipt_has_the_keys_of_the_interface() -> None:
    reply = Reply("done", receipt=receipt(recompile(CAUSE)), ran={"/project/moe.py": (8,)})
    document = json.loads(receipt_json.render([report(PROBE, reply, [COUNTER], ROOT)], ROOT))
    (probe,) = document["probes"]
    (one,) = probe["recompiles"]
    assert document["summary"]["confirmed"] == 1
    assert (one["function"], one["cause"], one["path"], one["line"]) == (
        "moe.py::MoE.forward",
        "sole",
        "moe.py",
        8,
    )
    assert probe["findings"][0] | {"why": ""} == {
        "fingerprint": "f1",
        "code": "DYN101",
        "subject": "MoE.n",
        "path": "moe.py",
        "line": 8,
        "verdict": "confirmed",
        "why": "",
        "evidence": [0],
        "evidence_breaks": [],
    }


class TestArgumentsOfWrappers:
    argument = replace(COUNTER, code="DYN109", subject="forward(m)")
    wrapper = replace(
        UNIT, function="inner", path="/lib/wrap.py", inside=(("/project/moe.py", "MoE.forward"),)
    )
    again = replace(recompile(), function="inner", path="/lib/wrap.py")
    by_name = replace(
        CAUSE, source="L['kwargs']['m']", owner="inner", bases=(), attribute="kwargs", inside="['m']"
    )
    values = (met("forward(m)", "0.5", "0.6"),)

    def test_one_that_is_handed_on_by_name_is_confirmed(self) -> None:
        of = receipt(replace(self.again, causes=((self.by_name,),)), units=(self.wrapper,))
        assert judged(self.argument, of, met=self.values).verdict == "confirmed"

    def test_one_that_is_handed_on_by_place_is_not_refuted(self) -> None:
        by_place = replace(self.by_name, attribute="args", inside="[1]", stack=())
        of = receipt(replace(self.again, causes=((by_place,),)), units=(self.wrapper,))
        assert judged(self.argument, of, met=self.values).verdict == "unobserved"

    def test_without_a_recompile_of_the_wrapper_it_is_refuted(self) -> None:
        assert judged(self.argument, receipt(units=(self.wrapper,)), met=self.values).verdict == "refuted"
