"""Suggests other options at the call that compiles the code of a finding."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Edit, Finding, Fix, Span
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion
from dynamo_lint.fixes.tensors import Judge
from dynamo_lint.fixes.uses import flow
from dynamo_lint.models.releases import holds
from dynamo_lint.state.model import Kind

_FILTER = "guard_filter_fn"
_SKIPS = "skip_guard_eval_unsafe"


def isolate(finding: Finding, bench: Workbench) -> Fix:
    """A cache of its own for each instance; raises Unclear where torch has none or it is asked for."""
    if not holds("isolated-recompiles", bench.tables.torch_version):
        raise Unclear("this torch compiles all instances of a class into one cache")
    file, call = compiling(finding, bench)
    edit = _with_keyword(file, call, "isolate_recompiles=True")
    why = "each instance is compiled once then, which takes as often the time and the memory"
    return suggestion("compile each instance for itself: `isolate_recompiles=True`", [edit], why)


def symbols_first(finding: Finding, bench: Workbench) -> Fix:
    """Numbers that are symbols from the first call on; raises Unclear where that is decided already."""
    if finding.effect != "once":
        raise Unclear("it is compiled again for each value, whether it is a symbol or not")
    if finding.code == "DYN109" and not _is_number(finding, bench):
        raise Unclear("it may be no number")
    file, call = compiling(finding, bench)
    edit = _with_keyword(file, call, "dynamic=True")
    why = "all sizes and numbers that are passed become symbols, which can cost speed"
    return suggestion("compile for any number from the first call on: `dynamic=True`", [edit], why)


def _is_number(finding: Finding, bench: Workbench) -> bool:
    """Whether what a call passes is a number, by its kind or by the arithmetic that it enters."""
    tables = bench.tables
    kinds = [one.value.kinds for one in tables.passed if f"({one.name})" in finding.subject]
    if any(kinds):
        return frozenset().union(*kinds) <= {Kind.INT, Kind.FLOAT}
    file = bench.open(finding.span.path)
    name = (finding.keys or ("",))[-1].rpartition(".")[2]
    judge = Judge(bench, file, by_use=True, assume=True)
    for node in file.nodes:
        match node:
            case ast.Attribute(attr=word) | ast.Name(id=word) if (
                word == name and node.lineno == finding.span.line
            ):
                try:
                    return bool(flow(judge, node, name, boolean=False).meets)
                except Unclear:
                    return False
    return False


def keep_guards(finding: Finding, bench: Workbench) -> Fix:
    """No filter of guards any more; raises Unclear where what filters them is not in sight."""
    why = "the guard is evaluated again, and the code compiled again where it fails"
    for file, keyword in _keywords(bench, _SKIPS):
        if isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
            edit = file.replace(keyword.value, "False")
            return suggestion("evaluate the guards in every call", [edit], why)
    file, call = compiling(finding, bench)
    if not isinstance(call, ast.Call):
        raise Unclear("the compile call filters no guards")
    options = next((word for word in call.keywords if word.arg == "options"), None)
    if options is None:
        raise Unclear("the compile call filters no guards")
    match options.value:
        case ast.Dict() as entries:
            edit = _without_filter(file, entries) or without_keyword(file, call, options)
        case ast.Name(name):
            scope = file.scope(options.value) or file.tree
            bound = [
                node.value
                for node in ast.walk(scope)
                if isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Dict)
                and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
            ]
            if len(bound) != 1:
                raise Unclear("the options are put together elsewhere")
            edit = _without_filter(file, bound[0]) or file.replace(bound[0], "{}")
        case _:
            raise Unclear("the options are put together elsewhere")
    return suggestion("compile without the filter, so that a changed value is noticed", [edit], why)


def _keywords(bench: Workbench, name: str) -> Iterator[tuple[OpenFile, ast.keyword]]:
    """The keywords of a name in the project."""
    for path in bench.files("word", name):
        file = bench.open(path)
        yield from ((file, node) for node in file.texts.get(name, ()) if isinstance(node, ast.keyword))


def compiling(finding: Finding, bench: Workbench) -> tuple[OpenFile, ast.Call | ast.expr]:
    """The one call, or bare decorator, that compiles the region of a finding."""
    if finding.region is None:
        raise Unclear("several calls compile it")
    path, line = finding.region
    file = bench.open(path)
    calls: list[ast.Call | ast.expr] = []
    for node in file.by_line.get(line, ()):
        match node:
            case ast.Call(func=ast.Attribute(attr="compile") | ast.Name(id="compile")):
                calls.append(node)
            case ast.Attribute(attr="compile") if node in getattr(file.parents[node], "decorator_list", ()):
                calls.append(node)
    if len(calls) != 1:
        raise Unclear("the call that compiles it does not stand in one place")
    return file, calls[0]


def _with_keyword(file: OpenFile, call: ast.Call | ast.expr, text: str) -> Edit:
    """The edit that gives a compile call one more keyword."""
    if not isinstance(call, ast.Call):
        return file.replace(call, f"{file.text(call)}({text})")
    name = text.partition("=")[0]
    if any(word.arg in (name, None) for word in call.keywords):
        raise Unclear(f"the compile call says `{name}` already, or may")
    span = file.span(call)
    last = _last_argument(file, call)
    if last is None:
        end = Span(file.path, span.end_line, span.end_column - 1, span.end_line, span.end_column - 1)
        return Edit(end, text)
    return Edit(Span(file.path, *last, *last), f", {text}")


def _last_argument(file: OpenFile, call: ast.Call) -> tuple[int, int] | None:
    """The end of the last argument of a call."""
    values = [*call.args, *(word.value for word in call.keywords)]
    ends = [(span.end_line, span.end_column) for span in map(file.span, values)]
    return max(ends, default=None)


def without_keyword(file: OpenFile, call: ast.Call, keyword: ast.keyword) -> Edit:
    """The edit that takes a keyword out of a call."""
    end = file.span(keyword.value)
    before = [*call.args, *(word.value for word in call.keywords if word is not keyword)]
    starts = [
        (span.end_line, span.end_column)
        for span in map(file.span, before)
        if (span.end_line, span.end_column) < (end.line, end.column)
    ]
    if not starts:
        whole, func = file.span(call), file.span(call.func)
        if len(call.keywords) > 1:
            raise Unclear("other options follow the filter")
        tail = Span(file.path, func.end_line, func.end_column, whole.end_line, whole.end_column)
        return Edit(tail, "()")
    return Edit(Span(file.path, *max(starts), end.end_line, end.end_column), "")


def _without_filter(file: OpenFile, entries: ast.Dict) -> Edit | None:
    """The edit that takes the filter out of a dict of options; None where nothing else is in it."""
    keys = [key.value if isinstance(key, ast.Constant) else None for key in entries.keys]
    if _FILTER not in keys:
        raise Unclear("the options have no filter of guards")
    if len(keys) == 1:
        return None
    number = keys.index(_FILTER)
    value = file.span(entries.values[number])
    key = entries.keys[number]
    if number:
        start = file.span(entries.values[number - 1])
        return Edit(Span(file.path, start.end_line, start.end_column, value.end_line, value.end_column), "")
    after = entries.keys[1]
    if key is None or after is None:
        raise Unclear("the options are put together elsewhere")
    start, end = file.span(key), file.span(after)
    return Edit(Span(file.path, start.line, start.column, end.line, end.column), "")
