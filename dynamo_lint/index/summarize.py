"""One pass over one file: source bytes in, `FileFacts` out. The tree does not survive it."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.conditions import (
    exceeds,
    exits,
    judgement,
    last_line,
    set_either_way,
    truth_when_compiling,
)
from dynamo_lint.index.decoding import decode
from dynamo_lint.index.ir import MODULE_KEY, UNKNOWN, Class, Expr, FileFacts, Function, Import
from dynamo_lint.index.lower import ExpressionLowering, terminal_name
from dynamo_lint.index.markers import find_markers
from dynamo_lint.index.modules import is_script
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.index.process_tests import tells_ranks
from dynamo_lint.index.scopes import ClassScope, FunctionScope, unused

_COMPILES = re.compile(r"\bcompile\b")
_TERM = re.compile(r"^# contract: (.+?)\s*$", re.MULTILINE)
_TRIED = re.compile(r"\b(AttributeError|Exception)\b")
"""Errors by whose handling code asks whether torch has something."""
_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def summarize(
    path: str, module: str, is_package: bool, source: bytes, region_comment: str | None = None
) -> FileFacts:
    """The facts of one file.

    `path` is POSIX and relative to the linted root, `module` the dotted name others import it by, and
    `region_comment` a project's own comment text that marks a region. A file that cannot be decoded or
    parsed yields facts with `error` set; nothing is raised.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "invalid escape sequence" is not our business
            tree = ast.parse(source)
        text = decode(source)
        reader = _Reader(tells_ranks(text))
        functions, classes, stars = reader.read_file(tree)
        markers = find_markers(text, region_comment, reader.bodies)
    except SyntaxError as error:
        from dynamo_lint.index.newer_syntax import needed  # with libcst, which only such a file needs

        line, column = error.lineno or 1, max(error.offset or 1, 1)
        needs = needed(source, line)
        if needs is None:
            what = error.msg or "invalid syntax"
            return FileFacts(path, module, is_package, error=(line, what), error_column=column)
        wanted, running = (".".join(map(str, version)) for version in (needs, sys.version_info[:2]))
        why = f"it needs Python {wanted}, and dynamo-lint runs under Python {running}"
        return FileFacts(path, module, is_package, error=(line, why), error_column=column, needs=needs)
    except (UnicodeDecodeError, ValueError) as error:
        return FileFacts(path, module, is_package, error=(1, f"cannot be decoded: {error}"))
    except (RecursionError, MemoryError):
        return FileFacts(path, module, is_package, error=(1, "is nested too deeply to be read"))
    except tokenize.TokenError as error:
        return FileFacts(path, module, is_package, error=(1, str(error.args[0])))
    script = is_notebook(path) or is_script(tree)
    compiles = "compile" in text and _COMPILES.search(text) is not None
    return FileFacts(
        path,
        module,
        is_package,
        script,
        functions,
        classes,
        stars,
        markers,
        compiles=compiles,
        terms=_terms(text, tree) if "# contract:" in text else (),
        unwraps=any(name in text for name in _HELD),
    )


def _terms(text: str, tree: ast.Module) -> tuple[str, ...]:
    """The comments `# contract: key = value` before the first statement that is no docstring."""
    first = next((one.lineno for one in tree.body if not isinstance(one, ast.Expr)), text.count("\n") + 1)
    return tuple(_TERM.findall("\n".join(text.split("\n")[: first - 1])))


_HELD = knowledge.in_order("holds_compiled")


class _Reader:
    """Walks the statements of one file with a stack of open scopes."""

    def __init__(self, ranks: bool | None) -> None:
        self._ranks = ranks
        self.functions: dict[str, FunctionScope] = {}
        self.classes: dict[str, ClassScope] = {}
        self.stars: list[Import] = []
        self.bodies: list[tuple[Function | Class, ast.stmt]] = []
        self._opened: list[tuple[str, ast.stmt]] = []
        self._environment: set[str] = set()
        self._expressions = ExpressionLowering(self._define_lambda, self._environment)
        self._class: ClassScope | None = None

    def read_file(self, tree: ast.Module) -> tuple[dict[str, Function], dict[str, Class], tuple[Import, ...]]:
        end = max(1, last_line(tree.body))
        module = FunctionScope(MODULE_KEY, MODULE_KEY, 1, 1, end, ranks=self._ranks)
        self.functions[MODULE_KEY] = self._scope = self._expressions.scope = module
        try:
            self._block(tree.body)
        finally:
            # These two know each other: without this cut the tree would live on, for nobody looks for cycles.
            del self._expressions
        functions = {key: scope.finish() for key, scope in self.functions.items()}
        classes = {key: scope.finish() for key, scope in self.classes.items()}
        for key, first in self._opened:
            self.bodies.append((functions.get(key) or classes[key], first))
        return functions, classes, tuple(self.stars)

    # --- statements -------------------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt]) -> None:
        scope, mark = self._scope, self._scope.mark()
        for position, statement in enumerate(body):
            _STATEMENTS.get(statement.__class__, _Reader._other)(self, statement)
            if isinstance(statement, ast.Assert):
                self._expressions.establish(statement.test)
            if not isinstance(statement, ast.If):
                continue
            if not statement.orelse and exits(statement.body):
                self._expressions.establish(statement.test, holds=False)
                scope.passed.append(statement)
                scope.note_flags(statement.test, body[position + 1 :], holds=False)
                scope.note_process_test(statement.test, body[position + 1 :], statement.body, holds=False)
            if not scope.eager and self._leaves_when_compiling(statement):
                rest = body[position + 1 :]
                scope.eager = True
                if rest:
                    scope.eager_lines.append((rest[0].lineno, last_line(rest)))
        scope.back_to(mark)

    def _leaves_when_compiling(self, statement: ast.If) -> bool:
        truth = truth_when_compiling(statement.test, self._scope.aliases)
        return truth is not None and exits(statement.body if truth else statement.orelse)

    def _expression(self, node: ast.Expr) -> None:
        self._scope.dropped(self._expressions.read(node.value))

    def _assign(self, node: ast.Assign) -> None:
        self._scope.note_alias(node.targets, node.value)
        result = self._expressions.read(node.value)
        for target in node.targets:
            self._bind(target, result)
        self._scope.note_rank(node.targets, node.value)
        self._scope.note_answer(node.targets, node.value)

    def _return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._scope.gives(self._expressions.read(node.value), node.lineno)

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        iterable = self._expressions.read(node.iter)
        self._expressions.bind_target(node.target, ir.Element(iterable))
        self._loop(iterable, node.body, node.orelse)

    def _while(self, node: ast.While) -> None:
        self._expressions.read(node.test)
        self._loop(UNKNOWN, node.body, node.orelse)

    def _outer_names(self, node: ast.Global | ast.Nonlocal) -> None:
        self._scope.globals.update(node.names)

    def _other(self, node: ast.AST) -> None:
        """`assert`, `raise`, `del`, and statements newer than this code."""
        if node.__class__.__name__ == "TryStar":  # except*, Python 3.11
            self._try(node)  # type: ignore[arg-type]
            return
        match node:
            case ast.Raise(exc=ast.Name("NotImplementedError") as name):  # as good as a call of it
                node.exc = ast.copy_location(ast.Call(name, [], []), name)
            case ast.Delete(targets):
                for target in targets:
                    if (
                        isinstance(target, ast.Subscript)
                        and terminal_name(self._expressions.read(target.value)) == "environ"
                    ):
                        remove = ir.Attribute(self._expressions.read(target.value), "__delitem__")
                        call = ir.Call(remove, (self._expressions.read(target.slice),), line=node.lineno)
                        self._scope.calls.append(ir.CallSite(call, self._scope.eager))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expressions.read(child)

    def _try(self, node: ast.Try) -> None:
        for handler in node.handlers if self._ranks is not None else ():
            if handler.type is None or _TRIED.search(ast.unparse(handler.type)):
                row = node.body[0].lineno, last_line(node.body), "version", "try", True
                self._scope.process_tests.append(row)
        self._block(node.body)
        for handler in node.handlers:
            self._expressions.read(handler.type)
            self._scope.branch_lines.append((handler.lineno, last_line(handler.body)))
            self._block(handler.body)
        self._block(node.orelse)
        self._block(node.finalbody)

    def _loop(self, iterable: Expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        self._scope.loops.append(iterable)
        self._scope.loop_lines.append((body[0].lineno, last_line(body)))
        self._block(body)
        self._scope.loops.pop()
        self._block(orelse)

    def _if(self, node: ast.If) -> None:
        scope, depth = self._scope, len(self._scope.conditions)
        outer_eager, known = scope.eager, len(scope.narrowed)
        arms, bound = [], len(scope.bindings)
        inside = any(first <= node.lineno <= last for first, last in scope.branch_lines)
        leaves = not (inside or scope.loops)
        while True:  # a loop, not recursion: `elif` chains can be long
            arms.append(node.body[0].lineno)
            self._expressions.read(node.test)
            scope.note_flags(node.test, node.body, holds=True)
            scope.note_flags(node.test, node.orelse, holds=False)
            scope.note_process_test(node.test, node.body, node.orelse, holds=True)
            scope.note_process_test(node.test, node.orelse, node.body, holds=False)
            truth = truth_when_compiling(node.test, scope.aliases)
            scope.conditions.append((node.test, True))
            before = len(scope.narrowed)
            self._expressions.establish(node.test)
            leaves = leaves and isinstance(node.body[-1], ast.Return | ast.Raise)
            scope.note_strings(node.test, node.body, node.orelse, leaves=leaves)
            if leaves and exceeds(node.test):
                scope.note_enough(node.test, node.body)
            self._branch(node.body, eager=truth is False)
            scope.note_leaving(node.body)
            del scope.narrowed[before:]
            scope.conditions[-1] = node.test, False
            self._expressions.establish(node.test, holds=False)
            if truth is True:
                scope.eager = True
                if node.orelse and not outer_eager:
                    scope.eager_lines.append((node.orelse[0].lineno, last_line(node.orelse)))
            match node.orelse:
                case [ast.If() as node]:
                    continue
                case orelse:
                    if orelse:
                        arms.append(orelse[0].lineno)
                        scope.branch_lines.append((orelse[0].lineno, last_line(orelse)))
                    self._block(orelse)
                    scope.note_leaving(orelse)
            break
        if len(arms) > 1 and len(scope.bindings) > bound and not scope.loops:
            scope.arms.append((*arms, last_line(orelse or node.body)))
        scope.eager = outer_eager
        del scope.conditions[depth:]
        del scope.narrowed[known:]

    def _branch(self, body: list[ast.stmt], *, eager: bool) -> None:
        scope, before = self._scope, self._scope.eager
        scope.branch_lines.append((body[0].lineno, last_line(body)))
        if eager and not before:
            scope.eager_lines.append(scope.branch_lines[-1])
        scope.eager = before or eager
        self._block(body)
        scope.eager = before

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        scope, before = self._scope, self._scope.context
        for item in node.items:
            manager = self._expressions.read(item.context_expr)
            for method in ("__enter__", "__exit__"):
                call = ir.Call(ir.Attribute(manager, method), line=node.lineno)
                scope.calls.append(ir.CallSite(call, scope.eager))
            if item.optional_vars is not None:
                self._expressions.bind_target(item.optional_vars, manager)
            name = terminal_name(manager) or ""
            if "compile" in name:
                scope.context = manager
            if name.startswith("patch"):
                scope.patched.append((node.lineno, last_line(node.body), manager))
        self._block(node.body)
        scope.context = before

    def _match(self, node: ast.Match) -> None:
        subject = self._expressions.read(node.subject)
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchAs) and pattern.name:
                    self._scope.bindings.append(ir.Binding(pattern.name, subject, pattern.lineno))
            self._expressions.read(case.guard)
            self._block(case.body)

    # --- assignments ------------------------------------------------------------------------------------

    def _bind(self, target: ast.expr, value: Expr, augmented: bool = False) -> None:
        if self._class is not None and isinstance(target, ast.Name):
            self._class.bindings.append(ir.Binding(target.id, value, target.lineno))
        else:
            self._expressions.bind_target(target, value, augmented)

    def _annotated(self, node: ast.AnnAssign) -> None:
        annotation = self._expressions.annotation(node.annotation) or UNKNOWN
        if self._class is not None and isinstance(node.target, ast.Name):
            self._class.annotations.append((node.target.id, annotation))
            if node.value is not None:
                self._bind(node.target, self._expressions.read(node.value))
            return
        self._expressions.bind_target(node.target, ir.Typed(annotation))
        if node.value is not None:
            self._expressions.bind_target(node.target, self._expressions.read(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        """`x += …`: the old value stays possible, and a display adds its items."""
        target, value = node.target, self._expressions.read(node.value)
        if isinstance(target, ast.Name):
            self._bind(target, value if isinstance(value, ir.Display) else UNKNOWN, augmented=True)
            return
        owner = self._expressions.read(target)
        if isinstance(owner, ir.Attribute) and not self._scope.eager:
            self._scope.loads[owner] = None
        self._expressions.bind_target(target, UNKNOWN, augmented=True)
        if isinstance(value, ir.Display):
            item = ir.Element(value)
            self._scope.stores.append(ir.Store(owner, ir.ITEM, item, target.lineno))

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
                target = ir.Import(alias.name if alias.asname else bound)
                if not alias.asname and bound != alias.name:
                    self._scope.submodules.append((alias.name, node.lineno))
            else:
                bound = alias.asname or alias.name
                target = ir.Import(node.module or "", alias.name, node.level)
                if alias.name == "*":
                    self.stars.append(target)
                    continue
                if node.module == "os" and alias.name in ("environ", "getenv"):
                    self._environment.add(bound)
            where = self._class.bindings if self._class is not None else self._scope.bindings
            where.append(ir.Binding(bound, target, node.lineno))

    # --- definitions ------------------------------------------------------------------------------------

    def _function(self, node: _FunctionNode) -> None:
        decorators = tuple(self._expressions.read(decorator) for decorator in node.decorator_list)
        role = next((d.name for d in decorators if isinstance(d, ir.Attribute)), None)
        suffix = f"@{role}" if role in ("setter", "deleter") else ""
        scope = self._open(node, node.name, suffix, decorators)
        if not suffix:  # a property is found through its getter
            self._bind(ast.Name(node.name, ast.Store(), lineno=node.lineno), ir.Definition(scope.key))
        scope.parameters = self._parameters(node.args)
        scope.annotation = self._expressions.annotation(node.returns)
        self._opened.append((scope.key, node.body[0]))
        self._inside(scope, lambda: self._block(node.body))

    def _define_lambda(self, node: ast.Lambda) -> str:
        scope = self._open(node, "<lambda>", "", ())
        scope.parameters = self._parameters(node.args)
        self._inside(scope, lambda: scope.gives(self._expressions.read(node.body), node.lineno))
        return scope.key

    def _open(
        self, node: _FunctionNode | ast.Lambda, name: str, suffix: str, decorators: tuple[Expr, ...]
    ) -> FunctionScope:
        qualname = self._qualname(name)
        key = unused(qualname + suffix, self.functions)
        lines = [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]
        scope = FunctionScope(
            key,
            qualname,
            node.lineno,
            min(lines),
            node.end_lineno or node.lineno,
            owner=self._class.key if self._class is not None else None,
            outer=self._scope.key,
            decorators=decorators,
            judgement=judgement(node),
            set_either_way=set_either_way(node),
            ranks=self._ranks,
        )
        self.functions[key] = scope
        return scope

    def _inside(self, scope: FunctionScope, walk: Callable[[], None]) -> None:
        before, before_class = self._scope, self._class
        scope.eager = before.eager
        self._scope = self._expressions.scope = scope
        self._class = None
        walk()
        self._scope = self._expressions.scope = before
        self._class = before_class

    def _class_definition(self, node: ast.ClassDef) -> None:
        read = self._expressions.read
        qualname = self._qualname(node.name)
        scope = ClassScope(
            unused(qualname, self.classes),
            qualname,
            node.lineno,
            min([node.lineno, *(d.lineno for d in node.decorator_list)]),
            node.end_lineno or node.lineno,
            self._scope.key,
            tuple(read(base) for base in node.bases),
            tuple(read(decorator) for decorator in node.decorator_list),
        )
        self._bind(ast.Name(node.name, ast.Store(), lineno=node.lineno), ir.Definition(scope.key))
        self.classes[scope.key] = scope
        self._opened.append((scope.key, node.body[0]))
        before, self._class = self._class, scope
        self._block(node.body)
        self._class = before

    def _parameters(self, arguments: ast.arguments) -> tuple[ir.Parameter, ...]:
        """Parameters in call order; annotations and defaults are read in the enclosing scope."""
        read, annotation = self._expressions.read, self._expressions.annotation
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
        defaults += arguments.defaults

        def parameter(arg: ast.arg, kind: str, default: ast.expr | None) -> ir.Parameter:
            given = annotation(arg.annotation)
            return ir.Parameter(arg.arg, kind, given, read(default) if default else None)

        found = [parameter(arg, "positional", d) for arg, d in zip(positional, defaults, strict=True)]
        if arguments.vararg:
            found.append(ir.Parameter(arguments.vararg.arg, "vararg"))
        by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        found += [parameter(arg, "keyword", default) for arg, default in by_name]
        if arguments.kwarg:
            found.append(ir.Parameter(arguments.kwarg.arg, "kwarg"))
        return tuple(found)

    def _qualname(self, name: str) -> str:
        if self._class is not None:
            return f"{self._class.qualname}.{name}"
        return name if self._scope.key == MODULE_KEY else f"{self._scope.qualname}.<locals>.{name}"


_STATEMENTS: dict[type[ast.AST], Callable[[_Reader, Any], None]] = {
    ast.Expr: _Reader._expression,
    ast.Assign: _Reader._assign,
    ast.AnnAssign: _Reader._annotated,
    ast.AugAssign: _Reader._augmented,
    ast.Return: _Reader._return,
    ast.If: _Reader._if,
    ast.For: _Reader._for,
    ast.AsyncFor: _Reader._for,
    ast.While: _Reader._while,
    ast.With: _Reader._with,
    ast.AsyncWith: _Reader._with,
    ast.Try: _Reader._try,
    ast.FunctionDef: _Reader._function,
    ast.AsyncFunctionDef: _Reader._function,
    ast.ClassDef: _Reader._class_definition,
    ast.Import: _Reader._import,
    ast.ImportFrom: _Reader._import,
    ast.Global: _Reader._outer_names,
    ast.Nonlocal: _Reader._outer_names,
    ast.Match: _Reader._match,
}
