"""Regions: what of ours is put into a module of a library that is compiled, however it is named on the way."""

from __future__ import annotations

import pytest

from tests.programs import hot

START = """
import types
from transformers import AutoModel
from diffusers import FluxPipeline, FluxTransformer
class Head(nn.Module):
    def forward(self, x): return x
class Linear8(nn.Linear):
    def forward(self, x): return x
class Processor:
    def __call__(self, attn, x): return x
def mine(self, x): return x
def hook(module, given): return given
model = AutoModel.from_pretrained("x")
"""
COMPILE = "\nfast = torch.compile(model)\n"
HEAD, LINEAR, MINE, PROCESSOR = {"Head.forward"}, {"Linear8.forward"}, {"mine"}, {"Processor.__call__"}
SWAP = """
def swap(root, keep):
    for name, child in root.named_modules():
        if isinstance(child, nn.Linear):
            parent = root.get_submodule(name)
            setattr(parent, name, Linear8(1, 1))
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model.lm_head = Head()", HEAD),
        ("model.encoder.layers[0].fc = Head()", HEAD),
        ("model.layers[3] = Head()", HEAD),
        ("model.add_module('head', Head())", HEAD),
        ("model.forward = types.MethodType(mine, model)", MINE),
        ("for layer in model.layers: layer.forward = types.MethodType(mine, layer)", MINE),
        ("for i, layer in enumerate(model.layers): layer.attn.processor = Processor()", PROCESSOR),
        ("model.set_attn_processor(Processor())", PROCESSOR),
        ("model.set_attn_processor({'a': Processor()})", PROCESSOR),
        ("model.layers[0].register_forward_pre_hook(hook)", {"hook"}),
        (SWAP + "swap(model, None)", LINEAR),
        (SWAP + "def prepare(m):\n    m.train()\n    swap(m, keep=1)\nprepare(model)", LINEAR),
    ],
)
def test_what_is_put_into_a_library_s_module_is_compiled_with_it(code: str, expected: set[str]) -> None:
    assert hot(START + code + COMPILE) == dict.fromkeys(expected, "likely")


@pytest.mark.parametrize(
    "code",
    [
        "def build():\n    m = AutoModel.from_pretrained('x')\n    m.fc = Head()\n    return m\n"
        "model = build()\nmodel = torch.compile(model)",
        "def compiled(m): return torch.compile(m)\nmodel.fc = Head()\ncompiled(model)",
        "class T:\n    def __init__(self):\n        self.m = AutoModel.from_pretrained('x')\n        self.m.fc = Head()\n"
        "    def run(self): self.m = torch.compile(self.m)",
        "class T:\n    def __init__(self, m):\n        m.fc = Head()\n        self.m = m\n"
        "    def run(self): self.m = torch.compile(self.m)",
        "pipe = FluxPipeline.from_pretrained('x').to('cuda')\npipe.transformer.fc = Head()\n"
        "pipe.transformer = torch.compile(pipe.transformer)",
        "t = FluxTransformer()\nt.fc = Head()\npipe = FluxPipeline.from_pretrained('x', transformer=t).to('cuda')\n"
        "pipe.transformer = torch.compile(pipe.transformer)",
        "model.fc = Head()\nmodel.forward = torch.compile(model.forward)",
        "model.fc = Head()\nmodel.compile()",
    ],
)
def test_the_module_is_followed_under_its_other_names(code: str) -> None:
    assert hot(START + code) == {"Head.forward": "likely"}


def test_a_class_of_a_library_may_get_another_forward() -> None:
    assert hot(START + "FluxTransformer.forward = mine\nm = torch.compile(FluxTransformer())") == {
        "mine": "likely"
    }
    assert hot(START + "FluxPipeline.forward = mine\nm = torch.compile(FluxTransformer())") == {}


@pytest.mark.parametrize(
    "code",
    [
        "other = AutoModel.from_pretrained('y')\nother.fc = Head()" + COMPILE,
        "model.fc = Head",
        "head = Head()\nhead.model = model" + COMPILE,
        "model.fc = Head()\nprint(model)",
        "model.fc = Head()\ntorch.compile(model)",  # nobody keeps it
        "model.fc = Head()\nre.compile(model)",
        "model.config.fn = mine" + COMPILE,
        "model.register_full_backward_hook(hook)" + COMPILE,
        "model.set_processors(Processor())" + COMPILE,
        SWAP + COMPILE,
        SWAP + "other = AutoModel.from_pretrained('y')\nswap(other, model)" + COMPILE,
        "def load(m): m.eval()\nload(model)\ndef elsewhere(m):\n    m.fc = Head()\n    load(m)" + COMPILE,
    ],
)
def test_what_is_put_elsewhere_is_not(code: str) -> None:
    assert hot(START + code) == {}
