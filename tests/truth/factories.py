"""Blocks whose layers come from factories: keyword arguments that one function hands on to the next."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 2 * 4 * 8 * 8).reshape(2, 4, 8, 8)
STRIDES = [1, 1, 2, 1, 2, 1]


def padding_of(kernel_size, stride=1, dilation=1, **_):
    if any([isinstance(v, (tuple, list)) for v in [kernel_size, stride, dilation]]):
        return [padding_of(*one) for one in zip(kernel_size, stride, dilation)]
    return ((stride - 1) + dilation * (kernel_size - 1)) // 2


def padding_value(padding, kernel_size, **kwargs):
    dynamic = False
    if isinstance(padding, str):
        padding = padding.lower()
        if padding == "same":
            padding, dynamic = 0, True
        else:
            padding = padding_of(kernel_size, **kwargs)
    return padding, dynamic


class SameConv(nn.Conv2d):
    def forward(self, x):
        return super().forward(x) * 2


class GroupedConv(nn.Module):
    def __init__(self, width, out, kernel_sizes, stride=1, padding=""):
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(width, out, k, stride, k // 2) for k in kernel_sizes])

    def forward(self, x):
        return sum(conv(x) for conv in self.convs)


def padded_conv(width, out, kernel_size, **kwargs):
    padding = kwargs.pop("padding", "")
    kwargs.setdefault("bias", False)
    padding, dynamic = padding_value(padding, kernel_size, **kwargs)
    if dynamic:
        return SameConv(width, out, kernel_size, **kwargs)
    return nn.Conv2d(width, out, kernel_size, padding=padding, **kwargs)


def make_conv(width, out, kernel_size, **kwargs):
    if isinstance(kernel_size, list):
        return GroupedConv(width, out, kernel_size, **kwargs)
    depthwise = kwargs.pop("depthwise", False)
    groups = width if depthwise else kwargs.pop("groups", 1)
    if "experts" in kwargs and kwargs["experts"] > 0:
        raise ValueError("there are no experts here")
    return padded_conv(width, out, kernel_size, groups=groups, **kwargs)


def live(blocks):
    for _ in range(3):
        x = X
        with torch.no_grad():
            for block in blocks:
                x = block(x)
        yield x


# %% a stride that a factory hands on to the layer
class Block(nn.Module):
    def __init__(self, stride):
        super().__init__()
        options = {"bias": True}
        self.conv = make_conv(
            4, 4, 3, stride=stride, depthwise=True, **options
        )  # expect: DYN107 per-instance

    def forward(self, x):
        return self.conv(x)


def drive():
    blocks = nn.ModuleList([Block(2 if i == 2 else 1) for i in range(6)])
    for block in blocks:
        block.compile()
    yield from live(blocks)


# %% a factory that gives all layers the same
class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.conv = make_conv(4, 4, 3, stride=1, **dict(bias=True))

    def forward(self, x):
        return self.conv(x)


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(6)])
    for block in blocks:
        block.compile()
    yield from live(blocks)


# %% an option that the factory takes out before it hands on the rest
class Block(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.conv = self._make(4, 4, kernel_size=1, label=f"conv {index}")

    @staticmethod
    def _make(width, out, **options):
        options.pop("label")
        return nn.Conv2d(width, out, **options)

    def forward(self, x):
        return self.conv(x)


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(6)])
    for block in blocks:
        block.compile()
    yield from live(blocks)


# %% strides that give the same padding
class Block(nn.Module):
    def __init__(self, stride):
        super().__init__()
        self.pad = nn.ZeroPad2d(padding_of(3, stride=stride))
        self.conv = nn.Conv2d(4, 4, 3, padding=padding_of(3, stride=stride))

    def forward(self, x):
        return self.conv(x)


def drive():
    blocks = nn.ModuleList([Block(2 if i == 2 else 1) for i in range(6)])
    for block in blocks:
        block.compile()
    yield from live(blocks)
