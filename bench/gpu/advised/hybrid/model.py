"""A language model of attention, gated convolution and experts, compiled block by block."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from hybrid.blocks import Attention, GatedConvolution, MoE


class Hybrid(nn.Module):
    """Blocks in turn between an embedding and a head."""

    def __init__(self, vocabulary: int, width: int, depth: int, heads: int, experts: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList()
        for layer in range(depth // 3):
            self.blocks.append(Attention(width, heads, layer))
            self.blocks.append(GatedConvolution(width))
            self.blocks.append(MoE(width, experts, width))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

    def experts(self) -> list[MoE]:
        """The blocks of experts, in order."""
        return [block for block in self.blocks if isinstance(block, MoE)]


def regional_compile(model: Hybrid, backend: str) -> None:
    """Compile each block on its own."""
    for index, block in enumerate(model.blocks):
        model.blocks[index] = torch.compile(block, backend=backend)
