"""The three blocks of a hybrid language model, with all that the findings advise."""

from __future__ import annotations

import os

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal attention whose output is scaled by the depth of its layer."""

    def __init__(self, width: int, heads: int, layer: int) -> None:
        super().__init__()
        self.heads = heads
        self.register_buffer("depth", torch.tensor(1.0 + layer), persistent=False)
        self.norm = nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        heads = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        return x + self.out(mixed) / self.depth


class GatedConvolution(nn.Module):
    """A short causal convolution along the sequence, gated."""

    def __init__(self, width: int, taps: int = 4) -> None:
        super().__init__()
        self.taps = taps
        self.clamp = os.environ.get("HYBRID_CLAMP") == "1"
        self.norm = nn.RMSNorm(width)
        self.inner = nn.Linear(width, 2 * width, bias=False)
        self.weight = nn.Parameter(torch.randn(taps, width) / taps)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        value, gate = self.inner(self.norm(x)).chunk(2, dim=-1)
        padded = functional.pad(value, (0, 0, self.taps - 1, 0))
        length = value.shape[1]
        mixed = sum(padded[:, tap : tap + length] * self.weight[tap] for tap in range(self.taps))
        if self.clamp:
            mixed = mixed.clamp(-10, 10)
        return x + self.out(functional.silu(gate) * mixed)


class MoE(nn.Module):
    """Experts that each token mixes by its router's weights."""

    def __init__(self, width: int, experts: int, hidden: int, kept: int = 2) -> None:
        super().__init__()
        self.kept = kept
        self.norm = nn.RMSNorm(width)
        self.router = nn.Linear(width, experts, bias=False)
        self.rise = nn.Parameter(torch.randn(experts, width, 2 * hidden) * width**-0.5)
        self.fall = nn.Parameter(torch.randn(experts, hidden, width) * hidden**-0.5)
        self._calls = torch.zeros((), dtype=torch.long)
        self.register_buffer("balance", torch.zeros(()), persistent=False)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self._calls = fn(self._calls)
        return self

    def forward(self, x: Tensor) -> Tensor:
        self._calls += 1
        tokens = self.norm(x).flatten(0, 1)
        scores = self.router(tokens).float().softmax(dim=-1)
        best, chosen = scores.topk(self.kept, dim=-1)
        weights = torch.zeros_like(scores).scatter(-1, chosen, best / best.sum(-1, keepdim=True))
        load = (weights > 0).float().mean(0) * scores.detach().mean(0)
        balance = load.sum() * scores.shape[-1]
        self.balance.add_(balance)
        value, gate = torch.matmul(tokens, self.rise).chunk(2, dim=-1)
        expert = torch.matmul(functional.silu(gate) * value, self.fall)
        mixed = torch.einsum("ent,ne->nt", expert, weights.to(x.dtype))
        return x + mixed.view_as(x)

    def usage(self) -> str:
        """How much this block was used, for the log."""
        return f"{self._calls.item()} calls, balance {self.balance.item():.3f}"
