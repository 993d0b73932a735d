"""Where below the compiled module a guarded value is found, in the words of `named_modules`."""

from __future__ import annotations

import re

STEP = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]|\.(\w+)")


def path_of(source: str) -> str:
    """`stages.0.stride` for `L['self']._modules['stages']._modules['0'].stride`; empty for anything else."""
    own = source.removeprefix("L['self']")
    steps = list(STEP.finditer(own))
    whole = own != source and "".join(step[0] for step in steps) == own
    return ".".join(step[1] or step[2] for step in steps) if whole else ""
