"""Type inference by well-known names; whatever is not known stays unknown."""

from __future__ import annotations

from dynamo_lint.index.ir import Attribute, Choice, Constant, Display, Expr, Name, Subscript
from dynamo_lint.models.tensor_results import BOOL_FUNCTIONS, TENSOR_ANNOTATIONS, gives_tensor
from dynamo_lint.state.model import SCALARS, Kind, Kinds

UNKNOWN: Kinds = frozenset()
NUMBERS = frozenset({Kind.INT, Kind.BOOL, Kind.FLOAT})

BUILTIN_KINDS: dict[str, Kinds] = {
    "int": frozenset({Kind.INT}),
    "bool": frozenset({Kind.BOOL}),
    "float": frozenset({Kind.FLOAT}),
    "str": frozenset({Kind.STR}),
    "None": frozenset({Kind.NONE}),
}
CONTAINERS = frozenset(
    [
        "list",
        "dict",
        "set",
        "deque",
        "List",
        "Dict",
        "Set",
        "OrderedDict",
        "defaultdict",
        "Deque",
        "tuple",
        "Tuple",
    ]
)


def of_constant(value: object) -> Kinds:
    """The kind of a literal."""
    match value:
        case None:
            return frozenset({Kind.NONE})
        case bool():
            return frozenset({Kind.BOOL})
        case int():
            return frozenset({Kind.INT})
        case float():
            return frozenset({Kind.FLOAT})
        case str():
            return frozenset({Kind.STR})
        case _:
            return UNKNOWN


def of_arithmetic(left: Kinds, right: Kinds, division: bool, power: bool = False) -> Kinds:
    """`left op right`: a tensor wins, true division makes floats, int and bool make ints."""
    if Kind.TENSOR in left | right:
        return frozenset({Kind.TENSOR})
    if not left or not right:
        return UNKNOWN
    if left | right <= NUMBERS:
        if division or Kind.FLOAT in left | right:
            return frozenset({Kind.FLOAT})
        return UNKNOWN if power else frozenset({Kind.INT})
    if left == right and left <= {Kind.STR, Kind.TUPLE, Kind.CONTAINER}:
        return left
    if Kind.STR in left:
        return frozenset({Kind.STR})
    return UNKNOWN


def of_call(dotted: str) -> Kinds:
    """The kind that a function outside the project returns, by its dotted name."""
    head, _, last = dotted.rpartition(".")
    match dotted:
        case "len" | "int" | "round" | "ord" | "hash" | "id" | "builtins.len" | "builtins.int":
            return frozenset({Kind.INT})
        case "float" | "time.time" | "time.perf_counter" | "time.monotonic" | "random.random":
            return frozenset({Kind.FLOAT})
        case "bool" | "isinstance" | "hasattr" | "callable" | "issubclass":
            return frozenset({Kind.BOOL})
        case "str" | "repr" | "format" | "os.getenv":
            return frozenset({Kind.STR})
        case "list" | "dict" | "set" | "sorted" | "collections.deque" | "collections.OrderedDict":
            return frozenset({Kind.CONTAINER})
        case "collections.defaultdict" | "collections.Counter":
            return frozenset({Kind.CONTAINER})
        case "itertools.count":
            return frozenset({Kind.COUNT})
        case "random.randint" | "random.randrange":
            return frozenset({Kind.INT})
    if head == "math":
        return frozenset({Kind.INT}) if last in {"ceil", "floor", "gcd", "prod"} else frozenset({Kind.FLOAT})
    if last in BOOL_FUNCTIONS and head == "torch":
        return frozenset({Kind.BOOL})
    if last == "numel" and head == "torch":
        return frozenset({Kind.INT})
    if head.startswith("torch.nn.modules") or head == "torch.nn":
        if last in {"Parameter", "Buffer"}:
            return frozenset({Kind.TENSOR})
        return frozenset({Kind.OBJECT}) if last[:1].isupper() else UNKNOWN
    if gives_tensor(dotted):
        return frozenset({Kind.TENSOR})
    return UNKNOWN


def of_annotation(annotation: Expr) -> Kinds:
    """The kinds an annotation allows; unknown if any part of it is."""
    match annotation:
        case Constant(value=None):
            return frozenset({Kind.NONE})
        case Constant(value=str() as text):
            return of_annotation_text(text)
        case Name(id=name) | Attribute(name=name):
            if name in TENSOR_ANNOTATIONS:
                return frozenset({Kind.TENSOR})
            if name in CONTAINERS:
                return frozenset({Kind.CONTAINER})
            return BUILTIN_KINDS.get(name, UNKNOWN)
        case Choice(options=options) | Display(items=options):
            parts = [of_annotation(option) for option in options]
            return frozenset().union(*parts) if all(parts) else UNKNOWN
        case Subscript(value=Name(id="Union") | Attribute(name="Union"), index=inner):
            return of_annotation(inner)
        case Subscript(value=Name(id="Optional") | Attribute(name="Optional"), index=inner):
            kinds = of_annotation(inner)
            return kinds | {Kind.NONE} if kinds else UNKNOWN
        case Subscript(
            value=Name(id="Final" | "ClassVar") | Attribute(name="Final" | "ClassVar"), index=inner
        ):
            return of_annotation(inner)
        case Subscript(value=Name(id=name) | Attribute(name=name)) if name in CONTAINERS:
            return frozenset({Kind.CONTAINER})
        case _:
            return UNKNOWN


def of_annotation_text(text: str) -> Kinds:
    """An annotation as source text: unions and Optional of plain names."""
    text = text.strip().strip("'\"")
    head, bracket, rest = text.partition("[")
    head = head.rpartition(".")[2]
    if head == "Optional" and bracket and rest.endswith("]"):
        inner = of_annotation_text(rest[:-1])
        return inner | {Kind.NONE} if inner else UNKNOWN
    if head in CONTAINERS and "|" not in rest.rpartition("]")[2]:
        return frozenset({Kind.CONTAINER})
    total: set[Kind] = set()
    for part in text.split("|"):
        name = part.strip().rpartition(".")[2]
        found = frozenset({Kind.TENSOR}) if name in TENSOR_ANNOTATIONS else BUILTIN_KINDS.get(name, UNKNOWN)
        if not found:
            return UNKNOWN
        total |= found
    return frozenset(total)


def of_tuple(items: list[Kinds]) -> Kinds:
    """A tuple display, by the kinds of its elements."""
    if any(not kinds for kinds in items):
        return UNKNOWN
    return frozenset({Kind.TUPLE if all(kinds <= SCALARS for kinds in items) else Kind.CONTAINER})
