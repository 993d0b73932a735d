"""Why a buffer is not the same as a number: what lowers a rewrite from safe to unsafe, as data."""

from __future__ import annotations

import ast

from dynamo_lint.fixes.attribute_uses import Family, Mention, computed_reader
from dynamo_lint.fixes.edit_session import Workbench
from dynamo_lint.program.refs import Confidence

_RANKS = "DistributedDataParallel copies rank 0's buffers to all ranks"
_META = "a module built on the meta device has to set the buffer again after `to_empty()`"
_LISTED = "code that iterates over `buffers()` sees one more"

_TWICE = "activation checkpointing runs the update twice"
_COPIES = "a functional call works on copies of buffers, and the update is lost"

PROJECT_WORDS = (
    ("word", "DistributedDataParallel", _RANKS),
    ("word", "DDP", _RANKS),
    ("word", "broadcast_buffers", _RANKS),
    ("word", "init_empty_weights", _META),
    ("word", "to_empty", _META),
    ("word", "skip_init", _META),
    ("text", '"meta"', _META),
    ("text", "'meta'", _META),
    ("text", "utils.checkpoint", _TWICE),
    ("text", "utils import checkpoint", _TWICE),
    ("word", "checkpoint_wrapper", _TWICE),
    ("word", "checkpoint_sequential", _TWICE),
    ("text", ".buffers(", _LISTED),
    ("word", "named_buffers", _LISTED),
    ("word", "_buffers", _LISTED),
    ("word", "AveragedModel", _LISTED),
    ("word", "use_buffers", _LISTED),
    ("word", "inference_mode", "a buffer made in inference mode cannot be updated outside of it"),
    ("word", "functional_call", _COPIES),
    ("word", "stack_module_state", _COPIES),
    ("text", "jit.script", "a scripted module keeps its attributes by type"),
)
"""A text or a word that occurs somewhere in the project, and what it means for a buffer that was a number."""


def trains_on_ranks(bench: Workbench) -> bool:
    """The project trains with DistributedDataParallel, as far as its text shows."""
    return any(bench.has(how, text) for how, text, why in PROJECT_WORDS if why == _RANKS)


def reason(bench: Workbench, family: Family, floating: bool, promotes: bool) -> str | None:
    """Why a rewrite to a buffer may be noticed; None if nothing but the type of private state changes.

    `promotes` says that the value enters math with tensors.
    """
    name = family.name
    if floating:
        return (
            f"`{name}` loses the precision of a Python float, and is converted by `.half()` and `.to(dtype)`"
        )
    if not name.startswith("_") or name.startswith("__"):
        return f"code outside this project that reads `{name}` gets a tensor"
    if any(mention.guessed for mention in family.mentions):
        return f"some uses of `{name}` were matched by name only"
    tiers = [bench.doubts[member] for member in family.members if member in bench.doubts]
    if not tiers or max(tiers) != Confidence.CERTAIN:
        return "it is not certain that this code is compiled"
    for how, text, why in PROJECT_WORDS:
        if bench.has(how, text):
            return why
    if any(_multiplies(mention) for mention in family.mentions):
        return "a Python int grows without bound, a 64-bit integer wraps around"
    if promotes:
        return "a number leaves the type of a scalar tensor as it is, a buffer can change it"
    if reader := computed_reader(bench, family):
        return f"{reader} looks attributes up by computed names, and may read `{name}`"
    return None


def _multiplies(mention: Mention) -> bool:
    """Whether a write computes the next value by a factor of this one, so that it outgrows any type."""
    statement = mention.file.statement(mention.node)
    match statement:
        case ast.AugAssign(target=ast.Attribute(attr=name), op=operator) if name == mention.node.attr:
            return isinstance(operator, ast.Mult | ast.Pow | ast.LShift) or _speaks(statement.value, name)
        case ast.Assign(value=value) if isinstance(mention.node.ctx, ast.Load):
            return any(
                isinstance(part, ast.BinOp)
                and isinstance(part.op, ast.Mult | ast.Pow | ast.LShift)
                and _speaks(part, mention.node.attr)
                for part in ast.walk(value)
            ) or (isinstance(value, ast.BinOp) and _doubles(value, mention.node.attr))
    return False


def _doubles(value: ast.BinOp, name: str) -> bool:
    """Whether both operands speak of the attribute: `self.n + self.n`."""
    return _speaks(value.left, name) and _speaks(value.right, name)


def _speaks(node: ast.expr, name: str) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr == name for part in ast.walk(node))
