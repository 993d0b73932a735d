"""Regions: parts that a pipeline of diffusers takes by `register_modules`, compiled where it is used."""

from __future__ import annotations

import pytest

from tests.programs import hot

PIPELINE = """
from diffusers import DiffusionPipeline
class Block(nn.Module):
    def forward(self, x): return x
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
    def forward(self, x):
        for block in self.blocks: x = block(x)
        return x
class Vae(nn.Module):
    def forward(self, x): return x
class Pipeline(DiffusionPipeline):
    def __init__(self, vae, transformer, second=None):
        super().__init__()
        self.register_modules(vae=vae, transformer=transformer, transformer_2=second)
    def __call__(self, x): return self.vae(self.transformer(x))
pipe = Pipeline(vae=Vae(), transformer=Net())
"""
NET, BLOCK, VAE = {"Net.forward", "Block.forward"}, {"Block.forward"}, {"Vae.forward"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pipe.transformer = torch.compile(pipe.transformer)", NET),
        ("pipe.transformer.compile()", NET),
        ("pipe.vae = torch.compile(pipe.vae)", VAE),
        ("pipe.vae.forward = torch.compile(pipe.vae.forward)", VAE),
        ("for i in range(2): pipe.transformer.blocks[i] = torch.compile(pipe.transformer.blocks[i])", BLOCK),
        ("other = Pipeline(None, None, Net())\nother.transformer_2.compile()", NET),
        ("fast = torch.compile(pipe)", NET | VAE | {"Pipeline.__call__"}),
        ("def run(pipe: Pipeline): pipe.transformer.compile()", NET),
    ],
)
def test_what_a_pipeline_registers_is_its_attribute(code: str, expected: set[str]) -> None:
    assert set(hot(PIPELINE + code)) == expected


@pytest.mark.parametrize(
    "code",
    [
        "pipe.text_encoder.compile()",
        "pipe.second.compile()",
        "pipe.transformer",
        "other = Pipeline(None, None)\nother.transformer_2.compile()",
        "pipe.register_modules(vae)\npipe.text_encoder.compile()",
        "pipe.register_modules(**parts)\npipe.text_encoder.compile()",
        "pipe.register_module(tokenizer=Vae())\npipe.tokenizer.compile()",
    ],
)
def test_what_it_does_not_register_is_not(code: str) -> None:
    assert hot(PIPELINE + code) == {}
