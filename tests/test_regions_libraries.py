"""Regions: what torch.jit, torch.library, diffusers and Composer make of code that they are given."""

from __future__ import annotations

import pytest

from tests.programs import hot

SCRIPTED = """
class Inner(nn.Module):
    def forward(self, x): return x
def helper(x): return x
fast = {helper}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {inner}
    def forward(self, x): return fast(self.inner(x))
net = torch.compile(Net())
"""


@pytest.mark.parametrize("script", ["script({})", "trace({}, example)"])
def test_of_what_torch_jit_has_scripted_functions_are_traced_and_modules_are_not(script: str) -> None:
    """A scripted function keeps the Python that Dynamo runs instead (`_torchdynamo_inline`)."""
    made = [f"torch.jit.{script.format(one)}" for one in ("helper", "Inner()")]
    assert set(hot(SCRIPTED.format(helper=made[0], inner=made[1]))) == {"Net.forward", "helper"}


def test_what_is_not_scripted_is_traced() -> None:
    plain = SCRIPTED.format(helper="helper", inner="Inner()")
    assert set(hot(plain)) == {"Net.forward", "Inner.forward", "helper"}


OPERATOR = """
from torch.library import infer_schema
def kernel(x): return helper(x)
def helper(x): return x
@torch.compile
def run(x):
    infer_schema(kernel, mutates_args=())
    return x
"""


def test_a_function_that_an_operator_is_made_of_is_not_traced() -> None:
    assert set(hot(OPERATOR)) == {"run"}


def test_a_function_that_another_library_is_given_is_traced() -> None:
    assert set(hot(OPERATOR.replace("torch.library", "torch.utils.checkpoint"))) == {
        "run",
        "kernel",
        "helper",
    }


DIFFUSERS = """
from diffusers import FluxPipeline, FluxTransformer2DModel
class Processor:
    def __call__(self, attn, x): return x
class Other:
    def __call__(self, attn, x): return x
class Wrapper(FluxTransformer2DModel):
    def __init__(self):
        super().__init__()
        self.processor = Other()
        for block in self.transformer_blocks:
            block.attn.processor = Processor()
    def forward(self, x):
        for block in self.transformer_blocks: x = block(x)
        return x
def main(path):
    pipe = FluxPipeline.{made}(path, transformer=Wrapper.from_pretrained(path), width=2)
    pipe.transformer = torch.compile(pipe.transformer)
"""


@pytest.mark.parametrize("made", ["from_pretrained", "from_single_file"])
def test_a_pipeline_keeps_what_it_is_made_of_and_runs_the_processors_it_is_given(made: str) -> None:
    expected = {"Wrapper.forward", "Processor.__call__"} if made == "from_pretrained" else set()
    assert set(hot(DIFFUSERS.format(made=made))) == expected


def test_a_class_that_gives_its_parts_itself_to_run_ends() -> None:
    own = DIFFUSERS.format(made="from_pretrained").replace("= Processor()", "= Wrapper()")
    assert set(hot(own)) == {"Wrapper.forward"}


TRAINER = """
from hydra.utils import instantiate
class Net(nn.Module):
    def forward(self, x): return x
def main(cfg):
    trainer = instantiate(cfg.trainer, model=Net(), {given})
"""


@pytest.mark.parametrize("given", ["compile_config={}", "compile_config={} if cfg.fast else None"])
def test_a_trainer_of_composer_that_a_configuration_describes_compiles_its_model(given: str) -> None:
    assert hot(TRAINER.replace("{given}", given)) == {"Net.forward": "likely"}


def test_a_trainer_that_something_else_makes_is_not_known() -> None:
    code = TRAINER.replace("{given}", "compile_config={}").replace("hydra.utils", "elsewhere")
    assert hot(code) == {}


@pytest.mark.parametrize("given", ["compile_config=None", "compile=True", ""])
def test_what_else_a_configuration_describes_compiles_nothing(given: str) -> None:
    assert hot(TRAINER.replace("{given}", given)) == {}


IN_CONTEXT = """
class Net(nn.Module):
    def forward(self, x): return x
net = Net()
step = torch.compile({made})
"""


@pytest.mark.parametrize("made", ["torch.no_grad()(net.forward)", 'torch.autocast("cuda")(net.forward)'])
def test_a_function_that_a_context_of_torch_decorates_is_compiled(made: str) -> None:
    assert set(hot(IN_CONTEXT.format(made=made))) == {"Net.forward"}


def test_what_a_call_of_something_else_is_given_is_not_taken_for_its_result() -> None:
    assert hot(IN_CONTEXT.format(made="torch.device()(net.forward)")) == {}
