"""What is said of a compile site that could not be resolved: its text, and the classes that it may mean."""

from __future__ import annotations

from collections.abc import Sequence

from dynamo_lint.index import facts
from dynamo_lint.index.facts import Expr
from dynamo_lint.regions.builders import BUILDERS
from dynamo_lint.regions.model import ClassRef, FunctionRef
from dynamo_lint.regions.project import External, Project
from dynamo_lint.regions.rehearsals import is_for_tests

_MOST = 3
_NO_MAKERS = ("builtins.", "torch.nn.", "torch.compile", "torch._dynamo.", "copy.", "functools.")
"""What only wraps or copies says nothing of where a value comes from."""


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
    return tuple(name for _, _, name in sorted(found)[:_MOST])


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


def maker_of(project: Project, where: FunctionRef, target: Expr) -> str | None:
    """The function of a library that gives what an expression names, or what it is an attribute of."""
    while isinstance(target, facts.Attribute):
        owner = project.owner(where)
        if owner is not None and project.is_self(target.value, where):
            made = [store.value for _, store in project.own_stores(owner).get(target.name, ())]
            return _made_by(project, where, made)
        target = target.value
    if isinstance(target, facts.Call):
        return _made_by(project, where, [target])
    if not isinstance(target, facts.Name):
        return None
    local = project.locals_of(where).get(target.id)
    bound = local.bound if local is not None else project.global_bindings(where.path).get(target.id, [])
    return None if local is not None and local.parameter else _made_by(project, where, bound)


def _made_by(project: Project, where: FunctionRef, values: Sequence[Expr]) -> str | None:
    for value in values:
        while isinstance(value, facts.Call):
            symbols = project.symbols(value.function, where.path, where.key)
            for symbol in symbols:
                if isinstance(symbol, External) and not symbol.dotted.startswith(_NO_MAKERS):
                    return symbol.dotted
            # `make(…).cuda()` is what `make` gives.
            value = value.function.value if isinstance(value.function, facts.Attribute) else value.function
    return None


def examples(project: Project, where: FunctionRef) -> tuple[str, ...]:
    """The module of the project that is nearest to a place: it need not be meant, but it exists."""
    for path in sorted(project.files, key=lambda path: (_distance(path, where), path)):
        for key in sorted(project.files[path].classes) if not is_for_tests(path, where.path) else ():
            ref = ClassRef(path, key)
            if project.is_module(ref) and project.method(ref, "forward"):
                return (f"{project.files[path].module}:{key}",)
    return ()


def _names(expr: Expr) -> list[str]:
    match expr:
        case facts.Name(name):
            return [name]
        case facts.Attribute(value, name):
            return [name] if name not in ("forward", "__call__") else _names(value)
        case facts.Narrowed(value) | facts.Element(value) | facts.Subscript(value):
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
        case facts.Name(name):
            return name
        case facts.Attribute(value, name):
            return f"{describe(value)}.{name}"
        case facts.Call(function, arguments, keywords):
            inside = [describe(a) for a in arguments] + [f"{k}=…" for k, _ in keywords if k]
            return f"{describe(function)}({', '.join(inside)})"
        case facts.Subscript(value, index):
            return f"{describe(value)}[{describe(index)}]"
        case facts.Constant(value):
            return repr(value)
        case facts.Typed(value) | facts.Narrowed(value):
            return describe(value)
    return "…"
