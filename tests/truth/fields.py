"""Numbers that reach compiled code inside named tuples, dataclasses, dicts and tuples."""

import dataclasses
from typing import NamedTuple

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a length read out of a tensor, in a named tuple
class Meta(NamedTuple):
    cu: torch.Tensor
    longest: int


class Block(nn.Module):
    def forward(self, x, meta: Meta):
        return x[:, : meta.longest] * meta.cu.sum()  # expect: DYN109 per-value


def prepare(lengths):
    return Meta(torch.cumsum(lengths, 0), lengths.max().item())


def drive():
    step = torch.compile(Block())
    for i in range(12):
        yield step(X, prepare(torch.tensor([1, 1 + i % 4])))


# %% a number in a named tuple as a factor
class Meta(NamedTuple):
    cu: torch.Tensor
    longest: int


class Block(nn.Module):
    def forward(self, x, meta: Meta):
        return x * meta.longest  # expect: DYN109 once


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        meta = Meta(torch.cumsum(lengths, 0), int(lengths.max()))
        yield step(X, meta)


# %% a number in a dataclass
@dataclasses.dataclass
class Meta:
    cu: torch.Tensor
    longest: int


class Block(nn.Module):
    def forward(self, x, meta: Meta):
        return x * meta.longest  # expect: DYN109 once


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, Meta(torch.cumsum(lengths, 0), lengths.max().item()))


# %% a number in a dataclass that a model hands to its blocks
@dataclasses.dataclass
class Meta:
    cu: torch.Tensor
    longest: int


class Block(nn.Module):
    def forward(self, x, meta: Meta):
        return x * meta.longest  # expect: DYN109 once


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(2))

    def forward(self, x, lengths):
        meta = Meta(lengths, lengths.max().item())
        for block in self.blocks:
            x = block(x, meta)
        return x


def drive():
    model = Model()
    for block in model.blocks:
        block.compile()
    for i in range(12):
        yield model(X, torch.tensor([1, i]))


# %% the same number in every named tuple
class Meta(NamedTuple):
    cu: torch.Tensor
    longest: int


class Block(nn.Module):
    def forward(self, x, meta: Meta):
        return x * meta.longest


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, Meta(torch.cumsum(lengths, 0), 3))


# %% a tensor in a named tuple
class Meta(NamedTuple):
    cu: torch.Tensor
    longest: torch.Tensor


class Block(nn.Module):
    def forward(self, x, meta: Meta):
        return x * meta.longest


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, Meta(torch.cumsum(lengths, 0), lengths.max()))


# %% a number in a dict that is passed in
class Block(nn.Module):
    def forward(self, x, meta):
        return x * meta["longest"]


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, {"cu": lengths, "longest": lengths.max().item()})  # expect: DYN109 once


# %% a number in a tuple that is passed in
class Block(nn.Module):
    def forward(self, x, size):
        return x * size[0]


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, (lengths.max().item(), 3))  # expect: DYN109 once


# %% a number in a tuple that is unpacked
class Block(nn.Module):
    def forward(self, x, size):
        h, w = size
        return x * h + w


def drive():
    step = torch.compile(Block())
    for i in range(12):
        yield step(X, (i, 3))  # expect: DYN109 once


# %% a length read out of a tensor, as an argument
class Block(nn.Module):
    def forward(self, x, longest):
        return x[:, :longest]


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, 1 + i % 4])
        longest = lengths.max().item()
        yield step(X, longest)  # expect: DYN109 per-value


# %% a number read out of a tensor, as an argument
class Block(nn.Module):
    def forward(self, x, longest):
        return x * longest


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, lengths.max().item())  # expect: DYN109 once


# %% a setting read out of a tensor once
@dataclasses.dataclass
class Settings:
    scale: int


class Block(nn.Module):
    def forward(self, x, settings: Settings):
        return x * settings.scale


def settings_of(weights):
    return Settings(weights.max().item())


def drive():
    step = torch.compile(Block())
    settings = settings_of(torch.tensor([1, 3]))
    for _ in range(12):
        yield step(X, settings)


# %% a dict of tensors with another length each time, as a tensor
class Block(nn.Module):
    def forward(self, x, batch):
        return x * batch["longest"]


def drive():
    step = torch.compile(Block())
    for i in range(12):
        lengths = torch.tensor([1, i])
        yield step(X, {"longest": lengths.max()})


# %% a number in a dict that nothing looks at
class Block(nn.Module):
    def forward(self, x, batch):
        return x * batch["scale"]


def drive():
    step = torch.compile(Block())
    scale = torch.ones(())
    for i in range(12):
        yield step(X, {"scale": scale, "step": i})
