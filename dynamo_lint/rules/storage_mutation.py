"""DYN415: storage of tensors that compiled code replaces."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

STORAGE_MUTATION = break_rule(
    "DYN415",
    "storage-mutation",
    why="which Dynamo does not trace",
    advice="write in place (`x.copy_(…)`), or make a new tensor",
)
