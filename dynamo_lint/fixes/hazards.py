"""Why a buffer is not the same as a number: what lowers a rewrite from safe to unsafe, as data."""

from __future__ import annotations

from dynamo_lint.fixes.attribute_uses import Family
from dynamo_lint.fixes.edit_session import Workbench
from dynamo_lint.program.refs import Confidence

_RANKS = "DistributedDataParallel copies rank 0's buffers to all ranks"
_META = "a module built on the meta device has to set the buffer again after `to_empty()`"
_LISTED = "code that iterates over `buffers()` sees one more"

PROJECT_WORDS = (
    ("DistributedDataParallel", _RANKS),
    ("DDP(", _RANKS),
    ("broadcast_buffers", _RANKS),
    ("init_empty_weights", _META),
    ("to_empty", _META),
    ("skip_init", _META),
    ('device("meta")', _META),
    ("utils.checkpoint", "activation checkpointing runs the update twice"),
    (".buffers()", _LISTED),
    ("named_buffers()", _LISTED),
    ("torch.jit.script", "a scripted module keeps its attributes by type"),
)
"""A text that occurs somewhere in the project, and what it means for a buffer that was a number."""


def trains_on_ranks(bench: Workbench) -> bool:
    """The project trains with DistributedDataParallel, as far as its text shows."""
    return any(bench.files_with(text) for text, why in PROJECT_WORDS if why == _RANKS)


def reason(bench: Workbench, family: Family, floating: bool) -> str | None:
    """Why a rewrite to a buffer may be noticed; None if nothing but the type of private state changes."""
    name = family.name
    if floating:
        return (
            f"`{name}` loses the precision of a Python float, and is converted by `.half()` and `.to(dtype)`"
        )
    if not name.startswith("_") or name.startswith("__"):
        return f"code outside this project that reads `{name}` gets a tensor"
    if any(mention.guessed for mention in family.mentions):
        return f"some uses of `{name}` were matched by name only"
    tiers = [hot.confidence for hot in bench.tables.regions.hot if hot.receiver in family.members]
    if not tiers or max(tiers) != Confidence.CERTAIN:
        return "it is not certain that this code is compiled"
    for text, why in PROJECT_WORDS:
        if bench.files_with(text):
            return why
    return None
