"""Reads Dynamo's source expressions: which attribute of which object `L['self'].cfg.d['a']` is about."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

PARTS = ("_modules", "_parameters", "_buffers")
"""Where `nn.Module` keeps what reads like attributes."""

UNWRAPPED = ("list", "tuple", "int", "dict", "___from_numpy", "___as_tensor", "len", "type")
"""Calls in sources that lead to something about their argument."""


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of state: an attribute of an owner, or a name of a function or module."""

    owner: str
    """Expression of the object that has the attribute; empty for a local or global."""
    attribute: str
    inside: str
    """The way from the attribute to what was checked."""
    root: str
    """`local`, `global` or `other`: where the expression starts."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The place a guard is about; of `*args` and `**kwargs`, each argument by itself."""
        return self.owner or self.root, self.attribute, "" if self.owner else self.inside


@dataclass(frozen=True, slots=True)
class _Step:
    kind: str
    """`attr`, `item` or `mark`."""
    key: str
    text: str
    """The expression up to and including this step."""


@lru_cache(maxsize=16384)
def place_of(source: str) -> Place:
    """The state that a source expression is about."""
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except SyntaxError:
        return Place("", source.strip(), "", "other")
    steps = _without_dicts(_steps(node))
    root, steps = _root(steps)
    last = max(
        (index for index, step in enumerate(steps) if step.kind == "attribute" and not _dunder(step.key)),
        default=None,
    )
    if last is None:
        return Place("", root.key, "".join(_displayed(step) for step in steps), root.kind)
    owner = steps[last - 1] if last else root
    return Place(
        owner.text, steps[last].key, "".join(_displayed(step) for step in steps[last + 1 :]), root.kind
    )


def readable(text: str) -> str:
    """A guard as its program spells it: `self.blocks[0].n == 1`."""
    text = re.sub(r"(?<!\w)[LG]\[(['\"])(\w+)\1\]", r"\2", text)
    text = re.sub(r"(?:\.__dict__\['|\.)(?:_modules|_parameters|_buffers)(?:'\])?\['(\d+)'\]", r"[\1]", text)
    text = re.sub(r"(?:\.__dict__\['|\.)(?:_modules|_parameters|_buffers)(?:'\])?\['(\w+)'\]", r".\1", text)
    return re.sub(r"\.__dict__\['([A-Za-z_]\w*)'\]", r".\1", text)


def _steps(node: ast.expr) -> list[_Step]:
    text = ast.unparse(node)
    match node:
        case ast.Attribute(value, attr):
            return [*_steps(value), _Step("attribute", attr, text)]
        case ast.Subscript(value, ast.Constant(key)):
            return [*_steps(value), _Step("item", repr(key), text)]
        case ast.Subscript(value, index):
            return [*_steps(value), _Step("item", ast.unparse(index), text)]
        case ast.Call(ast.Attribute(ast.Name("list" | "dict" | "tuple"), "__getitem__"), [value, key]):
            return [*_steps(value), _Step("item", ast.unparse(key), text)]
        case ast.Call(ast.Attribute(ast.Name("dict"), "keys"), [value]):
            return [*_steps(value), _Step("mark", "keys", text)]
        case ast.Call(
            ast.Attribute(ast.Name("object"), "__getattribute__") | ast.Name("getattr"),
            [value, ast.Constant(str(attr)), *_],
        ):
            return [*_steps(value), _Step("attribute", attr, text)]
        case ast.Call(ast.Name("type"), [value]):
            return [*_steps(value), _Step("mark", "type", text)]
        case ast.Call(ast.Name(name), [value, *_]) if name in UNWRAPPED or name.startswith("___"):
            return _steps(value)
        case ast.Call(ast.Attribute(value, method), _):
            return [*_steps(value), _Step("mark", f"{method}()", text)]
        case ast.Call(value, []):
            return _steps(value)
        case _:
            return [_Step("other", text, text)]


def _without_dicts(steps: list[_Step]) -> list[_Step]:
    """`x.__dict__['n']`, `x._modules['n']` and `dict(type(x).__dict__)['n']` are all `x.n`."""
    found: list[_Step] = []
    for step in steps:
        previous = found[-1] if found else None
        held = previous is not None and previous.kind == "attribute" and previous.key in ("__dict__", *PARTS)
        if held and len(found) > 1 and step.kind == "item" and step.key[:1] in "'\"":
            found.pop()
            name = step.key[1:-1]
            # The numbered parts of a ModuleList are what an index finds.
            found.append(_Step("item" if name.isdigit() else "attribute", name, step.text))
        else:
            found.append(step)
    return found


def _root(steps: list[_Step]) -> tuple[_Step, list[_Step]]:
    match steps:
        case [_Step(key="L"), _Step("item", name) as first, *rest]:
            return _Step("local", name.strip("'\""), first.text), rest
        case [_Step(key="G"), _Step("item", name) as first, *rest]:
            return _Step("global", name.strip("'\""), first.text), rest
        case [first, *rest]:
            return _Step("other", first.key, first.text), rest
        case _:
            return _Step("other", "", ""), []


def _displayed(step: _Step) -> str:
    match step.kind:
        case "item":
            return f"[{step.key}]"
        case "attribute":
            return f".{step.key}"
        case _:
            return f".{step.key}" if step.key.endswith("()") else f" {step.key}"


def _dunder(name: str) -> bool:
    """Parts of a function or class that stand for the whole: `__code__`, `__closure__`, `__dict__`."""
    return (name.startswith("__") and name.endswith("__")) or name == "cell_contents"
