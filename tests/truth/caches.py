"""Caches that are passed in, known to compiled code by an abstract base alone."""

import copy
import os
from abc import ABC, abstractmethod

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


class Slot(ABC):
    def __init__(self):
        self.held = None

    @abstractmethod
    def push(self, x): ...


class Cache:
    def __init__(self, slots: list[Slot]):
        self.slots = slots

    def push(self, x, index: int):
        return self.slots[index].push(x)


class Block(nn.Module):
    def forward(self, x, cache: Cache):
        return cache.push(x * 2, 0)


def run(cache, calls=6):
    torch.manual_seed(0)
    block = torch.compile(Block())
    for _ in range(calls):
        yield block(X, cache)


# %% a slot that is set up by its first use
class Lazy(Slot):
    def __init__(self):
        super().__init__()
        self.ready = False

    def push(self, x):
        if not self.ready:
            self.ready = True  # expect: DYN104 once
            return x + 1
        return x + 2


def drive():
    yield from run(Cache([Lazy()]))


# %% a slot that counts what it has seen
class Counting(Slot):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def push(self, x):
        self.seen += 1  # expect: DYN101 once
        return x * self.seen


def drive():
    yield from run(Cache([Counting()]), calls=12)


# %% a slot that keeps its count in a tensor
class Counting(Slot):
    def __init__(self):
        super().__init__()
        self.seen = torch.zeros((), dtype=torch.long)

    def push(self, x):
        self.seen.add_(1)
        return x * self.seen


def drive():
    yield from run(Cache([Counting()]), calls=12)


# %% a slot that is told by eager code that it is ready
class Told(Slot):
    def __init__(self):
        super().__init__()
        self.ready = False

    def prepare(self):
        self.ready = True  # expect: DYN102 once note

    def push(self, x):
        return x + 2 if self.ready else x + 1


def drive():
    slot = Told()
    slot.prepare()
    yield from run(Cache([slot]))


# %% a slot whose flag only its repr looks at
class Shown(Slot):
    def __init__(self):
        super().__init__()
        self.used = False

    def push(self, x):
        self.used = True
        return x + 1

    def __repr__(self):
        return f"used: {self.used}"


def drive():
    yield from run(Cache([Shown()]))


# %% flags in a dict that only one kind of cache has
class Plain(Slot):
    def push(self, x):
        return x + 1


class Pair(Cache):
    def __init__(self):
        super().__init__([Plain()])
        self.filled = {}
        for index in range(1):
            self.filled[index] = bool(len(self.slots) > 1)


class Crossing(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x, cache: Cache | None):
        done = False
        if isinstance(cache, Pair):
            done = cache.filled.get(self.index)
        if done:
            return x * 2
        x = cache.push(x, self.index)
        if isinstance(cache, Pair):
            cache.filled[self.index] = True  # expect: DYN104 once
        return x


def drive():
    torch.manual_seed(0)
    block = torch.compile(Crossing(0))
    pair = Pair()
    for _ in range(6):
        yield block(X, pair)


# %% flags in a dict of the same flag for every key
class Keyed(Slot):
    def __init__(self, keys=2):
        super().__init__()
        self.ready = dict.fromkeys(range(keys), False)

    def push(self, x):
        if not self.ready[0]:
            self.ready[0] = True  # expect: DYN104 once
            return x + 1
        return x + 2


def drive():
    yield from run(Cache([Keyed()]))


# %% a dict of flags that is only looked up in
class Keyed(Slot):
    def __init__(self, keys=2):
        super().__init__()
        self.wide = dict.fromkeys(range(keys), False)

    def push(self, x):
        return x + 1 if self.wide.get(0, True) else x + 2


def drive():
    yield from run(Cache([Keyed()]))


# %% a size that a cache learns when it makes room
class LayerState:
    def __init__(self):
        self.ready = dict.fromkeys(range(1), False)
        self.size = dict.fromkeys(range(1))
        self.value = dict.fromkeys(range(1))

    def begin(self, x, index, size=None):
        size = x.shape[-1] if size is None else size
        self.size[index] = size
        self.value[index] = torch.zeros_like(x)
        self.ready[index] = True  # expect: DYN104 once

    def update(self, x, index=0, size=None):
        if not self.ready[index]:
            self.begin(x, index, size)
        if x.shape[-1] < self.size[index]:
            x = nn.functional.pad(x, (self.size[index] - x.shape[-1], 0))
        self.value[index].copy_(x[..., -self.size[index] :])
        return self.value[index] + 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 4

    def forward(self, x, state: LayerState):
        return state.update(x, 0, self.size)


def drive():
    block = Block()
    block.compile()
    state = LayerState()
    for _ in range(5):
        yield block(X, state)


# %% a size that a cache learns on one of two ways to make room
class LayerState:
    def __init__(self):
        self.ready = dict.fromkeys(range(1), False)
        self.size = dict.fromkeys(range(1))
        self.value = dict.fromkeys(range(1))
        self.summed = dict.fromkeys(range(1), False)
        self.total = dict.fromkeys(range(1))

    def begin(self, x=None, total=None, index=0, size=None):
        if x is not None:
            size = x.shape[-1] if size is None else size
            self.size[index] = size
            self.value[index] = torch.zeros_like(x)
            self.ready[index] = True  # expect: DYN104 once
        if total is not None:
            self.total[index] = torch.zeros_like(total)
            self.summed[index] = True  # expect: DYN104 once

    def add(self, x, index=0):
        if not self.summed[index]:
            self.begin(total=x, index=index)
        self.total[index].copy_(self.total[index] + x)
        return self.total[index] * 2

    def update(self, x, index=0, size=None):
        if not self.ready[index]:
            self.begin(x, index=index, size=size)
        if x.shape[-1] < self.size[index]:
            x = nn.functional.pad(x, (self.size[index] - x.shape[-1], 0))
        self.value[index].copy_(x[..., -self.size[index] :])
        return self.value[index] + 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = 4

    def forward(self, x, state: LayerState):
        return state.update(x, 0, self.size) + state.add(x)


def drive():
    block = Block()
    block.compile()
    state = LayerState()
    for _ in range(5):
        yield block(X, state)


# %% slots that are made for whoever asks for them first
class Plain(Slot):
    def push(self, x):
        return x + 1


class Filled(Cache):
    def __init__(self):
        self.slots: list[Slot] = []

    def push(self, x, index: int):
        while len(self.slots) <= index:
            self.slots.append(Plain())  # expect: DYN105 once
        return self.slots[index].push(x)


class Filling(nn.Module):
    def forward(self, x, cache: Filled):
        return cache.push(x * 2, 0)


def drive():
    block = torch.compile(Filling())
    cache = Filled()
    for _ in range(6):
        yield block(X, cache)


# %% slots that are made with the cache
class Plain(Slot):
    def push(self, x):
        return x + 1


class Filled(Cache):
    def __init__(self):
        self.slots: list[Slot] = [Plain()]

    def push(self, x, index: int):
        if index >= len(self.slots):
            raise IndexError(index)
        return self.slots[index].push(x)


class Filling(nn.Module):
    def forward(self, x, cache: Filled):
        return cache.push(x * 2, 0)


def drive():
    block = torch.compile(Filling())
    for _ in range(6):
        yield block(X, Filled())


# %% tensors and numbers that a flag is set with
class Layer:
    def __init__(self):
        self.keys = None
        self.width = None
        self.ready = False

    def start(self, k):
        self.width = k.shape[-1]
        self.keys = torch.zeros_like(k)
        self.ready = True  # expect: DYN104 once

    def update(self, k):
        if not self.ready:
            self.start(k)
        self.keys = torch.cat([self.keys, k], dim=0)[-2:]
        return self.keys[:, : self.width]


class Model(nn.Module):
    def forward(self, x, layer: Layer):
        return x + layer.update(x)


def drive():
    return torch.compile(Model()), [(X, Layer())]


# %% a table moved by the base class's start, which sets the flag
class Base:
    def __init__(self):
        self.keys = None
        self.ready = False

    def start(self, k):
        self.keys = torch.zeros_like(k)
        self.ready = True  # expect: DYN104 once


class Sliding(Base):
    def __init__(self):
        super().__init__()
        self.window = torch.ones(2, 4)

    def start(self, k):
        super().start(k)
        self.window = self.window.to(k.device)

    def update(self, k):
        if not self.ready:
            self.start(k)
        self.keys = torch.cat([self.keys, k], dim=0)[-2:]
        return self.keys * self.window


class Model(nn.Module):
    def forward(self, x, layer: Sliding):
        return x + layer.update(x)


def drive():
    return torch.compile(Model()), [(X, Sliding())]


# %% two flags that one method raises
class States:
    def __init__(self):
        self.conv = dict.fromkeys(range(2))
        self.scan = dict.fromkeys(range(2))
        self.has_conv = dict.fromkeys(range(2), False)
        self.has_scan = dict.fromkeys(range(2), False)

    def start(self, conv=None, scan=None, index=0):
        if conv is not None:
            self.conv[index] = torch.zeros_like(conv)
            self.has_conv[index] = True  # expect: DYN104 once
        if scan is not None:
            self.scan[index] = torch.zeros_like(scan)
            self.has_scan[index] = True  # expect: DYN104 once

    def update(self, conv, scan, index=0):
        if not self.has_conv[index]:
            self.start(conv=conv, index=index)
        if not self.has_scan[index]:
            self.start(scan=scan, index=index)
        self.scan[index].copy_(scan)
        return self.conv[index] + self.scan[index]


class Model(nn.Module):
    def forward(self, x, states: States):
        return x + states.update(x, x)


def drive():
    return torch.compile(Model()), [(X, States())]


# %% a counter beside a flag still counts
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.ready = False
        self.calls = 0

    def start(self):
        self.ready = True  # expect: DYN104 once

    def forward(self, x):
        if not self.ready:
            self.start()
        self.calls += 1  # expect: DYN101 storm
        return x * self.calls


def drive():
    return torch.compile(Model()), [(X,)]


# %% a sum that starts with the flag of something else
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.warm = False
        self.loss = None

    def forward(self, x):
        if not self.warm:
            self.warm = True  # expect: DYN104 once
        now = x.mean()
        self.loss = now if self.loss is None else self.loss + now  # expect: DYN103 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a size that a layer notes when it is first filled
class Layer:
    def __init__(self):
        self.ready = dict.fromkeys(range(1), False)
        self.size = dict.fromkeys(range(1))
        self.held = dict.fromkeys(range(1))

    def fill(self, x, index=0, size=None):
        size = x.shape[-1] if size is None else size
        self.size[index] = size
        self.held[index] = torch.zeros(2, size)
        self.ready[index] = True  # expect: DYN104 once

    def update(self, x, index=0, size=None):
        if not self.ready[index]:
            self.fill(x, index, size)
        self.held[index].copy_(x[..., -self.size[index] :])
        return self.held[index]


class Block(nn.Module):
    def forward(self, x, layer: Layer):
        return layer.update(x) * 2


def drive():
    run, layer = torch.compile(Block()), Layer()
    for _ in range(4):
        yield run(X, layer).sum()


# %% a window of the last rows, begun when a flag is raised
class Layer:
    def __init__(self, window):
        self.window = window
        self.ready = False
        self.held = None

    def fill(self, x):
        self.held = x.new_zeros(0, 4)
        self.ready = True  # expect: DYN104 once

    def update(self, x):
        if not self.ready:
            self.fill(x)
        whole = torch.cat([self.held, x])
        if self.window > 1:
            self.held = whole[-self.window :]  # expect: DYN103 once
            return whole
        self.held = whole
        return whole

    def length(self):
        return 1 if self.held is None else 2


class Block(nn.Module):
    def forward(self, x, layer: Layer):
        n = layer.length()
        return layer.update(x).sum() * n


def drive():
    run, layer = torch.compile(Block(), dynamic=True), Layer(2)
    for _ in range(4):
        yield run(X, layer)


# %% rows that are emptied again, once a flag has been raised
class Layer:
    def __init__(self, window):
        self.window = window
        self.ready = False
        self.held = None

    def fill(self, x):
        self.held = x.new_zeros(0, 4)  # expect: DYN104 once
        self.ready = True  # expect: DYN104 once

    def update(self, x):
        if not self.ready:
            self.fill(x)
        return x

    def length(self):
        return 1 if self.held is None else 2


class Store(Layer):
    def update(self, x):
        if not self.ready:
            self.fill(x)
            return x
        whole = torch.cat([self.held, x])
        if x.shape[0] > self.window:
            self.held = x.new_zeros(0, 4)
        return whole


class Other(nn.Module):
    def forward(self, x, layer: Store):
        n = layer.length()
        return layer.update(x).sum() * n


def drive():
    run, layer = torch.compile(Other(), dynamic=True), Store(4)
    for _ in range(4):
        yield run(X, layer)


# %% slots of a cache that the call makes itself
class Counting(Slot):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def push(self, x):
        self.seen += 1  # expect: DYN101 per-value note
        return x * 2 if self.seen > 1 else x


class Doubling(Slot):
    def push(self, x):
        return x * 2


class Attention(nn.Module):
    def __init__(self, index):
        super().__init__()
        self.index = index

    def forward(self, x, cache: Cache):
        return cache.push(cache.push(x, self.index), self.index)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Attention(i) for i in range(2))

    def forward(self, x, cache: Cache | None = None):
        if cache is None:
            cache = Cache([Counting(), Doubling()])
        for layer in self.layers:
            x = layer(x, cache)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(12):
        yield model(X)


# %% one of several slots, which the caller puts into the cache
class Counting(Slot):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def push(self, x):
        self.seen += 1  # expect: DYN101 once
        return x * self.seen


class Doubling(Slot):
    def push(self, x):
        return x * 2


def drive():
    yield from run(Cache([Counting(), Doubling()]), calls=12)


# %% a method that a decorator of its class replaces
def vectorised(cls):
    slow = cls.forward

    def forward(self, x):
        return self.all_at_once(x) if self.fast else slow(self, x)

    cls.forward = forward
    return cls


@vectorised
class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.fast = True
        self.weight = nn.Parameter(torch.ones(3, 4))

    def all_at_once(self, x):
        return torch.einsum("bd,ed->bd", x, self.weight)

    def forward(self, x):
        out = torch.zeros_like(x)
        for expert in range(3):
            if x.sum() > expert:  # expect: DYN403 break note
                out = out + x * self.weight[expert]
        return out


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = Experts()

    def forward(self, x):
        return self.experts(x) + 1


def drive():
    model = torch.compile(Model())
    for _ in range(4):
        yield model(X)


# %% the copy of a configuration, one of many kinds
class Config:
    def __init__(self, depth=2):
        self.depth = depth


KINDS = [type(f"Config{number}", (Config,), {}) for number in range(3)]


class TextConfig(Config): ...


class AudioConfig(Config): ...


class Model(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config

    def forward(self, x):
        for _ in range(self.config.depth):
            x = x * 2
        return x

    def shallow(self):
        config = copy.deepcopy(self.config)
        config.depth = 1
        return config.depth


def drive():
    model = Model(TextConfig())
    run = torch.compile(model)
    for _ in range(4):
        model.shallow()
        yield run(X)


# %% a count that is kept for debugging
class Streamer:
    def __init__(self, debug=False):
        self.debug = debug
        self.step = 0

    def begin(self):
        if self.debug:
            self.count()

    def count(self):
        self.step += 1  # expect: DYN101 storm note


class Model(nn.Module):
    def __init__(self, streamer):
        super().__init__()
        self.streamer = streamer

    def forward(self, x):
        self.streamer.begin()
        return x * 2 if self.streamer.step % 2 else x * 3


def drive():
    model = torch.compile(Model(Streamer(debug=os.environ.get("STREAM_DEBUG", "") == "1")))
    for _ in range(4):
        yield model(X)
