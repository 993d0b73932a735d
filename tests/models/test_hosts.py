"""What frameworks hand to methods of ours, keep of what our classes are made with, or unwrap."""

from __future__ import annotations

import pytest

from tests.programs import hot

NETS = """
class Net(nn.Module):
    def forward(self, x): return x
class Other(nn.Module):
    def forward(self, x): return x
"""
LIT = """
import lightning.pytorch as pl
class Lit(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.other = Net(), Other()
    def training_step(self, batch, index): return self.net(batch)
"""
CALLBACK = """
class Fast(pl.Callback):
    def on_fit_start(self, trainer, pl_module):
        pl_module.net = torch.compile(pl_module.net)
"""
TRAINER = """
from transformers import Trainer
class Mine(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model = torch.compile(self.model)
    def compute_loss(self, model, inputs, return_outputs=False): return model(inputs)
"""
STEP = TRAINER.replace(
    "self.model = torch.compile(self.model)", "self.fast = torch.compile(self.step)"
).replace(
    "return model(inputs)", "return self.fast(model, inputs)\n    def step(self, model, x): return model(x)"
)
USED = "Mine(model=Net(), args=None)\nkept = Other()\n"
ACCELERATE = "from accelerate import Accelerator\naccelerator = Accelerator()\nother = Other()\n"
ONE = {"Net.forward"}


@pytest.mark.parametrize(
    "text",
    [
        CALLBACK.replace("pl.Callback", "object"),
        CALLBACK.replace("pl_module", "trainer_of"),
        CALLBACK.replace("pl_module.net", "trainer.net"),
        CALLBACK.replace("pl_module.net", "pl_module.nothing"),
        CALLBACK.replace("torch.compile(pl_module.net)", "pl_module.net.eval()"),
    ],
)
def test_what_is_no_hook_of_a_callback_gets_no_module(text: str) -> None:
    assert hot(NETS + LIT + text) == {}


@pytest.mark.parametrize(("sorts", "compiled"), [(1, {"Net.forward"}), (9, set())])
def test_a_callback_gets_any_heir_of_few_sorts_of_modules(sorts: int, compiled: set[str]) -> None:
    heirs = "".join(f"class Heir{i}(Lit): pass\n" for i in range(12))
    others = "".join(f"class Sort{i}(pl.LightningModule): pass\n" for i in range(sorts - 1))
    assert set(hot(NETS + LIT + heirs + others + CALLBACK)) == compiled


COMMAND = """
import lightning.pytorch as pl
from lightning.pytorch.cli import LightningCLI
class Wrapping(pl.LightningModule):
    def __init__(self, name: str, model: nn.Module, other: nn.Module):
        super().__init__()
        self.model, self.other = model, other
class Lit(Wrapping):
    def __init__(self, name: str, model: nn.Module, other: nn.Module): super().__init__(name, model, other)
class CLI(LightningCLI): pass
class Fast(pl.Callback):
    def on_fit_start(self, trainer, pl_module): pl_module.model = torch.compile(pl_module.model)
def main(): {command}
"""
CONF = "model:\n  name: one\n  model: {class_path: nets.Net}\n  other: {class_path: nets.Other}\n"


def commanded(command: str, conf: str = CONF, code: str = COMMAND) -> set[str]:
    return set(hot({"nets.py": NETS, "main.py": code.format(command=command), "conf/base.yaml": conf}))


@pytest.mark.parametrize(
    "command", ["LightningCLI(Lit)", "CLI(model_class=Lit, datamodule_class=None)", "LightningCLI(Wrapping)"]
)
def test_a_configuration_fills_the_parameters_of_what_a_command_line_is_made_for(command: str) -> None:
    assert commanded(command) == {"nets.py::Net.forward"}


OVERRIDING = """
import lightning.pytorch as pl
from lightning.pytorch import cli
class Base(pl.LightningModule):
    def __init__(self, net: nn.Module):
        super().__init__()
        self.net = net
    def forward(self, x): return self.net(x)
class Lit(Base): pass
class CLI(cli.LightningCLI):
    {method}
def main(): CLI({given})
"""
CHOSEN = "model:\n  class_path: main.Lit\n  init_args:\n    net: {class_path: nets.Net}\n"
WHOLE = {"main.py::Base.forward", "nets.py::Net.forward"}


def overridden(method: str, given: str = "Base, subclass_mode_model=True", conf: str = CHOSEN) -> set[str]:
    code = OVERRIDING.format(method=method, given=given)
    return set(hot({"nets.py": NETS, "main.py": code, "conf/base.yaml": conf}))


@pytest.mark.parametrize(
    "method",
    [
        "def fit(self, model, **kwargs): self.trainer.fit(torch.compile(model), **kwargs)",
        "def test(self, model): self.trainer.test(torch.compile(model))",
        "def before_fit(self): self.model = torch.compile(self.model)",
        "def before_fit(self): self.model.compile()",
    ],
)
def test_a_command_line_of_lightning_has_the_model_that_it_makes(method: str) -> None:
    assert overridden(method) == WHOLE
    assert overridden(method, "", CHOSEN) == WHOLE


@pytest.mark.parametrize(
    ("method", "given", "conf"),
    [
        ("def fit(self, other): torch.compile(other)", "Base", CHOSEN),
        ("def helps(self, model): torch.compile(model)", "Base", CHOSEN),
        ("def fit(self, model): model.eval()", "Base", CHOSEN),
        ("def fit(self, model): torch.compile(model)", "", CHOSEN.replace("model:", "data:")),
        ("def fit(self, model): torch.compile(model)", "", CHOSEN.replace("main.Lit", "main.Missing")),
        ("pass\nclass Own:\n    def fit(self, model): torch.compile(model)", "Base", CHOSEN),
    ],
)
def test_other_methods_and_other_classes_have_no_model(method: str, given: str, conf: str) -> None:
    assert overridden(method, given, conf) == set()


@pytest.mark.parametrize(
    ("command", "conf", "code"),
    [
        ("print(Lit)", CONF, COMMAND),
        ("LightningCLI(nn.Linear)", CONF, COMMAND),
        ("CLI(model_class=Lit)", CONF, COMMAND.replace("(LightningCLI)", "")),
        ("LightningCLI(Lit)", CONF.replace("  model:", "  encoder:"), COMMAND),
        ("LightningCLI(Lit)", CONF.replace("class_path", "path"), COMMAND),
        ("LightningCLI(Lit)", CONF.replace("nets.Net", "torch.nn.Linear"), COMMAND),
    ],
)
def test_other_calls_and_other_keys_fill_nothing(command: str, conf: str, code: str) -> None:
    assert commanded(command, conf, code) == set()


@pytest.mark.parametrize("trainer", [TRAINER, TRAINER.replace("transformers", "trl")])
def test_a_trainer_that_hands_on_its_keywords_keeps_the_model_that_it_is_made_with(trainer: str) -> None:
    assert hot(NETS + trainer + USED) == {"Net.forward": "likely"}


def test_a_compiled_step_of_a_trainer_runs_the_model_that_compute_loss_is_given() -> None:
    assert set(hot(NETS + STEP + USED)) == {"Mine.step", *ONE}


@pytest.mark.parametrize(
    "text",
    [
        TRAINER + "Trainer(model=Net())\n",  # another trainer is made with it
        TRAINER + "Mine(reference=Net())\n",
        TRAINER + "Mine(model='net')\n",
        TRAINER.replace("super().__init__(*args, **kwargs)", "super().__init__()") + USED,
        TRAINER.replace("(Trainer)", "") + USED,
        TRAINER.replace("torch.compile(self.model)", "self.model.eval()") + USED,
        STEP.replace("(Trainer)", "") + USED,
    ],
)
def test_what_keeps_no_model_compiles_none(text: str) -> None:
    assert "Net.forward" not in hot(NETS + text)


@pytest.mark.parametrize(
    "text",
    [
        ACCELERATE + "net = accelerator.prepare(Net())\nraw = accelerator.unwrap_model(net)\nraw.compile()\n",
        "from accelerate.utils import extract_model_from_parallel as unwrap\n"
        "net = torch.compile(unwrap(Net()))\nother = unwrap(Other())\n",
    ],
)
def test_what_accelerate_unwraps_is_the_module(text: str) -> None:
    assert set(hot(NETS + text)) == ONE


LOSS = """
from tensordict.nn import TensorDictModule
from torchrl.modules import ProbabilisticActor
from torchrl.objectives import ClipPPOLoss
actor = ProbabilisticActor(TensorDictModule(module=Net(), in_keys=["a"], out_keys=["b"]), in_keys=["b"])
loss = ClipPPOLoss(actor_network=actor, critic_network=None)
other = ProbabilisticActor(TensorDictModule(module=Other(), in_keys=["a"], out_keys=["b"]), in_keys=["b"])
"""


@pytest.mark.parametrize("body", ["return batch", "return len(batch)"])
def test_an_update_that_calls_no_loss_runs_no_network(body: str) -> None:
    assert hot(NETS + LOSS + f"@torch.compile\ndef update(batch): {body}\n") == {"update": "certain"}


CONFIGURED = """
from detectron2.config import LazyCall as L
from library import Callback
config = dict(model=L(Lit)(net=None), other=L(Other)())
class Compiling(Callback):
    def on_step_start(self, model, batch):
        model.net = torch.compile(model.net)
"""


@pytest.mark.parametrize(
    "text",
    [
        CONFIGURED.replace("(Callback)", "(object)"),
        CONFIGURED.replace("on_step_start", "step"),
        CONFIGURED.replace("model=L(Lit)", "net=L(Lit)"),
        CONFIGURED.replace("model, batch", "trainer, model_of").replace("model.net", "trainer.net"),
    ],
)
def test_other_methods_of_other_classes_get_no_described_model(text: str) -> None:
    assert hot(NETS + LIT + text) == {}
