"""Functions of libraries that give back what they are given."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_MODEL, SMALL_WHOLE

# --- contexts -------------------------------------------------------------------------------------------

IN_CONTEXT = """
class Net(nn.Module):
    def forward(self, x): return x
net = Net()
step = torch.compile({made})
"""


@pytest.mark.parametrize("made", ["torch.no_grad()(net.forward)", 'torch.autocast("cuda")(net.forward)'])
def test_a_function_that_a_context_of_torch_decorates_is_compiled(made: str) -> None:
    assert set(hot(IN_CONTEXT.format(made=made))) == {"Net.forward"}


# --- results of compiled calls --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "from peft import get_peft_model\ntuned = get_peft_model(Model(), 1)\ncompiled = torch.compile(tuned)",
        "synced = nn.SyncBatchNorm.convert_sync_batchnorm(Model())\nsynced.compile()",
        "from torch.distributed.tensor.parallel import parallelize_module\n"
        "spread = parallelize_module(Model(), 1, 2)\nspread.compile()",
    ],
)
def test_functions_of_libraries_that_give_back_what_they_were_given_are_known(code: str) -> None:
    assert set(hot(SMALL_MODEL + code)) == SMALL_WHOLE
