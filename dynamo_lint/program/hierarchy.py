"""Class hierarchy analysis: subclasses, overrides of declared methods, how surely a subclass is meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from dynamo_lint import knowledge
from dynamo_lint.index.ir import Attribute, Call, Definition, Expr, Function, Name
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.program.classes import OF_MODULES
from dynamo_lint.program.dependencies import question
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, Confidence, ExternalSymbol, FunctionRef


def subclass_confidence(project: Project, candidates: Iterable[ClassRef]) -> dict[ClassRef, Confidence]:
    """How sure it is that each subclass stands for their abstract base.

    One that nothing names is merely assumed beside one that something does; if nothing names any of them,
    the users of a library construct them all.
    """
    named = {subclass: _is_named(project, subclass) for subclass in candidates}
    some = any(named.values())
    return {
        subclass: Confidence.LIKELY if known or not some else Confidence.POSSIBLE
        for subclass, known in named.items()
    }


def _is_named(project: Project, ref: ClassRef) -> bool:
    """Whether a class, or a subclass, is decorated, imported by some file, or named in its own file."""
    key = ("is named", ref)
    if key not in project.memo:
        project.memo[key] = False  # a class that inherits from itself
        project.memo[key] = (
            bool(project.class_(ref).decorators)
            or ref.name in project.named("imported")
            or ref.name in project.mentioned_in(ref.path)
            or any(
                ref in project.mro(subclass) and _is_named(project, subclass)
                for subclass in project.derived_from(ref.name)
            )
        )
    return bool(project.memo[key])


def families(project: Project, refs: Collection[ClassRef]) -> set[ClassRef]:
    """The classes that inherit from no other of them: each stands for those below it."""
    return {ref for ref in refs if not any(base in refs for base in project.mro(ref)[1:])}


_MOST_WITH = 8
"""An attribute that more classes below a base have than this says little about which of them is meant."""
_MOST_SUBCLASSES = 40
"""An abstract class with more subclasses says too little about what an annotated value is."""
_KNOWN_BASES = knowledge.names("plain_bases")
_DECORATORS = frozenset({"abstractmethod", "abstractproperty"})


def only_declares(function: Function) -> bool:
    """A method that only says what its subclasses do: marked as abstract, or raising NotImplementedError."""
    return _is_marked(function) or _only_raises(function)


@question
def is_empty(function: Function) -> bool:
    """Whether a method is marked as abstract and does nothing, not even for calls by `super()`."""
    calls = any(site.call.function != Name("NotImplementedError") for site in function.calls)
    return _is_marked(function) and not (calls or function.returns or function.stores or function.bindings)


def is_left_to_subclasses(project: Project, ref: FunctionRef) -> bool:
    """A method whose body only raises NotImplementedError, where some class below does something."""
    function = project.function(ref)
    if function.owner is None or not _only_raises(function) or len(function.calls) > 1:
        return False
    name = function.qualname.rpartition(".")[2]
    return bool(overrides(project, ClassRef(ref.path, function.owner), name))


def is_protocol(project: Project, ref: ClassRef) -> bool:
    """Whether a class is a `typing.Protocol`: a class with its members is one, also without being derived."""
    return any(terminal_name(base) == "Protocol" for base in project.class_(ref).bases)


def instantiated_as(project: Project, ref: ClassRef) -> tuple[ClassRef, ...]:
    """The class itself, or few classes below one that nobody makes an instance of: it stands for them."""
    if project.calls_of(ref.name):
        return (ref,)
    below = subclasses(project, ref)
    return (ref, *below) if len(below) <= _MOST_WITH else (ref,)


def subclasses(project: Project, ref: ClassRef) -> tuple[ClassRef, ...]:
    """All classes of the project below a class, in the order of their files."""
    key = ("subclasses of", ref)
    if key not in project.memo:
        found: dict[ClassRef, None] = {}
        pending = [ref]
        while pending:
            for subclass in project.derived_from(pending.pop().name):
                if subclass != ref and subclass not in found and ref in project.mro(subclass):
                    found[subclass] = None
                    pending.append(subclass)
        project.memo[key] = tuple(sorted(found))
    return project.memo[key]  # type: ignore[return-value]


def subclasses_running(project: Project, where: FunctionRef) -> tuple[ClassRef, ...]:
    """The classes below the owner of a method that run it too: they inherit it or call it by `super()`.

    None if they are many: such a base belongs to a library, and its users choose among its subclasses.
    """
    function = project.function(where)
    if function.owner is None:
        return ()
    name = function.qualname.rpartition(".")[2]
    owner = ClassRef(where.path, function.owner)
    below = subclasses(project, owner)
    if len(below) > _MOST_SUBCLASSES:
        return ()
    return tuple(subclass for subclass in below if _reaches(project, subclass, name, where))


def _reaches(project: Project, subclass: ClassRef, name: str, where: FunctionRef) -> bool:
    """Whether calling the method `name` of a subclass runs `where`, through all overrides in between."""
    for part in project.mro(subclass):
        own = project.class_bindings(part).get(name)
        if not own:
            continue
        key = own[-1].value.key if isinstance(own[-1].value, Definition) else ""
        if FunctionRef(part.path, key) == where:
            return True
        override = project.files[part.path].functions.get(key)
        if override is None or not any(_is_super(site.call.function, {name}) for site in override.calls):
            return False
    return False


def _is_super(callee: Expr, names: Collection[str]) -> bool:
    match callee:
        case Attribute(Call(Name("super")), called):
            return called in names
    return False


def overrides(project: Project, ref: ClassRef, name: str) -> dict[ClassRef, FunctionRef]:
    """Return the overrides of a declared method by subclasses of `ref`; nothing if they are many."""
    below = subclasses(project, ref)
    if len(below) > _MOST_SUBCLASSES:
        return {}
    methods = {subclass: project.method(subclass, name) for subclass in below}
    return {
        subclass: method
        for subclass, method in methods.items()
        if method is not None and not only_declares(project.function(method))
    }


def concrete_subclasses(project: Project, ref: ClassRef) -> tuple[ClassRef, ...]:
    """The classes below an `abc.ABC` or one that leaves it to them what a method does, unless they are many.

    Such a class has no instances of its own.
    """
    key = ("subclasses of abstract", ref)
    if key not in project.memo:
        abstract = ExternalSymbol("abc.ABC") in project.bases(ref) or _declares(project, ref)
        below = subclasses(project, ref) if abstract or _is_open(project, ref) else ()
        project.memo[key] = below if len(below) <= _MOST_SUBCLASSES else ()
    return project.memo[key]  # type: ignore[return-value]


def subclasses_with(project: Project, ref: ClassRef, name: str) -> tuple[ClassRef, ...]:
    """The classes below `ref` that have an attribute which `ref` itself does not have.

    `value.name` on a value declared as the base is only sound if it is one of them, whether a test says so
    or not.
    """
    key = ("holders", ref, name)
    if key not in project.memo:
        givers = () if _may_have(project, ref, name) else _givers_below(project, ref).get(name, ())
        below = subclasses(project, ref) if givers else ()
        having = tuple(
            subclass for subclass in below if any(part in givers for part in project.mro(subclass))
        )
        # The base of all modules of a project is passed about as any: one sort is meant, or it is unknown.
        many = project.is_module(ref) and len(below) > _MOST_WITH
        project.memo[key] = having if len(having) <= (1 if many else _MOST_WITH) else ()
    return project.memo[key]  # type: ignore[return-value]


def _givers_below(project: Project, ref: ClassRef) -> dict[str, set[ClassRef]]:
    """By attribute, what gives it to the classes below one: a base is asked for hundreds that nobody has."""
    key = ("givers below", ref)
    if key not in project.memo:
        giving: dict[str, set[ClassRef]] = {}
        for part in {part for subclass in subclasses(project, ref) for part in project.mro(subclass)}:
            for name in _given(project, part):
                giving.setdefault(name, set()).add(part)
        project.memo[key] = giving
    return project.memo[key]  # type: ignore[return-value]


def _may_have(project: Project, ref: ClassRef, name: str) -> bool:
    """Whether a class has an attribute, or has a base outside the project that may."""
    if name.startswith("__") or not _KNOWN_BASES.issuperset(project.external_bases(ref)):
        return True
    of_every = name in OF_MODULES and project.is_module(ref)
    return of_every or any(name in _given(project, part) for part in project.mro(ref))


def _given(project: Project, ref: ClassRef) -> set[str]:
    """The attributes that the code of one class mentions: in its body, or stored by its methods."""
    key = ("given names", ref)
    if key not in project.memo:
        declared = (annotated for annotated, _ in project.class_(ref).annotations)
        project.memo[key] = {*declared, *project.class_bindings(ref), *project.own_stores(ref)}
    return project.memo[key]  # type: ignore[return-value]


def _declares(project: Project, ref: ClassRef) -> bool:
    """Whether the body of the class marks a method as abstract."""
    for bindings in project.class_bindings(ref).values():
        for binding in bindings:
            if isinstance(binding.value, Definition):
                function = project.files[ref.path].functions.get(binding.value.key)
                if function is not None and _is_marked(function):
                    return True
    return False


def _is_open(project: Project, ref: ClassRef) -> bool:
    """Whether a module leaves it to its subclasses what it does: its own forward only raises."""
    forward = project.method(ref, "forward") if project.is_module(ref) else None
    return forward is not None and project.owner(forward) == ref and _only_raises(project.function(forward))


def _is_marked(function: Function) -> bool:
    return any(terminal_name(decorator) in _DECORATORS for decorator in function.decorators)


@question
def _only_raises(function: Function) -> bool:
    return not (function.returns or function.stores or function.bindings) and any(
        site.call.function == Name("NotImplementedError") for site in function.calls
    )


ALTERNATIVES = knowledge.names("constructs_subclass")


def makes_own(project: Project, where: FunctionRef, subclass: ClassRef) -> bool:
    """Whether a class method constructs the class that it is called on.

    It says `cls(…)`, or `cls.build(…)` of a class method that does, or what a library makes of `super()`.
    """
    key = ("makes own", where, subclass)
    if key not in project.memo:
        project.memo[key] = False  # while it is asked of those that call each other
        function = project.function(where)
        first = Name(function.parameters[0].name) if function.parameters else None
        called = dict.fromkeys(site.call.function for site in function.calls)
        asked = [c.name for c in called if isinstance(c, Attribute) and c.value == first]
        methods = [method for name in asked if (method := project.method(subclass, name)) is not None]
        project.memo[key] = (
            first in called
            or any(_is_super(callee, ALTERNATIVES) for callee in called)
            or any(
                project.method_kind(m) == "classmethod" and makes_own(project, m, subclass) for m in methods
            )
        )
    return bool(project.memo[key])
