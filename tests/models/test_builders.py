"""Builders of libraries: hydra's targets and constructors such as `from_pretrained`."""

from __future__ import annotations

import pytest

from tests.programs import hot
from tests.small_model import SMALL_MODEL, SMALL_WHOLE, names_with_model


@pytest.mark.parametrize(
    "code",
    [
        "model = hydra.utils.instantiate({'_target_': 'm.Model', 'n': 2})",
        "cfg = {'_target_': 'm.Model'}\nmodel = hydra.utils.instantiate(cfg, n=3)",
        "from omegaconf import OmegaConf\ncfg = OmegaConf.create(dict(_target_='m.Model'))\n"
        "model = hydra.utils.instantiate(cfg)",
        "@dataclass\nclass Config:\n    _target_: str = 'm.Model'\n"
        "def main(cfg):\n    global model\n    model = hydra.utils.instantiate(cfg.model)",
    ],
)
def test_hydra_builds_what_the_target_names(code: str) -> None:
    source = f"import hydra\nfrom dataclasses import dataclass\n{code}\nmodel.compile()\n"
    assert set(hot({"m.py": SMALL_MODEL, "t.py": source})) == SMALL_WHOLE


@pytest.mark.parametrize(
    "code",
    [
        "def instantiate(cfg): return None\nmodel = instantiate({'_target_': 'm.Model'})\nmodel.compile()",
        "model = hydra.utils.instantiate({'_target_': 'm.helper'})\nmodel.compile()",
        "model = hydra.utils.instantiate({'_target_': 'nowhere.Model'})\nmodel.compile()",
        "model = hydra.utils.instantiate({'_target_': 'm.Model'})",
        "model = hydra.utils.instantiate(cfg.model)\nmodel.compile()",
    ],
)
def test_other_targets_compile_nothing(code: str) -> None:
    assert hot({"m.py": SMALL_MODEL, "t.py": f"import hydra\n{code}\n"}) == {}


@pytest.mark.parametrize("call", ["from_pretrained('x')", "from_config(cfg)", "load_from_checkpoint('x')"])
def test_a_constructor_that_a_library_leaves_to_its_heirs_gives_an_instance(call: str) -> None:
    base = "from transformers import PreTrainedModel\nclass Mine(PreTrainedModel):\n    def forward(self, x): ...\n"
    assert names_with_model(base + f"model = Mine.{call}\nmodel.compile()") == {"Mine.forward"}
    assert names_with_model(base + f"model = Mine.other_{call}\nmodel.compile()") == set()


MIXED = """
from transformers import PreTrainedModel
class Loads:
    @classmethod
    def from_pretrained(cls, path):
        {body}
class Base(PreTrainedModel): pass
class Mine(Loads, Base):
    def forward(self, x): ...
class Other(Loads, Base):
    def forward(self, x): ...
Mine.from_pretrained("x").compile()
"""


@pytest.mark.parametrize(
    ("body", "compiled"),
    [
        ("return super().from_pretrained(path)", {"Mine.forward"}),
        ("if path: return super().from_pretrained(path)\n        return cls(path)", {"Mine.forward"}),
        ("model = super().from_pretrained(path)\n        return model.eval()", {"Mine.forward"}),
        ("super().from_pretrained(path)", set()),
        ("return super().download(path)", set()),
        ("return Other(path)", {"Other.forward"}),
    ],
)
def test_a_mixin_that_asks_the_constructor_of_a_library_gives_the_class_it_is_asked_of(
    body: str, compiled: set[str]
) -> None:
    assert names_with_model(MIXED.format(body=body)) == compiled


PICKED = """
import transformers
from transformers import PreTrainedModel
class Mine(PreTrainedModel):
    def forward(self, x): ...
class Own(nn.Module):
    @classmethod
    def from_pretrained(cls, path): return Other()
    def forward(self, x): ...
class Other(nn.Module):
    def forward(self, x): ...
class Plain:
    def forward(self, x): ...
def load(path, own):
    kind = {one} if own else {other}
    return kind.{method}(path)
model = load("x", True)
model.compile()
"""


@pytest.mark.parametrize(
    ("one", "other", "method", "compiled"),
    [
        ("Mine", "transformers.AutoModelForCausalLM", "from_pretrained", {"Mine.forward"}),
        ("Mine", "Own", "from_pretrained", {"Mine.forward", "Other.forward"}),
        ("Own", "transformers.AutoModelForCausalLM", "from_pretrained", {"Other.forward"}),
        ("Plain", "transformers.AutoModelForCausalLM", "from_pretrained", set()),
        ("Mine", "transformers.AutoModelForCausalLM", "other", set()),
        ("transformers.AutoModel", "transformers.AutoModelForCausalLM", "from_pretrained", set()),
    ],
)
def test_what_one_class_has_for_a_constructor_says_nothing_of_another_that_a_library_leaves_it_to(
    one: str, other: str, method: str, compiled: set[str]
) -> None:
    assert names_with_model(PICKED.format(one=one, other=other, method=method)) == compiled
