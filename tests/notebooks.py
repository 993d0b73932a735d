"""Notebooks as test input: cells given as text, written as Jupyter writes them."""

from __future__ import annotations

import json
from typing import Any

OUTPUTS = [
    {"name": "stdout", "output_type": "stream", "text": ["loss 1e-05 ü\n", "[0.1, 0.2]\n"]},
    {"data": {"image/png": "iVBORw0KGgo=\n", "text/plain": ["<Figure size 640x480>"]}, "metadata": {},
     "output_type": "display_data"},
]  # fmt: skip
PYTHON: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "name": "python", "version": "3.11.4"},
    "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"a1": {"value": 1e-05}}}},
}
COUNTER = (
    ("markdown", "# A counter\n\nIt counts its calls."),
    "import torch\nfrom torch import nn",
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.n = 0\n"
    "        self.lin = nn.Linear(4, 4)\n"
    "\n"
    "    def forward(self, x):\n"
    "        self.n += 1\n"
    "        return self.lin(x) * self.n",
    ("raw", "not code"),
    "%%time\nmodel = torch.compile(Net())\nfor _ in range(100):\n    model(torch.randn(4))",
)
"""A counter in a compiled module in cell 3, called in a loop in cell 5."""


def notebook(*cells: str | tuple[str, str], indent: int | None = 1, **metadata: Any) -> str:
    """A notebook of code cells, or of cells of another kind given as pairs."""
    made = [
        _cell(number, *(("code", cell) if isinstance(cell, str) else cell))
        for number, cell in enumerate(cells)
    ]
    document = {"cells": made, "metadata": PYTHON | metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(document, indent=indent, ensure_ascii=False) + "\n"


def _cell(number: int, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {"tags": []}}
    if kind == "code":
        cell |= {"execution_count": number, "outputs": OUTPUTS}
    return cell | {"source": text.splitlines(keepends=True)}
