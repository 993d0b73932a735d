"""Blocks that a list in the configuration makes different: flags, kinds of mixers, parts that some have."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)
DEPTH = 12


class Config:
    def __init__(self):
        self.kinds = ["window" if i % 3 else "full" for i in range(DEPTH)]
        self.window = 2
        self.rates = [0.0, *(0.01 * i for i in range(1, DEPTH))]


class Window(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


class Full(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


# %% a window that only some layers have, beside the layer number
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x, shifts):
        x = x + shifts[self.layer_idx]  # expect: DYN107 per-instance
        if self.window is not None:  # expect: DYN107 per-instance
            x = x[:, : self.window].repeat(1, 2)
        return x


def drive():
    config = Config()
    shifts = [torch.zeros(4) for _ in range(DEPTH)]
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, shifts)
        yield x


# %% a flag from a list of kinds
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.windowed = config.kinds[layer_idx] == "window"

    def forward(self, x):
        return torch.sigmoid(x) if self.windowed else torch.softmax(x, -1)  # expect: DYN107 per-instance


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a kind that is looked up, and the mixer that follows from it
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.kind = config.kinds[layer_idx]
        if self.kind == "window":
            self.window = Window()  # expect: DYN108 per-instance
        elif self.kind == "full":
            self.full = Full()

    def forward(self, x):
        if self.kind == "window":
            return self.window(x)
        return self.full(x)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a mixer from a table of classes
MIXERS = {"window": Window, "full": Full}


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.mixer = MIXERS[config.kinds[layer_idx]]()  # expect: DYN108 per-instance

    def forward(self, x):
        return self.mixer(x)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% one mixer from a table of classes for all layers
MIXERS = {"window": Window, "full": Full}


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.mixer = MIXERS[config.kinds[0]]()

    def forward(self, x):
        return self.mixer(x)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a mixer chosen by a flag that is read as well
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.windowed = config.kinds[layer_idx] == "window"
        if self.windowed:
            self.window = Window()  # expect: DYN108 per-instance
        else:
            self.full = Full()

    def forward(self, x):
        return self.window(x) if self.windowed else self.full(x)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% two parts that differ for reasons of their own
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.mixer = (
            Window() if config.kinds[layer_idx] == "window" else Full()
        )  # expect: DYN108 per-instance
        self.norm = nn.LayerNorm(4) if layer_idx > 3 else nn.RMSNorm(4)  # expect: DYN108 per-instance

    def forward(self, x):
        return self.mixer(self.norm(x))


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)]).requires_grad_(False)
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a rate, and no such part where it is zero
class Drop(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate = rate

    def forward(self, x):
        return nn.functional.dropout(x, self.rate, self.training)  # expect: DYN107 per-instance


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        rate = config.rates[layer_idx]
        self.drop = Drop(rate) if rate > 0.0 else nn.Identity()

    def forward(self, x):
        return self.drop(x) * 2


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a window that is handed to a function without a use for it
def attend(x, window):
    return torch.softmax(x, -1)


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x):
        return attend(x, self.window)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a window that goes into the keywords of a function without a use for it
def attend(x, **settings):
    return torch.softmax(x, -1)


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x):
        return attend(x, window=self.window)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a window that goes through keywords to a function that uses it
def attend(x, **settings):
    return narrow(x, **settings)


def narrow(x, window):
    return torch.sigmoid(x) if window is None else x[:, :window].repeat(1, 2)


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x):
        return attend(x, window=self.window)  # expect: DYN107 per-instance


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a kind that only the parent reads
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.kind = config.kinds[layer_idx]

    def forward(self, x, mask):
        return x + mask


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    masks = {"window": torch.zeros(4), "full": torch.ones(4)}
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, masks[block.kind])
        yield x


# %% one list, the same for all layers
class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.kinds = config.kinds
        self.layer_idx = layer_idx

    def forward(self, x):
        return torch.sigmoid(x) if "window" in self.kinds else torch.softmax(x, -1)


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a window that goes to one of several functions, of which not each uses it
def narrow(x, window=None):
    return torch.sigmoid(x) if window is None else x[:, :window].repeat(1, 2)


def attend(x, **settings):
    return torch.softmax(x, -1)


FUNCTIONS = {"narrow": narrow, "attend": attend}


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.how = "attend"
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x):
        function = FUNCTIONS[self.how]
        return function(x, window=self.window)  # expect: DYN107 per-instance note


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a window that goes to one of several functions, each of which uses it
def narrow(x, window=None):
    return torch.sigmoid(x) if window is None else x[:, :window].repeat(1, 2)


def widen(x, window=None):
    return torch.softmax(x, -1) if window is None else x.repeat(1, window)[:, :4]


FUNCTIONS = {"narrow": narrow, "widen": widen}


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.how = "widen"
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x):
        function = FUNCTIONS[self.how]
        return function(x, window=self.window)  # expect: DYN107 per-instance


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a window that goes to a function which nobody can name
class Table(dict):
    def pick(self, name, default):
        return self.get(name, default)


def attend(x, **settings):
    return torch.softmax(x, -1)


TABLE = Table()


class Block(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.how = "attend"
        self.window = config.window if config.kinds[layer_idx] == "window" else None

    def forward(self, x):
        function = TABLE.pick(self.how, attend)
        return function(x, window=self.window)  # expect: DYN107 per-instance note


def drive():
    config = Config()
    blocks = nn.ModuleList([Block(config, i) for i in range(DEPTH)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x
