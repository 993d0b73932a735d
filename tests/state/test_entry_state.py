"""What holds when a hot function is entered, also where functions call each other in a circle."""

import random
import textwrap

import pytest

from dynamo_lint.program.graph import strongly_connected
from dynamo_lint.state.model import Use
from tests.state.test_reads_and_writes import INIT, uses

CIRCLE = """
def forward(self, x):
    {first}
    return self.even(x, 3)

def even(self, x, k: int):
    x = x * self.n
    return self.odd(x, k - 1) if k else x

def odd(self, x, k: int):
    x = x * self.n
    return self.even(x, k - 1) if k else x
"""

BOX = """
class Box:
    def __init__(self):
        self.n = 0
"""


def test_what_is_written_before_a_circle_is_entered_holds_in_all_of_it() -> None:
    assert uses(INIT + CIRCLE.format(first="self.n = x.shape[0]"), "n") == set()


@pytest.mark.parametrize("way_in", ["odd", "even"])
def test_a_circle_that_is_also_entered_before_the_write_reads_state(way_in: str) -> None:
    first = f"x = self.{way_in}(x, 1)\n    self.n = 5"
    assert uses(INIT + CIRCLE.format(first=first), "n") == {Use.TENSOR_MATH}


def test_what_only_a_member_of_a_circle_writes_does_not_hold_where_it_is_entered() -> None:
    body = CIRCLE.format(first="pass").replace(
        "return self.even(x, k - 1)", "self.n = 2\n    return self.even(x, k)"
    )
    assert uses(INIT + body, "n") == {Use.TENSOR_MATH}


def test_many_functions_that_all_call_each_other_are_settled_at_once() -> None:
    names = [f"f{i}" for i in range(30)]
    calls = "\n".join(f"x = self.{name}(x)" for name in names)
    body = "def forward(self, x):\n    self.n = x.shape[0]\n    return self.f0(x)\n"
    for name in names:
        body += (
            f"\ndef {name}(self, x):\n    x = x * self.n\n{textwrap.indent(calls, '    ')}\n    return x\n"
        )
    assert uses(INIT + body, "n") == set()


def test_an_object_that_many_functions_hand_to_each_other_is_traced_back_once() -> None:
    names = [f"f{i}" for i in range(30)]
    calls = "\n".join(f"self.{name}(box)" for name in names)
    body = "def forward(self, x, box: 'Box'):\n    self.f0(box)\n    return x * box.n\n"
    for name in names:
        body += f"\ndef {name}(self, box: 'Box'):\n    box.n += 1\n{textwrap.indent(calls, '    ')}\n"
    assert uses(INIT + body + BOX, "n") == {Use.ARITHMETIC}


def test_circles_are_those_that_lead_to_each_other_and_follow_what_they_lead_to() -> None:
    chance = random.Random(4)
    for _ in range(200):
        graph = {node: [chance.randrange(9) for _ in range(chance.randrange(4))] for node in range(9)}
        reach = {node: _reach(graph, node) for node in graph}
        found = strongly_connected(graph)
        assert sorted(member for circle in found for member in circle) == sorted(graph)
        done: set[int] = set()
        for circle in found:
            together = {other for other in graph if other in reach[circle[0]] and circle[0] in reach[other]}
            assert set(circle) == together
            done |= together
            assert reach[circle[0]] <= done


def _reach(graph: dict[int, list[int]], node: int) -> set[int]:
    found, todo = {node}, [node]
    while todo:
        for other in graph[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found
