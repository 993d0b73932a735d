"""Measures tests/interpreter/numbers.json: `python bench/numbers_in_graphs.py`, with a Python that has torch.

Each expression takes a tensor `x` and a number that is another in each of six calls. Written down is how
often it is compiled: once if nobody guards on the number, twice if it becomes a symbol of the graph, and
else for each value.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.backends.debugging import aot_eager

FILE = Path(__file__).resolve().parent.parent / "tests" / "interpreter" / "numbers.json"
NUMBERS: dict[str, tuple[str, Sequence[float]]] = {
    "float": ("f", (0.31, 0.42, 0.53, 0.64, 0.75, 0.86)),
    "int": ("n", (1, 2, 3, 4, 5, 6)),
}


def main() -> int:
    """Measure all expressions anew."""
    torch.set_num_threads(1)
    table: dict[str, dict[str, int]] = json.loads(FILE.read_text())
    for kind, expressions in table.items():
        name, values = NUMBERS[kind]
        for expression in expressions:
            scope = {"torch": torch, "math": math, "Y": torch.ones(8)}
            expressions[expression] = compiles(eval(f"lambda x, {name}: {expression}", scope), values)
    parts = [
        f' "{kind}": {{\n' + ",\n".join(f"  {json.dumps(e)}: {count}" for e, count in rows.items()) + "\n }"
        for kind, rows in table.items()
    ]
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    return 0


def compiles(function: Callable[..., Any], values: Sequence[float]) -> int:
    """How often a function is compiled over calls with these numbers."""
    torch._dynamo.reset()
    graphs = 0

    def backend(graph: Any, inputs: Any) -> Any:
        nonlocal graphs
        graphs += 1
        return aot_eager(graph, inputs)

    compiled = torch.compile(function, backend=backend)
    for value in values:
        compiled(torch.linspace(0.1, 1.0, 8), value)
    return graphs


if __name__ == "__main__":
    sys.exit(main())
