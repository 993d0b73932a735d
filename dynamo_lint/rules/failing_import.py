"""DYN418: imports that fail in compiled code."""

from __future__ import annotations

from dynamo_lint.rules.breaking import break_rule

FAILING_IMPORT = break_rule(
    "DYN418",
    "failing-import",
    why="and if it is, the whole function runs eagerly",
    advice="try the import at the top of the file and keep whether it worked",
)
