"""Rules about attributes and keys that compiled code looks up by name, or finds missing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.index.spelling import spelled
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.base import Claim, Context, Rule, finding, named, nodes_of, region
from dynamo_lint.state.initial import SETUP
from dynamo_lint.state.model import Key, Kind, Lookup, Origin, Outside
from dynamo_lint.state.provenance import Tables

EFFECTS = ("per-value", "break", "eager")
"""From bearable to worst."""

CAUSES = {
    "eager": "a string formatted from a number that Dynamo does not treat as a constant",
    "break": "a value that Dynamo cannot know while tracing",
    "per-value": "a value that can differ from call to call, and Dynamo guards on it",
}
COSTS = {
    "eager": "from the second value on, the whole function runs eagerly without a warning",
    "break": "a graph break at this line",
    "per-value": "one compiled version per name",
}


@named("DYN202", "dynamic-attribute-lookup")
def dynamic_attribute_lookup(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per lookup."""
    for hot, state in tables.functions:
        for lookup in state.lookups:
            effect = effect_of(tables, context, hot, lookup)
            if effect is None:
                continue
            claim = Claim(
                message=f"`{lookup.text}` in the compiled `{region(tables, hot)}` takes its name from "
                f"{CAUSES[effect]}",
                cost=COSTS[effect],
                effect=effect,
                subject=lookup.text,
                advice="look the object up outside the compiled region and pass it in, or index a "
                "`ModuleList` or dict built in `__init__` by a constant",
                step="looks up an attribute by a changing name",
            )
            yield finding(rule, tables, context, hot, lookup.position, claim)


def effect_of(tables: Tables, context: Context, hot: CompiledFunction, lookup: Lookup) -> str | None:
    """The worst effect of where the name of a lookup may come from; None if it may have none."""
    if lookup.function == "__dict__" or lookup.name.constants is not None:
        return None
    origins = {*tables.origins.value(hot, lookup.name), *_passed(tables, hot, lookup.name.origins)}
    ends = hot.compiled if context.has("texts-of-numbers-are-given-up") else None
    effects = {effect for origin in origins if (effect := _effect(origin, ends)) is not None}
    return max(effects, key=EFFECTS.index, default=None)


def _passed(tables: Tables, hot: CompiledFunction, origins: frozenset[Origin]) -> Iterator[Origin]:
    """Parameters without an annotation that a driver fills with ints."""
    ints = {one.name for one in tables.passed if one.hot == hot and one.value.kinds == {Kind.INT}}
    for origin in origins:
        if origin.source == "param" and origin.name in ints:
            yield Origin("argument", "int", origin.via)


def _effect(origin: Origin, ends: bool | None) -> str | None:
    """The effect of a name of this origin; None where it is a constant to Dynamo, or nothing is known of it.

    Formatting a dynamic int makes some versions of Dynamo give the frame up: in the compiled function itself
    everything is then eager (`ends`), in one that it calls only the call breaks the graph. Others compile for
    each number (None).
    """
    match origin:
        case Origin("argument", "int", "text") if ends is not None:
            return "eager" if ends else "break"
        case Origin("item" | "host"):
            return "break"
        case Origin("shape", via="text" | "str"):
            return "per-value"
        case Origin("argument", "int", "str"):
            return "break"
        case Origin("argument"):
            return "per-value"
        case _:
            return None


@named("DYN203", "attribute-lookup")
def attribute_lookup(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per lookup by name, if pedantic; what appears late is for the runs to see."""
    for hot, state in tables.functions if context.pedantic else ():
        for lookup in state.lookups:
            if effect_of(tables, context, hot, lookup) is not None:
                continue  # a changing name is dynamic-attribute-lookup
            claim = Claim(
                message=f"`{lookup.text}` in the compiled `{region(tables, hot)}` looks an attribute up by "
                "name",
                cost="none at run time",
                effect="once",
                subject=_subject(lookup),
                keys=lookup.keys,
                advice="access the attribute directly",
                step="looks up an attribute by name",
                severity="note",
            )
            yield finding(rule, tables, context, hot, lookup.position, claim)


def appears_late(tables: Tables, key: Key, written: set[Key]) -> bool:
    """Nothing sets it at construction, and something does later."""
    if tables.initial.names.is_scope(key.owner):
        return False  # a global, seen as an attribute of its file, or an attribute of a function
    outside = tables.initial.outside(key)
    if tables.initial.external(key) or any(o.initial for o in outside):
        return False
    if tables.project.method(key.owner, key.attribute) is not None:
        return False
    # A configuration is filled before anything runs; only hot code gives it something later.
    module = tables.project.is_module(key.owner)
    return key in written or (module and any(_is_late(tables, key, one) for one in outside))


def _is_late(tables: Tables, key: Key, write: Outside) -> bool:
    """Whether a write comes late: not the constructor of what holds it.

    What a base sets is meant for its subclasses that have it from construction, where there are any.
    """
    project = tables.project
    base = project.owner(write.where) if write.where is not None else None
    if base is None or write.where is None or base == key.owner:
        return True
    if write.where.key.rpartition(".")[2] in SETUP:
        return False  # what holds it sets it while both are made, before anything is called
    makers = (
        project.owner(where)
        for where, _ in project.stores_of(key.attribute)
        if where.key.rpartition(".")[2] in SETUP
    )
    return not any(maker is not None and base in project.mro(maker)[1:] for maker in makers)


def _subject(lookup: Lookup) -> str:
    for key in sorted(lookup.keys):
        return f"{key.owner.name}.{key.attribute}"
    return lookup.text


CATCHES = {"AttributeError": "attribute", "KeyError": "key"}
RANDOM = ("rand", "normal", "multinomial", "bernoulli", "choice", "shuffle", "sample", "uuid", "time")


@named("DYN305", "unguarded-absence")
def unguarded_absence(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per question whose answer is kept when the attribute or key appears."""
    written = {state.key for state in tables.attributes if state.writes}
    for hot, state in tables.functions:
        for lookup in state.lookups:
            late = any(appears_late(tables, key, written) for key in lookup.keys)
            if lookup.function == "__dict__" and lookup.name.constants is not None and late:
                guarded = lookup.text.startswith("vars(") and not context.has("vars-are-traced")
                where = region(tables, hot)
                claim = _absence(where, lookup.text, "attribute", lookup.keys, guarded=guarded)
                yield finding(rule, tables, context, hot, lookup.position, claim)
    for hot in tables.regions.hot:
        for node, what, key in _caught(tables, hot, written):
            guarded = not context.has("missing-keys-are-unguarded") and what == "key"
            place = tables.bodies.position(hot.function.path, node)
            claim = _absence(region(tables, hot), spelled(node), what, (key,), guarded=guarded)
            yield finding(rule, tables, context, hot, place, claim)


def _absence(where: str, text: str, what: str, keys: Collection[Key], *, guarded: bool) -> Claim:
    """The claim about a question in compiled code whether an attribute or a key is there."""
    article = f"an {what}" if what == "attribute" else f"a {what}"
    return Claim(
        message=f"`{text}` in the compiled `{where}` asks for {article} that is added later, and Dynamo "
        f"{'guards' if guarded else 'does not guard'} on its absence",
        cost="one extra compile, when it is added"
        if guarded
        else "compiled code keeps the first answer and never sees it",
        effect="once" if guarded else "stale",
        entries=2 if guarded else None,
        subject=text,
        keys=keys,
        advice="give it a value in `__init__`, or read it with `getattr(..., None)`, which is guarded"
        if what == "attribute"
        else "add the key from the start, or keep the value in an attribute that starts as None",
        step=f"asks whether {article} is there",
    )


def _caught(tables: Tables, hot: CompiledFunction, written: set[Key]) -> Iterator[tuple[ast.expr, str, Key]]:
    """`try: self.p except AttributeError` and `try: self.d[k] except KeyError` for what appears later."""
    function = tables.project.function(hot.function)
    own = tables.project.self_name(hot.function)
    if hot.receiver is None or own is None or not _may_catch(tables, hot):
        return
    for node in nodes_of(tables, hot.function):
        if not isinstance(node, ast.Try) or function.runs_eagerly(node.lineno):
            continue
        for handler in node.handlers:
            names = (
                {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)} if handler.type else set()
            )
            for caught in names & CATCHES.keys():
                for asked, path in _tested(node.body, own, CATCHES[caught]):
                    key = Key(hot.receiver, path)
                    if _comes_later(tables, key, handler, written):
                        yield asked, CATCHES[caught], key


def _may_catch(tables: Tables, hot: CompiledFunction) -> bool:
    tables.bodies.of(hot.function)
    function = tables.project.function(hot.function)
    lines = tables.bodies.lines.get(hot.function.path, [])[function.first_line - 1 : function.end_line]
    return any("except" in line and any(name in line for name in CATCHES) for line in lines)


def _tested(body: list[ast.stmt], own: str, what: str) -> Iterator[tuple[ast.expr, str]]:
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Load()) if (
                    what == "attribute" and name == own
                ):
                    yield node, attr
                case ast.Subscript(
                    value=ast.Attribute(value=ast.Name(id=name), attr=attr), slice=ast.Constant(value=key)
                ) if what == "key" and name == own:
                    yield node, f"{attr}[{key!r}]"


def _comes_later(tables: Tables, key: Key, handler: ast.ExceptHandler, written: set[Key]) -> bool:
    name, bracket, rest = key.attribute.partition("[")
    for node in ast.walk(handler):
        if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Store):
            # Made here and now: the same every time, unless by chance.
            calls = [spelled(n.func) for n in ast.walk(handler) if isinstance(n, ast.Call)]
            return any(word in call for call in calls for word in RANDOM)
    if not bracket:
        return appears_late(tables, key, written)
    initial = any(o.initial and o.kinds for o in tables.initial.outside(key))
    stores = [s for _, s in tables.project.items_stored(name) if getattr(s.owner, "name", "") == name]
    wanted = rest.removesuffix("]")
    return not initial and any(repr(getattr(s.index, "value", None)) == wanted for s in stores)
