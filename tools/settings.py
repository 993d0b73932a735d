"""Writes dynamo_lint/models/settings.toml: the settings of the installed torch, and which variables set them.

Run it under the newest torch that the rules know: `python tools/settings.py`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._inductor

from dynamo_lint.models.environment import environment

FILE = Path(__file__).parent.parent / "dynamo_lint" / "models" / "settings.toml"
MODULES = (
    "torch._dynamo.config",
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.compiler.config",
    "torch.fx.experimental._config",
)
SINCE = {
    "torch._dynamo.config.recompile_limit": "2.7",
    "torch._dynamo.config.accumulated_recompile_limit": "2.7",
    "torch._dynamo.config.fail_on_recompile_limit_hit": "2.7",
}
"""The first version of a setting, where its history is known."""
_PLAIN = re.compile(r"(bool|int|float|str|None)( \| (bool|int|float|str|None))*")


def spelled(entry: Any) -> str:
    """The type of a setting, such as `int | None`; `any` for what the table does not tell apart."""
    if entry.alias is not None:
        return f"as {entry.alias}"
    kind = entry.value_type
    text = kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
    text = re.sub(r"Optional\[(\w+)\]", r"\1 | None", text).replace("NoneType", "None")
    text = re.sub(r"Union\[([^\[\]]*)\]", lambda found: found[1].replace(", ", " | "), text)
    return text if _PLAIN.fullmatch(text) and text != "None" else "any"


def default(entry: Any) -> bool | int | None:
    """The value of a setting that nothing sets; None for texts, many of which are folders of this machine."""
    plain = isinstance(entry.default, bool | int) and _PLAIN.fullmatch(spelled(entry))
    return entry.default if plain else None


def variables(module: str) -> Iterator[tuple[str, str, bool]]:
    """The variables that alone decide a setting, behind its name, and whether they override the code."""
    known, tree = environment().variables, ast.parse(inspect.getsource(importlib.import_module(module)))
    pending: list[tuple[str, ast.stmt]] = [("", one) for one in tree.body]
    while pending:
        outer, node = pending.pop(0)
        match node:
            case ast.ClassDef():
                pending += [(f"{outer}{node.name}.", one) for one in node.body]
            case (
                ast.Assign(targets=[ast.Name(name)], value=value)
                | ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value)
            ):
                words = {one.arg: one.value for one in getattr(value, "keywords", ())}
                forcing = _asked(words["env_name_force"]) if "env_name_force" in words else set()
                others = _asked(value) - forcing
                asked = [(one, True) for one in forcing] + [
                    (one, False) for one in others if len(others) == 1
                ]
                for one, forced in asked:
                    if known[one].is_flag or known[one].kind in {"int", "float"}:
                        yield f"{outer}{name}", one, forced


def _asked(value: ast.expr) -> set[str]:
    """The variables that an expression names."""
    texts = {one.value for one in ast.walk(value) if isinstance(one, ast.Constant)}
    return texts & environment().variables.keys()


def main() -> None:
    """Write the table."""
    modes = sorted(torch._inductor.list_mode_options())
    backends = sorted(one for one in torch._dynamo.list_backends(None) if "TESTING" not in one)
    lines = [
        "# Written by tools/settings.py: edit that, not this.",
        f'torch = "{".".join(torch.__version__.split(".")[:2])}"',
        f"modes = {json.dumps(modes)}",
        f"backends = {json.dumps(backends)}",
        "",
        "[since]",
        *(f'"{name}" = "{version}"' for name, version in sorted(SINCE.items())),
    ]
    for module in MODULES:
        settings = dict(importlib.import_module(module)._config)
        settings.pop("TYPE_CHECKING", None)
        lines += ["", f'[settings."{module}"]']
        lines += [f'"{name}" = "{spelled(entry)}"' for name, entry in sorted(settings.items())]
        if module == MODULES[0]:
            given = {name: default(entry) for name, entry in sorted(settings.items())}
            lines += ["", f'[defaults."{module}"]']
            lines += [f'"{name}" = {json.dumps(value)}' for name, value in given.items() if value is not None]
        found = sorted(variables(module))
        for table, wanted in (("variables", False), ("overriding", True)):
            rows = [(name, one) for name, one, forced in found if forced == wanted]
            names = {name: [one for key, one in rows if key == name] for name, _ in rows}
            lines += ["", f'[{table}."{module}"]']
            lines += [f'"{name}" = {json.dumps(asked)}' for name, asked in names.items()]
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
