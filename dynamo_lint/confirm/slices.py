"""Program slices: the statements that make the value of an expression, cut out of the code around it.

A name is replaced by a local of the probe: what the function last assigned to it, what a caller passes for
it, or its default. What a file, the network or the command line decides is a `Gap`, which says so.
"""

from __future__ import annotations

import ast
import builtins
import copy
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, fields
from keyword import iskeyword
from pathlib import PurePosixPath

from dynamo_lint.confirm.model import ACCELERATORS
from dynamo_lint.dataclass import dataclass
from dynamo_lint.heuristics.plain_values import plain_value, smaller_sizes
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, CallSite, Function
from dynamo_lint.index.notebooks import is_notebook
from dynamo_lint.program.files import is_rehearsal
from dynamo_lint.program.hierarchy import subclasses
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.sources import Sources
from dynamo_lint.values.model import Context, FunctionValue, Instance
from dynamo_lint.values.points_to import glimpse, points_to_of

DEEPEST = 24
"""Names that one value may go through."""
MOST_BELOW = 4
"""Classes below one that cannot be made, of which an object is made instead."""
CALLERS = 6
"""Calls that are tried for the value of a parameter."""

OUTSIDE = {
    "open": "a file",
    "load": "a file",
    "safe_load": "a file",
    "load_file": "a file",
    "read_text": "a file",
    "read_bytes": "a file",
    "read_csv": "a file",
    "from_pretrained": "published weights",
    "load_dataset": "a data set",
    "hf_hub_download": "the network",
    "snapshot_download": "the network",
    "load_state_dict_from_url": "the network",
    "urlopen": "the network",
    "urlretrieve": "the network",
    "input": "the terminal",
    "parse_args": "the command line",
    "parse_known_args": "the command line",
}
"""The last names of calls whose value is not in the program, and where it is."""

_PLACES = ("device", "map_location")

RESERVED = (
    "torch",
    "at",
    "smaller",
    "guessed_input",
    "inputs",
    "call",
    "turn",
    "training",
    "arguments",
    "options",
)
"""Names that the text around the statements uses."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Body = ast.Module | Definition


class Gap(Exception):
    """A value that the program does not show; the text says which, and why."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: a function, its line, and the object that its `self` is."""

    function: FunctionRef
    line: int
    receiver: str = ""
    """The local of the probe that holds it."""


@dataclass(slots=True)
class Program:
    """The syntax of a project's files, read when it is asked for."""

    project: Project
    sources: Sources
    _trees: dict[str, ast.Module] = field(default_factory=dict)
    _bodies: dict[FunctionRef, Body | None] = field(default_factory=dict)
    _options: dict[str, ast.expr] | None = None
    _values_called: dict[FunctionRef, list[tuple[FunctionRef, CallSite]]] | None = None

    def tree(self, path: str) -> ast.Module:
        """The syntax tree of a file."""
        if path not in self._trees:
            try:
                self._trees[path] = ast.parse(self.sources.text(path))
            except (OSError, SyntaxError, ValueError, RecursionError):
                self._trees[path] = ast.Module([], [])
        return self._trees[path]

    def body(self, ref: FunctionRef) -> Body | None:
        """The definition of a function, or the file for its top level; None for a lambda."""
        if ref.key == MODULE_KEY:
            return self.tree(ref.path)
        if ref not in self._bodies:
            function = self.project.function(ref)
            nodes = (node for node in ast.walk(self.tree(ref.path)) if isinstance(node, Definition))
            self._bodies[ref] = next((node for node in nodes if node.lineno == function.line), None)
        return self._bodies[ref]

    def calls(self, path: str, line: int, last: str = "") -> list[ast.Call]:
        """The calls that begin on a line, or whose callee ends there, by the last part of its name."""
        return [
            node
            for node in ast.walk(self.tree(path))
            if isinstance(node, ast.Call)
            and line in (node.lineno, node.func.end_lineno)
            and last in ("", last_name(node.func))
        ]

    def call_of(self, path: str, site: CallSite) -> ast.Call | None:
        """The syntax of a call in the IR."""
        fits = [
            node
            for node in self.calls(path, site.call.line)
            if len(node.args) == len(site.call.arguments) and len(node.keywords) == len(site.call.keywords)
        ]
        name = getattr(site.call.function, "name", getattr(site.call.function, "id", ""))
        named = [node for node in fits if last_name(node.func) == name]
        return next(iter(named or fits), None)

    def calls_of_values(self, ref: FunctionRef) -> list[tuple[FunctionRef, CallSite]]:
        """The calls that run a function by calling a module, or a variable that holds the function."""
        if self._values_called is None:
            self._values_called = {}
            for where in self.project.functions():
                for site in self.project.function(where).calls:
                    for called in self._run_by(where, site):
                        self._values_called.setdefault(called, []).append((where, site))
        return self._values_called.get(ref, [])

    def _run_by(self, where: FunctionRef, site: CallSite) -> Iterator[FunctionRef]:
        callee = site.call.function
        if self.project.symbols(callee, where.path, where.key):
            return
        for value in glimpse(self.project, callee, Context(where, self.project.owner(where))):
            match value:
                case Instance(ref) if self.project.is_module(ref):
                    forward = self.project.method(ref, "forward")
                    if forward is not None:
                        yield forward
                case FunctionValue(ref):
                    yield ref

    def option(self, name: str) -> ast.expr | None:
        """The default of an option of the command line: `add_argument("--dim", default=64)`."""
        if self._options is None:
            self._options = {}
            for path in self.project.files:
                if not is_notebook(path) and "add_argument" in self.sources.text(path):
                    self._options |= dict(_options(self.tree(path)))
        return self._options.get(name)


def _options(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) == "add_argument":
            given = {one.arg: one.value for one in node.keywords}
            flags = [one.value for one in node.args if isinstance(one, ast.Constant)]
            long = [str(one).lstrip("-").replace("-", "_") for one in flags if str(one).startswith("--")]
            match given:
                case {"dest": ast.Constant(str(name))}:
                    long = [name]
            match given.get("action"):
                case ast.Constant("store_true" | "store_false" as action):
                    default: ast.expr = ast.Constant(action == "store_false")
                case _:
                    default = given.get("default", ast.Constant(None))
            for name in long:
                yield name, default


def last_name(node: ast.expr) -> str:
    """`c` of `a.b.c`."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def dotted(node: ast.expr) -> str:
    """`a.b.c`, or nothing for another expression."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name) if dotted(value):
            return f"{dotted(value)}.{name}"
    return ""


@dataclass(slots=True)
class Slicer:
    """Collects the statements of one probe."""

    program: Program
    statements: list[str] = field(default_factory=list)
    imports: dict[str, None] = field(default_factory=dict)
    ways: dict[str, None] = field(default_factory=dict)
    """Folders, relative to the project's root, that the modules are imported from."""
    small: bool = False
    """Configurations are made with smaller sizes than they have by default."""
    skipped: int = 0
    """How many constructions of the first class that is asked for are passed over."""
    switch: str = ""
    """The argument that turns something on in an object of that class, if it is made by its defaults."""
    turn: str = "0"
    """Which turn of the loops around an expression is meant."""
    scripts: dict[str, None] = field(default_factory=dict)
    """Files that run their program when they are imported: only their definitions are loaded."""
    guessed: dict[str, None] = field(default_factory=dict)
    """What the program does not show, and was made up."""
    _made: dict[tuple[FunctionRef, str, int], str] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)
    _open: list[object] = field(default_factory=list)
    _objects: dict[ClassRef, str] = field(default_factory=dict)

    def copied(self) -> Slicer:
        """The same so far; what is added to one is not in the other."""
        return copy.deepcopy(self, {id(self.program): self.program})

    def attempt(self, work: Callable[[], str]) -> str:
        """Return what `work` returns, or leave nothing of it behind and raise its `Gap`."""
        before = self.copied()
        try:
            return work()
        except Gap:
            for one in fields(self):
                setattr(self, one.name, getattr(before, one.name))
            raise

    # --- names of the probe -----------------------------------------------------------------------------

    def fresh(self, wanted: str) -> str:
        """A name that no other local of the probe has."""
        base = re.sub(r"\W", "_", wanted).lstrip("_") or "value"
        name, number = base, 1
        while name in self._names or name in vars(builtins) or name in RESERVED or iskeyword(name):
            number += 1
            name = f"{base}_{number}"
        self._names.add(name)
        return name

    def assign(self, wanted: str, value: str) -> str:
        """A new local with a value."""
        name = self.fresh(wanted)
        self.statements.append(f"{name} = {value}")
        return name

    def module(self, path: str) -> str:
        """The name by which a file of the project is imported."""
        file = self.program.project.files[path]
        if is_notebook(path):
            raise Gap(f"{path} is a notebook, which cannot be imported")
        if acts(self.program.tree(path)):
            self.scripts[path] = None
        where = PurePosixPath(path)
        depth = file.module.count(".") + (0 if not file.is_package else 1)
        self.ways[str(where.parents[depth]) if depth < len(where.parents) else "."] = None
        return file.module

    def reference(self, path: str, key: str) -> str:
        """The expression for a class, function or global of a file."""
        name = key.partition("#")[0].partition("@")[0]
        if "<locals>" in name or "<lambda>" in name:
            outer = name.partition(".<locals>")[0]
            raise Gap(f"`{name.rpartition('.')[2]}` is defined inside of `{outer}`")
        module = self.module(path)
        top = name.partition(".")[0]
        if top in self._names and f"from {module} import {top}" not in self.imports:
            self.imports[f"import {module}"] = None
            return f"{module}.{name}"
        self._names.add(top)
        self.imports[f"from {module} import {top}"] = None
        return name

    # --- expressions ------------------------------------------------------------------------------------

    def expression(self, node: ast.expr, scope: Scope) -> str:
        """The source of an expression that has the same value in the probe."""
        return ast.unparse(self._closed(node, scope))

    def _closed(self, node: ast.expr, scope: Scope) -> ast.expr:
        return _Closing(self, scope, bound_in(node)).visit(copy.deepcopy(node))  # type: ignore[no-any-return]

    def name(self, name: str, scope: Scope) -> ast.expr:
        """The value of a name where it is used."""
        if len(self._open) > DEEPEST:
            raise Gap(f"`{name}` comes from too far away")
        function: Function | None = None
        where = scope.function
        while where.key != MODULE_KEY:
            function = self.program.project.function(where)
            here = scope if where == scope.function else Scope(where, 1 << 30)
            value = self._local(name, function, here)
            if value is not None:
                return value
            where = FunctionRef(where.path, function.outer or MODULE_KEY)
        return self._global(name, scope)

    def _local(self, name: str, function: Function, scope: Scope) -> ast.expr | None:
        """The value of a local or a parameter; None if the function has no such name."""
        if name == _self_of(function) and function.owner:
            return _name(scope.receiver or self.object_of(ClassRef(scope.function.path, function.owner)))
        body = self.program.body(scope.function)
        definition = _last_definition(body, name, scope.line) if body is not None else None
        is_parameter = any(one.name == name for one in function.parameters)
        if definition is None and not is_parameter:
            if name in self.program.project.locals_of(scope.function):
                raise Gap(f"how `{name}` is made is not seen in `{function.qualname}`")
            return None
        line = definition.lineno if definition is not None else 0
        return _name(
            self._remembered(
                (scope.function, name, line),
                lambda: (
                    self._defined(definition, name, scope)
                    if definition is not None
                    else self._parameter(name, function, scope)
                ),
            )
        )

    def _remembered(self, key: tuple[FunctionRef, str, int], make: Callable[[], str]) -> str:
        if key in self._made:
            return self._made[key]
        if key in self._open:
            raise Gap(f"`{key[1]}` depends on itself")
        self._open.append(key)
        made = make()
        self._open.remove(key)
        self._made[key] = made
        return made

    def _defined(self, statement: ast.stmt, name: str, scope: Scope) -> str:
        here = Scope(scope.function, statement.lineno, scope.receiver)
        match statement:
            case ast.Assign(targets=targets, value=value):
                if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                    made = self.assign(name, self.expression(value, here))
                    self._changes(name, made, statement, scope)
                    return made
                for target in targets:
                    if isinstance(target, ast.Tuple | ast.List):
                        return self.assign(name, self._unpacked(target, value, name, here))
            case ast.AnnAssign(value=ast.expr() as value):
                made = self.assign(name, self.expression(value, here))
                self._changes(name, made, statement, scope)
                return made
            case ast.For(target=target, iter=iterable):
                turn = f"at({self.expression(iterable, here)}, {self.turn})"
                return self.assign(name, turn + _way_to(target, name))
            case ast.With(items=items):
                for item in items:
                    if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                        with suppress(Gap):
                            self.expression(item.context_expr, here)
                        self._refuse(item.context_expr, name)
            case ast.FunctionDef():
                raise Gap(f"`{name}` is defined inside of `{scope.function.key}`")
            case ast.Import() | ast.ImportFrom():
                return self._imported(statement, name, scope)
        raise Gap(f"how `{name}` is made is not seen (line {statement.lineno})")

    def _unpacked(self, target: ast.Tuple | ast.List, value: ast.expr, name: str, here: Scope) -> str:
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            for one, part in zip(target.elts, value.elts, strict=True):
                if isinstance(one, ast.Name) and one.id == name:
                    return self.expression(part, here)
        return f"({self.expression(value, here)}){_way_to(target, name)}"

    def _changes(self, name: str, made: str, after: ast.stmt, scope: Scope) -> None:
        """Repeat what the function assigns to attributes of a local before it is used: `cfg.dim = 64`."""
        for node in ast.walk(self.program.body(scope.function) or after):
            match node:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id=owner), attr=attribute)], value=value
                ):
                    if owner == name and after.lineno < node.lineno < scope.line:
                        with suppress(Gap):
                            here = Scope(scope.function, node.lineno, scope.receiver)
                            text = self.attempt(lambda v=value, h=here: self.expression(v, h))  # type: ignore[misc]
                            self.statements.append(f"{made}.{attribute} = {text}")

    def _imported(self, statement: ast.Import | ast.ImportFrom, name: str, scope: Scope) -> str:
        alias = next(one for one in statement.names if (one.asname or one.name.partition(".")[0]) == name)
        if isinstance(statement, ast.ImportFrom):
            symbols = self.program.project.symbols(ir.Name(name), scope.function.path, scope.function.key)
            return ast.unparse(self._symbol(name, symbols, scope, statement, alias))
        self.imports[ast.unparse(ast.Import([alias]))] = None
        self._names.add(name)
        return name

    def _parameter(self, name: str, function: Function, scope: Scope) -> str:
        """The value that a caller passes for a parameter, else its default, else one of its annotation."""
        parameter = next(one for one in function.parameters if one.name == name)
        gap: Gap | None = None
        if parameter.kind in ("positional", "keyword"):
            for caller, node in callers(self.program, scope.function):
                argument = argument_of(node, function, name)
                if argument is None:
                    continue
                try:
                    return self.attempt(
                        lambda n=argument, c=caller: self._passed(name, n, c)  # type: ignore[misc]
                    )
                except Gap as why:
                    gap = gap or why
        body = self.program.body(scope.function)
        default = default_of(body, name)
        if default is not None:
            outside = FunctionRef(scope.function.path, function.outer or MODULE_KEY)
            return self.assign(name, self.expression(default, Scope(outside, scope.line)))
        annotation = annotation_of(body, name)
        if annotation is not None and (made := self.of_annotation(name, annotation, scope)):
            return made
        raise gap or Gap(f"argument `{name}` of `{function.qualname}` is given by nobody")

    def _passed(self, name: str, argument: ast.expr, caller: Scope) -> str:
        text = self.expression(argument, caller)
        return text if text.isidentifier() and text in self._names else self.assign(name, text)

    def of_annotation(self, name: str, annotation: ast.expr, scope: Scope) -> str:
        """A configuration whose fields all have defaults, by the annotation of a parameter; else nothing."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            try:
                annotation = ast.parse(annotation.value, mode="eval").body
            except SyntaxError:
                return ""
        for symbol in self.program.project.symbols(
            ir_of(annotation), scope.function.path, scope.function.key
        ):
            if isinstance(symbol, ClassRef) and not self.program.project.is_module(symbol):
                small = self._small(symbol) if self.small else ""
                what = "as it is by default" if not small else "with small sizes"
                self.guessed[f"`{name}` is a `{symbol.name}` {what}"] = None
                return self.assign(name, f"{self.reference(symbol.path, symbol.key)}({small})")
        return ""

    def _small(self, ref: ClassRef) -> str:
        """Smaller sizes for the fields of a configuration, as arguments."""
        sizes: dict[str, int] = {}
        line = self.program.project.class_(ref).line
        for node in ast.walk(self.program.tree(ref.path)):
            if isinstance(node, ast.ClassDef) and node.lineno == line:
                for field_ in node.body:
                    match field_:
                        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=int(size))):
                            sizes |= {name: size} if not isinstance(size, bool) else {}
        return ", ".join(f"{name}={size}" for name, size in smaller_sizes(sizes).items())

    def _global(self, name: str, scope: Scope) -> ast.expr:
        path = scope.function.path
        body = self.program.tree(path)
        # What importing the file would not make is sliced as locals are.
        end = scope.line if scope.function.key == MODULE_KEY else 1 << 30
        definition = _last_definition(body, name, end)
        sliced = isinstance(definition, ast.Assign | ast.AnnAssign | ast.For)
        if definition is not None and sliced and (acts(body) or definition not in body.body):
            top = Scope(FunctionRef(path, MODULE_KEY), definition.lineno + 1)
            key, made = (top.function, name, definition.lineno), definition
            return _name(self._remembered(key, lambda: self._defined(made, name, top)))
        for statement in ast.walk(body):
            if isinstance(statement, ast.Import | ast.ImportFrom):
                for alias in statement.names:
                    if (alias.asname or alias.name.partition(".")[0]) == name:
                        symbols = self.program.project.symbols(ir.Name(name), path)
                        return self._symbol(name, symbols, scope, statement, alias)
        symbols = self.program.project.symbols(ir.Name(name), path)
        for symbol in symbols:
            if isinstance(symbol, ClassRef | FunctionRef):
                return _parsed(self.reference(symbol.path, symbol.key))
        if name in self.program.project.global_bindings(path):
            definition = _last_definition(body, name, 1 << 30)
            if isinstance(definition, ast.Assign | ast.AnnAssign) and definition.value is not None:
                self._refuse(definition.value, name)
            return _parsed(self.reference(path, name))
        if name in vars(builtins):
            return _name(name)
        return self._comprehended(name, scope)

    def _comprehended(self, name: str, scope: Scope) -> ast.expr:
        """The first value of the variable of a comprehension around a call."""
        comprehensions = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
        for node in ast.walk(self.program.body(scope.function) or ast.Module([], [])):
            if isinstance(node, comprehensions) and node.lineno <= scope.line <= (node.end_lineno or 0):
                for part in node.generators:
                    if any(one.id == name for one in _plain_targets(part.target)):
                        turn = f"at({self.expression(part.iter, scope)}, {self.turn})"
                        return _name(self.assign(name, turn + _way_to(part.target, name)))
        raise Gap(f"`{name}` is not defined where it is used")

    def _symbol(
        self,
        name: str,
        symbols: Sequence[object],
        scope: Scope,
        statement: ast.Import | ast.ImportFrom,
        alias: ast.alias,
    ) -> ast.expr:
        for symbol in symbols:
            if isinstance(symbol, ClassRef | FunctionRef):
                return _parsed(self.reference(symbol.path, symbol.key))
        if isinstance(statement, ast.Import):
            self.imports[ast.unparse(ast.Import([alias]))] = None
        else:
            module = statement.module or ""
            if statement.level:
                here = self.program.project.files[scope.function.path]
                self.module(scope.function.path)
                parts = here.module.split(".")
                kept = len(parts) - statement.level + int(here.is_package)
                module = ".".join([*parts[: max(kept, 0)], *([module] if module else [])])
            self.imports[ast.unparse(ast.ImportFrom(module, [alias], 0))] = None
        self._names.add(name)
        return _name(name)

    def object_of(self, ref: ClassRef) -> str:
        """A local that holds an object of a class, made as the program makes one."""
        if ref in self._objects:
            return self._objects[ref]
        if ref in self._open:
            raise Gap(f"`{ref.name}` is made from itself")
        self._open.append(ref)
        gap: Gap | None = None
        passed, self.skipped = self.skipped, 0
        switch, self.switch = self.switch, ""
        for caller, node in constructions(self.program, ref)[passed:]:
            try:
                made = self.attempt(
                    lambda n=node, c=caller: self.assign(  # type: ignore[misc]
                        _snake(ref.name), self._construction(ref, n, c)
                    )
                )
                break
            except Gap as why:
                gap = gap or why
        else:
            made = self._of_defaults_or_below(ref, gap, switch)
        self._open.remove(ref)
        self._objects[ref] = made
        return made

    def _construction(self, ref: ClassRef, node: ast.Call, caller: Scope) -> str:
        """A call that constructs a class, by its own name: `BLOCKS[kind](cfg)` may mean many."""
        call = copy.deepcopy(node)
        call.func = ast.Name("__class__", ast.Load())
        closed = self._closed_arguments(call, caller)
        return f"{self.reference(ref.path, ref.key)}({', '.join(closed)})"

    def _closed_arguments(self, node: ast.Call, caller: Scope) -> list[str]:
        given = [self.expression(one, caller) for one in node.args]
        for one in node.keywords:
            value = self.expression(one.value, caller)
            given.append(f"{one.arg}={value}" if one.arg else f"**{value}")
        return given

    def arguments(self, node: ast.Call, caller: Scope) -> str:
        """The arguments of a call as they stand between the parentheses."""
        return ", ".join(self._closed_arguments(node, caller))

    def _of_defaults_or_below(self, ref: ClassRef, gap: Gap | None, switch: str) -> str:
        """An object of a class by its defaults, else of a class below it, which is such an object too."""
        try:
            return self.attempt(lambda: self._of_defaults(ref, gap, switch))
        except Gap as lacking:
            for below in subclasses(self.program.project, ref)[:MOST_BELOW]:
                with suppress(Gap):
                    made = self.attempt(lambda one=below: self.object_of(one))  # type: ignore[misc]
                    self.guessed[f"a `{below.name}` for a `{ref.name}`"] = None
                    return made
            raise lacking from None

    def _of_defaults(self, ref: ClassRef, gap: Gap | None, switch: str) -> str:
        """An object of a class that nobody constructs, if all that it needs has a default or is plain."""
        project = self.program.project
        init = project.method(ref, "__init__")
        given: list[str] = []
        if init is not None:
            body = self.program.body(init)
            function = project.function(init)
            for parameter in function.parameters[1:]:
                if (
                    parameter.kind not in ("positional", "keyword")
                    or default_of(body, parameter.name) is not None
                ):
                    continue
                annotation = annotation_of(body, parameter.name)
                here = Scope(init, function.line)
                value = annotation and self.of_annotation(parameter.name, annotation, here)
                if not value:
                    value = plain_value(parameter.name, ast.unparse(annotation) if annotation else "")
                    if parameter.name == "params":
                        value = "torch.nn.Linear(16, 16).parameters()"
                    if value is None:
                        raise gap or Gap(f"argument `{parameter.name}` of `{ref.name}` is given by nobody")
                    self.guessed[f"`{parameter.name}={value}`"] = None
                given.append(f"{parameter.name}={value}")
        if gap is not None:
            self.guessed[f"`{ref.name}` is made by its defaults: {gap}"] = None
        if switch:
            self.guessed[f"`{switch}=True` for `{ref.name}`"] = None
            given.append(f"{switch}=True")
        return self.assign(_snake(ref.name), f"{self.reference(ref.path, ref.key)}({', '.join(given)})")

    def _refuse(self, node: ast.expr, name: str) -> None:
        """Raise if a value comes from outside of the program."""
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and (source := OUTSIDE.get(last_name(call.func))):
                raise Gap(f"`{name}` comes from {source}")


class _Closing(ast.NodeTransformer):
    """Puts what names stand for in their place, and leaves accelerators out."""

    def __init__(self, slicer: Slicer, scope: Scope, bound: frozenset[str]) -> None:
        self._slicer, self._scope, self._bound = slicer, scope, bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._bound or not isinstance(node.ctx, ast.Load):
            return node
        return self._slicer.name(node.id, self._scope)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = last_name(node.func)
        if isinstance(node.func, ast.Attribute):
            if name in ACCELERATORS:
                return self.visit(node.func.value)  # type: ignore[no-any-return]
            if name == "to" and any(
                _is_device(one) for one in (*node.args, *(k.value for k in node.keywords))
            ):
                return self.visit(node.func.value)  # type: ignore[no-any-return]
        if name in OUTSIDE and not (name == "load" and isinstance(node.func, ast.Name)):
            raise Gap(f"`{ast.unparse(node)[:60]}` comes from {OUTSIDE[name]}")
        if name == "super":
            raise Gap("`super()` has a meaning in its own method alone")
        node.keywords = [one for one in node.keywords if one.arg not in _PLACES]
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id not in self._bound:
            value = _parsed_arguments(self._slicer, node.value.id, self._scope)
            if value:
                default = self._slicer.program.option(node.attr)
                if default is None:
                    raise Gap(f"`{node.value.id}.{node.attr}` comes from the command line")
                self._slicer.guessed[
                    f"`{node.value.id}.{node.attr}` as the command line has it by default"
                ] = None
                return self.visit(copy.deepcopy(default))  # type: ignore[no-any-return]
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant("cpu") if isinstance(node.value, str) and _names_device(node.value) else node

    def visit_Await(self, node: ast.Await) -> ast.expr:
        raise Gap(f"`{ast.unparse(node)[:60]}` is awaited")

    def visit_Yield(self, node: ast.Yield) -> ast.expr:
        raise Gap("a value is sent to a generator")


def _parsed_arguments(slicer: Slicer, name: str, scope: Scope) -> bool:
    """Whether a name holds the parsed command line: `args = parser.parse_args()`, here or in a caller."""
    program = slicer.program
    body = program.body(scope.function)
    definition = _last_definition(body, name, scope.line) if body is not None else None
    if definition is None and scope.function.key != MODULE_KEY:
        function = program.project.function(scope.function)
        if any(one.name == name for one in function.parameters):
            return name in ("args", "opt", "opts", "options", "hparams") and any(
                isinstance(argument := argument_of(node, function, name), ast.Name)
                and caller.function != scope.function
                and _parsed_arguments(slicer, argument.id, caller)
                for caller, node in callers(program, scope.function)
            )
        definition = _last_definition(program.tree(scope.function.path), name, 1 << 30)
    match definition:
        case ast.Assign(value=ast.Call(func=callee)):
            if last_name(callee) == "parse_args":
                return True
            refs = program.project.symbols(ir_of(callee), scope.function.path, scope.function.key)
            return any(
                isinstance(ref, FunctionRef)
                and "parse_args" in ast.unparse(program.body(ref) or ast.Module([], []))
                for ref in refs
            )
    return False


def callers(program: Program, ref: FunctionRef) -> list[tuple[Scope, ast.Call]]:
    """The calls of a function, those of users before those of tests."""
    sites = [(context.function, site) for context, site in points_to_of(program.project).call_sites(ref)]
    return _placed(program, dict.fromkeys([*sites, *program.calls_of_values(ref)]))


def constructions(program: Program, ref: ClassRef) -> list[tuple[Scope, ast.Call]]:
    """The calls that construct a class, those of users before those of tests."""
    sites = points_to_of(program.project).constructions(ref)
    return _placed(program, ((context.function, site) for context, site in sites))


def _placed(program: Program, sites: Iterable[tuple[FunctionRef, CallSite]]) -> list[tuple[Scope, ast.Call]]:
    found = [
        (Scope(function, site.call.line), node)
        for function, site in sites
        if not is_notebook(function.path) and (node := program.call_of(function.path, site)) is not None
    ]
    found.sort(key=lambda one: is_rehearsal(one[0].function))
    return found[:CALLERS]


def argument_of(node: ast.Call, function: Function, name: str) -> ast.expr | None:
    """The expression that a call passes for a parameter by position or by name."""
    for keyword in node.keywords:
        if keyword.arg == name:
            return keyword.value
    names = [one.name for one in function.parameters if one.kind == "positional"]
    if function.owner is not None and names and names[0] == _self_of(function):
        names = names[1:]
    if name in names and names.index(name) < len(node.args):
        given = node.args[: names.index(name) + 1]
        if not any(isinstance(one, ast.Starred) for one in given):
            return given[-1]
    return None


def default_of(body: Body | None, name: str) -> ast.expr | None:
    """The default of a parameter."""
    if not isinstance(body, Definition):
        return None
    positional = [*body.args.posonlyargs, *body.args.args]
    with_defaults = positional[len(positional) - len(body.args.defaults) :]
    pairs = [*zip(with_defaults, body.args.defaults, strict=True)]
    pairs += [
        (one, value) for one, value in zip(body.args.kwonlyargs, body.args.kw_defaults, strict=True) if value
    ]
    return next((value for one, value in pairs if one.arg == name), None)


def switches(program: Program, ref: ClassRef) -> list[str]:
    """The arguments of a class that may be true, and are not by default."""
    init = program.project.method(ref, "__init__")
    body = program.body(init) if init is not None else None
    names = [one.name for one in program.project.function(init).parameters] if init is not None else []
    return [
        name
        for name in names
        if (annotation := annotation_of(body, name)) is not None
        and (default := default_of(body, name)) is not None
        and "bool" in ast.unparse(annotation)
        and ast.unparse(default) in ("None", "False")
    ]


def annotation_of(body: Body | None, name: str) -> ast.expr | None:
    """The annotation of a parameter."""
    if not isinstance(body, Definition):
        return None
    every = [*body.args.posonlyargs, *body.args.args, *body.args.kwonlyargs]
    return next((one.annotation for one in every if one.arg == name), None)


def bound_in(node: ast.expr) -> frozenset[str]:
    """The names that an expression binds itself: those of lambdas and comprehensions."""
    names: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Lambda(args=given):
                names |= {one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            case ast.comprehension(target=target):
                names |= {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
            case ast.NamedExpr(target=ast.Name(id=name)):
                names.add(name)
    return frozenset(names)


def _last_definition(body: Body, name: str, line: int) -> ast.stmt | None:
    """The last statement before a line that gives a name its value, in a function's own body."""
    best: ast.stmt | None = None
    for statement in _statements(body.body):
        if statement.lineno < line and name in _targets(statement):
            best = statement
    return best


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, Definition | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, part, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)


def _targets(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Assign(targets=targets):
            return {one.id for target in targets for one in _plain_targets(target)}
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.For(target=target):
            return {one.id for one in _plain_targets(target)}
        case ast.With(items=items):
            held = (item.optional_vars for item in items if item.optional_vars is not None)
            return {one.id for target in held for one in _plain_targets(target)}
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {one.asname or one.name.partition(".")[0] for one in names}
    return set()


def _plain_targets(target: ast.expr) -> Iterator[ast.Name]:
    match target:
        case ast.Name():
            yield target
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _plain_targets(part)


def _way_to(target: ast.expr, name: str) -> str:
    """`[1][0]`: how to reach a name in what is unpacked."""
    match target:
        case ast.Name(id=own):
            return "" if own == name else "?"
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for index, part in enumerate(parts):
                if any(one.id == name for one in _plain_targets(part)):
                    return f"[{index}]{_way_to(part, name)}"
    raise Gap(f"how `{name}` is unpacked is not seen")


def acts(tree: ast.Module) -> int:
    """The first line of what a file does when it is imported, beside definitions; 0 if it does nothing."""
    for statement in tree.body:
        match statement:
            case ast.For() | ast.While() | ast.With():
                return statement.lineno
            case ast.Expr(value=ast.Call(func=callee)) if _is_heavy(callee):
                return statement.lineno
    return 0


def _is_heavy(callee: ast.expr) -> bool:
    """Whether a call at the top level may be the program itself, rather than a setting of some library."""
    name = dotted(callee)
    light = (
        "torch.set_",
        "torch.manual",
        "torch._",
        "torch.backends",
        "warnings.",
        "logging.",
        "logger.",
        "os.",
    )
    return not name.startswith((*light, "sys.", "register", "importlib.", "random.", "np.random"))


def _is_device(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return "device" in text.lower() or _names_device(text.strip("'\""))


def _names_device(text: str) -> bool:
    return bool(re.fullmatch(rf"({'|'.join(ACCELERATORS)})(:\d+)?", text))


def _self_of(function: Function) -> str:
    """The name of the first parameter of a method."""
    static = any(last == "staticmethod" for last in (getattr(one, "id", "") for one in function.decorators))
    return "" if static or not function.parameters else function.parameters[0].name


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().strip("_")


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load()) if name.isidentifier() else _parsed(name)


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def ir_of(node: ast.expr) -> ir.Expr:
    """A dotted name as the IR has it."""
    match node:
        case ast.Name(id=name):
            return ir.Name(name)
        case ast.Attribute(value=value, attr=name):
            return ir.Attribute(ir_of(value), name)
    return ir.UNKNOWN
