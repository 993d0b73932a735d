"""Guard filters: the entries that torch hands to them for the guards of what was compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.interpreter.guards import Guard, Resolve
from dynamo_lint.interpreter.model import MISSING, PLAIN, UNKNOWN, Member, Object, Source, Tensor
from dynamo_lint.models.drivers import NAMES

IsModule = Callable[[Object], bool]
OPTION = "guard_filter_fn"
"""The option of a compile that names a filter."""
_KIND = "GuardFilterEntry"
_OF_PROCESS = "GLOBAL_STATE"
"""The type of the guard on the modes of the process."""
_OF_TENSORS = "TENSOR_MATCH"
_OF_SIZES = "SHAPE_ENV"
OF_CONSTANTS = ("CONSTANT_MATCH", "EQUALS_MATCH")
"""Dynamo makes both on the integers of modules and globals, and each alone makes it compile again."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of torch."""

    held: frozenset[str]
    """The guards that it drops, by what holds the state: `modules`, `globals`, `others`, `torch_modules`."""
    types: frozenset[str]
    """The types of guards that it keeps nevertheless."""

    def keeps(self, entry: Object) -> bool:
        """Whether it keeps a guard."""
        held = entry.attributes["held"]
        by = frozenset(held) if isinstance(held, tuple) else frozenset[object]()
        return entry.attributes["guard_type"] in self.types or by.isdisjoint(self.held)


FILTERS = {
    name: Filter(
        frozenset(word for word in words.split() if word.islower()),
        frozenset(word for word in words.split() if word.isupper()),
    )
    for name, words in knowledge.pairs("guard_filters").items()
}
"""Those of torch.compiler, by name."""


def entry(
    guard_type: str, derived: object, name: object, value: object, *held: str, present: bool = True
) -> Object:
    """A guard as filters see it (`GuardFilterEntry` in torch/_dynamo/types.py), and what holds the state."""
    return Object(
        _KIND,
        {
            "name": name,
            "has_value": present,
            "value": value,
            "guard_type": guard_type,
            "derived_guard_types": derived,
            "is_global": "globals" in held,
            "orig_guard": UNKNOWN,
            "held": held,
        },
    )


def of_modes() -> Object:
    """The guard on the modes of the process, which the cache holds by itself."""
    return entry(_OF_PROCESS, (), "", UNKNOWN, "others", present=False)


def of_tensor(name: str) -> Object:
    """The guard on the sizes of an argument, which the cache holds by itself."""
    return entry(_OF_TENSORS, (_OF_TENSORS,), name, UNKNOWN, "others")


def entries(guard: Guard, resolve: Resolve, is_module: IsModule) -> list[Object]:
    """The guards of torch that stand for one: as long as any is there, Dynamo notices a change."""
    if guard.what in {"test", "size"}:
        return [entry(_OF_SIZES, (), "", UNKNOWN, "others", present=False)]
    source = guard.source
    steps = source.steps[:-1] if guard.what == "presence" else source.steps
    values = [resolve(Source(source.root, source.name, steps[:count])) for count in range(len(steps) + 1)]
    held = tuple(_held(source, values, is_module))
    name = _name(Source(source.root, source.name, steps), values, is_module)
    return [entry(kind, derived, name, values[-1], *held) for kind, derived in _types(guard)]


def _types(guard: Guard) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The types of the guards of torch, each with those of the checks that are made of it."""
    expected = guard.expected
    match guard.what:
        case "sizes" | "dtype" | "gradient":
            yield _OF_TENSORS, (_OF_TENSORS,)
        case "length":
            yield "SEQUENCE_LENGTH", ("TYPE_MATCH", "SEQUENCE_LENGTH")
        case "keys":
            yield "DICT_KEYS_MATCH", ("SEQUENCE_LENGTH", "DICT_KEYS_MATCH")
        case "presence" if guard.source.steps[-1][0] == "item":
            found = "DICT_NOT_CONTAINS" if expected is MISSING else "DICT_CONTAINS"
            yield found, (found,)
        case "presence":
            yield "HASATTR", ("HASATTR",)
        case "alias":
            yield "DUPLICATE_INPUT", ("DUPLICATE_INPUT",)
        case _ if isinstance(expected, bool | None):
            yield "CONSTANT_MATCH", ("NONE_MATCH" if expected is None else "BOOL_MATCH",)
        case _ if isinstance(expected, int) and guard.source.static:
            yield from ((one, ("EQUALS_MATCH",)) for one in OF_CONSTANTS)
        case _ if isinstance(expected, PLAIN):
            yield "CONSTANT_MATCH", ("EQUALS_MATCH",)
        case _ if isinstance(expected, Member):
            yield "ID_MATCH", ("ID_MATCH",)
        case _ if isinstance(expected, tuple) and expected[:1] == ("code",):
            yield "CLOSURE_MATCH", ()
        case _:
            yield "TYPE_MATCH", ("TYPE_MATCH",)


def _name(source: Source, values: Sequence[object], is_module: IsModule) -> object:
    """A source as filters see it: `self._modules['norm'].eps`, `options['step']`, `G['LIMIT']`."""
    text = f"G[{source.name.rpartition('::')[2]!r}]" if source.root == "global" else source.name
    for (step, key), holder, value in zip(source.steps, values, values[1:], strict=False):
        if isinstance(holder, Object) and is_module(holder) and isinstance(value, Tensor):
            return UNKNOWN  # a parameter, a buffer or neither
        if (
            isinstance(holder, Object)
            and is_module(holder)
            and isinstance(value, Object)
            and is_module(value)
        ):
            text += f"._modules[{str(key)!r}]"
        elif step == "cell":
            text = str(key)
        else:
            text += f"[{key!r}]" if step == "item" else f".{key}"
    return text


def _held(source: Source, values: Sequence[object], is_module: IsModule) -> Iterator[str]:
    """The holders of the state, in the words of the table of torch's filters."""
    modules = [one for one in values if isinstance(one, Object) and is_module(one)]
    if source.root == "global":
        yield "globals"
    if modules:
        yield "modules"
    if any(isinstance(one.kind, str) and one.kind not in NAMES["containers"] for one in modules):
        yield "torch_modules"
    if source.root != "global" and not modules:
        yield "others"
