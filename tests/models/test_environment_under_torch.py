"""The table of environment variables is held against torch itself, each reading in a process of its own.

What torch has answered before is asked again only for a sample: see tests/receipts.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from dynamo_lint.models.environment import environment, misreading
from tests.receipts import outcome_of

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


def run(name: str, code: str, config: pytest.Config, **environ: str) -> str:
    """What a program prints, in an environment with nothing else about torch."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("TORCH")}

    def start() -> str:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env={**plain, **environ},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    printed: str = outcome_of(recorded_as(name), [("code", code), *environ.items()], start, config)
    return printed


def recorded_as(name: str) -> str:
    """The name of the row of a value or a statement."""
    return f"environment: {name}"


@pytest.mark.parametrize("value", MEANT)
def test_a_value_is_called_misread_where_torch_does_not_do_what_it_says(
    value: str, pytestconfig: pytest.Config
) -> None:
    code = READ.replace("SETTINGS", repr(list(SETTINGS.values())))
    read = json.loads(run(value, code, pytestconfig, **dict.fromkeys(SETTINGS, value)))
    wrong = [name for name, on in zip(SETTINGS, read, strict=True) if on is not MEANT[value]]
    assert wrong == [name for name in SETTINGS if misreading(environment().variables[name], value)]


LOADING = {
    "torch.nn.Linear(2, 2); torch.compiler.is_compiling()": False,
    "torch.compiler.disable(print)": True,
    "torch.optim.AdamW([torch.ones(1, requires_grad=True)])": True,
    "import torch._inductor.config": True,
}


@pytest.mark.parametrize("statement", LOADING)
def test_the_compiler_is_loaded_by_what_the_table_names(statement: str, pytestconfig: pytest.Config) -> None:
    assert run(statement, LOADED.format(statement), pytestconfig) == str(LOADING[statement])
