"""Compile sites that could not be resolved: their text, why, and the classes they may mean."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from dynamo_lint import knowledge
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, Expr
from dynamo_lint.models.instantiation import BUILDERS
from dynamo_lint.program.files import is_for_tests
from dynamo_lint.program.hierarchy import only_declares, overrides, subclasses
from dynamo_lint.program.project import HIDING, Project
from dynamo_lint.program.refs import ClassRef, ExternalSymbol, File, FunctionRef
from dynamo_lint.regions.model import CompiledFunction, Entry, Regions, Unresolved
from dynamo_lint.regions.options import CHOICE, LIBRARY
from dynamo_lint.regions.targets import Target
from dynamo_lint.values.model import Compiled, Context, ExternalInstance, Instance, Value, ValueSet
from dynamo_lint.values.points_to import evaluate

FEW_NAMES = 3
"""So many are named of what may be meant."""


def candidates(project: Project, where: FunctionRef, target: Expr) -> tuple[str, ...]:
    """Modules of the project whose class is called like a name in the expression: `self.image_encoder`.

    Classes of the same file and nearby packages come first; nothing here counts as evidence.
    """
    words = {_plain(name) for name in _names(target)} - {"self", "forward", "module", "fn", "call", "compile"}
    if not words:
        return ()
    found: list[tuple[int, int, str]] = []
    for ref in project.classes():
        if is_for_tests(ref.path, where.path):
            continue
        name = _plain(ref.name)
        exact = name in words
        if (exact or any(len(word) > 3 and name.endswith(word) for word in words)) and project.is_module(ref):
            found.append(
                (not exact, _distance(ref.path, where), f"{project.files[ref.path].module}:{ref.key}")
            )
    return tuple(name for _, _, name in sorted(found)[:FEW_NAMES])


def named(project: Project, targets: Iterable[Target]) -> tuple[str, ...]:
    """The classes, or functions without one, that some targets belong to, as a declaration names them."""
    return _declared(project, {target.receiver or target.function for target in targets})


def _declared(project: Project, refs: Iterable[ClassRef | FunctionRef]) -> tuple[str, ...]:
    """The names by which a declaration means some classes and functions."""
    return tuple(sorted(f"{project.files[ref.path].module}:{ref.key}" for ref in refs))


def reason(maker: str | None, *, bare: bool, empty: list[ClassRef]) -> str:
    """Why it is not known what a site compiles; `maker` is the library function that made it."""
    if empty:
        return f"{empty[0].name} defines no forward, so no code is compiled here"
    if bare:
        return "it is a torch.nn.Module of an unknown class"
    if maker in BUILDERS:
        return f"{maker} builds it, and no YAML or JSON file names a class of this project for it"
    if maker is not None:
        return f"it comes from {maker}, which is not part of this project"
    return "its value could not be resolved to a module or function of this project"


def nothing_of_ours(project: Project, values: ValueSet) -> str:
    """Why a site compiles no code of the project, although it is known what it compiles."""
    for value in values:
        if isinstance(value, Instance):
            own = project.method(value.ref, "forward") is not None
            return f"the forward of {value.ref.name} is {'disabled' if own else 'that of a library'}"
    outside = sorted(v.dotted for v in values if isinstance(v, ExternalInstance | ExternalSymbol | Compiled))
    if outside:
        return f"{outside[0]} is not part of this project"
    return "no code of this project is compiled here"


def examples(project: Project, where: FunctionRef) -> tuple[str, ...]:
    """The module of the project that is nearest to a place: it need not be meant, but it exists."""
    classes = project.named("classes")
    for path in sorted(classes, key=lambda path: (_distance(path, where), path)):
        for key in sorted(classes[path]) if not is_for_tests(path, where.path) else ():
            ref = ClassRef(path, key)
            if project.is_module(ref) and project.method(ref, "forward"):
                return (f"{project.files[path].module}:{key}",)
    return ()


def _names(expr: Expr) -> list[str]:
    match expr:
        case ir.Name(name):
            return [name]
        case ir.Attribute(value, name):
            return [name] if name not in ("forward", "__call__") else _names(value)
        case ir.Narrowed(value) | ir.Element(value) | ir.Subscript(value):
            return _names(value)
    return []


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _distance(path: str, where: FunctionRef) -> int:
    """How far apart two files are in the folder tree."""
    mine, theirs = path.split("/"), where.path.split("/")
    shared = 0
    for a, b in zip(mine, theirs, strict=False):
        if a != b:
            break
        shared += 1
    return len(mine) + len(theirs) - 2 * shared


def describe(expr: Expr) -> str:
    """A short source-like text of an expression, for messages."""
    match expr:
        case ir.Name(name):
            return name
        case ir.Attribute(value, name):
            return f"{describe(value)}.{name}"
        case ir.Call(function, arguments, keywords):
            inside = [describe(a) for a in arguments] + [f"{k}=…" for k, _ in keywords if k]
            return f"{describe(function)}({', '.join(inside)})"
        case ir.Subscript(value, index):
            return f"{describe(value)}[{describe(index)}]"
        case ir.Constant(value):
            return repr(value)
        case ir.Typed(value) | ir.Narrowed(value):
            return describe(value)
    return "…"


def call_of_one(project: Project, entry: Entry, callees: list[str], meant: Iterable[Value]) -> Unresolved:
    """The site that compiles code which calls one of several modules, by some names."""
    modules = _declared(project, {value.ref for value in meant if isinstance(value, Instance)})
    called = " and ".join(f"`{callee}`" for callee in sorted(callees)[:FEW_NAMES])
    why = f"what it compiles calls {called}, one of {len(modules)} classes, and a run says which: "
    compiled = entry.target.partition("::")[2]
    return Unresolved(
        entry.path, entry.line, compiled, f"{why}what is found in them is a note", modules, kind=CHOICE
    )


def left_to_many(project: Project, hot: Iterable[CompiledFunction]) -> Iterator[Unresolved]:
    """The compiled methods that leave it to subclasses what they do, which are too many to follow."""
    for ref in dict.fromkeys(one.function for one in hot):
        owner, function = project.owner(ref), project.function(ref)
        if owner is None or not only_declares(function):
            continue
        name, below = ref.key.rpartition(".")[2], subclasses(project, owner)
        if below and not overrides(project, owner, name):
            why = f"{len(below)} subclasses say what it does, too many to follow"
            yield Unresolved(ref.path, function.line, function.qualname, why, kind="class")


def closures_alone(project: Project, regions: Regions) -> Iterator[Unresolved]:
    """The closures that are all that is known of their region, and call what is not known."""
    reached: dict[int, set[FunctionRef]] = defaultdict(set)
    for one in regions.hot:
        for number in one.entries:
            reached[number].add(one.function)
    alone = (next(iter(functions)) for functions in reached.values() if len(functions) == 1)
    for ref in sorted({one for one in alone if ".<locals>." in one.key}):
        unknown = dict.fromkeys(_unknown_callees(project, ref))
        if unknown:
            called = " and ".join(f"`{describe(callee)}`" for callee in unknown)
            function = project.function(ref)
            why = f"it calls {called}, of which nothing is known, and no more of its region is"
            yield Unresolved(ref.path, function.line, function.qualname, why, kind="closure")


def _unknown_callees(project: Project, ref: FunctionRef) -> Iterator[Expr]:
    """The callees of a closure that a function around it holds, or an object of ours, and no value tells."""
    context = Context(ref, project.owner(ref))
    for site in project.function(ref).calls:
        match site.call.function:
            case ir.Name(name) as callee:
                held = MODULE_KEY != project.home_of(name, ref).key != ref.key
            case ir.Attribute(owner, name) as callee:
                owners = [v.ref for v in evaluate(project, owner, context) if isinstance(v, Instance)]
                held = any(name in project.own_stores(part) for one in owners for part in project.mro(one))
            case _:
                continue
        if held and not evaluate(project, callee, context):
            yield callee


def hidden_libraries(project: Project) -> Iterator[Unresolved]:
    """The first import in each file that means another one, which hides a library and lacks names of it."""
    hiding = project.memo.get(HIDING, frozenset())
    assert isinstance(hiding, set | frozenset)
    for path in sorted(hiding):
        library = project.files[path].module
        lacks = f"what it lacks is judged as {library}'s"
        why = f"{path} hides {library} where code is run from its folder ({lacks})"
        for importer, file in project.files.items():
            lines = [
                binding.line
                for function in file.functions.values()
                for binding in function.bindings
                if isinstance(binding.value, ir.Import) and binding.value.module == library
                if File(path) in project.imported_modules(binding.value, importer)
            ]
            if lines:
                yield Unresolved(importer, min(lines), f"import {library}", why, kind=LIBRARY)


_FLAGS = knowledge.names("compile_flags")
_MOST_FLAGS = 3


def compile_flags(project: Project) -> list[Unresolved]:
    """The first classes that have such a flag, in the body (a configuration) or set in a method."""
    found: list[Unresolved] = []
    for ref in project.classes():
        for name, line in _flags_of(project, ref):
            why = "the flag turns compiling on, but no call in these files compiles anything"
            near = examples(project, FunctionRef(ref.path, ref.key))
            found.append(Unresolved(ref.path, line, f"{ref.name}.{name}", why, (), near))
            break
        if len(found) == _MOST_FLAGS:
            break
    return found


def _flags_of(project: Project, ref: ClassRef) -> Iterator[tuple[str, int]]:
    class_ = project.class_(ref)
    for name, _ in class_.annotations:
        if name in _FLAGS:
            lines = [binding.line for binding in class_.bindings if binding.name == name]
            yield name, lines[0] if lines else class_.line
    for name in _FLAGS.intersection(project.own_stores(ref)):
        yield name, project.own_stores(ref)[name][0][1].line
