"""What is said of graph breaks: where one certainly is, and what is compiled by itself because of it."""

from __future__ import annotations

from dataclasses import dataclass

from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.regions.model import CompiledFunction


@dataclass(frozen=True, slots=True)
class Break:
    """A line that certainly ends the graph."""

    function: FunctionRef
    line: int
    text: str
    """The expression, as it is written."""


@dataclass(frozen=True, slots=True)
class Alone:
    """A class whose instances are compiled by themselves, though only what calls them is to be compiled.

    Dynamo compiles a call by itself if the graph breaks in it, and every call that a function makes in which
    the graph breaks where Dynamo cannot go on: in a loop, a comprehension or a `try`
    (torch/_dynamo/symbolic_convert.py, `should_compile_partial_graph`; checked with torch 2.13).
    """

    unit: ClassRef
    cause: Break
    stuck: FunctionRef | None
    """The caller that runs eagerly for the break; None if the break is in the unit itself, which is split."""
    inside: tuple[CompiledFunction, ...]
    """What runs in the code that the instances share."""
