"""Every fix of every program of tests/truth: fixed it computes and leaves behind what it did, and compiles less.

A program that was run before, as it stands and as it is fixed, is run again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

import torch

from dynamo_lint import cli
from dynamo_lint.confirm.child.values import difference
from dynamo_lint.confirm.verdicts import INTENDED
from tests import proof
from tests.lints import findings_about
from tests.proof import Receipt
from tests.receipts import runs_of
from tests.rules.test_truth import CASES
from tests.rules.test_truth_under_torch import LIMIT
from tests.truths import MAIN, Case, agreement, claims

FIXED = {
    "breaks: a counter that the part behind a break uses",
    "breaks: a flag of a function that breaks, turned by its caller",
    "breaks: a number of rows that differs between calls in a frame that a break leaves",
    "breaks: a number that a tensor tells, and the part behind it computes with",
    "breaks: quiet: a counter that is read before a break and not used behind it",
    "entries: a base hands over to nn.Sequential what the class below it passes by keyword",
    "entries: a module that the program makes itself, on one of its branches, counts",
    "entries: a row of a table that only the run picks may count",
    "entries: all rows of a table are compiled, and one counts",
    "entries: the compile of a base runs that of torch, for the class below it that is made",
    "entries: nn.Module stands before a mixin that has a compile as well",
    "entries: super().compile() passes a mixin that has none",
    "entries: the compile of nn.Module is called by its class",
    "entries: a base compiles its __call__, and the subclass that is made decides on data",
    "entries: a wrapper makes one of two by a text and compiles the one that counts",
    "entries: torch.compile through two functions that hand on all arguments",
    "entries: torch is a parameter of the function that compiles",
    "entries: torch.compile is a static method of a class",
    "entries: a closure of a base calls the method that the subclass that is made decides in",
    "entries: the text that the program passes on says which row of a table is compiled, and it counts",
    "filters: a number of a module behind a filter that drops one of the two guards on it",
    "filters: a number of a part behind a filter that drops what else the module holds",
    "spellings: a counter with much eager work before it",
    "modes: a counter under a decorator that is to skip guards, and forgets to",
    "modes: a number that changes once guards are no longer skipped",
    "modes: a number that changes under a stance that checks guards",
    "modes: a counter behind a filter that drops another one by its name",
    "modes: a counter behind a filter with a list of other names",
    "modes: a counter behind a filter that drops the guards on the identity of objects",
    "modes: a counter of a module behind a filter that goes by the source, guard by guard",
    "modes: a counter behind a filter that drops the guards on torch's own modules alone",
    "modes: a counter of a module behind a filter that drops the guards on globals",
    "modes: a counter behind a lambda that drops the guards on globals",
    "whole_programs: a child that asks its parent how far training is",
    "graph_breaks: options that a frame hands on in a dict, and which are the same each time",
    "graph_breaks: scalars captured around another model alone",
    "graph_breaks: scalars captured around the last calls alone",
    "graph_breaks: scalars captured around what compiles alone",
    "graph_breaks: scalars captured in another function that is decorated",
    "graph_breaks: scalars captured in a function that nobody calls",
    "graph_breaks: scalars captured by a test",
    "graph_breaks: scalars captured by the setting of something else",
    "graph_breaks: scalars captured by another script",
    "scalars: a number filled in on the first call",
    "spellings: a counter that a caller of methods asks for",
    "scalars: a counter in calls under the config option for such ints",
    "scalars: a counter beside calls under the config option for such ints",
    "environment: a variable that nobody changes",
    "environment: a variable read with getenv that nobody changes",
    "environment: other variables that change",
    "caches: a counter beside a flag still counts",
    "caches: a sum that starts with the flag of something else",
    "lazy: a loss summed up from None",
    "lazy: a loss summed up in branches",
    "lazy: a loss that the loop resets every third call",
    "lazy: a loss with a gradient summed up from None",
    "lazy: a loss summed up from a float",
    "lazy: a table built on first use, from None",
    "lazy: a table built on first use in a helper",
    "lazy: a function built on first use",
    "modes: two models of one class that count",
    "modes: a compiled result that is thrown away",
    "outside: a static method counts on the model itself",
    "outside: a method that counts on another object of its class",
    "outside: a float that a schedule divides by",
    "outside: an int that the loop sets",
    "outside: a float as an exponent",
    "outside: a chain of float arithmetic",
    "outside: an epoch that holds for three calls",
    "outside: a step counted inside a disabled method and read by forward",
    "scalars: an int counter whose value nobody uses",
    "scalars: an int counter that starts from a constructor argument, in long form",
    "scalars: an int counter on a model that is compiled in place",
    "scalars: an int counter in a decorated forward",
    "scalars: a float average that is only carried on",
    "scalars: a float average that scales the output",
    "scalars: a float counter that nobody uses",
    "scalars: a float that halves until it rests",
    "scalars: a counter on a submodule",
    "scalars: a counter in a helper method",
    "scalars: a counter in a base class",
    "scalars: a counter in a mixin",
    "scalars: a counter that begins as a class attribute",
    "scalars: a counter in a function that gets the module",
    "scalars: a counter of training steps",
    "scalars: a parent that storms around a child that does not",
    "scalars: a number that becomes a tensor",
    "scalars: a counter kept with the config option for such ints",
    "scalars: a counter that decides on messages alone",
    "scalars: a counter that wraps around",
    "scalars: two counters",
    "scalars: rows seen so far",
    "scalars: a counter before a graph break",
    "scalars: a counter after a graph break",
    "scalars: a counter in each block of a list",
    "scalars: a counter in a nested function",
    "scalars: a counter under checkpoint",
    "scalars: a temperature that decays and divides",
    "breaks: a disabled function before the loop",
    "breaks: a disabled function in the loop",
    "breaks: a function that prints is called in the loop",
    "breaks: a logger in the loop",
    "breaks: a loop of other things breaks in a function of its own before the layers",
    "breaks: a print after the loop over the layers",
    "breaks: a print before the loop over the layers",
    "breaks: a print in a context that Dynamo knows",
    "breaks: a print in a part of the layer",
    "breaks: a print in a try around the layers",
    "breaks: a print in layers that are called one by one",
    "breaks: a print in the layer itself",
    "breaks: a print in the layers of a comprehension",
    "breaks: a print in the loop over the layers",
    "breaks: a test on a tensor",
    "breaks: a warning in the loop",
    "breaks: two classes of layers under one wrapper, of which a model has one",
    "breaks: two classes of layers under one wrapper, with a break in both loops",
    "blocks: a float that differs per layer and multiplies",
    "blocks: a layer number in blocks that are replaced by compiled ones",
    "blocks: a layer number that multiplies",
    "blocks: three blocks with numbers, within the limit",
    "breaks: a coin that is asked for its value",
    "breaks: a list of a tensor's numbers",
    "breaks: a rate that a configuration gives by default",
    "breaks: a rate that the constructor sets above zero",
    "breaks: layers that are dropped by a coin",
    "breaks: layers that are dropped by a coin in training alone",
    "breaks: positions of what is not zero",
    "breaks: the time in the loop",
    "scripts: a scale for deep layers that an initialiser derives from the depth",
    "everyday: a counter inside a disabled function",
    "graph_breaks: a branch on the sign of a sum",
    "graph_breaks: a checkpointed block that prints",
    "graph_breaks: a disabled method in a loop",
    "graph_breaks: a function that runs eagerly, but what it calls does not",
    "graph_breaks: a helper that is disabled",
    "graph_breaks: a layer in a list that prints, under a loop in the whole model",
    "graph_breaks: a log line between two operations",
    "graph_breaks: a log that is asked whether it is on",
    "graph_breaks: a loss that changes and is asked for its value",
    "graph_breaks: a mean in the text of a message",
    "graph_breaks: a message of a logger that a helper is handed",
    "graph_breaks: a number made of a tensor of a constant",
    "graph_breaks: a print after the loop over the rounds",
    "graph_breaks: a print in a function with a backward of its own",
    "graph_breaks: a print in the evaluation branch of a model that is evaluated",
    "graph_breaks: a print in the loop over the rounds",
    "graph_breaks: a print under a manager of the project",
    "graph_breaks: a print under a manager of torch",
    "graph_breaks: a print under fullgraph, an error there, after which the caller does without",
    "graph_breaks: a print under try",
    "graph_breaks: a print where a function is handed in place of a number",
    "graph_breaks: a shape that is printed between two layers",
    "graph_breaks: a warning about a short input",
    "graph_breaks: layers in a list that print, compiled one by one",
    "outside: a step counted inside a disabled method only",
    "entries: the older optimize of dynamo compiles a module",
    "evidence: a replacement that is compiled because a mode is handed on",
    "globals: a counter in a closure",
    "globals: a counter in a function of another module",
    "globals: a counter in a global dict",
    "globals: a counter in a global dict that a loop makes count",
    "globals: a global counter",
    "globals: a global counter that a loop makes count",
    "globals: a global counter that is added to seventy times",
    "globals: a global counter written by a module",
    "globals: a global number that is halved in place",
    "globals: figures are kept while a switch is on, which the program turns",
    "globals: global numbers that go down and double in a loop",
    "habits: a number that a scheduler object sets",
    "modes: a global counter behind a filter that drops the guards on modules",
    "scalars: a counter in a dict",
    "scalars: a counter in an ordered dict",
    "scripts: a pool of threads whose jobs move a number on",
    "arguments: a step of a model compiled with static shapes",
    "containers: a cache keyed by shape in a default dict",
    "habits: a count that a class method keeps",
    "habits: a counter of hits",
    "outside: an int on a plain config",
    "scalars: a counter behind a property",
    "scalars: a counter in a list",
    "scalars: a counter on a helper object",
    "scalars: a counter on the class",
    "scalars: a counter on the class, by its name",
    "scalars: a counter set by object.__setattr__",
    "scalars: a counter that one way in sets anew, and another, through a method that does nothing else, does not",
    "scalars: a counter written by setattr",
    "scripts: a global that the main loop moves on and a helper of the model reads",
    "scripts: scales from a table of which no key is known",
}
"""Programs that have a fix; no other has one."""


def fix(folder: Path) -> bool:
    """Fix a folder as the command line does; whether that changed anything."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    options = ["--fix", "--unsafe-fixes", "--isolated", "--no-cache", "--exit-zero", "-q", "-j", "1"]
    assert cli.run([str(folder), *options, "-o", os.devnull]) == 0
    after = {path: path.read_bytes() for path in folder.iterdir()}
    assert before.keys() == after.keys()
    return before != after


def unlike(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """The names under which two runs have left different values; a number and a tensor of it are alike."""

    def plain(one: Any, other: Any) -> Any:
        scalar = isinstance(one, torch.Tensor) and not one.dim() and not isinstance(other, torch.Tensor)
        one = one.item() if scalar else one
        return float(one) if isinstance(one, (bool, int, float)) else one

    return [
        name
        for name in ours.keys() & theirs.keys()
        if difference(plain(ours[name], theirs[name]), plain(theirs[name], ours[name]), "aot_eager")
    ]


def run_both(unfixed: Path, fixed: Path) -> tuple[Receipt, Receipt]:
    """The receipts of two programs, which compute the same and leave the same behind, compiled or not."""
    before, _ = proof.run_compiled(unfixed / MAIN, LIMIT)
    old, new = (proof.run_eagerly(folder / MAIN, state=True) for folder in (unfixed, fixed))
    after, compiled = proof.run_compiled(fixed / MAIN, LIMIT, state=True)
    for ours in (new, compiled):
        assert not proof.differ(ours.outputs, old.outputs)
        assert not unlike(ours.state, old.state)
    return before, after


def recorded_as(case: Case) -> str:
    """The name of the row of a program."""
    return f"fixed: {case.id}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_fixed_program_does_what_the_old_one_did_and_compiles_no_more(
    case: Case, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    fixable = any(one.is_fixable for one in findings_about(case))
    assert fixable == (case.id in FIXED)
    if not fixable:
        return
    unfixed, fixed = tmp_path / "unfixed", tmp_path / "fixed"
    for folder in (unfixed, fixed):
        folder.mkdir()
        case.write(folder)
    assert fix(fixed)
    texts = [*case.files, *((path.name, path.read_text()) for path in sorted(fixed.glob("*.py")))]
    before, after = runs_of(recorded_as(case), texts, lambda: run_both(unfixed, fixed), pytestconfig)
    # It may compile what was left to run without a graph.
    assert after.compiles <= before.compiles or after.graphs_run > before.graphs_run
    assert after.recompiles <= before.recompiles
    # What is still compiled again, or still breaks, has a finding of its own.
    left = claims(fixed, LIMIT)
    breaks = any(one.effect in {"break", "eager"} for one in left)
    island = bool(after.break_ids) and after.break_ids <= INTENDED
    # What another backend compiles shows no graphs.
    unseen = not before.graphs_run and not after.recompiles
    assert agreement(left, after, LIMIT) == "agree" or ((island or unseen) and not left)
    assert breaks or island or not after.breaks
