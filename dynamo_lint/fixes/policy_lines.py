"""Suggests other words where a project switches compiling off, hides that it fails, or goes past it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dynamo_lint.findings import Edit, Finding, Fix
from dynamo_lint.fixes.attribute_uses import torch_or_import
from dynamo_lint.fixes.compile_call import compiling, without_keyword
from dynamo_lint.fixes.edit_session import OpenFile, Unclear, Workbench, suggestion
from dynamo_lint.fixes.tensors import Judge

_OFF = {"force_eager": "default"}
"""Texts that switch compiling off, and what to say instead."""
_SWITCHES = frozenset({"disable", "suppress_errors", "TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"})
_COMPILED = "what ran eagerly runs compiled then"
_LATER = "an error or a value that was hidden comes to light then"


def switch_on(finding: Finding, bench: Workbench) -> Fix:
    """The switch the other way round; raises Unclear where it is no literal."""
    file, node = _node(finding, bench)
    edits = list(_turned(file, node))
    if not edits:
        raise Unclear("what switches it off is no literal")
    return suggestion("leave compiling on", edits, _COMPILED)


def show_errors(finding: Finding, bench: Workbench) -> Fix:
    """Errors of the compiler that are raised; raises Unclear where they are caught by an `except`."""
    file, node = _node(finding, bench)
    edits = list(_turned(file, node))
    if not edits:
        raise Unclear("it is no setting of Dynamo")
    return suggestion("let the compiler raise its errors", edits, _LATER)


def call_compiled(finding: Finding, bench: Workbench) -> Fix:
    """A call of the module itself; raises Unclear where it is not called by its method."""
    file, call = bench.call_at(finding.span)
    match call:
        case ast.Call(ast.Attribute(ast.Name(name), "forward"), [first, *rest]) if name[:1].isupper():
            if not isinstance(first, ast.Name | ast.Attribute):
                raise Unclear("the module has no name there")
            given = [file.one_line(one) for one in rest]
            given += [f"{word.arg}={file.one_line(word.value)}" for word in call.keywords if word.arg]
            text = f"{file.text(first)}({', '.join(given)})"
            return suggestion(f"call the module: `{text}`", [file.replace(call, text)], _COMPILED)
        case ast.Call(ast.Attribute(module, "forward")):
            text = file.text(module)
            return suggestion(
                "call the module", [file.replace(call.func, text)], f"{_COMPILED}, and its hooks too"
            )
    statement = file.parents[call]
    match statement:
        case ast.Assign([ast.Name(name)]) if "copies a module" in finding.message and file.alone(statement):
            edit = file.insert_after(statement, f"{name}.compile()")
            return suggestion(f"compile the copy: `{name}.compile()`", [edit], _COMPILED)
    raise Unclear("what is compiled has no name there")


def compile_method(finding: Finding, bench: Workbench) -> Fix:
    """The one method that is called, compiled by itself; raises Unclear where there are several."""
    file, call = bench.call_at(finding.span)
    statement = file.parents[call]
    torch, _ = torch_or_import(file)
    match statement, call:
        case ast.Assign([target]), ast.Call(args=[module]) if isinstance(target, ast.Name) and file.alone(
            statement
        ):
            method = _only_method(file, file.text(target))
            line = f"{target.id}.{method} = {torch}.compile({target.id}.{method})"
            edits = [file.replace(call, file.text(module)), file.insert_after(statement, line)]
        case ast.Expr(), ast.Call(ast.Attribute(module, "compile"), []):
            name = file.text(module)
            method = _only_method(file, name)
            given = "".join(f", {word.arg}={file.text(word.value)}" for word in call.keywords if word.arg)
            line = f"{name}.{method} = {torch}.compile({name}.{method}{given})"
            edits = [file.replace(call, line)]
        case _:
            raise Unclear("the module has no name there")
    return suggestion(f"compile the method: `{line}`", edits, _COMPILED)


def _only_method(file: OpenFile, owner: str) -> str:
    """The one method that is called of a module, as far as the file shows."""
    names = {
        node.func.attr
        for node in file.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and file.text(node.func.value) == owner
        and node.func.attr not in ("compile", "eval", "train", "to", "forward")
    }
    if len(names) != 1:
        raise Unclear("it is not one method that is called")
    return names.pop()


def keep_compiled(finding: Finding, bench: Workbench) -> Fix:
    """The compiled module in place of the module; raises Unclear where it has no name."""
    file, call = bench.call_at(finding.span)
    match call.func:
        case ast.Attribute(ast.Name() | ast.Attribute() as module, "compile") if isinstance(
            file.parents[call], ast.Expr
        ):
            if isinstance(module, ast.Name) and None in Judge(bench, file).bound(module, module.id):
                raise Unclear("a loop gives it its name")
            torch, imports = torch_or_import(file)
            given = [file.text(module), *(file.text(one) for one in call.args)]
            given += [f"{word.arg}={file.text(word.value)}" for word in call.keywords if word.arg]
            text = f"{file.text(module)} = {torch}.compile({', '.join(given)})"
            why = f"{_COMPILED}, and the keys of `state_dict()` begin with `_orig_mod.`"
            return suggestion(f"keep the result: `{text}`", [*imports, file.replace(call, text)], why)
    raise Unclear("the module has no name there")


def any_size(finding: Finding, bench: Workbench) -> Fix:
    """Sizes that become symbols where they change; raises Unclear where nothing literal forbids it."""
    why = "code for any size can be slower than code for one"
    for path in bench.files("word", "automatic_dynamic_shapes"):
        file = bench.open(path)
        edits = [
            edit
            for node in file.nodes
            if isinstance(node, ast.Assign | ast.Call)
            for edit in _settings(file, node, "automatic_dynamic_shapes", False)
        ]
        if edits:
            return suggestion("let sizes become symbols where they change", dict.fromkeys(edits), why)
    file, call = compiling(finding, bench)
    for word in call.keywords if isinstance(call, ast.Call) else ():
        if word.arg == "dynamic" and isinstance(word.value, ast.Constant) and word.value.value is False:
            edit = without_keyword(file, call, word)  # type: ignore[arg-type]
            return suggestion(
                "leave `dynamic=False` out, so that sizes which change become symbols", [edit], why
            )
    raise Unclear("what makes sizes constants is no literal")


def _node(finding: Finding, bench: Workbench) -> tuple[OpenFile, ast.AST]:
    """The node that stands at a finding."""
    file = bench.open(finding.span.path)
    for node in file.by_line.get(finding.span.line, ()):
        if file.span(node).column == finding.span.column:
            return file, node
    raise Unclear("the line cannot be read")


def _turned(file: OpenFile, node: ast.AST) -> Iterator[Edit]:
    """The edits that turn each switch in a node round."""
    for inner in ast.walk(node):
        match inner:
            case ast.Constant(value=str() as word) if word in _OFF:
                yield file.replace(inner, f'"{_OFF[word]}"')
            case ast.Call() | ast.Assign():
                for name in _SWITCHES:
                    yield from _settings(file, inner, name, True)
            case ast.Dict(keys, values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value in _SWITCHES:
                        yield from _opposite(file, value, True)


def _settings(file: OpenFile, node: ast.Call | ast.Assign, name: str, is_now: bool) -> Iterator[Edit]:
    """The edits of a statement or call that gives a setting a literal value."""
    match node:
        case ast.Assign([ast.Attribute(attr=word)], value) if word == name:
            yield from _opposite(file, value, is_now)
        case ast.Assign([ast.Subscript(slice=ast.Constant(word))], value) if word == name:
            yield from _opposite(file, value, is_now)
        case ast.Call(keywords=keywords):
            for keyword in keywords:
                if keyword.arg == name:
                    yield from _opposite(file, keyword.value, is_now)


def _opposite(file: OpenFile, value: ast.expr, is_now: bool) -> Iterator[Edit]:
    """The edit of a literal to its opposite, where it is what it `is_now`."""
    if isinstance(value, ast.Constant) and value.value in (is_now, str(int(is_now))):
        text = repr(not is_now) if isinstance(value.value, bool) else f'"{int(not is_now)}"'
        yield file.replace(value, text)
