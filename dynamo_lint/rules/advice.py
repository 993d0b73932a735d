"""Advice for a Python number that compiled code changes: which tensor keeps it, and how."""

from __future__ import annotations

from collections.abc import Collection

from dynamo_lint.program.refs import ClassRef
from dynamo_lint.state.model import AttributeState, Key, Use
from dynamo_lint.state.provenance import Tables

_PLACES = frozenset({Use.INDEX, Use.KEY, Use.ITERATED})


def on_changes(tables: Tables, keys: Collection[Key], name: str, value: object, *, once: bool) -> str | None:
    """Return the way out for state that compiled code changes to such a value; None where it is no number.

    `once`: the first call changes it, and no later one.
    """
    if not isinstance(value, int | float):
        return None
    if once:
        return (
            f"do this once in `__init__`, or leave `{name}` unchanged if two compiled versions are acceptable"
        )
    state = next((one for one in tables.attributes if one.key in keys), None)
    uses = {read.use for read in state.reads} if state is not None else set[Use]()
    branches = Use.CONTROL in uses or (Use.COMPARE in uses and Use.TENSOR_MATH not in uses)
    if isinstance(value, bool) or branches:
        return (
            f"move decisions that depend on `{name}` out of the compiled region, or keep it in a buffer and "
            "select with `torch.where`; a buffer in a Python `if` breaks the graph"
        )
    if uses & _PLACES:
        return f"keep `{name}` outside the compiled region and pass an index tensor in"
    update = "update it in place"
    if Use.TENSOR_MATH in uses:
        # Two forwards before a backward raise if the second one changed what the first one used.
        update = "rebind it instead of updating it in place, because autograd may need the old value"
    start = _initial_tensor(state, value)
    owner, _, attribute = name.rpartition(".")
    if state is None or not _is_buffer(tables, state.key.owner, state.key.attribute):
        return f"keep `{name}` in a tensor (`{start}`) and {update}"
    return (
        f'keep it in a buffer: `{owner or "self"}.register_buffer("{attribute}", {start}, persistent=False)` '
        f"in `__init__`, and {update}"
    )


def _is_buffer(tables: Tables, owner: ClassRef, attribute: str) -> bool:
    """Whether an attribute may be registered as a buffer."""
    return tables.project.is_module(owner) and attribute.isidentifier()


def _initial_tensor(state: AttributeState | None, value: float) -> str:
    """The tensor that holds what the attribute starts with."""
    dtype = "torch.float32" if isinstance(value, float) else "torch.long"
    outside = state.outside if state is not None else ()
    constant = next((one.constant for one in outside if one.initial), "0")
    if constant in ("0", "0.0"):
        return f"torch.zeros((), dtype={dtype})"
    return f"torch.tensor({constant or '...'}, dtype={dtype})"
