"""DYN305: compiled code finds out that something is not there in a way that Dynamo does not guard."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from dynamo_lint.findings import Finding
from dynamo_lint.program.refs import Position
from dynamo_lint.regions.model import CompiledFunction
from dynamo_lint.rules.attribute_lookup import appears_late
from dynamo_lint.rules.base import Claim, Context, Rule, finding, region
from dynamo_lint.rules.eager_code import position
from dynamo_lint.state.model import Key
from dynamo_lint.state.provenance import Tables

CATCHES = {"AttributeError": "attribute", "KeyError": "key"}
RANDOM = ("rand", "normal", "multinomial", "bernoulli", "choice", "shuffle", "sample", "uuid", "time")


def check(rule: Rule, tables: Tables, context: Context) -> Iterator[Finding]:
    """One finding per question whose answer is kept when the attribute or key appears."""
    written = {state.key for state in tables.attributes if state.writes}
    for hot, state in tables.functions:
        for lookup in state.lookups:
            late = any(appears_late(tables, key, written) for key in lookup.keys)
            if lookup.function == "__dict__" and lookup.name.constants is not None and late:
                asked = lookup.position, lookup.text, "attribute", lookup.keys
                guarded = lookup.text.startswith("vars(") and not context.has("vars-are-traced")
                yield _finding(rule, tables, context, hot, *asked, guarded=guarded)
    for hot in tables.regions.hot:
        for node, what, key in _caught(tables, hot, written):
            guarded = not context.has("missing-keys-are-unguarded") and what == "key"
            text = ast.unparse(node)
            yield _finding(rule, tables, context, hot, position(node), text, what, (key,), guarded=guarded)


def _finding(
    rule: Rule,
    tables: Tables,
    context: Context,
    hot: CompiledFunction,
    where: Position,
    text: str,
    what: str,
    keys: Collection[Key],
    *,
    guarded: bool,
) -> Finding:
    claim = Claim(
        message=f"`{text}` in the compiled `{region(tables, hot)}` asks for {_article(what)} that is added "
        f"later, and Dynamo {'guards' if guarded else 'does not guard'} on its absence",
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
        step=f"asks whether {_article(what)} is there",
    )
    return finding(rule, tables, context, hot, where, claim)


def _article(what: str) -> str:
    return f"an {what}" if what == "attribute" else f"a {what}"


def _caught(tables: Tables, hot: CompiledFunction, written: set[Key]) -> Iterator[tuple[ast.expr, str, Key]]:
    """`try: self.p except AttributeError` and `try: self.d[k] except KeyError` for what appears later."""
    function = tables.project.function(hot.function)
    own = tables.project.self_name(hot.function)
    if hot.receiver is None or own is None or not _may_catch(tables, hot):
        return
    for statement in tables.bodies.of(hot.function) or []:
        for node in ast.walk(statement):
            if not isinstance(node, ast.Try) or function.runs_eagerly(node.lineno):
                continue
            for handler in node.handlers:
                names = (
                    {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
                    if handler.type
                    else set()
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
            calls = [ast.unparse(n.func) for n in ast.walk(handler) if isinstance(n, ast.Call)]
            return any(word in call for call in calls for word in RANDOM)
    if not bracket:
        return appears_late(tables, key, written)
    initial = any(o.initial and o.kinds for o in tables.initial.outside(key))
    stores = [s for _, s in tables.project.items_stored(name) if getattr(s.owner, "name", "") == name]
    wanted = rest.removesuffix("]")
    return not initial and any(repr(getattr(s.index, "value", None)) == wanted for s in stores)


UNGUARDED_ABSENCE = Rule("DYN305", "unguarded-absence", check)
