"""Arguments of torch.nn modules that their forward reads, and Dynamo guards."""

from __future__ import annotations

from functools import cache

from dynamo_lint import knowledge
from dynamo_lint.dataclass import dataclass
from dynamo_lint.instances.terms import Term

CONTAINERS = knowledge.last_names("containers")


@dataclass(frozen=True, slots=True)
class LayerSignature:
    """The parameters of one class in order, and what each is to a compiled graph."""

    order: tuple[str, ...]
    guarded: frozenset[str]
    """Compared by value in a guard."""
    shapes: frozenset[str]
    """They decide the shape of a parameter, which is guarded as well."""


def _signature(text: str) -> LayerSignature:
    """`in+ out+ kernel+ stride! bias!`: `+` decides a shape, `!` is guarded."""
    words = text.split()
    return LayerSignature(
        tuple(word.rstrip("+!") for word in words),
        frozenset(word.rstrip("+!") for word in words if "!" in word),
        frozenset(word.rstrip("+!") for word in words if "+" in word),
    )


@cache
def signature_of(name: str) -> LayerSignature | None:
    """The signature of a class of torch.nn, by its bare name."""
    text = _signatures().get(name)
    return _signature(text) if text is not None else None


@cache
def _signatures() -> dict[str, str]:
    rows: dict[str, str] = knowledge.table("torch")["signatures"]
    return {name: text for names, text in rows.items() for name in names.split()}


def part_name(part: Term) -> str:
    """`Dropout` for a `torch.nn.Dropout(…)`."""
    return str(part.leaf).rpartition(".")[2]


def arguments(part: Term) -> dict[str, Term]:
    """The arguments of a torch.nn constructor by parameter name, as far as the class is known."""
    signature = signature_of(part_name(part))
    if signature is None:
        return {}
    positional = iter(signature.order)
    bound: dict[str, Term] = {}
    for name, value in zip(part.names, part.parts, strict=False):
        key = next(positional, "*") if name == "*" else name
        if key in signature.order:
            bound[key] = value
    return bound
