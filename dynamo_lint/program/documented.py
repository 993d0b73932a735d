"""Whether a reason stands beside what keeps a function out of the graph."""

from __future__ import annotations

import ast
import re

from dynamo_lint.index import ir
from dynamo_lint.program.function_bodies import Bodies
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import FunctionRef

_REASONS = ("eager", "compil", "dynamo", "graph", "trace")
"""Words of a docstring that speaks of why its function is not compiled."""


def is_documented(project: Project, bodies: Bodies, ref: FunctionRef, comment: str) -> bool:
    """Whether a reason stands beside the decorators of a function, or a comment like `comment`."""
    function = project.function(ref)
    for decorator in function.decorators:
        if isinstance(decorator, ir.Call) and any(name == "reason" for name, _ in decorator.keywords):
            return True
    lines = bodies.read_source(ref.path).splitlines()
    if any(re.search(comment, line) for line in lines[max(function.first_line - 2, 0) : function.line]):
        return True
    match bodies.of(ref):
        case [ast.Expr(ast.Constant(str() as text)), *_]:
            return any(word in text.lower() for word in _REASONS)
    return False
