"""How torch makes custom operators, and how their fakes are registered."""

from __future__ import annotations

from importlib.resources import files

from dynamo_lint.toml import tomllib

_DATA = tomllib.loads((files("dynamo_lint.models") / "drivers.toml").read_text("utf-8"))["operators"]
OPERATORS = frozenset(_DATA["made"])
"""What makes an operator that has no fake of itself."""
FAKES = frozenset(_DATA["fakes"])
"""Functions that register a fake for the operator that they are given, or its name."""
REGISTRARS: tuple[str, ...] = tuple(_DATA["registrars"])
"""The bare names of these, also as methods of the operator."""
NAMESPACE: str = _DATA["namespace"]
"""Where operators are found by name."""
