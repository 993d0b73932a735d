"""The table of environment variables is held against torch itself, each reading in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from dynamo_lint.models.environment import environment, misreading

READ = """
import json, torch, torch._dynamo.config as dynamo, torch._inductor.config as inductor
import torch._functorch.config as functorch, torch.compiler.config as compiler
print(json.dumps([bool(eval(name)) for name in SETTINGS]))
"""
SETTINGS = {
    "TORCHDYNAMO_SUPPRESS_ERRORS": "dynamo.suppress_errors",
    "TORCH_COMPILE_DISABLE": "dynamo.disable",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_SHAPES": "dynamo.automatic_dynamic_shapes",
    "TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS": "dynamo.capture_scalar_outputs",
    "TORCHINDUCTOR_MAX_AUTOTUNE": "inductor.max_autotune",
    "TORCHINDUCTOR_AUTOTUNE_IN_SUBPROC": "inductor.autotune_in_subproc",
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "inductor.fx_graph_cache",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "functorch.enable_autograd_cache",
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "compiler.force_disable_caches",
}
MEANT = {"1": True, "0": False, "true": True, "off": False}
LOADED = "import sys, torch; {}; print('torch._dynamo.config' in sys.modules)"


def run(code: str, **environ: str) -> str:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("TORCH")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**plain, **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("value", MEANT)
def test_a_value_is_called_misread_where_torch_does_not_do_what_it_says(value: str) -> None:
    code = READ.replace("SETTINGS", repr(list(SETTINGS.values())))
    read = json.loads(run(code, **dict.fromkeys(SETTINGS, value)))
    wrong = [name for name, on in zip(SETTINGS, read, strict=True) if on is not MEANT[value]]
    assert wrong == [name for name in SETTINGS if misreading(environment().variables[name], value)]


@pytest.mark.parametrize(
    ("statement", "loads"),
    [
        ("torch.nn.Linear(2, 2); torch.compiler.is_compiling()", False),
        ("torch.compiler.disable(print)", True),
        ("torch.optim.AdamW([torch.ones(1, requires_grad=True)])", True),
        ("import torch._inductor.config", True),
    ],
)
def test_the_compiler_is_loaded_by_what_the_table_names(statement: str, loads: bool) -> None:
    assert run(LOADED.format(statement)) == str(loads)
