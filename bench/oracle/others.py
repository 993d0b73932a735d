"""Models that are not of the auto mappings: x-transformers' stacks and timm's image models."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import torch

Step = tuple[str, Callable[[], Any]]

STACKS: dict[str, dict[str, Any]] = {
    "plain": {},
    "rotary": {"rotary_pos_emb": True},
    "alibi": {"alibi_pos_bias": True},
    "relative": {"rel_pos_bias": True},
    "dynamic": {"dynamic_pos_bias": True},
    "rms norm, gated": {"use_rmsnorm": True, "ff_glu": True, "ff_swish": True},
    "grouped heads": {"attn_kv_heads": 2},
    "query-key norm": {"attn_qk_norm": True},
    "shared keys": {"attn_one_kv_head": True},
    "sandwich": {"sandwich_norm": True},
    "macaron": {"macaron": True},
    "residual attention": {"residual_attn": True},
    "shift tokens": {"shift_tokens": 1},
    "hyper-connections": {"num_residual_streams": 2},
    "layer dropout": {"layer_dropout": 0.1},
    "flash": {"attn_flash": True},
}
"""Options of the stack by the feature they turn on."""

SMALLEST = ("tiny", "nano", "atto", "pico", "femto", "small", "18", "xxs", "xs", "b0", "_s", "test")
"""Words in the names of small variants, most telling first."""

TRIED = 6
MOST_PARAMETERS = 100_000_000


def stacks() -> Iterator[str]:
    """The names of the variants of x-transformers."""
    yield from STACKS


def stack(name: str) -> tuple[Any, list[Step]]:
    """A decoder of four layers, and what it lives through."""
    from x_transformers import Decoder, TransformerWrapper

    torch.manual_seed(0)
    layers = Decoder(dim=64, depth=4, heads=4, attn_dim_head=16, **STACKS[name])
    model = TransformerWrapper(num_tokens=256, max_seq_len=64, attn_layers=layers)
    return model, _steps(model, lambda batch, length: torch.randint(0, 256, (batch, length)), 16, 24)


def image_modules() -> Iterator[str]:
    """The modules of timm that define models."""
    _without_torchvision()
    import timm

    yield from sorted(name for name in timm.list_modules() if not name.startswith("_"))


def image_model(module: str) -> tuple[Any, list[Step]]:
    """The smallest model of a module that can be built, and what it lives through."""
    _without_torchvision()
    import timm

    names = sorted(timm.list_models(module=module), key=_smallness)[:TRIED]
    sized = []
    for name in names:
        with torch.device("meta"):
            sized.append((sum(one.numel() for one in timm.create_model(name).parameters()), name))
    size, name = min(sized)
    if size > MOST_PARAMETERS:
        raise ValueError(f"{name}: {size / 1e6:.0f}M parameters")
    torch.manual_seed(0)
    model = timm.create_model(name)
    channels, height, width = model.pretrained_cfg.get("input_size", (3, 224, 224))

    def images(batch: int, _length: int) -> torch.Tensor:
        return torch.randn(batch, channels, height, width)

    return model, _steps(model, images, 0, 0)


def _smallness(name: str) -> tuple[int, int]:
    return next((rank for rank, word in enumerate(SMALLEST) if word in name), len(SMALLEST)), len(name)


def _steps(model: Any, make: Callable[[int, int], torch.Tensor], short: int, long: int) -> list[Step]:
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def train(batch: int, length: int) -> None:
        model.train()
        optimizer.zero_grad(set_to_none=True)
        model(make(batch, length)).float().sum().backward()
        optimizer.step()

    def evaluate() -> None:
        model.eval()
        with torch.no_grad():
            model(make(2, short))

    return [
        *((f"train {step}", lambda: train(2, short)) for step in range(3)),
        ("train, larger batch", lambda: train(3, short)),
        ("train, longer", lambda: train(2, long)),
        ("evaluate 0", evaluate),
        ("evaluate 1", evaluate),
        ("train again", lambda: train(2, short)),
    ]


class _AnyMember(type):
    """A class that has every attribute, since enumerations are among what is missing."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class _Absent(ModuleType):
    """Stands for torchvision, of which there is no CPU build: timm only prepares data with it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _AnyMember(name, (), {"__init__": lambda self, *args, **options: None})


class _Finder:
    """Finds every module of the absent package."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, _Finder, is_package=True) if name.split(".")[0] == "torchvision" else None

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        return _Absent(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Nothing to run."""


def _without_torchvision() -> None:
    if importlib.util.find_spec("torchvision") is None:
        sys.meta_path.append(_Finder)
