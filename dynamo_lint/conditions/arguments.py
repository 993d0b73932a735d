"""Path conditions on parameters: left at their default, equal to a text or a flag, passed by this call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from dynamo_lint.index.ir import (
    Attribute,
    Call,
    CallSite,
    Choice,
    Constant,
    Display,
    Element,
    Expr,
    Function,
    Name,
)
from dynamo_lint.index.walking import untested
from dynamo_lint.program.compile_values import carries
from dynamo_lint.program.files import is_kept, is_own_use
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import Confidence, FunctionRef
from dynamo_lint.program.scopes import Local
from dynamo_lint.values import model
from dynamo_lint.values.arguments import argument_for, as_given, is_partial_call
from dynamo_lint.values.model import Context, FunctionValue, ValueSet, at_best, union
from dynamo_lint.values.points_to import PointsTo

Written = frozenset[object]
Wanted = tuple[str | bool | None, ...]
"""The values of a parameter with which some lines run: see `Function.picked`."""


def returned_values(pts: PointsTo, context: Context) -> Iterator[ValueSet]:
    """The values that each `return` of a function gives; no more than a guess where no call asks for it."""
    function = pts.project.function(context.function)
    given = [
        found if may_be_asked(function, line, context) else pts.guessed(found)
        for value, line in zip(function.returns, function.returned_at, strict=True)
        for found in [pts.value(value, context)]
    ]
    weakest = Confidence.LIKELY if _differ(given) or _is_open(pts, context) else Confidence.CERTAIN
    for value, one in zip(function.returns, given, strict=True):
        found = at_best(one, weakest)
        # Of what is no module it would cost questions for nothing.
        told = bool(function.picked) and any(map(pts.holds_module, found))
        line = value.line if isinstance(value, Call) else 0
        yield found if not told or may_run_line(pts, context.function, line) else pts.guessed(found)


def may_be_asked(function: Function, line: int, context: Context) -> bool:
    """Whether the one call in question may ask for a line, by the texts that it writes out."""
    wanted = dict(context.written)
    rows = (row for row in (*function.picked, *function.excluded) if wanted and row[0] <= line <= row[1])
    return all((wanted[row[2]] in row[3]) is (row in function.picked) for row in rows if row[2] in wanted)


def _differ(given: list[ValueSet]) -> bool:
    """Whether a function gives one function or another, as a platform or an option may have it."""
    if len(given) < 2:
        return False
    functions = [frozenset(v for v in one if isinstance(v, FunctionValue)) for one in given]
    return len({one for one in functions if one}) > 1


def _is_open(pts: PointsTo, context: Context) -> bool:
    """Whether a function gives one of several by a text that only the run knows."""
    rows = pts.project.function(context.function).picked
    names = [name for _, _, name, wanted in rows if isinstance(wanted[0], str)]
    return len(names) > 1 and any(
        written_out(pts, context.function, n, strict=False) is None for n in set(names)
    )


def assigned_values(pts: PointsTo, name: str, local: Local, context: Context) -> ValueSet:
    """The values assigned to a name; no more than a guess of what no call asks for by a flag."""
    found = pts.assigned(name, local.bound, context)
    if len(local.lines) < 2 or not found:
        return found
    if context.written:
        function = pts.project.function(context.function)
        places = zip(local.bound, local.lines, strict=True)
        left = [value for value, line in places if may_be_asked(function, line, context)]
        if len(left) < len(local.bound):
            return union([pts.assigned(name, left, context), pts.guessed(found)])
    asked = [may_run_line(pts, context.function, line, strict=True) for line in local.lines]
    if all(asked):
        rows = pts.project.function(context.function).picked
        open_ = any(first <= line <= last for first, last, _, _ in rows for line in local.lines)
        return at_best(found, Confidence.LIKELY) if open_ else found
    left = [value for value, wanted in zip(local.bound, asked, strict=True) if wanted]
    return union([pts.assigned(name, left, context), pts.guessed(found)])


def stored(pts: PointsTo, where: FunctionRef, line: int, found: ValueSet) -> ValueSet:
    """The values that a line stores in an attribute; likely at best where that depends on a text passed to
    its function.

    Some of the instances were made with another. Where it depends on a flag that no call of the function
    passes, nor its default, it is a guess.
    """
    rows = pts.project.function(where).picked if found else ()
    for _, _, name, wanted in [row for row in rows if row[0] <= line <= row[1]]:
        if isinstance(wanted[0], str):
            return at_best(found, Confidence.LIKELY)
        given = passed(pts, where, name) if any(map(pts.holds_module, found)) else None
        if given is not None and not any(is_met(one, wanted) for one in given):
            return pts.guessed(found)
    return found


def passed(pts: PointsTo, ref: FunctionRef, name: str) -> Written | None:
    """All that calls pass for a parameter, or leave it at; None if there are none, or not all can be seen."""
    if not pts.call_sites(ref) or _is_bound_elsewhere(pts, ref, name):
        return None
    return written_out(pts, ref, name, strict=False)


def _is_bound_elsewhere(pts: PointsTo, ref: FunctionRef, name: str) -> bool:
    """Whether a function that a parameter comes through may be called by another name: `Net = bind(Net)`."""
    return pts.ask(("bound elsewhere", ref, name), lambda: _is_bound(pts, ref, name), False)


def _is_bound(pts: PointsTo, ref: FunctionRef, name: str) -> bool:
    project, function = pts.project, pts.project.function(ref)
    owner = project.owner(ref)
    own = ref.key.rpartition(".")[2] if owner is None else owner.name
    decorators = () if owner is None else project.class_(owner).decorators
    if is_kept(project, own, (*decorators, *function.decorators)):
        return True
    parameter = as_given(function, Name(name))
    if parameter is None:
        return False
    given = ((c.function, argument_for(parameter, function, site.call)) for c, site in pts.call_sites(ref))
    return any(isinstance(v, Name) and _is_bound_elsewhere(pts, where, v.id) for where, v in given)


def may_run_line(pts: PointsTo, ref: FunctionRef, line: int, strict: bool = False) -> bool:
    """Whether calls may ask for a line; `strict`: by a flag, for a text may come by an unseen call."""
    for first, last, name, wanted in pts.project.function(ref).picked:
        is_flag = not isinstance(wanted[0], str)
        if first <= line <= last and (is_flag or not strict):
            given = written_out(pts, ref, name, is_flag)
            if given is not None and not any(is_met(one, wanted) for one in given):
                return False
    return True


def is_met(given: object, wanted: Wanted) -> bool:
    """Whether what is given for a parameter is among what lines want of it: some texts, on, off, or given."""
    return any(_meets(given, one) for one in wanted)


def _meets(given: object, wanted: str | bool | None) -> bool:
    if wanted is None:
        return given is not None
    return bool(given) is wanted if isinstance(wanted, bool) else given == wanted


def written_out(pts: PointsTo, ref: FunctionRef, name: str, strict: bool) -> Written | None:
    """All that a parameter may be, if calls write it out; None if they do not, or it is unknown.

    `strict`: neither a default nor a call from elsewhere says what others pass.
    """
    nothing: Written | None = None
    return pts.ask(("texts given", ref, name, strict), lambda: _given(pts, ref, name, strict), nothing)


def _given(pts: PointsTo, ref: FunctionRef, name: str, strict: bool) -> Written | None:
    local = pts.project.locals_of(ref).get(name)
    if local is None or local.parameter is None or local.bound:
        return None
    found: set[object] = set()
    default = local.parameter.default
    function = pts.project.function(ref)
    sites = pts.call_sites(ref)
    if strict and is_kept(pts.project, ref.key.rpartition(".")[2], function.decorators):
        return None
    for caller, site in sites:
        if strict and not is_own_use(pts.project, caller.function, site.call.line, ref.path):
            return None
        value = argument_for(local.parameter, function, site.call)
        if value is None and not strict and not _may_pass_more(pts, caller, site):
            value = default
        if value is None:
            texts = _unpacked(pts, name, caller, site.call)
        else:
            texts = _written(pts, value, caller, strict)
        if texts is None:
            return None
        found |= texts
    if not sites and not strict and isinstance(default, Constant):
        found.add(default.value)  # nobody runs it
    return frozenset(found) if found else None


def _written(pts: PointsTo, value: Expr, caller: Context, strict: bool) -> Written | None:
    """The values that a call passes by one expression, if that is written out."""
    match untested(value):
        case Constant(text):
            return frozenset({text})
        case Name(other):
            return written_out(pts, caller.function, other, strict)
    return None


def _unpacked(pts: PointsTo, name: str, caller: Context, call: Call) -> Written | None:
    """The values that a call passes under a name by `**options`, which takes in what all callers write out
    in turn.

    `options` is the `**rest` of the calling function, or a `dict(...)` that is completed by it at last.
    """
    mappings = [value for keyword, value in call.keywords if keyword is None]
    if len(mappings) != 1 or any(isinstance(argument, Element) for argument in call.arguments):
        return None
    where, mapping = caller.function, mappings[0]
    local = pts.project.locals_of(where).get(mapping.id) if isinstance(mapping, Name) else None
    if local is None or not isinstance(mapping, Name) or mapping.id in pts.project.items_of(where):
        return None
    function = pts.project.function(where)
    rest = next((one.name for one in function.parameters if one.kind == "kwarg"), None)
    if mapping.id != rest:
        if local.parameter is not None or not _is_dictionary(local.bound):
            return None
        completed = Call(Attribute(mapping, "update"), (), ((None, Name(rest or "")),))
        uses = [site.call for site in function.calls if mapping in (_owner(site.call), *site.call.arguments)]
        if [replace(use, line=0) for use in uses] != [completed] or function.is_conditional(uses[0].line):
            return None
    elif local.bound:
        return None
    nothing: Written | None = None
    return pts.ask(("texts in rest", where, name), lambda: _in_rest(pts, where, name), nothing)


def _is_dictionary(bound: tuple[Expr, ...]) -> bool:
    match bound:
        case (Call(Name("dict"), ()) | Display("dict"),):
            return True
    return False


def _owner(call: Call) -> Expr | None:
    return call.function.value if isinstance(call.function, Attribute) else None


def _in_rest(pts: PointsTo, ref: FunctionRef, name: str) -> Written | None:
    """The values that all callers of a function write out for its `**rest`; None if one does not."""
    if any(parameter.name == name for parameter in pts.project.function(ref).parameters):
        return None
    if is_kept(pts.project, ref.key.rpartition(".")[2], pts.project.function(ref).decorators):
        return None
    found: set[object] = set()
    for caller, site in pts.call_sites(ref):
        value = next((value for keyword, value in site.call.keywords if keyword == name), None)
        if value is None or is_partial_call(pts.project, caller, site):
            return None
        if not is_own_use(pts.project, caller.function, site.call.line, ref.path):
            return None
        texts = _written(pts, value, caller, strict=True)
        if texts is None:
            return None
        found |= texts
    return frozenset(found) if found else None


def _may_pass_more(pts: PointsTo, caller: Context, site: CallSite) -> bool:
    """Whether a call may give more than it says: it unpacks something, is a `partial`, or stands in YAML."""
    unpacks = any(keyword is None for keyword, _ in site.call.keywords)
    unpacks = unpacks or any(isinstance(argument, Element) for argument in site.call.arguments)
    is_code = pts.project.files[caller.function.path].is_code
    return unpacks or not is_code or is_partial_call(pts.project, caller, site)


def choice_values(pts: PointsTo, options: Sequence[ValueSet], asks: str | None, context: Context) -> ValueSet:
    """The values of what a test chooses between; a mere guess, those of the end that nobody asks for."""
    if asks is not None and any(map(pts.holds_module, union(options))):
        on = _is_on(pts, asks, context)
        if on is not None:
            taken, left = options if on else reversed(options)
            return union([taken, pts.guessed(left)])
    return model.one_of(options)


def _is_on(pts: PointsTo, name: str, context: Context) -> bool | None:
    """Whether all calls of a constructor leave a parameter on, or off; None if they do not say."""
    given = passed(pts, context.function, name) or ()
    if any(isinstance(one, int | float) and one < 0 for one in given):
        return None  # on, but not more than nothing
    truths = set(map(bool, given))
    return truths.pop() if len(truths) == 1 else None


NO_SWITCHES: frozenset[str] = frozenset()
_OFF_CONSTANTS = (Constant(False), Constant(None))


def switches_left_off(project: Project, target: FunctionRef, call: Call) -> frozenset[str]:
    """The switches of a function that a call leaves off: `scale(x)` of `forward(self, x, update=False)`."""
    function = project.function(target)
    asked = {name for _, _, name, wanted in function.picked if wanted[0] in (True, None)}
    if not asked or _unpacks(call):
        return NO_SWITCHES
    known = project.locals_of(target)
    open_ = [one for one in function.parameters if one.name in asked and not known[one.name].bound]
    given = [(one.name, argument_for(one, function, call) or one.default) for one in open_]
    off = {name for name, value in given if value in _OFF_CONSTANTS}
    return frozenset(off | {_absent(name) for name, value in given if value == Constant(None)})


def _absent(name: str) -> str:
    """The switch that a parameter is which some lines want to be given, whatever it is then."""
    return f"{name} is not None"


_DISABLING = ("disable", Constant(True))


def is_disabled(call: Call) -> bool:
    """Whether a call that would compile something says that it does not: `torch.compile(f, disable=True)`."""
    return _DISABLING in call.keywords


def enabled(call: Call) -> Call:
    """The same call without the `disable=True` that it may have."""
    return replace(call, keywords=tuple(one for one in call.keywords if one != _DISABLING))


NamedCalls = tuple[dict[Expr, list[str]], dict[str, list[Call]]]


def off_with(project: Project, where: FunctionRef, call: Call, target: FunctionRef) -> frozenset[str]:
    """The switches that calls of what is compiled leave off, because that is what disables compiling.

    `step = torch.compile(step, disable=graphs)`, and then `step(x, capture=graphs)`: where it is compiled at
    all, nothing is captured.
    """
    disabling = next((value for word, value in call.keywords if word == "disable"), None)
    options = disabling.options if isinstance(disabling, Choice) else (disabling,)
    flags = [one for one in options if isinstance(one, Name)]
    if not flags:
        return frozenset()
    key = ("named calls", where)
    if key not in project.memo:
        project.memo[key] = _named_calls(project.function(where))
    names, by_name = cast(NamedCalls, project.memo[key])
    calls = [one for name in dict.fromkeys(names.get(call, ())) for one in by_name.get(name, ())]
    parameters = project.function(target).parameters if calls else ()
    passed = {one.name: [argument_for(one, project.function(target), c) for c in calls] for one in parameters}
    return frozenset(name for name, given in passed.items() if all(value in flags for value in given))


def _named_calls(function: Function) -> NamedCalls:
    """The names that each call in a function is bound to, and the calls of each name."""
    names: dict[Expr, list[str]] = {}
    calls: dict[str, list[Call]] = {}
    for one in function.bindings:
        if isinstance(one.value, Call):
            names.setdefault(one.value, []).append(one.name)
    for site in function.calls:
        if isinstance(site.call.function, Name):
            calls.setdefault(site.call.function.id, []).append(site.call)
    return names, calls


def varies(pts: PointsTo, where: FunctionRef, line: int) -> bool:
    """Whether some call of a function leaves out a line: `prepare(net)` where others have `compile=True`."""
    calls = pts.call_sites(where) if pts.project.function(where).picked else ()
    return any(excludes(pts.project, where, site.call, line) for _, site in calls)


def run_together(pts: PointsTo, where: FunctionRef, first: int, second: int) -> bool:
    """Whether some call of a function may run both of two lines, as far as calls write out what these ask.

    `Wrapper("plain", compile=True)` compiles what its constructor makes of "plain".
    """
    needs, others = _needs(pts.project, where, first), _needs(pts.project, where, second)
    return not (needs and others) or some_call_passes(pts, where, [*needs, *others])


def chosen_for_line(pts: PointsTo, where: FunctionRef, value: Expr, line: int) -> Expr:
    """A value without the ends of its choices that no call asks for together with a line."""
    needs = _needs(pts.project, where, line) if isinstance(value, Choice) and value.asks else []
    if not needs or not isinstance(value, Choice) or value.asks is None or len(value.options) != 2:
        return value
    ends = zip(value.options, (True, False), strict=True)
    asked = tuple(end for end, on in ends if some_call_passes(pts, where, [*needs, (value.asks, (on,))]))
    return Choice(asked) if len(asked) == 1 else value


def some_call_passes(pts: PointsTo, where: FunctionRef, needs: Sequence[tuple[str, Wanted]]) -> bool:
    """Whether some call of a function may pass for its parameters what is needed of all of them."""
    calls = pts.call_sites(where)
    if not calls or any(_is_bound_elsewhere(pts, where, name) for name, _ in needs):
        return True
    return not all(refuses(pts.project, where, site.call, needs) for _, site in calls)


def excludes(project: Project, target: FunctionRef, call: Call, line: int) -> bool:
    """Whether what a call writes out for a parameter, or leaves to its default, keeps a line from running."""
    return refuses(project, target, call, _needs(project, target, line))


def handed_on(project: Project, target: FunctionRef, call: Call, line: int) -> list[tuple[str, Wanted]]:
    """The names that a call passes for what a line needs, each with what the line wants of it."""
    if _unpacks(call):
        return []
    parameters = {one.name: one for one in project.function(target).parameters}
    needs = _needs(project, target, line)
    given = [
        (argument_for(parameters[name], project.function(target), call), wanted) for name, wanted in needs
    ]
    return [(value.id, wanted) for value, wanted in given if isinstance(value, Name)]


def refuses(project: Project, target: FunctionRef, call: Call, needs: Sequence[tuple[str, Wanted]]) -> bool:
    """Whether a call writes out, or leaves at its default, a parameter that is not what is needed of it."""
    if _unpacks(call):
        return False
    function = project.function(target)
    parameters = {one.name: one for one in function.parameters}
    given = [
        (argument_for(parameters[name], function, call) or parameters[name].default, wanted)
        for name, wanted in needs
        if name in parameters
    ]
    return any(isinstance(value, Constant) and not is_met(value.value, wanted) for value, wanted in given)


def _needs(project: Project, target: FunctionRef, line: int) -> list[tuple[str, Wanted]]:
    """The parameters that a line of a function needs to be something, each with what that is."""
    function, known = project.function(target), project.locals_of(target)
    own = {one.name for one in function.parameters}
    rows = [(name, wanted) for first, last, name, wanted in function.picked if first <= line <= last]
    return [(name, wanted) for name, wanted in rows if name in own and not known[name].bound]


def _unpacks(call: Call) -> bool:
    """Whether a call may give more than it says: by `*arguments` or `**options`."""
    return any(isinstance(one, Element) for one in call.arguments) or None in dict(call.keywords)


def gives_another(project: Project, callee: Expr, where: FunctionRef) -> bool:
    """Whether a call of what may give torch.compile says that it does not: `@fuser(script=True)`."""
    if not isinstance(callee, Call):
        return False
    for made in project.symbols(callee.function, where.path, where.key):
        if isinstance(made, FunctionRef):
            giving = [one for one in project.function(made).returns if carries(one)]
            calls = [one for one in giving if isinstance(one, Call)]
            if giving == calls != [] and all(excludes(project, made, callee, one.line) for one in calls):
                return True
    return False


def is_off(project: Project, target: FunctionRef, off: frozenset[str], line: int) -> bool:
    """Whether a line of a function runs only with a switch on that is one of those that are off."""
    return any(
        first <= line <= last and (name in off if wanted[0] is True else _absent(name) in off)
        for first, last, name, wanted in (project.function(target).picked if off else ())
        if wanted[0] in (True, None)
    )
