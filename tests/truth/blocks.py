"""Blocks of one class that are compiled one by one."""

import copy

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a layer number that multiplies
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        return x * (self.layer_idx + 1)  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i) for i in range(12)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    model = Model()
    for block in model.blocks:
        block.compile()
    for _ in range(3):
        yield model(X)


# %% a layer number in blocks that are replaced by compiled ones
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        return x * (self.layer_idx + 1)  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.blocks = nn.ModuleList()
        for i in range(depth):
            self.blocks.append(Block(i))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    model = Model(12)
    for i, block in enumerate(model.blocks):
        model.blocks[i] = torch.compile(block)
    for _ in range(3):
        yield model(X)


# %% a layer number in a model that is compiled whole
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        return x * (self.layer_idx + 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i) for i in range(12)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a float that differs per layer and multiplies
class Block(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return x * self.scale  # expect: DYN107 once


def drive():
    blocks = nn.ModuleList([Block(0.1 * i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a flag that differs per layer
class Block(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.shift = i % 2 == 0

    def forward(self, x):
        return x + 1 if self.shift else x * 2  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList(Block(i) for i in range(12))
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a name that differs per layer and is compared
class Block(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return x * 2 if self.name == "layer3" else x + 1  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList([Block(f"layer{i}") for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a name that differs per layer and is not read
class Block(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        return x + 1


def drive():
    blocks = nn.ModuleList([Block(f"layer{i}") for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number that indexes a list argument
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, biases):
        return x + biases[self.layer_idx]  # expect: DYN107 per-instance


def drive():
    biases = [torch.full((4,), float(i)) for i in range(12)]
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, biases)
        yield x


# %% a layer number that goes to a cache object
class Cache:
    def __init__(self, depth):
        self.states = [torch.zeros(2, 4) for _ in range(depth)]

    def update(self, x, layer_idx):
        self.states[layer_idx] = x
        return self.states[layer_idx] + 1


class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, cache):
        return cache.update(x, self.layer_idx)  # expect: DYN107 per-instance


def drive():
    cache = Cache(12)
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, cache)
        yield x


# %% a layer's own entry that the parent picks
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, bias):
        return x + bias


def drive():
    biases = [torch.full((4,), float(i)) for i in range(12)]
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for i, block in enumerate(blocks):
            x = block(x, biases[i])
        yield x


# %% a layer number in a buffer
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.register_buffer("layer_idx", torch.tensor(layer_idx))

    def forward(self, x):
        return x * (self.layer_idx + 1)


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number under isolated recompiles
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        return x * (self.layer_idx + 1)


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for i, block in enumerate(blocks):
        blocks[i] = torch.compile(block, isolate_recompiles=True)
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number as an argument
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, i):
        return self.linear(x) * i  # expect: DYN109 once


def drive():
    blocks = nn.ModuleList([Block() for _ in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for i, block in enumerate(blocks):
            x = block(x, i)
        yield x


# %% a layer number looked for in a tuple
class Block(nn.Module):
    def __init__(self, layer_idx, skip=(3, 5)):
        super().__init__()
        self.layer_idx = layer_idx
        self.skip = skip

    def forward(self, x):
        if self.layer_idx in self.skip:  # expect: DYN107 per-instance
            return x + 1
        return x * 2


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number in an error message that never comes
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        if x.dim() != 2:
            raise ValueError(f"layer {self.layer_idx}: expected a matrix")
        return x * 2


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number in a key
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x, biases):
        return x + biases[f"layer_{self.layer_idx}"]  # expect: DYN107 per-instance


def drive():
    biases = {f"layer_{i}": torch.full((4,), float(i)) for i in range(12)}
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, biases)
        yield x


# %% a name as a key
class Block(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x, biases):
        return x + biases[self.name]  # expect: DYN107 per-instance


def drive():
    names = [f"layer_{i}" for i in range(12)]
    biases = {name: torch.ones(4) for name in names}
    blocks = nn.ModuleList([Block(name) for name in names])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, biases)
        yield x


# %% a dropout rate that differs per layer
class Block(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return self.drop(x)  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList([Block(i / 20) for i in range(12)]).eval()
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a dilation that differs per layer
class Block(nn.Module):
    def __init__(self, dilation):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 3, padding=dilation, dilation=dilation)

    def forward(self, x):
        return self.conv(x)  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList([Block(i + 1) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a norm whose epsilon differs per layer
class Block(nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.norm = nn.LayerNorm(4, eps=eps)

    def forward(self, x):
        return self.norm(x)  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList([Block(1e-5 * (i + 1)) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)  # expect: DYN110 once
        yield x


# %% a number in a copied config
class Config:
    def __init__(self):
        self.layer_idx = 0


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * (self.config.layer_idx + 1)  # expect: DYN107 per-instance


def drive():
    config = Config()
    blocks = nn.ModuleList()
    for i in range(12):
        own = copy.copy(config)
        own.layer_idx = i
        blocks.append(Block(own))
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a number computed from a name
class Block(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name

    @property
    def layer_idx(self):
        return int(self.name.split(".")[1])  # expect: DYN107 per-instance

    def forward(self, x):
        return x * (self.layer_idx + 1)


def drive():
    blocks = nn.ModuleList([Block(f"layers.{i}") for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a norm that some layers have
class Block(nn.Module):
    def __init__(self, normed):
        super().__init__()
        self.norm = nn.LayerNorm(4) if normed else None

    def forward(self, x):
        return self.norm(x) if self.norm is not None else x * 2  # expect: DYN108 per-instance


def drive():
    blocks = nn.ModuleList([Block(i % 2 == 0) for i in range(12)]).requires_grad_(False)
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% two kinds of mixer in blocks of one class
class Attention(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


class Gate(nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.mixer = Attention() if layer_idx % 2 else Gate()

    def forward(self, x):
        return self.mixer(x)  # expect: DYN108 per-instance


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% two functions in blocks of one class
class Block(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act

    def forward(self, x):
        return self.act(x)  # expect: DYN108 per-instance


def drive():
    blocks = nn.ModuleList([Block(torch.relu if i % 2 else torch.tanh) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% half of the blocks frozen
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)  # expect: DYN110 per-instance


def drive():
    blocks = nn.ModuleList([Block() for _ in range(12)])
    for i, block in enumerate(blocks):
        block.requires_grad_(i >= 6)
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x.detach())
        yield x


# %% blocks that are all alike
class Block(nn.Module):
    def __init__(self, dim, dropout=0.0):
        super().__init__()
        self.linear = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(dim, eps=1e-5)

    def forward(self, x):
        return self.norm(x + self.dropout(self.linear(x)))


def drive():
    blocks = nn.ModuleList([Block(4) for _ in range(12)]).requires_grad_(False)
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% three blocks with numbers, within the limit
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        return x * (self.layer_idx + 1)  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(3)])
    for block in blocks:
        block.compile()
    for _ in range(4):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number read by an inner module
class Attention(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx

    def forward(self, x):
        if self.layer_idx % 2 == 0:  # expect: DYN107 per-instance
            return x * 2
        return x + 1


class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.attention = Attention(layer_idx=layer_idx)

    def forward(self, x):
        return self.attention(x)


def drive():
    blocks = nn.ModuleList([Block(layer_idx=i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a layer number taken modulo in __init__
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.sliding = bool((layer_idx + 1) % 4)

    def forward(self, x):
        return x * 2 if self.sliding else x + 1  # expect: DYN107 per-instance


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a flag on the per-layer state of a cache
class LayerState:
    def __init__(self):
        self.ready = False
        self.value = None

    def update(self, x):
        if not self.ready:
            self.value = torch.zeros_like(x)
            self.ready = True  # expect: DYN104 once
        self.value = self.value + x
        return self.value


class Block(nn.Module):
    def forward(self, x, state: LayerState):
        return state.update(x)


def drive():
    states = [LayerState() for _ in range(3)]
    blocks = nn.ModuleList([Block() for _ in range(3)])
    for block in blocks:
        block.compile()
    for _ in range(4):
        x = X
        for block, state in zip(blocks, states):
            x = block(x, state)
        yield x


# %% a factory of functions with a number each
def make(k):
    def scale(x):
        return x * k  # expect: DYN107 per-instance

    return scale


def drive():
    stages = [torch.compile(make(k)) for k in range(2, 14)]
    for _ in range(3):
        x = X
        for stage in stages:
            x = stage(x)
        yield x


# %% a layer number selected by a tensor
class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.register_buffer("which", torch.tensor([layer_idx]))

    def forward(self, x, stack):
        return x + stack.index_select(0, self.which).squeeze(0)


def drive():
    stack = torch.arange(48.0).reshape(12, 4)
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x, stack)
        yield x


# %% a norm that some layers have, in a loop that a trainer yields from
class Block(nn.Module):
    def __init__(self, normed):
        super().__init__()
        self.norm = nn.LayerNorm(4) if normed else None

    def forward(self, x):
        return self.norm(x) if self.norm is not None else x * 2  # expect: DYN108 per-instance


class Trainer:
    def fit(self):
        blocks = nn.ModuleList([Block(i % 2 == 0) for i in range(12)]).requires_grad_(False)
        for block in blocks:
            block.compile()
        for _ in range(3):
            x = X
            for block in blocks:
                x = block(x)
            yield x


def drive():
    yield from Trainer().fit()


# %% a layer number that goes on but is not consumed
class Attention(nn.Module):
    def forward(self, x, layer_idx):
        return x * 2


class Block(nn.Module):
    def __init__(self, layer_idx):
        super().__init__()
        self.layer_idx = layer_idx
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x, self.layer_idx)


def drive():
    blocks = nn.ModuleList([Block(i) for i in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x
