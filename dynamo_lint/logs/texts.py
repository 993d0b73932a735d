"""Reads the texts of Dynamo, graph breaks, failed checks and expressions of state, and subjects of findings.

Each part stands by itself: a graph break as logs, traces and exceptions tell it; the check that failed,
`self.n == 3  # src  # file:line in forward`; which attribute of which object `L['self'].cfg.d['a']` is about;
and what a finding is about, `MoE._overflow_total`, `COUNT`, `os.environ["MODE"]`.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from dynamo_lint.dataclass import dataclass

INTENDED = frozenset({"GB0025", "GB0098", "GB0099", "GB4297", "GB4636"})
"""Breaks that the code itself asks for: `torch.compiler.disable`, `graph_break()`, `skip_frame`."""

_DISABLED = re.compile(r"<(?:function|bound method) (?P<function>[\w.<>]{1,512}) ")

LONGEST_TEXT = 8_192
"""Characters of a line that are looked at; torch shortens what it quotes."""

LONGEST_SOURCE = 1_024
"""Characters of an expression that is parsed."""

MOST_DIGITS = 9

MOST_FRAMES = 256
"""Lines of a stack that are kept, the innermost."""

_PLACE = "in user code at "
_FRAME = re.compile(
    r'^[ \t]*File "(?P<path>.+?)", line (?P<line>\d+), in (?P<function>.+)\n?(?P<text>.*)', re.MULTILINE
)
_IDENT = re.compile(r"/gb/gb(\d{1,8})\.html")
_STACKS = (
    "User code traceback:",
    "occurred in the following user code:",
    "from user code:",
    "from user code at:",
)
_SKIPPED = (
    "results in a skip",
    "Skipping the function",
    "frame skipped",
    "Skipping the frame",
    "Graph break: skip:",
)
_EXPLANATION = re.compile(r"^[ \t]*Explanation: (.+)$", re.MULTILINE)
_RAISED = re.compile(r"^torch\._dynamo\.exc\.\w+: (.+)$", re.MULTILINE)
_REASON = re.compile(r"Graph Break Reason: (.+)")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack, in a function by its bare name; or a function that was compiled, by its `def`."""

    path: str
    """Where a job has been joined with its sources, relative to the linted root, if such a file is there."""
    line: int
    function: str


@dataclass(frozen=True, slots=True)
class StackLine(Frame):
    """The same with what stood there."""

    text: str


@dataclass(frozen=True, slots=True)
class BreakText:
    """A graph break as Dynamo tells it."""

    place: tuple[str, int] | None
    """Path and line of the code that broke the graph, where Dynamo names them."""
    id: str
    """`GB0059` in Dynamo's registry; empty where it has none. A second one is of what follows from it."""
    reason: str
    """The sentence that says what Dynamo could not do."""
    skips_frame: bool
    """The whole function runs uncompiled, not just this line."""
    stack: tuple[StackLine, ...]
    """Outermost first; empty for a break that was told before."""


def whole(digits: str) -> int | None:
    """The number that a log gives; None for more digits than any line, rank, limit or compile has."""
    return int(digits) if digits.isdecimal() and len(digits) <= MOST_DIGITS else None


def place_in(text: str) -> tuple[str, int] | None:
    """Path and line of `src/a.py:12`; None for another text."""
    path, _, digits = text.strip().rpartition(":")
    line = whole(digits)
    return (path, line) if path and line is not None else None


def shortened(text: str) -> str:
    """A text whose lines are no longer than what is looked at."""
    if len(text) <= LONGEST_TEXT:
        return text
    return "\n".join(line[:LONGEST_TEXT] for line in text.split("\n"))


def read_break(told: str) -> BreakText:
    """The break that a `dynamo_graph_break_reason` or the text of an exception tells of."""
    told = shortened(told)
    # Dynamo's own stack follows the user's; in older versions its end says what Dynamo could not do.
    told, _, own = told.partition("\nTraceback (most recent call last):")
    if raised := _RAISED.search(own):
        told = f"Graph Break Reason: {raised[1]}\n{told}" if "Reason:" not in told else told
    ident = _IDENT.search(told)
    mark = next((mark for mark in _STACKS if mark in told), None)
    stack = tuple(
        StackLine(frame["path"], line, frame["function"], frame["text"].strip())
        for frame in (_FRAME.finditer(told.rpartition(mark)[2]) if mark else ())
        if (line := whole(frame["line"])) is not None
    )
    return BreakText(
        place=_place(told),
        id=f"GB{ident[1]}" if ident else "",
        reason=_reason(told),
        skips_frame=any(mark in told for mark in _SKIPPED),
        stack=stack[-MOST_FRAMES:],
    )


def disabled_function(ident: str, reason: str) -> str:
    """The qualified name of the function that a break keeps out of the graph, where the code asks for it.

    `MBlock.forward`; empty for another break, and where the reason names no function.
    """
    named = _DISABLED.search(reason) if ident in INTENDED else None
    return named["function"].replace(".<locals>", "") if named else ""


def _place(told: str) -> tuple[str, int] | None:
    """The first place that a line of a text names as its last word."""
    ends = (line.partition(_PLACE)[2] for line in told.split("\n") if _PLACE in line)
    return next((place for end in ends if (place := place_in(end)) is not None), None)


def _reason(told: str) -> str:
    found = _EXPLANATION.search(told) or _REASON.search(told)
    return (found[1] if found else told.strip().partition("\n")[0]).strip()


_COMMENT = re.compile(r"\s\s#\s")
_COMMENTED = re.compile(r"(?P<path><[^>]*>|\S+):(?P<line>\d+) in \S")
_TENSOR = re.compile(r"tensor '(?P<source>.+?)' (?P<aspect>[\w ]+?) mismatch(?P<rest>.*)")
_NO_TENSOR = re.compile(r"expected type of '(?P<source>.+?)' to be a tensor type")
_SHAPE = re.compile(r"\.(?:size|stride|storage_offset)\(\)")
_APART = re.compile(r"[\s=<>!*+,()]")
_NAMED = re.compile(r"[A-Za-z_].*")
_PRESENCE = (
    re.compile(r"(?:not )?hasattr\((?P<source>.+), '(?P<name>\w+)'\)$"),
    re.compile(r"(?:not )?___dict_contains\('(?P<name>\w+)', (?P<source>.+)\.__dict__\)$"),
    re.compile(r"(?:not )?___dict_contains\((?P<arguments>.+)\)$"),
    re.compile(r"(?:not )?set\.__contains__\((?P<source>.+), (?P<key>[^,]+)\)$"),
)
_CALLS = (
    (re.compile(r"___check_type_id\((?P<source>.+), \d+\)(?:, type=(?P<value>.*))?$"), "type"),
    (re.compile(r"___check_(?:obj_id|\w+)\((?P<source>.+), \d+\)(?:, type=(?P<value>.*))?$"), "identity"),
    (re.compile(r"list\(dict\.keys\((?P<source>.+)\)\) == (?P<value>.*)$"), "presence"),
    (re.compile(r"list\((?P<source>.+)\.keys\(\)\) == (?P<value>.*)$"), "presence"),
    (re.compile(r"(?:___\w+_len|len)\((?P<source>.+)\) == (?P<value>\d+)$"), "length"),
    (re.compile(r"(?:int|float|str|bool)\((?P<source>[^()]+)\) == (?P<value>.*)$"), "value"),
)
_COMPARISONS = (
    (re.compile(r"(?P<source>[^=<>!]+?) == (?P<value>.*)$"), "value"),
    (re.compile(r"(?P<source>.+?) is (?:not )?(?P<value>None|True|False)$"), "value"),
    (re.compile(r"(?P<source>.+?) is (?:not )?(?P<value>\S+)$"), "identity"),
    (re.compile(r"not (?P<source>[\w.\[\]']+)$"), "length"),
    (re.compile(r"(?:-?[\d.]+) (?:<|<=|==|!=) (?P<source>[A-Za-z_][\w.\[\]']*)$"), "expression"),
    (re.compile(r"(?P<source>[A-Za-z_][\w.\[\]']*) (?:<|<=|>|>=|!=) (?P<value>\S+)$"), "expression"),
)
_ASPECTS = {"requires_grad": "requires_grad", "size": "size", "stride": "size", "rank": "size"}


@dataclass(frozen=True, slots=True)
class Check:
    """A check that failed, and where the program made Dynamo install it."""

    source: str
    """The expression that was checked, as logged."""
    kind: str
    guard: str
    """The check without its comment."""
    value: str = ""
    """The value that the compiled code was for; empty where the text does not tell."""
    path: str = ""
    """The end of the path of the line that reads the source; empty where torch wrote none."""
    line: int = 0
    text: str = ""
    """That line as it stood when the job ran."""


@lru_cache(maxsize=4096)
def read_check(told: str) -> Check:
    """The check that a reason tells of; what is not understood is an `expression` of itself."""
    told = told[:LONGEST_TEXT]
    comment = _COMMENT.search(told)
    guard = (told[: comment.start()] if comment else told).strip()
    source, kind, value = _parts(guard)
    if comment is None:
        return Check(source, kind, guard, value)
    return Check(source, kind, guard, value, *_read_at(told[comment.end() :]))


def _read_at(comments: str) -> tuple[str, int, str]:
    """Path, line and text of the line that the last of some comments names, the text before it."""
    parts = comments.split("  # ")
    for number in reversed(range(len(parts))):
        place = _COMMENTED.match(parts[number])
        if place is not None and (line := whole(place["line"])) is not None:
            return place["path"], line, "  # ".join(parts[:number]).strip()
    return "", 0, ""


def _parts(guard: str) -> tuple[str, str, str]:
    """Source, kind and value of a check."""
    if match := _TENSOR.match(guard):
        return (
            match["source"],
            _ASPECTS.get(match["aspect"].strip(), "type"),
            match["rest"].partition(", actual")[0].strip(" ."),
        )
    if match := _NO_TENSOR.match(guard):
        return match["source"], "type", ""
    if guard.startswith("GLOBAL_STATE"):
        return "GLOBAL_STATE", "expression", guard.partition(":")[2].strip()
    called = "(" in guard
    if called and (sized := _sized(guard)) is not None:
        return sized, "size", ""
    for pattern in _PRESENCE if called else ():
        if match := pattern.match(guard):
            found = match.groupdict()
            if "arguments" in found:
                found["key"], _, found["source"] = found["arguments"].partition(", ")
            name = f".{found['name']}" if found.get("name") else f"[{found['key']}]"
            return found["source"] + name, "presence", "absent" if guard.startswith("not ") else "present"
    for pattern, kind in (*_CALLS, *_COMPARISONS) if called else _COMPARISONS:
        if match := pattern.match(guard):
            found = match.groupdict()
            if found.get("source"):
                value = "0" if kind == "length" and guard.startswith("not ") else found.get("value") or ""
                return found["source"].strip(), kind, value.strip()
    return guard, "expression", ""


def _sized(guard: str) -> str | None:
    """The tensor whose size or place in memory a check is about: `x` of `2 <= x.size()[1]`."""
    end = 0
    for call in _SHAPE.finditer(guard):
        word = _NAMED.search(_APART.split(guard[end : call.start()])[-1])
        if word is not None:
            return word[0]
        end = call.end()
    return None


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
    node: ast.expr
    """The expression up to and including this step."""

    @property
    def text(self) -> str:
        """That expression as Python writes it."""
        return ast.unparse(self.node)


@lru_cache(maxsize=16384)
def place_of(source: str) -> Place:
    """The state that a source expression is about."""
    source = source.strip()
    try:
        return _place_of(source) if len(source) <= LONGEST_SOURCE else Place("", source, "", "other")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Place("", source, "", "other")


def _place_of(source: str) -> Place:
    root, steps = _root(_without_dicts(_steps(ast.parse(source, mode="eval").body)))
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


def _steps(node: ast.expr | None) -> list[_Step]:
    """The steps of an expression from its root; each is looked at once, however many there are."""
    steps: list[_Step] = []
    while node is not None:
        expression, node = node, None
        match expression:
            case ast.Attribute(value, attr):
                node, step = value, _Step("attribute", attr, expression)
            case ast.Subscript(value, ast.Constant(key)):
                node, step = value, _Step("item", repr(key), expression)
            case ast.Subscript(value, index):
                node, step = value, _Step("item", ast.unparse(index), expression)
            case ast.Call(ast.Attribute(ast.Name("list" | "dict" | "tuple"), "__getitem__"), [value, key]):
                node, step = value, _Step("item", ast.unparse(key), expression)
            case ast.Call(ast.Attribute(ast.Name("dict"), "keys"), [value]):
                node, step = value, _Step("mark", "keys", expression)
            case ast.Call(
                ast.Attribute(ast.Name("object"), "__getattribute__") | ast.Name("getattr"),
                [value, ast.Constant(str(attr)), *_],
            ):
                node, step = value, _Step("attribute", attr, expression)
            case ast.Call(ast.Name("type"), [value]):
                node, step = value, _Step("mark", "type", expression)
            case ast.Call(ast.Name(name), [value, *_]) if name in UNWRAPPED or name.startswith("___"):
                node = value
                continue
            case ast.Call(ast.Attribute(value, method), _):
                node, step = value, _Step("mark", f"{method}()", expression)
            case ast.Call(value, []):
                node = value
                continue
            case ast.BinOp(ast.Constant(), _, value) | ast.BinOp(value, _, ast.Constant()):
                node = value  # what the compiler made of a number: `0.5*self.rate`
                continue
            case _:
                step = _Step("other", ast.unparse(expression), expression)
        steps.append(step)
    return steps[::-1]


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
            found.append(_Step("item" if name.isdigit() else "attribute", name, step.node))
        else:
            found.append(step)
    return found


def _root(steps: list[_Step]) -> tuple[_Step, list[_Step]]:
    """Where an expression starts, and the steps from there."""
    match steps:
        case [_Step(key="L"), _Step("item", name) as first, *rest]:
            return _Step("local", name.strip("'\""), first.node), rest
        case [_Step(key="G"), _Step("item", name) as first, *rest]:
            return _Step("global", name.strip("'\""), first.node), rest
    first, *rest = steps
    return _Step("other", first.key, first.node), rest


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


ENVIRONMENT = re.compile(r"""os\.environ\[(['"])(?P<name>.*)\1\]$""")
ARGUMENT = re.compile(r"(?P<function>[\w.<>]+)\((?P<name>\w+)\)$")
ATTRIBUTE = re.compile(r"(?:(?P<owner>\w+)\.)?(?P<name>\w+)(?P<inside>(?:\[.*\])?)$")


@dataclass(frozen=True, slots=True)
class Subject:
    """A piece of state by the names that code uses for it."""

    text: str
    owner: str
    """Bare name of the class; empty for a global, a closure, an argument or the environment."""
    attribute: str
    inside: str = ""
    environment: bool = False
    argument: bool = False
    """`owner` is a function then, by its qualified name."""

    def is_variable_in(self, source: str) -> bool:
        """Whether a source expression reads this variable of the environment."""
        return "environ" in source and re.search(rf"\b{re.escape(self.attribute)}\b", source) is not None


def read_subject(text: str) -> Subject | None:
    """The state that a finding's subject names; None where it is an expression or a call."""
    if match := ENVIRONMENT.match(text):
        return Subject(text, "", match["name"], environment=True)
    if match := ARGUMENT.match(text):
        return Subject(text, match["function"], match["name"], argument=True)
    if match := ATTRIBUTE.match(text):
        return Subject(text, match["owner"] or "", match["name"], match["inside"])
    return None


def compatible(one: str, other: str) -> bool:
    """Two ways into a container, of which either may be known less far: `[...]` is any item."""
    one, other = (way.partition("[...]")[0] for way in (one, other))
    return not one or not other or one.startswith(other) or other.startswith(one)
