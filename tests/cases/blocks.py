"""Blocks that are compiled one by one: what differs between them, and what does not."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.config = config
        self.layer_idx = layer_idx
        self.head_dim = config.dim // config.heads
        self.window = config.window if config.layer_types[layer_idx] == "sliding" else None

    def forward(self, x, cache):
        x = cache.update(x, self.layer_idx)  # expect: DYN107 per-instance
        if self.window is not None:  # expect: DYN107 per-instance
            x = x[:, : self.window]
        return x.view(-1, self.head_dim)


class Cache:
    def __init__(self, depth):
        self.layers = [None] * depth

    def update(self, x, layer_idx):
        return x + self.layers[layer_idx]


class Dense(nn.Module):
    def forward(self, x):
        return x


class Routed(nn.Module):
    def forward(self, x):
        return x * 2


class ThroughASubmodule(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.attention = Attention(config, layer_idx=layer_idx)
        if layer_idx in config.sparse_layers:
            self.mlp = Routed()  # expect: DYN108 per-instance entries=2
        else:
            self.mlp = Dense()

    def forward(self, x, cache: Cache):
        return self.mlp(self.attention(x, cache))


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList([ThroughASubmodule(config, i) for i in range(config.num_layers)])
        for layer in self.layers:
            layer.compile()


class RatePerLayer(nn.Module):
    def __init__(self, dim, rate):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.rate = rate

    def forward(self, x):
        return F.dropout(self.norm(x), self.rate, self.training)  # expect: DYN107 per-instance


class Encoder(nn.Module):
    def __init__(self, dim, depth, rate):
        super().__init__()
        rates = [r.item() for r in torch.linspace(0, rate, depth)]
        self.blocks = nn.ModuleList()
        for i in range(depth):
            self.blocks.append(RatePerLayer(dim, rate=rates[i]))
        for block in self.blocks:
            block.compile()


class DilatedPart(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.conv = nn.Conv1d(8, 8, 3, dilation=dilation)  # expect: DYN107 per-instance entries=10

    def forward(self, x):
        return self.conv(x)


class CompiledAsAMethod(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    @torch.compile
    def forward(self, x, table):
        return x + table[self.name]  # expect: DYN107 per-instance entries=3


class ThreeOfThem(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = CompiledAsAMethod("first")
        self.second = CompiledAsAMethod("second")
        self.third = CompiledAsAMethod("third")


class ManyOfThem(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(DilatedPart(2**i) for i in range(10))
        for block in self.blocks:
            block.compile()


class AbstractCache:
    def update(self, x, layer_idx):
        raise NotImplementedError("heirs do this")


class HandsToAnAbstractMethod(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, cache: AbstractCache):
        return cache.update(x, self.layer_idx)  # expect: DYN107 per-instance entries=12


class StoredOnly(nn.Module):  # quiet: stored and handed on, never used
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def _body(self, x, layer_idx):
        return x * 2

    def forward(self, x):
        if x.shape[0] > 100:
            raise ValueError(f"layer {self.layer_idx} got too much")
        return self._body(x, self.layer_idx)


class InABuffer(nn.Module):  # quiet: a tensor is not guarded by its value
    def __init__(self, layer_idx):
        super().__init__()
        self.register_buffer("scale", torch.tensor(1.0 / (layer_idx + 1)))

    def forward(self, x):
        return x * self.scale


class SameForAll(nn.Module):  # quiet: the choice follows the configuration, not the layer
    def __init__(self, config, layer_idx):
        super().__init__()
        self.heads = config.heads
        self.norm = nn.LayerNorm(8) if config.use_norm else nn.Identity()
        self.mlp = Routed() if config.routed else Dense()
        self.scale = config.scale**-0.5

    def forward(self, x):
        return self.mlp(self.norm(x)).view(-1, self.heads) * self.scale


class WidthPerStage(nn.Module):  # quiet: weights of another shape are compiled anew whatever else changes
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        return self.proj(x).view(-1, self.heads)


class ManySorts(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.stored = nn.ModuleList([StoredOnly(i) for i in range(12)])
        self.buffers_ = nn.ModuleList([InABuffer(i) for i in range(12)])
        self.same = nn.ModuleList([SameForAll(config, i) for i in range(12)])
        self.stages = nn.ModuleList(
            [WidthPerStage(config.dims[stage], config.heads[stage]) for stage in range(4)]
        )
        self.abstract = nn.ModuleList([HandsToAnAbstractMethod(i) for i in range(12)])
        for block in (*self.abstract, *self.stored, *self.buffers_, *self.same, *self.stages):
            block.compile()


class Indexed(nn.Module):  # quiet: each block has its own place in the graph of the whole model
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, cache):
        return x + cache[self.layer_idx]


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Indexed(i) for i in range(12)])

    def forward(self, x, cache):
        for layer in self.layers:
            x = layer(x, cache)
        return x


whole = torch.compile(Whole())


class Isolated(nn.Module):  # quiet: every block is compiled for itself, on purpose
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, cache):
        return x + cache[self.layer_idx]


isolated = [Isolated(i) for i in range(12)]
for block in isolated:
    block.compile(isolate_recompiles=True)
