"""Every use of an attribute in the project, by evaluation and by name, and where `__init__` sets it."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator

from dynamo_lint.dataclass import dataclass, replace
from dynamo_lint.findings import Edit, Span
from dynamo_lint.fixes.assignments import Part, parts, set_by_name
from dynamo_lint.fixes.edit_session import FUNCTIONS, Elsewhere, OpenFile, Unclear, Workbench
from dynamo_lint.index.ir import MODULE_KEY, Definition, Expr
from dynamo_lint.index.lower import as_fact
from dynamo_lint.program.names import last_name
from dynamo_lint.program.refs import ClassRef, FunctionRef
from dynamo_lint.state.initial import PLAIN_BASES
from dynamo_lint.values.model import ClassValue, Context, ExternalInstance, Instance, SuperProxy, Value
from dynamo_lint.values.points_to import evaluate

REFLECTION = frozenset(
    {
        "getattr",
        "setattr",
        "hasattr",
        "delattr",
        "attrgetter",
        "register_buffer",
        "__setattr__",
        "__delattr__",
    }
)
OPAQUE_METHODS = frozenset({"__getattr__", "__setattr__", "__getattribute__", "__getstate__", "__setstate__"})
"""Methods that can do anything with an attribute without naming it."""


@dataclass(frozen=True, slots=True)
class Mention:
    """`owner.name` somewhere in the project."""

    file: OpenFile
    node: ast.Attribute
    function: FunctionRef
    hot: bool
    """Dynamo traces this line."""
    guessed: bool = False
    """Whose attribute it is was told by its name alone."""
    of_class: bool = False
    """It is reached by way of the class."""

    @property
    def owner(self) -> str:
        """Source of the object it belongs to."""
        return self.file.text(self.node.value)


@dataclass(frozen=True, slots=True)
class Family:
    """The classes that share an attribute, and everything said about it."""

    declared_in: ClassRef
    name: str
    members: frozenset[ClassRef]
    mentions: tuple[Mention, ...]


def family_of(
    bench: Workbench,
    declared_in: ClassRef,
    name: str,
    except_for: ast.Call | None = None,
    default: Declaration | None = None,
    by_class: bool = False,
) -> Family:
    """All mentions of an attribute; raises Unclear where it may be touched without being seen.

    `except_for` is a lookup by name that is about to become a mention, `default` the value that the body of
    the class gives; `by_class` if it may be reached by way of that.
    """
    project = bench.tables.project
    members = frozenset(bench.below.get(declared_in, ()))
    bases = frozenset(base for ref in members for base in project.mro(ref)) - members
    for ref in members | bases:
        _check_class(bench, ref)
        if name in project.class_bindings(ref) and (default is None or ref != declared_in):
            raise Unclear(f"`{ref.name}` has it as a class attribute")
    spoken = _spoken(bench, name)
    if spoken.unread is not None:
        raise Unclear(f"{spoken.unread} mentions it and cannot be read")
    ours = members | bases
    if any(_node(bench, one, name) is not except_for for one in spoken.unknown[:2]):
        _refuse_other_owners(bench, name, ours)
    said = [one for ref in ours for table in (spoken.own, spoken.of) for one in table.get(ref, ())]
    # An object may be of several of the classes.
    found = (
        _mention(bench, one, name, members, bases, by_class)
        for one in sorted({one.place: one for one in (*said, *spoken.unknown)}.values(), key=_place)
        if _node(bench, one, name) is not except_for
    )
    return Family(declared_in, name, members, tuple(one for one in found if one is not None))


def computed_reader(bench: Workbench, family: Family) -> str | None:
    """Where an object that may be of the family has an attribute looked up that no text names; or None."""
    readers = bench.memo.get("readers")
    if not isinstance(readers, _Readers):
        readers = bench.memo["readers"] = _readers(bench)
    project = bench.tables.project
    found = [readers.of[member] for member in family.members if member in readers.of]
    above = {base for member in family.members for base in project.mro(member)}
    found += [readers.own[base] for base in above if base in readers.own]
    first = min((*found, *readers.anyone), default=None)
    return first[1] if first is not None else None


def named_in_text(bench: Workbench, name: str) -> str | None:
    """Where a text or a keyword ends in a name (`mock.patch.object(net, "_calls", 0)`); None if none does."""
    for path in bench.files("text", name):
        file = bench.file(path)
        if file is None:
            continue
        for text, nodes in file.texts.items():
            for one in nodes if text.rpartition(".")[2] == name else ():
                if set_by_name(file.parents[one]) is None:
                    return f"{path}:{(one.value if isinstance(one, ast.keyword) else one).lineno}"
    return None


@dataclass(frozen=True, slots=True)
class _Readers:
    """Where objects have attributes looked up that no text names: the first place, with its number."""

    own: dict[ClassRef, tuple[int, str]]
    """By the class around it, of `self`."""
    of: dict[ClassRef, tuple[int, str]]
    """By what the object is known to be."""
    anyone: list[tuple[int, str]]
    """Of an object that may be anything: what comes behind such a place does not matter."""


def _readers(bench: Workbench) -> _Readers:
    project, found, number = bench.tables.project, _Readers({}, {}, []), 0
    for path in bench.files("reflection", ""):
        file = bench.file(path)
        for node in file.reflecting if file is not None else ():
            owner = _reflected(node)
            if file is None or owner is None:
                continue
            number += 1
            place = number, f"{path}:{_line(node)}"
            expr, where = as_fact(owner), file.reference(owner)
            holder = project.owner(where)
            if last_name(expr) == "attrgetter":
                return replace(found, anyone=[place])
            if holder is not None and project.is_self(expr, where):
                found.own.setdefault(holder, place)
                continue
            values = evaluate(project, expr, Context(where, holder))
            if not values and not _is_import(bench, expr, where):
                return replace(found, anyone=[place])
            for value in values:
                if isinstance(value, Instance | ClassValue):
                    found.of.setdefault(value.ref, place)
    return found


def _reflected(node: ast.AST) -> ast.expr | None:
    """The object whose attributes a piece of code reaches without naming them; None if it names them."""
    match node:
        case ast.Attribute(value=owner, attr="__dict__"):
            return owner
        case ast.Call(func=ast.Name(id="vars"), args=[owner]):
            return owner
        case ast.Call(func=ast.Name(id="getattr" | "setattr" | "hasattr" | "delattr"), args=[owner, key, *_]):
            return None if isinstance(key, ast.Constant) else owner
        case ast.Call(
            func=ast.Attribute(ast.Name("object"), "__setattr__" | "__delattr__"), args=[owner, key, *_]
        ):
            return None if isinstance(key, ast.Constant) else owner
        case ast.Call(func=ast.Name(id="attrgetter") | ast.Attribute(attr="attrgetter")):
            return node.func  # of whatever it is called with
    return None


@dataclass(frozen=True, slots=True)
class _Said:
    """One place that names an attribute; it holds nothing of the file's tree."""

    place: tuple[int, int]
    """Numbers of the file, and of the node among those of its file that speak of the name."""
    path: str
    line: int
    where: FunctionRef
    owner: Expr
    """The object it belongs to."""


@dataclass(frozen=True, slots=True)
class _Spoken:
    """All that the project says of attributes of one name, but for those of things that are no instances."""

    own: dict[ClassRef, list[_Said]]
    """`self.name` and `getattr(self, "name")`, by the class around it."""
    of: dict[ClassRef, list[_Said]]
    """By the classes that the object is known to be of, or to be."""
    unknown: list[_Said]
    unread: str | None
    """A file that mentions the name and cannot be read."""


def _spoken(bench: Workbench, name: str) -> _Spoken:
    """Worked out once: many classes may have an attribute of that name."""
    known = bench.memo.get(("spoken", name))
    if isinstance(known, _Spoken):
        return known
    paths = bench.files("attribute", name)
    unread = next((path for path in paths if bench.file(path) is None), None)
    spoken = _Spoken(defaultdict(list), defaultdict(list), [], unread)
    project = bench.tables.project
    for number, file in enumerate(one for path in paths if (one := bench.file(path)) is not None):
        for place, node in enumerate(file.speaking.get(name, ())):
            match node:
                case ast.Attribute(value=owner):
                    pass
                case ast.Call(args=[owner, *rest]) if _reflects(node, name):
                    owner = owner if rest else node.func
                case _:
                    continue
            where = file.reference(node)
            said = _Said((number, place), file.path, node.lineno, where, as_fact(owner))
            holder = project.owner(where)
            if holder is not None and _is_instance(bench, said):
                spoken.own[holder].append(said)
            elif known := _known(bench, said):
                for ref in dict.fromkeys(one.ref for one in known if isinstance(one, Instance | ClassValue)):
                    spoken.of[ref].append(said)
            elif not _is_import(bench, said.owner, where):
                spoken.unknown.append(said)
    bench.memo["spoken", name] = spoken
    return spoken


def _known(bench: Workbench, said: _Said) -> list[Value]:
    """The objects that an attribute may belong to."""
    project = bench.tables.project
    values = evaluate(project, said.owner, Context(said.where, project.owner(said.where)))
    return [v for v in values if isinstance(v, Instance | ClassValue | ExternalInstance | SuperProxy)]


def _is_instance(bench: Workbench, said: _Said) -> bool:
    """Whether it belongs to the `self` of the method around it, and not to the `cls`."""
    project, where = bench.tables.project, said.where
    if not project.is_self(said.owner, where):
        return False
    while (outer := project.function(where).outer) is not None and outer != MODULE_KEY:
        where = FunctionRef(where.path, outer)
    return project.method_kind(where) not in ("classmethod", "staticmethod")


def _place(said: _Said) -> tuple[int, int]:
    return said.place


def _node(bench: Workbench, said: _Said, name: str) -> ast.AST | None:
    file = bench.file(said.path)
    return file.speaking[name][said.place[1]] if file is not None else None


def _reflects(node: ast.Call, name: str) -> bool:
    """`getattr(owner, "name")` and the like."""
    match node.func:
        case ast.Name(id=function) | ast.Attribute(attr=function):
            named = any(isinstance(a, ast.Constant) and a.value == name for a in node.args)
            return function in REFLECTION and named
    return False


def _check_class(bench: Workbench, ref: ClassRef) -> None:
    """Refuse a class that can reach its attributes without naming them."""
    if ("opaque", ref) not in bench.memo:
        bench.memo["opaque", ref] = _opaque(bench, ref)
    if bench.memo["opaque", ref] is not None:
        raise Unclear(str(bench.memo["opaque", ref]))


def _opaque(bench: Workbench, ref: ClassRef) -> str | None:
    """How a class reaches its attributes without naming them; None if it does not."""
    project = bench.tables.project
    for method in sorted(OPAQUE_METHODS | {"__slots__"}):
        if method in project.class_bindings(ref):
            return f"`{ref.name}` defines `{method}`"
    file, class_ = bench.file(ref.path), project.class_(ref)
    if file is None:
        return f"{ref.path} cannot be read"
    first = bisect_left(file.reflecting, class_.line, key=_line)
    for node in file.reflecting[first : bisect_right(file.reflecting, class_.end_line, key=_line)]:
        match node:
            case ast.Attribute(attr="__dict__") | ast.Call(func=ast.Name(id="vars")):
                return f"`{ref.name}` reads its `__dict__`"
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), key, *_]):
                if not isinstance(key, ast.Constant):
                    return f"`{ref.name}` sets attributes by computed names"
    return None


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _mention(
    bench: Workbench,
    said: _Said,
    name: str,
    members: frozenset[ClassRef],
    bases: frozenset[ClassRef],
    by_class: bool,
) -> Mention | None:
    """The family's attribute at a place, None if it is not its own; raises Unclear if it may be."""
    node, file = _node(bench, said, name), bench.file(said.path)
    ours = _belongs(bench, said, name, members, bases)
    if ours == "class" and not by_class:
        raise Elsewhere(f"it is used through the class at {said.path}:{said.line}")
    if isinstance(node, ast.Call) and file is not None:
        node = _as_store(file, node)
        if node is None:
            raise Unclear(f"it is looked up by name at {said.path}:{said.line}")
    if not isinstance(node, ast.Attribute) or file is None:
        return None
    called = isinstance(outer := file.parents[node], ast.Call) and outer.func is node
    # A number or a tensor is never called, but many objects have a method of that name.
    if ours == "likely" and called:
        return None
    eager = bench.tables.project.function(said.where).runs_eagerly(node.lineno)
    hot = said.where in bench.hot and not eager
    return Mention(file, node, said.where, hot, ours == "likely", ours == "class")


def _as_store(file: OpenFile, call: ast.Call) -> ast.Attribute | None:
    """The attribute that a statement sets by its name, as if it were spelled so, where the call stands."""
    statement, told = file.parents[call], set_by_name(call)
    if told is None or not isinstance(statement, ast.Expr):
        return None
    owner, name, _ = told
    node = ast.copy_location(ast.Attribute(owner, name, ast.Store()), call)
    file.parents[node] = statement
    return node


def _belongs(
    bench: Workbench, said: _Said, name: str, members: frozenset[ClassRef], bases: frozenset[ClassRef]
) -> str:
    """Whether this is the family's attribute: `yes`, that of the `class`, or `likely` as only the name says.

    Raises Unclear if it may be another's.
    """
    project, where = bench.tables.project, said.where
    holder = project.owner(where)
    if holder is not None and _is_instance(bench, said):
        if holder in bases:
            outsiders = [ref for ref in bench.below.get(holder, ()) if ref not in members]
            if outsiders != [holder]:
                raise Unclear(f"`{holder.name}` uses it too and has other subclasses")
        return "yes"
    known = [
        value
        for value in _known(bench, said)
        if not (isinstance(value, Instance) and value.ref not in members and _lacks(bench, value.ref, name))
    ]
    if any(isinstance(v, Instance | ClassValue) and v.ref not in members for v in known):
        raise Unclear(f"several classes are possible at {where.path}:{said.line}")
    if any(isinstance(v, ClassValue) for v in known):
        return "class"
    return "yes" if known else "likely"


def _is_import(bench: Workbench, expr: Expr, where: FunctionRef) -> bool:
    """A module or something else that is known by its name and is no instance."""
    return bool(bench.tables.project.symbols(expr, where.path, where.key))


def _refuse_other_owners(bench: Workbench, name: str, ours: frozenset[ClassRef]) -> None:
    """Refuse an attribute that is spoken of where its owner is unknown, if others have one of that name."""
    if not _owners(bench, name) <= ours:
        raise Unclear(f"the owner of `{name}` is unknown somewhere, and several have one")


def _owners(bench: Workbench, name: str) -> frozenset[ClassRef]:
    """The classes that give `self` an attribute of a name, in their methods or their body."""
    project = bench.tables.project
    owners = bench.memo.get(("owners", name))
    if not isinstance(owners, frozenset):
        stores = project.stores_of(name)
        holders = (project.owner(where) for where, store in stores if project.is_self(store.owner, where))
        holding = {ref for ref in project.classes() if name in project.class_bindings(ref)}
        owners = bench.memo["owners", name] = frozenset(
            holding.union(ref for ref in holders if ref is not None)
        )
    return owners


def _lacks(bench: Workbench, ref: ClassRef, name: str) -> bool:
    """Whether nothing gives the objects of a class an attribute of a name: asking them for it fails."""
    project = bench.tables.project
    mro = project.mro(ref)
    opaque = any(method in project.class_bindings(part) for part in mro for method in OPAQUE_METHODS)
    if opaque or set(project.external_bases(ref)) - PLAIN_BASES:
        return False
    if not _owners(bench, name).isdisjoint(mro):
        return False
    for where, store in project.stores_of(name):
        if not project.is_self(store.owner, where):
            values = evaluate(project, store.owner, Context(where, project.owner(where)))
            refs = [value.ref for value in values if isinstance(value, Instance | ClassValue)]
            if not refs or not set(refs).isdisjoint(mro):
                return False
    return True


def is_same(node: ast.expr, other: ast.Attribute) -> bool:
    """Whether an expression is the same attribute of the same object."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            return attr == other.attr and ast.dump(value) == ast.dump(other.value)
    return False


def speaks_of(node: ast.expr, name: str) -> bool:
    """Whether an attribute of a name is part of an expression."""
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in ast.walk(node))


@dataclass(frozen=True, slots=True)
class Init:
    """A class's own `__init__`."""

    file: OpenFile
    node: ast.FunctionDef
    parent_call: ast.stmt
    """The call of the base class's `__init__`: before it a module cannot hold buffers."""

    @property
    def me(self) -> str:
        """The name of the instance."""
        return self.node.args.args[0].arg


@dataclass(frozen=True, slots=True)
class Place:
    """Where a class that has no `__init__` can get one."""

    file: OpenFile
    method: ast.FunctionDef | ast.AsyncFunctionDef
    """The one above which it is written."""
    me: str = "self"

    def written(self, *lines: str) -> Edit:
        """The `__init__` that runs some lines after that of the base class."""
        outer = self.file.indent(self.method)
        inner = outer + self.file.indent(self.method.body[0]).removeprefix(outer)
        body = f"\n{inner}".join(("super().__init__(*args, **kwargs)", *lines))
        head = f"def __init__({self.me}, *args, **kwargs):"
        return self.file.insert_before(self.method, f"{head}\n{inner}{body}\n")


def init_of(bench: Workbench, ref: ClassRef) -> Init:
    """The `__init__` that a class defines; raises Unclear where it has none of a known shape."""
    file = bench.open(ref.path)
    for node in _inits(bench, file, ref):
        for statement in node.body:
            if calls_parent(statement) and file.alone(statement):
                return Init(file, node, statement)
    raise Unclear(f"`{ref.name}` has no `__init__` that calls `super().__init__()`")


def plain_init_of(bench: Workbench, ref: ClassRef) -> Init:
    """The `__init__` of a class that need not run that of a base."""
    file = bench.open(ref.path)
    for node in _inits(bench, file, ref):
        return Init(file, node, node.body[0])
    raise Unclear(f"`{ref.name}` has no `__init__`")


def _inits(bench: Workbench, file: OpenFile, ref: ClassRef) -> Iterator[ast.FunctionDef]:
    project = bench.tables.project
    for binding in project.class_bindings(ref).get("__init__", ()):
        if isinstance(binding.value, Definition):
            node = file.definition(project.files[ref.path].functions[binding.value.key])
            if isinstance(node, ast.FunctionDef):
                yield node


def place_of(bench: Workbench, ref: ClassRef) -> Init | Place:
    """The `__init__` of a class, or where a class that has none can get one."""
    project = bench.tables.project
    if "__init__" in project.class_bindings(ref):
        return init_of(bench, ref)
    file = bench.open(ref.path)
    for node in file.by_line.get(project.class_(ref).line, ()):
        methods = (one for one in getattr(node, "body", ()) if isinstance(one, FUNCTIONS))
        if isinstance(node, ast.ClassDef) and (first := next(methods, None)) is not None:
            return Place(file, first)
    raise Unclear(f"`{ref.name}` has no method")


@dataclass(frozen=True, slots=True)
class Declaration:
    """The statement that gives an attribute its first value."""

    statement: ast.stmt
    target: ast.expr
    value: ast.expr

    @property
    def alone(self) -> bool:
        """It sets nothing else."""
        return len(parts(self.statement)) == 1


def declaration_of(init: Init, family: Family) -> Declaration:
    """The one statement of `__init__` that gives the attribute its first value."""
    stores = [
        statement
        for mention in family.mentions
        if mention.file is init.file and isinstance(mention.node.ctx, ast.Store)
        if mention.file.parents[statement := mention.file.statement(mention.node)] is init.node
    ]
    if len(stores) != 1:
        raise Unclear("`__init__` does not set it exactly once")
    for part in parts(stores[0]):
        if isinstance(part.target, ast.Attribute) and part.target.attr == family.name:
            return Declaration(stores[0], part.target, part.value)
    raise Unclear("`__init__` sets it together with something else")


def default_of(bench: Workbench, ref: ClassRef, name: str, init: Init | Place) -> Declaration | None:
    """The one plain value that the body of a class, and not its `__init__`, gives to an attribute; or None.

    Raises Unclear where instances can be made without the `__init__` that would set it instead.
    """
    project = bench.tables.project
    if len(project.class_bindings(ref).get(name, ())) != 1:
        return None
    if isinstance(init, Init) and name in bench.first_said(init.node):
        return None
    file = init.file
    for node in file.by_line.get(project.class_(ref).line, ()):
        # A decorator, such as that of dataclasses, may read the body.
        plain = isinstance(node, ast.ClassDef) and not node.decorator_list
        for statement in node.body if isinstance(node, ast.ClassDef) and plain else ():
            match parts(statement):
                case [Part(target=ast.Name(id=bound), value=ast.Constant() as value)] if bound == name:
                    if bench.files("word", "__new__"):
                        raise Unclear("objects may be made without `__init__`")
                    check_parents_first(bench, ref, name)
                    return Declaration(statement, ast.Name(name, ast.Store()), value)
    return None


def in_body(bench: Workbench, ref: ClassRef, name: str) -> tuple[Declaration, Place, ast.ClassDef]:
    """The one plain value that the body of a class gives to an attribute, in a statement of its own."""
    file = bench.open(ref.path)
    for node in file.by_line.get(bench.tables.project.class_(ref).line, ()):
        if not isinstance(node, ast.ClassDef):
            continue
        set_here = [statement for statement in node.body if _sets_alone(statement, name)]
        methods = [one for one in node.body if isinstance(one, FUNCTIONS)]
        if len(set_here) == 1 == len(bench.tables.project.class_bindings(ref).get(name, ())) and methods:
            (part,) = parts(set_here[0])
            return Declaration(set_here[0], part.target, part.value), Place(file, methods[0]), node
    raise Elsewhere(f"the body of `{ref.name}` does not set it once to a plain value")


def _sets_alone(statement: ast.stmt, name: str) -> bool:
    match parts(statement):
        case [Part(target=ast.Name(id=bound), value=ast.Constant())]:
            return bound == name
    return False


def check_parents_first(bench: Workbench, ref: ClassRef, name: str) -> None:
    """Refuse a class below which an `__init__` does not run all others first, before it uses a name."""
    for below in bench.below.get(ref, ()):
        if below != ref and "__init__" in bench.tables.project.class_bindings(below):
            init = init_of(bench, below)
            calls = [statement for statement in init.node.body if calls_parent(statement)]
            if len(calls) > 1 or not ast.unparse(init.parent_call).startswith("super()"):
                raise Unclear(f"`{below.name}` does not call `super().__init__()` alone")
            if bench.first_said(init.node).get(name, init.parent_call.lineno) < init.parent_call.lineno:
                raise Unclear("a subclass uses it before the base class does")


def calls_parent(statement: ast.stmt) -> bool:
    """`super().__init__(...)`, or `Base.__init__(self, ...)`."""
    node = statement.value if isinstance(statement, ast.Expr) else None
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__")):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="__init__"), args=[ast.Name(), *_]):
            return True  # Base.__init__(self)
    return False


def _unshadowed(file: OpenFile, name: str) -> str:
    """A name that nothing but the import binds anywhere in the file; raises Unclear for any other."""
    if name in file.bound:
        raise Unclear(f"{file.path} gives the name `{name}` to something else")
    return name


def torch_name(file: OpenFile) -> tuple[str, tuple[Edit, ...]]:
    """Return the name of torch in the file, and the edit that imports it where nothing does."""
    first = None
    for statement in file.tree.body:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    if alias.name == "torch" or (alias.name.startswith("torch.") and not alias.asname):
                        return _unshadowed(file, alias.asname or "torch"), ()
            case ast.ImportFrom(module=str() as module, level=0) if module.split(".")[0] == "torch":
                first = first or statement
    if first is None or not file.alone(first):
        raise Unclear(f"{file.path} does not import torch")
    return _unshadowed(file, "torch"), (
        Edit(Span(file.path, first.lineno, 1, first.lineno, 1), "import torch\n"),
    )


def torch_or_import(file: OpenFile) -> tuple[str, tuple[Edit, ...]]:
    """Return the same for a file that imports nothing of torch, which then does so above its first code."""
    try:
        return torch_name(file)
    except Unclear:
        if "torch" in file.bound or any(
            isinstance(one, ast.ImportFrom) and _is_of_torch(one) for one in file.nodes
        ):
            raise
    for statement in file.tree.body:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not is_text and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            is_import = isinstance(statement, ast.Import | ast.ImportFrom)
            return "torch", (
                file.insert_before(statement, "import torch" if is_import else "import torch\n"),
            )
    raise Unclear(f"{file.path} has no code")


def _is_of_torch(statement: ast.ImportFrom) -> bool:
    return (statement.module or "").split(".")[0] == "torch"
