"""Writes dynamo_lint/models/settings.toml: the settings of the torch that is installed, and their types.

Run it under the newest torch that the rules know: `python tools/settings.py`.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._inductor

FILE = Path(__file__).parent.parent / "dynamo_lint" / "models" / "settings.toml"
MODULES = (
    "torch._dynamo.config",
    "torch._inductor.config",
    "torch._functorch.config",
    "torch.compiler.config",
    "torch.fx.experimental._config",
)
SINCE = {
    "torch._dynamo.config.recompile_limit": "2.6",
    "torch._dynamo.config.accumulated_recompile_limit": "2.6",
    "torch._dynamo.config.fail_on_recompile_limit_hit": "2.6",
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


def main() -> None:
    """Write the table."""
    modes = sorted(torch._inductor.list_mode_options())
    backends = sorted(one for one in torch._dynamo.list_backends(None) if "TESTING" not in one)
    lines = [
        "# Written by tools/settings.py: edit that, not this.",
        f'torch = "{".".join(torch.__version__.split(".")[:2])}"',
        f"modes = [{', '.join(map(repr, modes))}]",
        f"backends = [{', '.join(map(repr, backends))}]",
        "",
        "[since]",
        *(f'"{name}" = "{version}"' for name, version in sorted(SINCE.items())),
    ]
    for module in MODULES:
        settings = dict(importlib.import_module(module)._config)
        settings.pop("TYPE_CHECKING", None)
        lines += ["", f'[settings."{module}"]']
        lines += [f'"{name}" = "{spelled(entry)}"' for name, entry in sorted(settings.items())]
    FILE.write_text("\n".join(lines).replace("'", '"') + "\n")


if __name__ == "__main__":
    main()
