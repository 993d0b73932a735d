"""Rules about instances that share compiled code: own constants, other submodules, other classes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from dynamo_lint.calls.decorators import outermost
from dynamo_lint.dataclass import dataclass
from dynamo_lint.findings import Finding, Related
from dynamo_lint.index.ir import MODULE_KEY
from dynamo_lint.instances.model import DifferenceKind
from dynamo_lint.instances.terms import Term, decider, depends_on
from dynamo_lint.program.project import Project
from dynamo_lint.program.refs import ClassRef, FunctionRef, Position
from dynamo_lint.regions.entries import entry_keywords
from dynamo_lint.regions.model import CompiledFunction, Entry
from dynamo_lint.rules.base import Claim, Context, Rule, at_line, bounded, named, placed
from dynamo_lint.state.instance_uses import Consumed, consumed
from dynamo_lint.state.model import Key, Kind, Kinds, Use
from dynamo_lint.state.provenance import Tables
from dynamo_lint.values.points_to import points_to_of


@named("DYN107", "per-instance-constant")
def per_instance_constant(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per place that uses such a constant; several causes at one place are one finding."""
    places: dict[tuple[object, ...], list[list[Consumed]]] = defaultdict(list)
    for cause in causes(tables, context):
        if not cause.variants or cause.rate:
            group = sorted(cause.numbers, key=lambda one: _weight(tables, context, one), reverse=True)
            if _only_passed_on(group[0]) and not context.pedantic:
                continue  # most functions that may get it ignore it, or were never chosen
            places[group[0].path, group[0].position].append([*group, *cause.variants])
    for groups in places.values():
        groups.sort(key=lambda group: _weight(tables, context, group[0]), reverse=True)
        yield _of_constants(rule, tables, context, groups)


def _weight(tables: Tables, context: Context, found: Consumed) -> tuple[bool, bool, int]:
    effect, entries = cost_of(tables, context, found)
    return not _only_passed_on(found), effect != "once", entries if entries is not None else 1000


def _only_passed_on(found: Consumed) -> bool:
    """Only a function that was picked elsewhere may use it."""
    return found.difference.sort == DifferenceKind.SCALAR and found.uses <= {Use.HANDED_ON}


def _of_constants(rule: Rule, tables: Tables, context: Context, groups: list[list[Consumed]]) -> Finding:
    main = groups[0][0]
    difference = main.difference
    effect, entries = cost_of(tables, context, main)
    others = sorted({group[0].difference.unit.name for group in groups} - {difference.unit.name})
    more = f" (and {len(others)} other classes)" if others else ""
    if difference.sort == DifferenceKind.PART:
        part, _, settings = difference.setting.partition(" ")
        what = f"the {settings} of `self.{difference.attribute}` (`nn.{part}`)"
        name = f"self.{difference.attribute}"
    else:
        what = name = f"`self.{difference.attribute}`"
    unit = difference.unit.name
    use = "that uses it, and Dynamo guards on its value"
    if _only_passed_on(main):
        use = "that passes it on, and Dynamo guards on its value where the called function uses it"
    message = (
        f"{what} differs between the instances of `{unit}`{more}, which share one compiled `forward` {use}"
    )
    claim = Claim(
        message=message,
        cost=price(effect, entries, context),
        effect=effect,
        entries=entries,
        severity="note" if _only_passed_on(main) else None,
        subject=f"{difference.owner.name}.{difference.attribute}",
        keys=keys(one for group in groups for one in group),
        advice=_advice(main, name, context),
        step=f"uses {name}" if difference.sort == DifferenceKind.SCALAR else f"gives {name} its settings",
        related=_related(groups[:4], "given here", _given),
        also=subjects(one for group in groups for one in group)[1:],
    )
    return placed(
        rule, tables, context, main.hot.function, main.position, claim, main.hot, elsewhere=main.path
    )


def _advice(found: Consumed, name: str, context: Context) -> str:
    isolate = " or compile with `isolate_recompiles=True`" if context.has("isolated-recompiles") else ""
    name = name.strip("`")
    if Use.INDEX in found.uses:
        return f"let the caller index with `{name}` and pass the element as an argument{isolate}"
    if found.difference.sort == DifferenceKind.SCALAR:
        return f"keep `{name}` in a buffer if it only enters tensor math, or decide in `__init__`{isolate}"
    return f"give all instances the same setting{isolate}"


def _related(
    groups: list[list[Consumed]], text: str, places: Callable[[Consumed], Iterable[tuple[str, Position]]]
) -> tuple[Related, ...]:
    """Other lines: where a difference begins, what differs with it, where instances are made."""
    found: dict[tuple[str, int], Related] = {}
    for first, *others in groups:
        for path, place in places(first):
            found[path, place.line] = Related(path, place.line, place.column, text)
        for one in others[:3]:
            why = f"`self.{one.difference.attribute}` differs for the same reason"
            place = one.position
            found.setdefault((one.path, place.line), Related(one.path, place.line, place.column, why))
        path, line = first.difference.path, first.difference.line
        made = f"instances of `{first.difference.unit.name}` are made here"
        found.setdefault((path, line), Related(path, line, 1, made))
    main = groups[0][0]
    found.pop((main.path, main.position.line), None)
    return tuple(found.values())


def _given(found: Consumed) -> Iterable[tuple[str, Position]]:
    """The places that give a number."""
    return found.difference.stores[:2] if found.difference.sort == DifferenceKind.SCALAR else ()


@named("DYN108", "heterogeneous-unit")
def heterogeneous_unit(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per cause of a difference, and one per shared forward."""
    for shared in shared_code(tables, context):
        said, line = claim(tables, context, shared), tables.project.function(shared.code).line
        yield at_line(rule, tables, context, shared.code, line, said, shared.hot)
    for cause in causes(tables, context):
        if cause.variants and not cause.rate:
            group = sorted(
                cause.variants, key=lambda one: (-(versions(tables, one) or 99), one.position.line)
            )
            yield _of_variants(rule, tables, context, [*group, *cause.numbers])


def _of_variants(rule: Rule, tables: Tables, context: Context, group: list[Consumed]) -> Finding:
    main = group[0]
    difference = main.difference
    entries = versions(tables, main)
    unit, name = difference.unit.name, f"self.{difference.attribute}"
    names = list(dict.fromkeys(filter(None, map(name_of, difference.samples[:4]))))
    kinds = " or ".join(names if len(names) != 1 else [*names, "something else"])
    holds = f"is {kinds}" if kinds else "is different code"
    whose = "" if difference.owner == difference.unit else f" of `{difference.owner.name}`"
    claim = Claim(
        message=f"`{name}`{whose} {holds}, depending on the instance of `{unit}`, and all instances share "
        "one compiled `forward` that uses it",
        cost=f"one compiled version per variant, {entries} in all"
        if entries is not None and entries <= context.recompile_limit
        else "one compiled version per variant; beyond the recompile limit "
        f"({context.recompile_limit}) the remaining variants run eagerly",
        effect="per-instance",
        entries=entries,
        subject=f"{difference.owner.name}.{difference.attribute}",
        keys=keys(group),
        advice="make one class per variant with its own `forward`, "
        "compiled separately, or accept "
        f"{entries or 'the'} versions and raise the recompile limit if they do not fit",
        step=f"chooses `{name}`",
        also=subjects(group)[1:],
        related=_related([group], "or chosen here", lambda one: one.others[:3]),
    )
    where = FunctionRef(main.path, _init(tables, difference.owner, main.path))
    return placed(rule, tables, context, where, main.position, claim, main.hot)


def _init(tables: Tables, owner: ClassRef, path: str) -> str:
    for part in tables.project.mro(owner):
        if part.path == path:
            return f"{part.key}.__init__"
    return f"{owner.key}.__init__"


FLOAT_MATH = frozenset({Use.TENSOR_MATH, Use.ARITHMETIC, Use.STORED, Use.NONE_TEST, Use.RETURNED, Use.NAMED})
"""Uses in which Dynamo makes a float that comes from outside dynamic after the first change."""
DYNAMIC_INT = FLOAT_MATH | {Use.POWER}
"""Uses of an int that stay dynamic where Dynamo makes int attributes dynamic at all."""


def versions(tables: Tables, found: Consumed) -> int | None:
    """How many compiled versions a difference costs, where that is known."""
    count = found.difference.count
    if count.values is not None:
        return count.values
    known = [getattr(tables.regions.entries[index], "instances", None) for index in found.hot.entries]
    numbers = [number for number in known if isinstance(number, int)]
    return max(numbers) if numbers and count.each else None


def isolated(tables: Tables, context: Context, entries: Iterable[Entry]) -> bool:
    """Every instance is compiled for itself anyway (torch 2.13: `isolate_recompiles=True`)."""
    asked = [entry_keywords(tables.project, one).get("isolate_recompiles") is True for one in entries]
    return bool(asked) and all(asked) and context.has("isolated-recompiles")


def cost_of(tables: Tables, context: Context, found: Consumed) -> tuple[str, int | None]:
    """Effect and number of versions of a difference."""
    difference = found.difference
    entries = versions(tables, found)
    kinds = _kinds(tables, found) - {Kind.NONE}
    if difference.sort == DifferenceKind.SCALAR and entries != 2:
        if kinds == {Kind.FLOAT} and found.uses <= FLOAT_MATH:
            return "once", 2
        if kinds == {Kind.INT} and found.uses <= DYNAMIC_INT:
            constant = not context.unspec_int and context.has("int-attributes-are-constants")
            return ("per-instance", entries) if constant else ("once", 2)
    return "per-instance", entries


def _kinds(tables: Tables, found: Consumed) -> Kinds:
    difference = found.difference
    known = tables.initial.kinds(Key(difference.owner, difference.attribute))
    if known:
        return known
    constants = {type(term.leaf) for term in difference.samples if term.kind == "const"}
    names = {int: Kind.INT, float: Kind.FLOAT, str: Kind.STR, bool: Kind.BOOL}
    return frozenset(names[constant] for constant in constants if constant in names)


def price(effect: str, entries: int | None, context: Context) -> str:
    """Return the cost of a difference, as a sentence."""
    limit = context.recompile_limit
    if effect == "once":
        return "one extra compile, after which the value is dynamic"
    if entries is None:
        return (
            "one compiled version per instance; the number of instances is unknown, and beyond the "
            f"recompile limit ({limit}) the rest run eagerly"
        )
    if entries > limit:
        return (
            f"{entries} compiled versions, but the recompile limit is {limit}: the other instances are never "
            "compiled and run eagerly"
        )
    return bounded(entries)


LABELLED = frozenset({"Eq", "NotEq", "In", "NotIn"})
"""Tests by which a label picks a variant; the others ask how large a number is."""


@dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """The differences between instances that have one cause, so that one change ends all of them."""

    numbers: tuple[Consumed, ...]
    """Numbers, flags and labels, and settings of torch's layers."""
    variants: tuple[Consumed, ...]
    """Submodules of other types, and parts that some instances lack."""
    rate: bool = False
    """The variants follow from how large a number is that compiled code uses: no such part at zero."""


def causes(tables: Tables, context: Context) -> list[DifferenceGroup]:
    """Everything that differs and costs, by its reason."""
    groups: dict[tuple[object, ...], list[Consumed]] = {}
    homes: dict[tuple[object, ...], tuple[object, ...]] = {}
    for one in consumed(tables):
        difference = one.difference
        # Values that nobody can name are numbers more often than code.
        sayable = difference.sort != DifferenceKind.VARIANT or any(map(spell_variant, difference.samples))
        if sayable and not isolated(tables, context, (tables.regions.entries[n] for n in one.hot.entries)):
            home = difference.unit, difference.owner, difference.attribute
            key = homes.setdefault(home, (difference.unit, difference.roots, difference.cause))
            groups.setdefault(key, []).append(one)
    found = [
        DifferenceGroup(
            tuple(one for one in group if one.difference.sort != DifferenceKind.VARIANT),
            tuple(one for one in group if one.difference.sort == DifferenceKind.VARIANT),
        )
        for group in groups.values()
    ]
    numbers = [cause for cause in found if not cause.variants]
    for variant in (cause for cause in found if cause.variants):
        index = next((i for i, one in enumerate(numbers) if _follows(variant, one)), None)
        if index is None:
            numbers.append(variant)
        else:
            numbers[index] = _joined(numbers[index], variant)
    return numbers


def _follows(variant: DifferenceGroup, number: DifferenceGroup) -> bool:
    """Which variant an instance has is computed from its number."""
    if not number.numbers:
        return False
    chosen, value = variant.variants[0].difference, number.numbers[0].difference
    if (chosen.unit, chosen.roots, len(chosen.values)) != (value.unit, value.roots, len(value.values)):
        return False
    pairs = zip(chosen.values, value.values, strict=True)
    return all(number.kind != "const" and depends_on(decider(one), number) for one, number in pairs)


def _joined(number: DifferenceGroup, variant: DifferenceGroup) -> DifferenceGroup:
    labelled = all(decider(one).kind in LABELLED for one in variant.variants[0].difference.values)
    return DifferenceGroup(
        (*number.numbers, *variant.numbers),
        (*number.variants, *variant.variants),
        rate=number.rate or (not labelled and not number.variants),
    )


def spell_variant(term: Term) -> str:
    """A kind of submodule, as a person would say it; empty where it cannot be said."""
    match term.kind, term.leaf:
        case "class" | "new", ClassRef() as ref:
            return f"a `{ref.name}`"
        case "external", str() as dotted if term.parts:
            parts = dict.fromkeys(spell_variant(part).removeprefix("a ") for part in term.parts)
            return f"a `{dotted.rpartition('.')[2]}` of {', '.join(filter(None, parts)) or len(term.parts)}"
        case "length", int() as count:
            return f"a list of {count}"
        case "length", _:
            return "a list of another length"
        case "external" | "part", str() as dotted:
            name = dotted.rpartition(".")[2]
            return f"a `{name}`" if name[:1].isupper() else f"`{name}`"
        case "function", FunctionRef():
            return "one of several functions"
        case "absent", _:
            return "missing"
        case "const", None:
            return "None"
    return ""


def name_of(term: Term) -> str:
    """The same, also for what is known by its maker alone."""
    match term.kind, term.leaf:
        case "made", FunctionRef() as ref:
            return f"the result of `{ref.key.rpartition('.')[2]}`"
        case "made", str() as name:
            return f"the result of `{name}`"
    return spell_variant(term)


def keys(found: Iterable[Consumed]) -> list[Key]:
    """The attribute of each."""
    return [Key(one.difference.owner, one.difference.attribute) for one in found]


def subjects(found: Iterable[Consumed]) -> tuple[str, ...]:
    """`Class.attribute` of each."""
    return tuple(dict.fromkeys(f"{one.difference.owner.name}.{one.difference.attribute}" for one in found))


_BY_CALL = frozenset({"call", "method", "with", "library"})
"""The idioms of entries that compile where they stand; the others declare."""
_NAMED = 3
"""So many classes are named; of more, the number says enough."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A function that is the compiled code of several classes."""

    code: FunctionRef
    classes: tuple[ClassRef, ...]
    hot: CompiledFunction
    """The forward of the first of them."""
    together: bool
    """The code itself compiles all of them, so that they meet in one process."""


def shared_code(tables: Tables, context: Context) -> Iterator[Shared]:
    """Every function that is the compiled code of more than one of the classes that are compiled together."""
    found: dict[FunctionRef, dict[str, dict[ClassRef, CompiledFunction]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    by_target: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(tables.regions.entries):
        by_target[entry.target].append(number)
    choices = _choices(tables, by_target)
    for hot in tables.regions.hot:
        if not hot.compiled or hot.receiver is None or not tables.project.is_module(hot.receiver):
            continue
        entries = [
            entry
            for entry in _own(tables, hot, by_target)
            if _counts(tables, context, entry)
            and (len(choices[entry.path, entry.line]) == 1 or _runs_again(tables.project, entry))
        ]
        name = hot.function.key.rpartition(".")[2]
        code = outermost(tables.project, hot.receiver, name) if entries else None
        if code is not None:
            for entry in entries:
                found[code][_where(tables, entry)].setdefault(hot.receiver, hot)
    for code, groups in found.items():
        where, classes = max(groups.items(), key=lambda group: len(group[1]))
        classes = {ref: hot for ref, hot in classes.items() if not _is_base(tables.project, ref, classes)}
        if len(classes) > 1:
            yield Shared(code, tuple(classes), next(iter(classes.values())), bool(where))


def _choices(tables: Tables, by_target: Mapping[str, list[int]]) -> dict[tuple[str, int], set[str]]:
    """All that each line may compile: its targets, and of a method the classes that it is bound to."""
    bound: dict[Entry, set[str]] = defaultdict(set)
    for hot in tables.regions.hot:
        if hot.compiled and hot.receiver is not None:
            for entry in _own(tables, hot, by_target):
                bound[entry].add(hot.receiver.id)
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for entry in tables.regions.entries:
        found[entry.path, entry.line] |= bound.get(entry, {entry.target})
    return found


def _is_base(project: Project, ref: ClassRef, classes: Collection[ClassRef]) -> bool:
    """Whether a class is only there for others of these to inherit from: nothing constructs it."""
    inherited = any(ref in project.mro(one)[1:] for one in classes)
    return inherited and not points_to_of(project).constructions(ref)


def _where(tables: Tables, entry: Entry) -> str:
    """The function that compiles; empty for what is declared, wherever it is compiled."""
    if entry.idiom not in _BY_CALL:
        return ""
    return f"{entry.path}::{_around(tables.project, entry.path).get(entry.line, (0, MODULE_KEY))[1]}"


def _runs_again(project: Project, entry: Entry) -> bool:
    """Whether one program may run the line for more than one of the classes that it may compile."""
    if entry.regional or entry.idiom not in _BY_CALL:
        return True
    _, key = _around(project, entry.path).get(entry.line, (0, MODULE_KEY))
    if key == MODULE_KEY or key.endswith("__init__"):
        return key != MODULE_KEY  # objects are made in many places
    sites = points_to_of(project).call_sites(FunctionRef(entry.path, key))
    callers = Counter(scope.function for scope, _ in sites)
    return any(site.repeated for _, site in sites) or any(number > 1 for number in callers.values())


def _around(project: Project, path: str) -> dict[int, tuple[int, str]]:
    """The innermost function around each line, with the line that it begins on."""
    key = ("functions by line", path)
    if key not in project.memo:
        lines: dict[int, tuple[int, str]] = {}
        for name, function in project.files[path].functions.items():
            if name != MODULE_KEY:
                for line in range(function.first_line, function.end_line + 1):
                    lines[line] = max((function.line, name), lines.get(line, (0, "")))
        project.memo[key] = lines
    return project.memo[key]  # type: ignore[return-value]


def _own(tables: Tables, hot: CompiledFunction, by_target: Mapping[str, list[int]]) -> list[Entry]:
    """The entries that compile this function itself, not one that calls it."""
    targets = {hot.function.id, hot.receiver.id if hot.receiver is not None else ""}
    own = [index for target in targets for index in by_target.get(target, ()) if index in hot.entries]
    return [tables.regions.entries[index] for index in sorted(own, key=hot.entries.index)]


def _counts(tables: Tables, context: Context, entry: Entry) -> bool:
    if entry.idiom == "assumed" and not entry.regional:
        return False  # every module is assumed to be compiled then, though hardly two of them are
    return not isolated(tables, context, [entry])


def claim(tables: Tables, context: Context, shared: Shared) -> Claim:
    """The claim about code that is shared."""
    names = sorted({f"`{ref.name}`" for ref in shared.classes})
    some = f"{len(names)} compiled classes ({', '.join(names[:_NAMED])}, …)"
    who = some if len(names) > _NAMED else f"{', '.join(names[:-1])} and {names[-1]}"
    function = tables.project.function(shared.code)
    own = function.parameters[0].name if function.parameters else "self"
    made = [ref for ref in shared.classes if points_to_of(tables.project).constructions(ref)]
    isolate = ", or compile with `isolate_recompiles=True`" if context.has("isolated-recompiles") else ""
    return Claim(
        message=f"`{function.qualname}` is the code that runs first in every call of {who}, and Dynamo, "
        f"which stores compiled versions per code object, guards on the class of `{own}`",
        cost=f"one compiled version per class{'' if shared.together else ' that a process compiles'}, all of "
        f"them counted against one recompile limit ({context.recompile_limit})",
        effect="per-instance",
        entries=len(shared.classes) if shared.together else None,
        severity=None if len(made) > 1 else "note",  # else they may be alternatives
        subject=f"{shared.code.key.split('#')[0]}({own})",
        advice=f"give each class its own `forward`, without a wrapper around it{isolate}",
        step="is the code of several compiled classes",
        related=tuple(
            Related(ref.path, tables.project.class_(ref).line, 1, f"`{ref.name}` is compiled")
            for ref in shared.classes[:_NAMED]
        ),
    )
