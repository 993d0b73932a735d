"""What a model lives through while it is watched: training steps, other shapes, evaluation, generation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from bench.oracle.inputs import inputs

Phase = tuple[str, Callable[[], Any]]

GENERATING = {"causal": (8, 5), "image-text": (8, 4), "seq2seq": (16, 4), "speech": (16, 4)}
"""The families that write, with how long a text they are given and how many tokens they add.

An encoder has seen texts of that length already, so what it costs is the decoder's alone. Four tokens are one
step with the whole text, one that makes the cache, and two with one that has grown.
"""


def phases(model: Any, family: str) -> list[Phase]:
    """Named steps in order; each is a call without arguments that may be made once."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def train(batch: int, length: int) -> Any:
        model.train()
        output = model(**inputs(model, family, batch, length), **_without_cache(model, family))
        optimizer.zero_grad(set_to_none=True)
        _loss(output).backward()
        optimizer.step()
        return output

    def evaluate(batch: int, length: int) -> Any:
        model.eval()
        with torch.no_grad():
            return model(**inputs(model, family, batch, length), **_without_cache(model, family))

    steps: list[Phase] = [(f"train {step}", lambda: train(2, 16)) for step in range(3)]
    steps += [
        ("train, larger batch", lambda: train(3, 16)),
        ("train, longer", lambda: train(2, 24)),
        ("evaluate 0", lambda: evaluate(2, 16)),
        ("evaluate 1", lambda: evaluate(2, 16)),
        ("train again 0", lambda: train(2, 16)),
        ("train again 1", lambda: train(2, 16)),
    ]
    if family in GENERATING and model.can_generate():
        steps += [
            ("generate, dynamic cache", lambda: generate(model, family, None)),
            ("generate again, dynamic cache", lambda: generate(model, family, None)),
            ("generate, static cache", lambda: generate(model, family, "static")),
        ]
    return steps


def generate(model: Any, family: str, cache: str | None) -> Any:
    """Write a few tokens, with what the model keeps between them in a cache of this kind."""
    model.eval()
    length, new = GENERATING.get(family, GENERATING["causal"])
    given = inputs(model, family, 2, length)
    given.pop("labels", None)
    if "input_ids" in given:
        given["attention_mask"] = torch.ones_like(given["input_ids"])
    if cache:
        given["cache_implementation"] = cache
    # `generate` compiles the whole forward with a static cache; here the blocks alone are compiled.
    with torch.no_grad():
        return model.generate(
            max_new_tokens=new,
            min_new_tokens=new,
            do_sample=False,
            disable_compile=True,
            **given,
        )


def _without_cache(model: Any, family: str) -> dict[str, Any]:
    has_cache = family in ("causal", "image-text") and hasattr(model.config, "use_cache")
    return {"use_cache": False} if has_cache else {}


def _loss(output: Any) -> torch.Tensor:
    """The model's own loss, or the sum of every float tensor it returns."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, torch.Tensor):
        return loss.sum()
    found = [one for one in _tensors(output) if one.is_floating_point() and one.requires_grad]
    return torch.stack([one.float().sum() for one in found]).sum()


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value.values() if hasattr(value, "values") else value if isinstance(value, (list, tuple)) else ()
    return [tensor for part in parts for tensor in _tensors(part)]
