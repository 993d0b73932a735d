"""Questions that lean on each other: asked once, settled together, and they always end."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from dynamo_lint.regions.questions import Questions

EMPTY: frozenset[str] = frozenset()


class Graph:
    """Asks for everything that can be reached from a node, along edges that may form circles."""

    def __init__(self, edges: dict[str, str]) -> None:
        self.edges = edges
        self.questions = Questions()
        self.computed: Counter[str] = Counter()

    def reach(self, node: str) -> frozenset[str]:
        return self.questions.ask(node, lambda: self._compute(node), EMPTY)

    def _compute(self, node: str) -> frozenset[str]:
        self.computed[node] += 1
        return frozenset({node}).union(*(self.reach(after) for after in self.edges.get(node, "")))


def test_a_question_without_circles_is_computed_once() -> None:
    graph = Graph({"a": "bc", "b": "d", "c": "d"})
    assert graph.reach("a") == graph.reach("a") == frozenset("abcd")
    assert set(graph.computed.values()) == {1}


def test_every_member_of_a_circle_gets_the_whole_answer() -> None:
    graph = Graph({"a": "b", "b": "c", "c": "ad"})
    assert [graph.reach(node) for node in "abc"] == [frozenset("abcd")] * 3


def test_members_are_settled_with_their_circle_and_not_asked_afresh() -> None:
    graph = Graph({"a": "b", "b": "c", "c": "a"})
    graph.reach("a")
    before = graph.computed.copy()
    assert graph.reach("b") == graph.reach("c") == frozenset("abc")
    assert graph.computed == before


def test_a_question_that_leans_on_itself_alone_is_asked_again_with_its_answer() -> None:
    questions, known = Questions(), {1: 2, 2: 3}

    def steps() -> frozenset[int]:
        questions.grows("x")
        before = questions.ask("x", steps, frozenset())
        return frozenset({1, *(known.get(number, number) for number in before)})

    assert questions.ask("x", steps, frozenset()) == {1, 2, 3}


def test_a_question_that_leans_on_itself_in_vain_is_asked_once() -> None:
    graph = Graph({"a": "ab", "b": ""})
    asked = Counter[str]()

    def nothing() -> frozenset[str]:
        asked["x"] += 1
        graph.questions.grows("x")
        return graph.questions.ask("x", nothing, EMPTY)

    assert graph.questions.ask("x", nothing, EMPTY) == EMPTY
    assert asked["x"] == 1


def test_circles_that_share_a_node_are_settled_together() -> None:
    graph = Graph({"a": "b", "b": "ac", "c": "bd", "d": ""})
    assert [graph.reach(node) for node in "abc"] == [frozenset("abcd")] * 3


def test_a_chain_deeper_than_anyone_follows_ends() -> None:
    names = [chr(0x4E00 + number) for number in range(2000)]
    graph = Graph(dict(pairwise(names)))
    assert names[0] in graph.reach(names[0])
