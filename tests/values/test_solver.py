"""Questions that lean on each other: asked once, settled together, and they always end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from dynamo_lint.values.solver import Solver

EMPTY: frozenset[str] = frozenset()


class Graph:
    """Asks for everything that can be reached from a node, along edges that may form circles."""

    def __init__(self, edges: dict[str, str]) -> None:
        self.edges = edges
        self.questions = Solver()
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
    questions, known = Solver(), {1: 2, 2: 3}

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


def chain(questions: Solver, asked: list[int], length: int = 20) -> Callable[[int], frozenset[int]]:
    """A question for each number, which asks for the next one and adds its own."""

    def answer(number: int) -> frozenset[int]:
        def compute() -> frozenset[int]:
            asked.append(number)
            return frozenset({number}) | (answer(number + 1) if number < length else frozenset())

        return questions.ask(number, compute, frozenset())

    return answer


def test_what_was_given_up_nearby_is_asked_again_where_there_is_room() -> None:
    questions, asked = Solver(), list[int]()
    answer = chain(questions, asked)
    near = questions.ask_within("near", lambda: answer(0), frozenset(), 4)
    assert near == {0, 1, 2}
    assert answer(1) == set(range(1, 21))


def test_an_answer_that_leans_on_one_that_was_given_up_is_asked_again_as_well() -> None:
    questions, asked = Solver(), list[int]()
    answer = chain(questions, asked)
    questions.ask_within("near", lambda: answer(3), frozenset(), 4)
    questions.ask_within("nearer", lambda: answer(2), frozenset(), 4)
    assert answer(2) == set(range(2, 21))


def test_an_answer_that_is_whole_is_asked_once_however_near() -> None:
    questions, asked = Solver(), list[int]()
    answer = chain(questions, asked, length=2)
    questions.ask_within("near", lambda: answer(0), frozenset(), 8)
    assert answer(0) == {0, 1, 2}
    assert asked == [0, 1, 2]


def test_who_has_little_more_room_makes_do_with_what_is_known() -> None:
    questions, asked = Solver(), list[int]()
    answer = chain(questions, asked)
    questions.ask_within("near", lambda: answer(0), frozenset(), 4)
    before = list(asked)
    questions.ask_within("again", lambda: answer(0), frozenset(), 6)
    assert asked == before
