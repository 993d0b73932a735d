"""Faults of the settings of torch's compiler and of their values, by the table of settings."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from dynamo_lint.index.ir import Constant
from dynamo_lint.models.settings import KnownSettings, fits
from dynamo_lint.rules.base import Context

Fault = tuple[str, str, str, str]
"""The subject, what is wrong with it, what torch does about it, and what to do."""


def fault_of(
    known: KnownSettings, context: Context, module: str, short: str, value: Constant | None
) -> Fault | None:
    """The fault of a setting and its value."""
    name = f"{module}.{short}"
    if name not in known.types:
        names = [one[len(module) + 1 :] for one in known.types if one.startswith(f"{module}.")]
        near = nearest(short, names)
        if context.torch_version != known.torch and not near:
            return None  # what other versions have is not known
        version = ".".join(map(str, known.torch))
        what = f"is no setting of `{module}` in torch {version}"
        return name, what, "an AttributeError where it is set", meant(near)
    since = known.since.get(name)
    if since is not None and context.torch_version < since:
        older = next((one for one, today in known.aliases.items() if today == name), "")
        what = f"is new in torch {'.'.join(map(str, since))}"
        return name, what, "an AttributeError where it is set", meant(older.rpartition(".")[2])
    if value is None or fits(value.value, known.types[name]):
        return None
    return mistyped(name, value.value, known.types[name], "nothing checks that until something is compiled")


def mistyped(name: str, value: object, kind: str, then: str) -> Fault:
    """The fault of a value of another type."""
    return name, f"is {value!r}, and takes `{kind}`", then, f"give it a value of type `{kind}`"


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that is probably meant; empty if none is near."""
    return next(iter(get_close_matches(name, [*names], 1, 0.8)), "")


def meant(name: str) -> str:
    """The advice for a name that does not exist, with the one that is probably meant."""
    return f"did you mean `{name}`?" if name else "remove it, or ask with `hasattr` first"
