"""Functions of the project that it puts in the place of a library's: `F.gelu = fast_gelu`."""

from __future__ import annotations

import sys

from dynamo_lint.index.facts import Attribute, Expr
from dynamo_lint.program.refs import External, Tier
from dynamo_lint.regions.refitting import is_put_back
from dynamo_lint.regions.rehearsals import in_tests
from dynamo_lint.regions.temporary import is_undone
from dynamo_lint.regions.values import EMPTY, Scope, Values, functions_in, union
from dynamo_lint.values.points_to import Evaluation


def called(ev: Evaluation, callee: Expr, scope: Scope) -> Values:
    """What a call may run: of a library's function also what is put in its place, if it is asked for there.

    A name that was bound before, such as `original = F.gelu`, goes on to mean the library's. What is put into
    Python's own modules watches a program, and is not there when it runs for its own sake.
    """
    found = ev.value(callee, scope)
    if not isinstance(callee, Attribute) or not ev.project.stores_of(callee.name):
        return found
    libraries = {v for v in ev.value(callee.value, scope) if isinstance(v, External) and not _is_python_s(v)}
    return union([found, *(_put_there(ev, library, callee.name) for library in libraries)])


def _put_there(ev: Evaluation, library: External, name: str) -> Values:
    project = ev.project
    put = EMPTY
    for where, store in project.stores_of(name):
        if library not in project.symbols(store.owner, where.path, where.key) or in_tests(where.path):
            continue
        if not (is_put_back(project, where, store) or is_undone(project, where, store)):
            put = union([put, functions_in(ev.value(store.value, Scope(where, project.owner(where))))])
    return union([put], Tier.LIKELY)


def _is_python_s(library: External) -> bool:
    return library.dotted.partition(".")[0] in sys.stdlib_module_names
