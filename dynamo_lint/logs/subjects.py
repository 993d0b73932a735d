"""Reads what a finding is about: `MoE._overflow_total`, `COUNT`, `os.environ["MODE"]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

ENVIRONMENT = re.compile(r"""os\.environ\[(['"])(?P<name>.*)\1\]$""")
ARGUMENT = re.compile(r"(?P<function>[\w.<>]+)\((?P<name>\w+)\)$")
ATTRIBUTE = re.compile(r"(?:(?P<owner>\w+)\.)?(?P<name>\w+)(?P<inside>(?:\[.*\])?)$")


@dataclass(frozen=True, slots=True)
class Subject:
    """A piece of state by the names that code uses for it."""

    text: str
    owner: str
    """Bare name of the class; empty for a global, a closure, an argument or the environment."""
    attribute: str
    inside: str = ""
    environment: bool = False
    argument: bool = False
    """`owner` is a function then, by its qualified name."""


def read_subject(text: str) -> Subject | None:
    """The state that a finding's subject names; None where it is an expression or a call."""
    if match := ENVIRONMENT.match(text):
        return Subject(text, "", match["name"], environment=True)
    if match := ARGUMENT.match(text):
        return Subject(text, match["function"], match["name"], argument=True)
    if match := ATTRIBUTE.match(text):
        return Subject(text, match["owner"] or "", match["name"], match["inside"])
    return None
