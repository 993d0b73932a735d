"""Compile entries: the places that hand a callable to the compiler, and what they compile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from operator import itemgetter

from dynamo_lint.calls.compiled_calls import compiles_something
from dynamo_lint.calls.contexts import comes_back, depends_on
from dynamo_lint.calls.never_called import is_set_aside, owner_of_call
from dynamo_lint.conditions.arguments import (
    enabled,
    gives_another,
    is_disabled,
    may_run_line,
    off_with,
    varies,
)
from dynamo_lint.conditions.constructor import attributes_tested
from dynamo_lint.conditions.select import is_chosen
from dynamo_lint.index import ir
from dynamo_lint.index.ir import MODULE_KEY, CallSite, Expr, Function
from dynamo_lint.index.lower import terminal_name
from dynamo_lint.index.walking import parts, walk
from dynamo_lint.models import frameworks
from dynamo_lint.models.callbacks import callbacks
from dynamo_lint.models.instantiation import BUILDERS
from dynamo_lint.models.wrappers import put_into_library
from dynamo_lint.program.classes import inherits_code
from dynamo_lint.program.compile_values import mapped
from dynamo_lint.program.files import is_rehearsal
from dynamo_lint.program.hierarchy import subclasses_running
from dynamo_lint.program.names import goes_by
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import COMPILE, ClassRef, Confidence, ExternalSymbol, FunctionRef
from dynamo_lint.program.static_bindings import maker_of
from dynamo_lint.regions.compile_names import CONVENTION, carriers, compile_names, forwards
from dynamo_lint.regions.counting import instances
from dynamo_lint.regions.model import (
    Entry,
    Root,
    Skipped,
    Unresolved,
    handed_over,
    is_tried,
    merged_roots,
    weakened,
)
from dynamo_lint.regions.options import CHOICE, RegionOptions, matches, wrapper
from dynamo_lint.regions.receivers import receivers
from dynamo_lint.regions.targets import (
    Target,
    alternatives,
    by_call,
    compiled_argument,
    compiled_by_class,
    compiled_in_place,
    has_own_compile,
    is_some_module,
    shown,
    steps_of,
    targets_of,
    unknown_compile,
)
from dynamo_lint.regions.unresolved import (
    FEW_NAMES,
    candidates,
    describe,
    examples,
    named,
    nothing_of_ours,
    reason,
)
from dynamo_lint.values.model import (
    EMPTY,
    ClassValue,
    Compiled,
    Context,
    ExternalInstance,
    FunctionValue,
    Instance,
    Value,
    ValueSet,
    flattened,
    id_of,
)
from dynamo_lint.values.points_to import PointsTo, evaluate, points_to_of


def calls_at(project: Project, path: str, line: int) -> list[ir.Call]:
    """The calls that begin on a line, decorators among them; what looks for them asks for many lines."""
    functions, key = project.files[path].functions, ("functions around", path)
    if key not in project.memo:
        project.memo[key] = _names_by_line(functions)
    around: Mapping[int, list[str]] = project.memo[key]  # type: ignore[assignment]
    names = (name for name in (MODULE_KEY, *around.get(line, ())) if name in functions)
    return [call for name in names for call in _calls_of(project, path, name).get(line, ())]


def _names_by_line(functions: Mapping[str, Function]) -> dict[int, list[str]]:
    table: dict[int, list[str]] = defaultdict(list)
    for name, function in functions.items():
        if name != MODULE_KEY:
            for number in range(function.first_line, function.end_line + 1):
                table[number].append(name)
    return dict(table)


def _calls_of(project: Project, path: str, name: str) -> Mapping[int, list[ir.Call]]:
    """The calls of a function by line; they are asked for each time, since an answer rests on them."""
    function, key = project.files[path].functions[name], ("calls by line", path, name)
    sites, decorators = function.calls, function.decorators
    if key not in project.memo:
        table: dict[int, list[ir.Call]] = defaultdict(list)
        for call in (*(site.call for site in sites), *decorators):
            if isinstance(call, ir.Call):
                table[call.line].append(call)
        project.memo[key] = dict(table)
    return project.memo[key]  # type: ignore[return-value]


def entry_keywords(project: Project, entry: Entry) -> dict[str, object]:
    """Literal keyword arguments of the call that is an entry: `isolate_recompiles=True`."""
    if entry.path not in project.files:
        return {}
    return {
        name: value.value
        for call in calls_at(project, entry.path, entry.line)
        for name, value in call.keywords
        if name is not None and isinstance(value, ir.Constant)
    }


def _is_of_torch(value: Expr) -> bool:
    """Whether something is imported from torch."""
    return isinstance(value, ir.Import) and value.module.partition(".")[0] == "torch"


_OF_TORCH = frozenset({"fullgraph", "dynamic"})
"""Keywords of `nn.Module.compile` that no other `.compile()` has: its receiver is a module, whichever."""
_DISABLED = "`disable=True` turns compiling off"
_FEW = 5
"""Unrelated classes that one site may compile, seen from one call: of more, which it is, nothing shows."""
_MOST_TARGETS = 40
"""A helper that its callers give more different modules than this is the compiler of a library."""


def find_entries(
    project: Project, options: RegionOptions
) -> tuple[list[Root], list[Unresolved], list[Skipped]]:
    """Compile entries in the code itself, in file order, and the sites that are none.

    Those are the sites whose target stays unknown, and those that compile nothing of the project.
    """
    search = _Search(project, options)
    roots: list[Root] = []
    unresolved: list[Unresolved] = []
    skipped: list[Skipped] = []
    within = frozenset(project.named("within").get("", ()))
    for ref in project.in_order(search.functions()):
        function = project.function(ref)
        for decorator in function.decorators:
            if search.compiles(decorator, ref.path, function.outer or MODULE_KEY):
                # Its `self` is also an instance of each class that inherits it.
                subclasses = (
                    Target(ref, subclass, Confidence.LIKELY) for subclass in subclasses_running(project, ref)
                )
                targets = (Target(ref, project.owner(ref), Confidence.CERTAIN), *subclasses)
                roots.append(search.decorated(decorator, ref.path, function.first_line, ref.id, targets))
            else:
                skipped += search.switched_off(decorator, ref.path, function.outer or MODULE_KEY)
        for site in function.calls if ref in within else project.calls_in(ref, search.may_compile):
            if site.context is None and not search.may_compile(site.call.function):
                continue
            found = search.call(ref, site)
            if isinstance(found, Unresolved):
                unresolved.append(found)
            else:
                roots += found
                skipped += () if found else search.skipped(ref, site)
    for class_ref in project.in_order(ref for ref in search.decorated_ones() if isinstance(ref, ClassRef)):
        class_ = project.class_(class_ref)
        for decorator in class_.decorators:
            if search.compiles(decorator, class_ref.path, class_.outer or MODULE_KEY):
                targets = targets_of(project, {ClassValue(class_ref): Confidence.CERTAIN})
                roots.append(
                    search.decorated(decorator, class_ref.path, class_.first_line, class_ref.id, targets)
                )
            else:
                skipped += search.switched_off(decorator, class_ref.path, class_.outer or MODULE_KEY)
    roots += search.of_libraries()
    # What only a test compiles shows that users may: no run of theirs has compiled it yet.
    roots = [weakened(root, Confidence.LIKELY) if is_tried(project, root) else root for root in roots]
    roots = [weakened(root, Confidence.POSSIBLE) if _is_left_off(project, root) else root for root in roots]
    return roots, [*unresolved, *_choices(project, roots)], skipped


def _choices(project: Project, roots: list[Root]) -> Iterator[Unresolved]:
    """The sites that compile one of several classes, which of them a run says."""
    sites: dict[tuple[str, int], list[Root]] = defaultdict(list)
    for root in roots:
        if root.entry.choices > 1:
            sites[root.entry.path, root.entry.line].append(root)
    for (path, line), several in sites.items():
        meant = sorted({_declared_as(project, root) for root in several})
        expression = max((describe(call) for call in calls_at(project, path, line)), key=len, default="")
        count = max(root.entry.choices for root in several)
        why = f"it compiles one of {count} classes, and a run says which: what is found in them is a note"
        yield Unresolved(path, line, expression, why, tuple(meant), kind=CHOICE)


def _declared_as(project: Project, root: Root) -> str:
    """The name by which a declaration means what an entry compiles."""
    path, _, name = root.entry.target.partition("::")
    return f"{project.files[path].module}:{name}"


def _is_left_off(project: Project, root: Root) -> bool:
    """Whether a site compiles only with a flag of its function, which every call writes out as off."""
    pts = points_to_of(project)
    return root.site is not None and not may_run_line(pts, root.site, root.entry.line, strict=True)


class _Search:
    """Recognises compile sites; names are compared first, since evaluating every call would be slow."""

    def __init__(self, project: Project, options: RegionOptions) -> None:
        self._project = project
        self._wrappers = dict(wrapper(text) for text in options.compile_wrappers)
        # A library's decorator is the project's own where the project is that library.
        self._decorators = (*options.compile_decorators, *frameworks.DECORATORS)
        self._torch: dict[str, bool] = {}  # the files that import torch
        self._outside: list[tuple[FunctionRef, CallSite]] = []  # sites that compile a library's function
        self.names = compile_names(project)
        self.names |= {pattern.rpartition(":")[2].rpartition(".")[2] for pattern in self._wrappers}
        self.names |= {pattern.rpartition(":")[2].rpartition(".")[2] for pattern in self._decorators}
        self._carriers = carriers(project)
        self.names |= self._carriers

    def functions(self) -> Iterator[FunctionRef]:
        """The functions that may have an entry, by the names of what they call and of their decorators."""
        callers, within = self._project.named("callers"), self._project.named("within")
        for name in self.names:
            yield from callers.get(name, ())
        for name in sorted(self._carriers):  # a table of compilers too
            yield from (where for where, _ in self._project.calls_of(name))
        yield from within.get("", ())
        yield from (ref for ref in self.decorated_ones() if isinstance(ref, FunctionRef))

    def may_compile(self, callee: Expr, _path: str = "") -> bool:
        """Whether what is called has a name that compiles."""
        return goes_by(callee) in self.names

    def decorated_ones(self) -> Iterator[FunctionRef | ClassRef]:
        """The functions and classes with a decorator that may compile them, by its name."""
        for name in (*self.names, "partial"):
            yield from (ref for ref, _ in self._project.decorated_with(name))

    def compiles(self, callee: Expr, path: str, function: str) -> bool:
        """Whether calling `callee` (or decorating with it) compiles something."""
        name = goes_by(callee)
        if isinstance(callee, ir.Call) and is_disabled(callee):  # gives back what it is given
            return False
        if name == "partial" and isinstance(callee, ir.Call) and callee.arguments:
            name = terminal_name(callee.arguments[0])  # `@partial(torch.compile, dynamic=True)`
        if name not in self.names:
            return False
        inner = callee.function if isinstance(callee, ir.Call) else callee
        if name == CONVENTION:  # one of the project's own compiles what its body says
            own = (
                one for one in self._project.symbols(inner, path, function) if isinstance(one, FunctionRef)
            )
            return not any(compiles_something(self._project.function(one)) for one in own)
        symbols = self._project.symbols(callee, path, function)
        if not (isinstance(callee, ir.Call) and callee.arguments):  # `torch.compile(f)(x)` compiles f, not x
            symbols += self._project.symbols(inner, path, function)
        return any(
            symbol == ExternalSymbol(COMPILE)
            or (isinstance(symbol, FunctionRef) and forwards(self._project, symbol))
            or matches(self._project, symbol, self._decorators)
            for symbol in symbols
        ) or (
            (name in self._carriers or self._is_of_parameter(inner, path, function))
            and self._carries(callee, FunctionRef(path, function))
        )

    def _is_of_parameter(self, callee: Expr, path: str, function: str) -> bool:
        """Whether `library.compile` is asked of what a function is given: that may be torch itself."""
        match callee:
            case ir.Attribute(ir.Name(owner), "compile"):
                local = self._project.locals_of(FunctionRef(path, function)).get(owner)
                return local is not None and local.parameter is not None
        return False

    def _carries(self, callee: Expr, where: FunctionRef) -> bool:
        """Whether the value of a callee, which no binding tells, may be torch.compile."""
        if gives_another(self._project, callee, where):
            return False
        return ExternalSymbol(COMPILE) in evaluate(
            self._project, callee, Context(where, self._project.owner(where))
        )

    def decorated(
        self, decorator: Expr, path: str, line: int, target: str, targets: tuple[Target, ...]
    ) -> Root:
        """The entry of a decorated function or class."""
        regional = terminal_name(decorator) == CONVENTION
        return Root(Entry(path, line, "decorator", target, Confidence.CERTAIN, regional), targets, target)

    def call(self, where: FunctionRef, site: CallSite) -> list[Root] | Unresolved:
        """The entries that a call site is: one for each thing it may compile."""
        if site.context is not None and terminal_name(site.context) == CONVENTION:
            return self._in_context(where, site)
        site = mapped(site) if "map" in self._carriers else site
        name = goes_by(site.call.function)
        if name is None or name not in self.names or is_disabled(site.call) or forwards(self._project, where):
            return []
        if not self._may_compile(where, site.call, name):
            return []
        found = self._compiled(Context(where, self._project.owner(where)), site, name)
        more = merged_roots(self._elsewhere(where, site, name))
        if isinstance(found, list):
            found = self._if_made(where, found, more)
        if is_chosen(self._project, where, site.call):
            more |= merged_roots(self._attached(where, site, name))
        if isinstance(found, Unresolved):
            ways = (way(where, site, name) for way in (self._around, self._attached, self._put_in))
            return list(more.values()) or next(filter(None, ways), found)
        if not (found or more):
            more = merged_roots(self._put_in(where, site, name))
        if not (found or more) and name == "compile" and site.repeated and not site.call.arguments:
            return self._attached(where, site, name)  # blocks of a model that nothing says the class of
        if more and self._is_given(where, self._deciding(where, site.call, name)):
            if varies(points_to_of(self._project), where, site.call.line):
                return list(more.values())
            # What no single call passes comes from all calls together: it may be any of them, or none.
            found = [root for root in found if root.entry.confidence == Confidence.CERTAIN]
        sure = [root for root in found if root.entry.confidence < Confidence.POSSIBLE or not more]
        return list(merged_roots([*sure, *more.values()]).values())

    def _may_compile(self, where: FunctionRef, call: ir.Call, name: str) -> bool:
        """Whether it takes values to tell: most calls of a name that compiles elsewhere mean other things."""
        if name in frameworks.NAMES and frameworks.may_compile(self._project, call, where):
            return True
        if name == "compile" and isinstance(call.function, ir.Attribute):
            return True
        wrapped = self._wrapped_argument(call.function, where) is not None
        return wrapped or self.compiles(call.function, where.path, where.key)

    def _attached(self, where: FunctionRef, site: CallSite, name: str) -> list[Root]:
        """The modules that a site compiles of what the project hangs on objects that it does not know."""
        pts = points_to_of(self._project).with_names()
        found = self._compiled(Context(where, self._project.owner(where)), site, name, pts)
        return found if isinstance(found, list) else []

    def _put_in(self, where: FunctionRef, site: CallSite, name: str) -> list[Root]:
        """The modules that a site compiles of ours that code puts into a module of a library."""
        compiled = self.compiles(site.call.function, where.path, where.key)
        target = compiled_argument(site.call, 0) if compiled else getattr(site.call.function, "value", None)
        if target is None or not (compiled or name == "compile") or (site.unused and compiled):
            return []
        if self._project.symbols(target, where.path, where.key):  # `re`
            return []
        pts, context = points_to_of(self._project), Context(where, self._project.owner(where))
        if not compiled and has_own_compile(self._project, pts.value(target, context)):
            return []
        found = self._roots(context, site, "library", target, put_into_library(pts, target, context))
        return found if isinstance(found, list) else []

    def _around(self, where: FunctionRef, site: CallSite, name: str) -> list[Root]:
        """The targets that a closure compiles of what the function around it was given: lazy decorators."""
        if values := self._in_body(where, site.call):
            found = self._roots(Context(where), site, "call", site.call, values)
            return found if isinstance(found, list) else []
        function = self._project.function(where)
        outer = function.outer or MODULE_KEY
        if outer == MODULE_KEY or depends_on(
            self._project, parts(site.call), where, self._project.locals_of(where)
        ):
            return []
        around = FunctionRef(where.path, outer)
        found = self._compiled(Context(around, self._project.owner(around)), site, name)
        return found if isinstance(found, list) else self._around(around, site, name)

    def _in_body(self, where: FunctionRef, call: ir.Call) -> ValueSet:
        """The methods that a call in the body of a class names: `step = torch.compile(step)`."""
        found: dict[Value, Confidence] = {}
        for key, class_ in self._project.files[where.path].classes.items():
            if (class_.outer or MODULE_KEY) == where.key and any(b.value == call for b in class_.bindings):
                for argument in call.arguments[:1]:
                    name = argument.id if isinstance(argument, ir.Name) else ""
                    method = self._project.method(ClassRef(where.path, key), name)
                    if method is not None:
                        found[FunctionValue(method, ClassRef(where.path, key))] = Confidence.CERTAIN
        return found

    def _elsewhere(self, where: FunctionRef, site: CallSite, name: str) -> Iterator[Root]:
        """The targets of a site for each subclass that runs its method, and for each caller of a helper."""
        deciding = self._deciding(where, site.call, name)
        if depends_on(self._project, deciding, where, {self._project.self_name(where)}):
            # A method runs for every class that inherits it, and `self` is an instance of that class.
            runs_for = receivers(points_to_of(self._project), where)
            for subclass, confidence in sorted(runs_for.items(), key=itemgetter(1)):
                if subclass == self._project.owner(where):
                    continue
                inherited = self._compiled(Context(where, subclass), site, name)
                for root in inherited if isinstance(inherited, list) else ():
                    yield weakened(root, confidence)
        if self._is_given(where, deciding):
            pts = points_to_of(self._project)
            roots: list[Root] = []
            for caller, context in by_call(pts, where, self._project.owner(where), deciding, site.call.line):
                told = self._compiled(context, site, name, pts.far())
                by_test = is_rehearsal(caller)
                roots += [handed_over(root, by_test) for root in told] if isinstance(told, list) else []
            found = merged_roots(root for root in roots if root.entry.confidence < Confidence.POSSIBLE)
            if len(found) <= _MOST_TARGETS:
                yield from found.values()

    def _if_made(self, where: FunctionRef, found: list[Root], more: dict[str, Root]) -> list[Root]:
        """The targets that a method compiles as its own class sees it.

        They are a guess if only subclasses are made, but for what these compile as well.
        """
        owner = self._project.owner(where)
        if owner is None or receivers(points_to_of(self._project), where)[owner] < Confidence.POSSIBLE:
            return found
        made = {target for target, root in more.items() if root.entry.confidence < Confidence.POSSIBLE}
        of_self = {root.entry.target for root in found for target in root.targets if target.receiver == owner}
        return [
            weakened(root, Confidence.POSSIBLE) if root.entry.target in of_self else root
            for root in found
            if root.entry.target not in made & of_self
        ]

    def _is_given(self, where: FunctionRef, deciding: tuple[Expr, ...]) -> bool:
        """Whether what decides comes from the callers, `self` aside."""
        function = self._project.function(where)
        given = {parameter.name for parameter in function.parameters[function.owner is not None :]}
        return depends_on(self._project, deciding, where, given)

    def _deciding(self, where: FunctionRef, call: ir.Call, name: str) -> tuple[Expr, ...]:
        """The parts of a call that decide what it compiles: none of `re.compile(pattern)`'s arguments."""
        callee = call.function
        known = name in frameworks.NAMES or self._wrapped_argument(callee, where) is not None
        if known or self.compiles(callee, where.path, where.key):
            return parts(call)
        return (callee,)

    def _compiled(
        self, context: Context, site: CallSite, name: str, pts: PointsTo | None = None
    ) -> list[Root] | Unresolved:
        """The targets that a call site compiles, seen from one context."""
        where, pts = context.function, pts or points_to_of(self._project)
        if name in frameworks.NAMES:
            by_library = frameworks.compiled_by_library(pts, site, context)
            if by_library is not None:
                values, regional = by_library
                return self._roots(context, site, "library", site.call, values, regional)
        position = self._wrapped_argument(site.call.function, where)
        if position is None and self.compiles(site.call.function, where.path, where.key):
            position = 0
        if position is not None:
            argument = compiled_argument(site.call, position)
            if argument is None:
                return []
            found = self._roots(context, site, "call", argument, pts.before(argument, context, site.call))
            if isinstance(found, list) and self._only_returns(site.call.function, where):
                lost = site.unused or is_set_aside(self._project, where, site.call)
                if not (lost or owner_of_call(self._project, where, site.call)):
                    return found
                return [replace(root, targets=(), module=None) for root in found]  # nobody calls the result
            return found
        if isinstance(site.call.function, ir.Attribute) and name == "compile":
            callee = site.call.function.value
            values = pts.before(callee, context, site.call)
            if site.call.arguments and site.call.arguments[0] != callee:
                first = site.call.arguments[0]
                by_class = compiled_by_class(self._project, values, pts.before(first, context, site.call))
                if by_class:
                    return self._roots(context, site, "method", first, by_class)
            modules = compiled_in_place(self._project, values)
            unknown = None if modules else unknown_compile(self._project, values)
            if unknown is not None:
                ref, base = unknown
                why = f"the `compile` of {ref.name} may be that of {base}, which is not part of this project"
                meant = (f"{self._project.files[ref.path].module}:{ref.key}",)
                return Unresolved(where.path, site.call.line, describe(site.call), why, meant)
            if modules or (not values and self._may_be_torchs(where, site.call)):
                return self._roots(context, site, "method", callee, modules)
        return []

    def _may_be_torchs(self, where: FunctionRef, call: ir.Call) -> bool:
        """Whether `.compile()` of an object of which nothing is known may be that of a module.

        It has a keyword that no other has; or it is given nothing, in a file that imports torch, and no class
        of the project has a `compile` of its own.
        """
        given = {keyword for keyword, _ in call.keywords}
        if given & _OF_TORCH:
            return True
        bare = not call.arguments and given <= {None}
        own = self._project.named("methods").get("compile")
        return bare and not own and (self._imports_torch(where.path) or self._imports_itself(where))

    def _imports_torch(self, path: str) -> bool:
        """Whether a file imports torch; remembered, as each of its compile sites may ask."""
        if path not in self._torch:
            bound = self._project.global_bindings(path).values()
            self._torch[path] = any(_is_of_torch(value) for several in bound for value in several)
        return self._torch[path]

    def _imports_itself(self, where: FunctionRef) -> bool:
        """Whether a function imports torch."""
        bound = self._project.bindings_of(where).values()
        return any(_is_of_torch(binding.value) for several in bound for binding in several)

    def _only_returns(self, callee: Expr, where: FunctionRef) -> bool:
        """Whether what is compiled lies in the result alone, as with `torch.compile`, and not in place."""
        return set(self._project.symbols(callee, where.path, where.key)) == {ExternalSymbol(COMPILE)}

    def _wrapped_argument(self, callee: Expr, where: FunctionRef) -> int | None:
        for symbol in self._project.symbols(callee, where.path, where.key):
            for pattern, position in self._wrappers.items():
                if matches(self._project, symbol, (pattern,)):
                    return position
        return None

    def _in_context(self, where: FunctionRef, site: CallSite) -> list[Root]:
        """A call inside `with regional_compile(…):`."""
        context, callee = Context(where, self._project.owner(where)), site.call.function
        found = self._roots(context, site, "with", callee, evaluate(self._project, callee, context))
        return found if isinstance(found, list) else []

    def switched_off(self, decorator: Expr, path: str, function: str) -> Iterator[Skipped]:
        """The decorator that would compile but for its `disable=True`, if it is one."""
        disabled = isinstance(decorator, ir.Call) and is_disabled(decorator)
        if isinstance(decorator, ir.Call) and disabled and self.compiles(enabled(decorator), path, function):
            yield Skipped(path, decorator.line, describe(decorator), _DISABLED)

    def skipped(self, where: FunctionRef, site: CallSite) -> Iterator[Skipped]:
        """The compile site that a call without entries is, with the reason, if it is one."""
        site = mapped(site) if "map" in self._carriers else site
        why = self._why_none(Context(where, self._project.owner(where)), site)
        if why is not None:
            yield Skipped(where.path, site.call.line, describe(site.call), why)

    def _why_none(self, context: Context, site: CallSite) -> str | None:
        """Why a compile site compiles nothing of the project; None if a call is no compile site."""
        where, call = context.function, site.call
        callee = enabled(call.function) if isinstance(call.function, ir.Call) else call.function
        off = is_disabled(call) or callee != call.function
        name = goes_by(callee)
        if name is None or name not in self.names:
            return None
        pts, argument = points_to_of(self._project), None
        position = self._wrapped_argument(callee, where)
        if position is not None or self.compiles(callee, where.path, where.key):
            argument = compiled_argument(call, position or 0)
            values = EMPTY if argument is None else pts.before(argument, context, call)
        elif name in frameworks.NAMES:
            by_library = frameworks.compiled_by_library(pts, site, context)
            if by_library is None:
                return None
            argument, (values, _) = call, by_library
        elif name == "compile" and isinstance(callee, ir.Attribute):
            argument, values = callee.value, pts.value(callee.value, context)
            modules = [v.ref for v in values if isinstance(v, Instance) and self._project.is_module(v.ref)]
            if modules and has_own_compile(self._project, values):
                return f"{modules[0].name} has a `compile` of its own: what that compiles is listed there"
            outside = [v.dotted for v in flattened(values) if isinstance(v, ExternalInstance)]
            if _OF_TORCH.intersection(key for key, _ in call.keywords):
                is_module = bool(outside or not values)
            else:
                is_module = any(dotted.startswith("torch.nn.") for dotted in outside)
            if not (is_module or compiled_in_place(self._project, values)):
                return None
        else:
            return None
        if argument is None and self._is_called(where, call):
            return None  # what is called with something is the site: `@torch.compile(dynamic=True)`
        if off:
            return _DISABLED
        if forwards(self._project, where):
            return "the function compiles what it is given: its callers are the compile sites"
        if argument is None:
            return "it is given nothing yet: what its result is called with is compiled"
        return nothing_of_ours(self._project, values)

    def _is_called(self, where: FunctionRef, call: ir.Call) -> bool:
        """Whether the result of a call is called, or decorates something, where it stands."""
        file = self._project.files[where.path]
        called = (site.call.function for site in self._project.function(where).calls)
        decorators = [d for one in file.functions.values() for d in one.decorators]
        decorators += [d for one in file.classes.values() for d in one.decorators]
        return call in called or call in decorators

    def of_libraries(self) -> Iterator[Root]:
        """The entries of our functions that compiled functions of libraries are given."""
        seen: set[Entry] = set()
        for (where, site), values in callbacks(points_to_of(self._project), self._outside):
            found = self._roots(Context(where), site, "call", site.call, values)
            for root in found if isinstance(found, list) else ():
                if root.entry not in seen:
                    seen.add(root.entry)
                    yield root

    def _roots(
        self,
        context: Context,
        site: CallSite,
        idiom: str,
        target: Expr,
        values: ValueSet,
        regional: bool = False,
    ) -> list[Root] | Unresolved:
        where, line = context.function, site.call.line
        convention = terminal_name(site.call.function) == CONVENTION
        regional = regional or convention or idiom == "with" or site.repeated
        roots = []
        own: ValueSet = {
            v: confidence
            for v, confidence in flattened(values).items()
            if not comes_back(self._project, where, target, v)
            and not (
                isinstance(v, FunctionValue) and _is_stored_later(self._project, where, target, line, v.ref)
            )
        }
        pts = points_to_of(self._project)
        flat = shown(pts, own, _FEW, methods=True)
        count = instances(pts, site, context) if site.repeated and len(flat) == 1 else None
        undecided = () if site.repeated else alternatives(pts, where, target, values)
        for value, confidence in flat.items():
            if value in undecided:
                confidence = max(confidence, Confidence.LIKELY)
            targets = targets_of(self._project, {value: confidence})
            if idiom in ("call", "method") and isinstance(value, Instance):
                targets += steps_of(self._project, value.ref, confidence, target, where)
            if idiom == "method":  # compiled in place: what a `__call__` does around forward stays eager
                targets = tuple(t for t in targets if not t.function.key.endswith(".__call__"))
            if targets:
                entry = Entry(
                    where.path, line, idiom, id_of(value), confidence, regional, site.condition, count
                )
                if value in undecided:
                    entry = replace(entry, choices=len(undecided))
                module = value.ref if isinstance(value, Instance) else None
                tested = attributes_tested(target) if module is not None else ()
                off = off_with(self._project, where, site.call, targets[0].function)
                roots.append(Root(entry, targets, where.id, module, is_rehearsal(where), where, tested, off))
        if roots:
            return sorted(roots, key=lambda root: root.entry.target)
        return self._without_root(where, site, target, values, [value for value in own if value not in flat])

    def _without_root(
        self, where: FunctionRef, site: CallSite, target: Expr, values: ValueSet, hidden: list[Value]
    ) -> list[Root] | Unresolved:
        """Why a site compiles nothing that is known; empty if there is nothing of ours."""
        line = site.call.line
        dropped = dict.fromkeys(hidden, Confidence.LIKELY)
        if meant := named(self._project, targets_of(self._project, dropped)):
            why = f"it is one of {len(meant)} unrelated classes, and nothing shows which"
            return Unresolved(where.path, line, describe(site.call), why, meant[:FEW_NAMES])
        outside = all(isinstance(v, ExternalInstance | ExternalSymbol | Compiled) for v in values)
        if values and outside and not is_some_module(values):
            self._outside.append((where, site))
            return []  # compiled, but defined outside the project: only what it is given is hot
        empty = [v.ref for v in values if isinstance(v, Instance) and self._project.is_module(v.ref)]
        if empty and all(
            inherits_code(self._project, ref) or self._project.method(ref, "forward") for ref in empty
        ):
            return []  # its forward is that of a library, or disabled
        maker = maker_of(self._project, where, target)
        why = reason(maker, bare=is_some_module(values), empty=empty)
        meant = () if empty else candidates(self._project, where, target)
        lacks = "forward" if empty else "code" if maker and maker not in BUILDERS else ""
        others = () if lacks or meant else examples(self._project, where)
        return Unresolved(where.path, line, describe(site.call), why, meant, others, lacks)


def _is_stored_later(
    project: Project, where: FunctionRef, compiled: Expr, line: int, closure: FunctionRef
) -> bool:
    """Whether a function puts a closure of its own in place only after compiling what stood there before.

    `fast = torch.compile(m.forward)` compiles the forward that `m.forward = steps` then replaces, and
    `m.forward = around(torch.compile(m.forward))` what `around` puts a closure around.
    """
    if not isinstance(compiled, ir.Attribute) or not closure.stands_in(where):
        return False
    name = ir.Name(closure.key.rpartition(".")[2])
    here = [
        store
        for store in project.function(where).stores
        if store.name == compiled.name and store.owner == compiled.value
    ]
    put_there = any(store.value == name and store.line < line for store in here)
    if not put_there and any(compiled in walk(store.value) for store in here):
        return True
    stores = [store for store in project.function(where).stores if name in walk(store.value)]
    return bool(stores) and all(store.name == compiled.name and store.line > line for store in stores)
