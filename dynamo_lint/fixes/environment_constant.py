"""A read of the environment moves out of compiled code: into `__init__`, or to the top of the file."""

from __future__ import annotations

import ast
import re

from dynamo_lint.findings import Finding, Fix
from dynamo_lint.fixes.attribute_uses import check_parents_first, init_of
from dynamo_lint.fixes.edit_session import FUNCTIONS, OpenFile, Unclear, Workbench, fix_of

CONVERSIONS = frozenset({"int", "float", "bool", "str"})
TEXT_METHODS = frozenset({"lower", "upper", "strip", "startswith", "endswith", "split", "casefold"})
WRITERS = frozenset({"setdefault", "pop", "putenv", "unsetenv", "setenv", "delenv", "update", "dict"})
CONDITIONAL = (ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.For, ast.While, ast.Match)


def fix(finding: Finding, bench: Workbench) -> Fix:
    """The edits that read the variable once; raises Unclear where that would be another program."""
    file = bench.open(finding.span.path)
    node = _node(file, finding)
    key = _key(file, node)
    _check_never_set(bench, key)
    whole = _largest(file, node)
    if _may_raise(node, whole) and any(isinstance(a, CONDITIONAL) for a in _until_function(file, whole)):
        raise Unclear("it is read under a condition, and fails where the variable is not set")
    value = file.one_line(whole)
    try:
        return _on_the_instance(bench, file, whole, key, value)
    except Unclear:
        return _at_the_top(bench, file, whole, key, value)


def _on_the_instance(bench: Workbench, file: OpenFile, whole: ast.expr, key: str, value: str) -> Fix:
    where = file.reference(whole)
    owner, self_name = bench.tables.project.owner(where), bench.tables.project.self_name(where)
    if owner is None or self_name is None or file.scope(whole) is None:
        raise Unclear("there is no object to keep it on")
    if bench.tables.project.method_kind(where) in {"staticmethod", "classmethod"}:
        raise Unclear("it is read without an instance")
    init = init_of(bench, owner)
    if init.node in {*file.above(whole)}:
        raise Unclear("it already is read there")
    own = init.me
    name, known = _name(bench, file, f"_{_plain(key)}", value, f"{own}.")
    check_parents_first(bench, owner, name)
    line = f"{own}.{name} = {value}"
    what = "module" if bench.tables.project.is_module(owner) else "object"
    note = f"# Read once: a change of {key} needs a new {what}."
    edits = [file.replace(whole, f"{self_name}.{name}")]
    if not known:
        edits.insert(0, file.insert_after(init.parent_call, f"{note}\n{file.indent(init.parent_call)}{line}"))
    message = f"read it once, in `__init__` (`{line}`)"
    return fix_of(message, edits, f"only new objects see a change of {key}")


def _at_the_top(bench: Workbench, file: OpenFile, whole: ast.expr, key: str, value: str) -> Fix:
    name, known = _name(bench, file, f"_{_plain(key).upper()}", value)
    imports = [s for s in file.tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    scopes = [s for s in file.tree.body if isinstance(s, (ast.ClassDef, *FUNCTIONS))]
    header = [s for s in imports if not scopes or s.lineno < scopes[0].lineno]
    if not header or not file.alone(header[-1]):
        raise Unclear("the file has no imports to put it below")
    note = f"# Read once: a change of {key} needs a new process."
    edits = [file.replace(whole, name)]
    if not known:
        edits.insert(0, file.insert_after(header[-1], f"\n{note}\n{name} = {value}"))
    message = f"read it once, at import (`{name} = {value}`)"
    return fix_of(message, edits, f"only a new process sees a change of {key}")


def _node(file: OpenFile, finding: Finding) -> ast.expr:
    """The expression that the finding underlines."""
    for node in file.by_line.get(finding.span.line, ()):
        if isinstance(node, ast.Call | ast.Subscript | ast.Compare) and file.span(node) == finding.span:
            return node
    raise Unclear("it is not a plain read")


def _key(file: OpenFile, node: ast.expr) -> str:
    """The name of the variable; everything else the read mentions must be constant."""
    match node:
        case ast.Subscript(value=environ, slice=key) | ast.Compare(left=key, comparators=[environ]):
            others: list[ast.expr] = []
        case ast.Call(func=environ, args=[key, *others], keywords=[]):
            pass
        case _:
            raise Unclear("it is not a plain read")
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        raise Unclear("which variable it reads is computed")
    if not all(isinstance(other, ast.Constant) for other in others):
        raise Unclear("its default is computed")
    root = environ
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or not _is_global(file, root.id):
        raise Unclear("os is imported locally")
    return key.value


def _is_global(file: OpenFile, name: str) -> bool:
    return any(
        (alias.asname or alias.name.split(".")[0]) == name
        for statement in file.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for alias in statement.names
    )


def _check_never_set(bench: Workbench, key: str) -> None:
    """Refuse a variable that the project itself changes: reading it once would be another program."""
    for path in bench.files("text", key):
        other = bench.open(path)
        for node in other.texts.get(key, ()):
            if isinstance(node, ast.keyword):
                raise Unclear(f"{path}:{node.value.lineno} may change it")
            if _may_set(other, node):
                raise Unclear(f"{path}:{node.lineno} may change it")


def _may_set(file: OpenFile, node: ast.Constant) -> bool:
    match file.parents[node]:
        case ast.Subscript(value=owner, ctx=context):
            return not isinstance(context, ast.Load) and _is_environment(file, owner)
        case ast.Compare():
            return False
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name in WRITERS
        case ast.Dict() as holder:
            # `os.environ.update({...})`, `patch.dict(os.environ, {...})`, `Popen(env={...})`
            return any("env" in file.text(a) for a in file.above(holder) if isinstance(a, ast.Call))
        case ast.Expr():
            return False
    return True


def _is_environment(file: OpenFile, owner: ast.expr) -> bool:
    """`os.environ`, or a name that stands for it."""
    if "environ" in file.text(owner):
        return True
    return isinstance(owner, ast.Name) and any(
        isinstance(node, ast.Assign) and any(_is(target, owner.id) for target in node.targets)
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Assign) and file.text(node.value).endswith("environ")
    )


def _is(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _largest(file: OpenFile, node: ast.expr) -> ast.expr:
    """The largest expression around the read that depends on nothing else."""
    for above in file.above(node):
        match above:
            case ast.Call(func=ast.Name(id=name), args=[inner], keywords=[]) if inner is node:
                plain = name in CONVERSIONS
            case ast.Attribute(attr=attr):
                plain = attr in TEXT_METHODS
            case ast.Call(func=ast.Attribute() as func, args=args, keywords=[]) if func is node:
                plain = all(isinstance(argument, ast.Constant) for argument in args)
            case ast.Compare(left=left, comparators=others):
                plain = all(one is node or _is_literal(one) for one in (left, *others))
            case ast.BoolOp(values=values):
                plain = all(one is node or _is_literal(one) for one in values)
            case ast.UnaryOp(op=ast.Not()):
                plain = True
            case _:
                plain = False
        if not plain or not isinstance(above, ast.expr):
            break
        node = above
    # A bound method is no value to keep.
    return node.value if isinstance(node, ast.Attribute) else node


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _may_raise(node: ast.expr, whole: ast.expr) -> bool:
    """It fails where the variable is not set."""
    if isinstance(node, ast.Subscript):
        return True
    return (
        isinstance(node, ast.Call)
        and len(node.args) == 1
        and whole is not node
        and not isinstance(whole, ast.Compare)
    )


def _until_function(file: OpenFile, node: ast.expr) -> list[ast.AST]:
    found: list[ast.AST] = []
    for above in file.above(node):
        if isinstance(above, FUNCTIONS):
            break
        found.append(above)
    return found


def _name(bench: Workbench, file: OpenFile, wish: str, value: str, owner: str = "") -> tuple[str, bool]:
    """A free name for the value, or the one that already holds it."""
    for name in (wish, wish + ("_env" if owner else "_ENV")):
        if any(line.strip() == f"{owner}{name} = {value}" for line in file.lines):
            return name, True
        if not bench.files("word", name):
            return name, False
    raise Unclear("no name is free")


def _plain(key: str) -> str:
    return re.sub(r"\W+", "_", key).strip("_").lower()
