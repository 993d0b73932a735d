"""The configuration as a JSON Schema, made from the keys that are read: editors complete and check by it."""

from __future__ import annotations

from typing import Any

from dynamo_lint.config import KEYS, Settings
from dynamo_lint.raw_values import Schema, schema_of
from dynamo_lint.toml import tomllib

DIALECT = "http://json-schema.org/draft-07/schema#"


def schema() -> Schema:
    """The schema of `dynamo-lint.toml`, and of `[tool.dynamo-lint]` in `pyproject.toml`."""
    return {
        "$schema": DIALECT,
        "title": "dynamo-lint",
        "description": "Configuration of dynamo-lint, a linter for torch.compile.",
        "type": "object",
        "properties": {key: _property(key) for key in KEYS},
        "additionalProperties": False,
    }


def _property(key: str) -> Schema:
    about = KEYS[key]
    made = {"description": about.meaning, **schema_of(about.read)}
    default = getattr(Settings(), key.replace("-", "_"))
    if default is not None:
        made["default"] = _plain(key, default)
    if about.example:
        made["examples"] = [tomllib.loads(f"example = {about.example}")["example"]]
    return made


def _plain(key: str, value: Any) -> Any:
    """A default as JSON has it."""
    if key == "torch-version":
        return ".".join(map(str, value))
    if hasattr(value, "as_table"):
        return value.as_table()
    return list(value) if isinstance(value, tuple) else value
