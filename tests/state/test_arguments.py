"""Who hands changing values to compiled code: asked only of the calls that can tell, and never of too few."""

import pytest

from dynamo_lint.index.summarize import summarize
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.options import RegionOptions
from dynamo_lint.regions.resolve import resolve
from dynamo_lint.state import arguments
from dynamo_lint.state.arguments import ChangingCalls, CompiledSignature
from dynamo_lint.state.body import body_of
from dynamo_lint.state.loop_variance import in_loop
from dynamo_lint.state.reachable import Reach
from dynamo_lint.state.tables import build
from dynamo_lint.values.solver import BooleanSolver

MODEL = """
import torch
from torch import nn

class M(nn.Module):
    def forward(self, x, n=None, flag=False):
        return x

model = torch.compile(M())
"""


def told(driver: str) -> list[int]:
    """The lines of a driver, counted from its own first, with calls that may tell of a change."""
    source = f"{MODEL}\n{driver}"
    files = {"m.py": summarize("m.py", "m", False, source.encode())}
    project, regions = resolve(files, RegionOptions())
    telling = ChangingCalls(project, [CompiledSignature.of(project, hot) for hot in regions.hot])
    ref = FunctionRef("m.py", "run")
    first = project.function(ref).line
    return [site.call.line - first for site, _ in telling.calls(ref, lambda callee, path: True)]


@pytest.mark.parametrize(
    "call",
    [
        "for i in range(9):\n        model(x, i)",
        "for i, b in enumerate(x):\n        model(b, i)",
        "for b in x:\n        i += 1\n        model(b, n=i)",
        "i = int(x.max())\n    model(x, i)",
        "model(x, x.item())",
        "model(x, flag=True)",
        "n = None\n    model(x, n)",
        "for b in x:\n        seen.append(b)\n        model(b, seen)",
        "for b in x:\n        model(b, (len(b), 2))",
        "model(x, torch.float32)",
        "model(x, len(x))",
        "model(x, 3 if x else y)",
    ],
)
def test_a_call_that_may_hand_over_another_value_each_time_tells(call: str) -> None:
    assert told(f"def run(x, y, i, seen):\n    {call}\n")


@pytest.mark.parametrize(
    "call",
    [
        "model(x)",
        "for b in x:\n        b = y(b)\n        model(b, y)",
        "model(x, y.n)",
        "x = y(x)\n    model(x)",
        "model(**x)",
        "y.update(x)\n    model(x, *y)",
    ],
)
def test_a_call_that_hands_on_what_it_was_given_tells_nothing(call: str) -> None:
    driver = f"def run(x, y):\n    {call}\n"
    lines = driver.split("\n")
    assert not any("model(" in lines[line] for line in told(driver))


def test_names_that_are_bound_to_each_other_in_a_circle_end() -> None:
    assert told("def run(x, y, z):\n    for b in x:\n        y, z = z, y\n        model(b, y)\n") in ([], [3])


def passed(driver: str) -> list[tuple[str, str]]:
    source = f"{MODEL}\n{driver}"
    files = {"m.py": summarize("m.py", "m", False, source.encode())}
    project, regions = resolve(files, RegionOptions())
    return [(one.name, one.where.key) for one in build(project, regions, lambda path, *_: source).passed]


def test_a_call_that_tells_nothing_alone_still_counts_beside_one_that_does() -> None:
    loops = (
        "def one(x, y):\n    for b in x:\n        model(b, 1)\n\ndef two(x, y):\n    for b in x:\n        "
    )
    assert passed(loops + "model(b, 2)\n") == [("n", "one")]
    assert passed(loops + "model(b, y)\n") == []


def test_a_default_beside_another_literal_is_a_change() -> None:
    driver = "def one(x):\n    for b in x:\n        model(b)\n\ndef two(x):\n    for b in x:\n        model(b, flag=True)"
    assert passed(driver) == [("flag", "two")]


def test_calls_of_other_things_are_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    before = arguments.glimpse

    def glimpse(project, expr, scope):
        asked.append(expr)
        return before(project, expr, scope)

    monkeypatch.setattr(arguments, "glimpse", glimpse)
    other = "def other(x, f):\n    for i in range(3):\n        f.norm(i)\n        print(i)\n        len(x)\n"
    assert passed(f"{other}\ndef run(x):\n    for i in range(3):\n        model(x, i)\n") == [("n", "run")]
    assert len(asked) == 1


def test_a_model_whose_forward_gives_way_to_its_compiled_self_is_no_mere_original() -> None:
    driver = "def run(x):\n    m = M()\n    {how}\n    for i in range(3):\n        m(x, i)\n"
    replaced = "m.forward = torch.compile(m.forward)"
    assert passed(driver.format(how=replaced)) == [("n", "run")]
    assert passed(driver.format(how="fast = torch.compile(m)")) == []


# --- what may be called ---------------------------------------------------------------------------------


def reach(source: str) -> list[bool]:
    """For each call in `run`: whether it may run `M`."""
    files = {"m.py": summarize("m.py", "m", False, f"{MODEL}\n{source}".encode())}
    project, _ = resolve(files, RegionOptions())
    where = FunctionRef("m.py", next(key for key in files["m.py"].functions if key.split(".")[-1] == "run"))
    callees = [site.call.function for site in project.function(where).calls]
    found = Reach(project, [FunctionRef("m.py", "M.forward")], [ClassRef("m.py", "M")])
    return [found.may_run(callee, where) for callee in callees]


@pytest.mark.parametrize(
    "source",
    [
        "def run(f):\n    f()\n\nrun(M())",
        "def run(f):\n    f()\n\ndef make(kind):\n    return kind()\n\nrun(make(M))",
        "def run(f=M()):\n    f()",
        "def run(f: M):\n    f()",
        "def run(f):\n    f.to(0)()\n\nrun(M())",
        "class A:\n    def __init__(self, kind=M):\n        self.kind = kind()\n    def run(self):\n        self.kind(1)",
        "class A:\n    def __init__(self, m):\n        self.m = m\n    def run(self):\n        self.m(1)\n\nA(M())",
        "class A:\n    def __init__(self):\n        self.d = nn.ModuleDict()\n        self.d['a'] = M()\n"
        "    def run(self):\n        for d in self.d.values():\n            d(1)",
        "class A:\n    @property\n    def m(self):\n        return M()\n    def run(self):\n        self.m(1)",
        "m = M()\n\nclass A:\n    first = m\n    second = first\n    def run(self):\n        self.second(1)",
        "class A:\n    kinds = {'a': M}\n    def run(self):\n        self.kinds['a']()(1)",
        "class A:\n    m: nn.Module\n    def run(self):\n        self.m(1)\n\nA(M())",
    ],
)
def test_a_module_is_followed_to_where_it_is_called(source: str) -> None:
    assert reach(source)[-1]


@pytest.mark.parametrize(
    "source",
    [
        "def run(f):\n    f()\n\nrun(nn.Linear(1, 1))",
        "def run(f=nn.Linear):\n    f()",
        "class A:\n    def __init__(self, kind=nn.Linear):\n        self.kind = kind()\n"
        "    def run(self):\n        self.kind(1)",
        "def run(f, n):\n    f()\n    run(f, n - 1)",
        "class A:\n    @property\n    def m(self):\n        return self.n + 1\n    def run(self):\n        self.m(1)",
        "class A:\n    first = 0.1\n    second = first\n    def run(self):\n        self.second(1)",
        "class A:\n    sizes = {'a': 224}\n    def run(self):\n        self.sizes['a'](1)",
        "class A:\n    expand: int = 2\n    def run(self):\n        self.expand(1)\n\nA(n)",
        "class A:\n    def __init__(self):\n        self.m: float = 0.0\n    def run(self):\n        self.m(1)",
    ],
)
def test_a_parameter_that_is_given_something_else_is_not(source: str) -> None:
    assert not reach(source)[0]


# --- circles --------------------------------------------------------------------------------------------


def whether(edges: dict[str, str], yes: str) -> dict[str, bool]:
    asked = BooleanSolver()

    def of(name: str) -> bool:
        return asked.ask(name, lambda: name in yes or any(of(other) for other in edges.get(name, "")))

    return {name: of(name) for name in edges}


def test_a_circle_that_rests_on_itself_is_no() -> None:
    assert whether({"a": "b", "b": "c", "c": "a"}, "") == {"a": False, "b": False, "c": False}


def test_what_was_asked_inside_a_circle_gets_the_answer_of_the_circle() -> None:
    assert whether({"a": "by", "b": "a", "y": ""}, "y") == {"a": True, "b": True, "y": True}


def test_each_question_of_a_ladder_of_circles_is_worked_out_once_or_twice() -> None:
    count = 0
    asked = BooleanSolver()

    def of(number: int) -> bool:
        def compute() -> bool:
            nonlocal count
            count += 1
            return any(of(other) for other in (number + 1, number + 2, number - 1) if 0 <= other < 50)

        return asked.ask(number, compute)

    assert not of(0)
    assert count <= 100


def test_the_names_of_a_function_are_gathered_once_for_all_of_its_calls() -> None:
    source = "for i in xs:\n    f(i)\n    g(i)\n"
    project, _ = resolve({"m.py": summarize("m.py", "m", False, source.encode())}, RegionOptions())
    body = body_of(Bodies(project, lambda path, *_: source), FunctionRef("m.py", "<module>"))
    one, other = (call for calls in body.calls.values() for call in calls if call.args and body.loops[call])
    assert in_loop(body, one).bound is in_loop(body, other).bound
    assert in_loop(body, one).known is not in_loop(body, other).known
