"""Attributes that are None, or not there, until a call makes them."""

import functools

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a loss summed up from None
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def forward(self, x):
        now = x.mean()
        self.loss = now if self.loss is None else self.loss + now  # expect: DYN103 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a loss summed up in branches
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def forward(self, x):
        if self.loss is None:
            self.loss = x.mean()  # expect: DYN103 once
        else:
            self.loss = self.loss + x.mean()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a loss that the loop resets every third call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def reset(self):
        self.loss = None

    def forward(self, x):
        now = x.mean()
        self.loss = now if self.loss is None else self.loss + now  # expect: DYN103 once
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i % 3 == 0:
            model.reset()
        yield run(X)


# %% a loss with a gradient summed up from None
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.loss = None

    def forward(self, x):
        now = (x * self.weight).mean()
        self.loss = now if self.loss is None else self.loss + now  # expect: DYN103 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a loss summed up from a float
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = 0.0

    def forward(self, x):
        self.loss = self.loss + x.mean()  # expect: DYN103 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% the last output, returned by the next call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        before = self.last
        self.last = x * 2  # expect: DYN103 once
        return before


def drive():
    return torch.compile(Model()), [(X,)]


# %% the last output, mixed into the next
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        y = x * 2 if self.last is None else x + self.last
        self.last = y.detach()  # expect: DYN103 once
        return y


def drive():
    return torch.compile(Model()), [(X,)]


# %% a loss that is only overwritten
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def forward(self, x):
        self.loss = x.mean()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a loss that is overwritten and then read
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loss = None

    def forward(self, x):
        self.loss = x.mean()
        return x * self.loss


def drive():
    return torch.compile(Model()), [(X,)]


# %% a loss summed up from a zero tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("loss", torch.zeros(()))

    def forward(self, x):
        self.loss = self.loss + x.mean()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a growing cache of keys
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.keys = None

    def forward(self, x):
        self.keys = x if self.keys is None else torch.cat([self.keys, x])  # expect: DYN103 per-value
        return self.keys.sum() + x


def drive():
    run = torch.compile(Model(), dynamic=True)
    for _ in range(12):
        yield run(X)


# %% an optional submodule that never comes
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = None

    def forward(self, x):
        return self.norm(x) if self.norm is not None else x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a table built on first use, by hasattr
class Model(nn.Module):
    def forward(self, x):
        if not hasattr(self, "table"):
            self.table = torch.arange(4.0)  # expect: DYN104 once
        return x * self.table


def drive():
    return torch.compile(Model()), [(X,)]


# %% a table built on first use, from None
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None:
            self.table = torch.arange(4.0)  # expect: DYN104 once
        return x * self.table


def drive():
    return torch.compile(Model()), [(X,)]


# %% a table built on first use in a helper
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self._table = None

    def table(self):
        if self._table is None:
            self._table = torch.arange(4.0)  # expect: DYN104 once
        return self._table

    def forward(self, x):
        return x * self.table()


def drive():
    return torch.compile(Model()), [(X,)]


# %% a table rebuilt whenever it is too short
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = None

    def forward(self, x):
        if self.table is None or self.table.shape[0] < x.shape[0]:
            self.table = torch.arange(x.shape[0], dtype=x.dtype)  # expect: DYN103 per-value
        return x * self.table[: x.shape[0]].unsqueeze(-1)


def drive():
    run = torch.compile(Model())
    for n in range(2, 14):
        yield run(torch.ones(n, 4))


# %% a table rebuilt whenever the longest length grows
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.longest = 0
        self.table = torch.zeros(0)

    def forward(self, x):
        n = x.shape[0]
        if n > self.longest:
            self.table = torch.arange(n, dtype=x.dtype)
            self.longest = n  # expect: DYN101 storm
        return x * self.table[:n].unsqueeze(-1)


def drive():
    run = torch.compile(Model())
    for n in range(2, 14):
        yield run(torch.ones(n, 4))


# %% a table for the last length, two of which take turns
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.length = 0
        self.table = None

    def forward(self, x):
        n = x.shape[0]
        if n != self.length:
            self.table = torch.arange(n, dtype=x.dtype)
            self.length = n  # expect: DYN101 per-value
        return x * self.table.unsqueeze(-1)


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(torch.ones(2 + i % 2, 4))


# %% a table built in __init__
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(32.0), persistent=False)

    def forward(self, x):
        return x * self.table[: x.shape[0]].unsqueeze(-1)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a buffer registered by forward
class Model(nn.Module):
    def forward(self, x):
        if not hasattr(self, "table"):
            self.register_buffer("table", torch.arange(4.0))  # expect: DYN104 once
        return x * self.table


def drive():
    return torch.compile(Model()), [(X,)]


# %% a buffer registered by every forward
class Model(nn.Module):
    def forward(self, x):
        self.register_buffer("cache", x.mean(0))  # expect: DYN104 once
        return x * self.cache


def drive():
    return torch.compile(Model()), [(X,)]


# %% a submodule built on first use
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = None

    def forward(self, x):
        if self.head is None:
            self.head = nn.Linear(x.shape[-1], 2)  # expect: DYN104 once
        return self.head(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X).shape


# %% a function built on first use
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fn = None

    def forward(self, x):
        if self.fn is None:
            self.fn = functools.partial(torch.clamp, min=0.5)  # expect: DYN104 once
        return self.fn(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a plain tensor moved to the dtype of the input
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.freqs = torch.arange(4, dtype=torch.float64)

    def forward(self, x):
        self.freqs = self.freqs.to(x.dtype)  # expect: DYN101 once
        return x * self.freqs


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a plain tensor moved for the call only
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.freqs = torch.arange(4, dtype=torch.float64)

    def forward(self, x):
        freqs = self.freqs.to(x.dtype)
        return x * freqs


def drive():
    return torch.compile(Model()), [(X,)]


# %% a module that is moved to where the input is, and kept: it is the same module
class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("freqs", torch.arange(4.0))

    def forward(self, x):
        return x * self.freqs


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rope = Rotary()

    def forward(self, x):
        self.rope = self.rope.to(x.device)
        return self.rope(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a layer of the library that is moved and kept
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        self.norm = self.norm.to(x.device)
        return self.norm(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% an average in a plain tensor that is rebound
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.usage = torch.zeros(())

    def forward(self, x):
        self.usage = self.usage * 0.9 + x.mean().detach()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a default that appears by setattr in another method
class Model(nn.Module):
    def enable(self):
        self.gain = 2.0

    def forward(self, x):
        return x * getattr(self, "gain", 1.0)  # expect: DYN203 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.enable()
        yield run(X)


# %% a default for what never comes
class Model(nn.Module):
    def forward(self, x):
        return x * getattr(self, "gain", 1.0)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a default on a config, which gets the attribute later
class Config:
    pass


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def forward(self, x):
        return x * getattr(self.config, "gain", 1.0)  # expect: DYN203 once


def drive():
    config = Config()
    run = torch.compile(Model(config))
    for i in range(12):
        if i == 4:
            config.gain = 2.0
        yield run(X)


# %% an attribute asked for by hasattr, added and taken away
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if hasattr(self, "boost") else x * 3  # expect: DYN203 once


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.boost = True
        if i == 8:
            del model.boost
        yield run(X)


# %% an attribute asked for by hasattr that is there
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.boost = 2

    def forward(self, x):
        return x * self.boost if hasattr(self, "boost") else x


def drive():
    return torch.compile(Model()), [(X,)]


# %% absence by exception
class Model(nn.Module):
    def forward(self, x):
        try:
            gain = self.gain  # expect: DYN305 stale
        except AttributeError:
            gain = 1.0
        return x * gain


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.gain = 2.0
        yield run(X)


# %% absence by exception, for what never comes
class Model(nn.Module):
    def forward(self, x):
        try:
            gain = self.gain
        except AttributeError:
            gain = 1.0
        return x * gain


def drive():
    return torch.compile(Model()), [(X,)]


# %% a table built on first use, by exception
class Model(nn.Module):
    def forward(self, x):
        try:
            table = self.table
        except AttributeError:
            self.table = table = torch.arange(4.0)
        return x * table


def drive():
    return torch.compile(Model()), [(X,)]


# %% a random table built on first use, by exception
class Model(nn.Module):
    def forward(self, x):
        try:
            noise = self.noise  # expect: DYN305 stale
        except AttributeError:
            self.noise = noise = torch.rand(4)
        return x * noise


def drive():
    return torch.compile(Model()), [(X,)]


# %% absence by key error
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = {}

    def forward(self, x):
        try:
            gain = self.table["gain"]  # expect: DYN305 stale
        except KeyError:
            gain = 1.0
        return x * gain


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.table["gain"] = 2.0
        yield run(X)


# %% absence by index error
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = []

    def forward(self, x):
        try:
            gain = self.table[0]  # expect: DYN105 once
        except IndexError:
            gain = 1.0
        return x * gain


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.table.append(2.0)
        yield run(X)


# %% presence in the namespace
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if "gain" in self.__dict__ else x * 3  # expect: DYN305 stale


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.gain = 2.0
        yield run(X)


# %% a default from the namespace
class Model(nn.Module):
    def forward(self, x):
        return x * self.__dict__.get("gain", 2.0)  # expect: DYN305 stale


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.gain = 3.0
        yield run(X)


# %% a default from vars
class Model(nn.Module):
    def forward(self, x):
        return x * vars(self).get("gain", 2.0)  # expect: DYN305 stale


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.gain = 3.0
        yield run(X)


# %% a fixed attribute through vars
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = 3

    def forward(self, x):
        return x * vars(self)["gain"]


def drive():
    return torch.compile(Model()), [(X,)]


# %% an attribute that one call sets and deletes
class Model(nn.Module):
    def forward(self, x):
        self.scratch = x * 2
        y = self.scratch + 1
        del self.scratch
        return y


def drive():
    return torch.compile(Model()), [(X,)]


# %% a tensor set by setattr
class Model(nn.Module):
    def forward(self, x):
        setattr(self, "last", x.detach())
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a cached property touched before the first compiled call
class Model(nn.Module):
    @functools.cached_property
    def table(self):
        return torch.arange(4.0)

    def forward(self, x):
        return x * self.table


def drive():
    model = Model()
    model.table  # noqa: B018
    return torch.compile(model), [(X,)]


# %% a sum that the loop begins, and the compiled code only adds to
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = None

    def forward(self, x):
        before = self.total
        self.total = self.total + x
        return before


def drive():
    model = Model()
    model.total = torch.zeros(2, 4)
    run = torch.compile(model)
    for _ in range(4):
        yield run(X)


# %% a first value that two classes share, one by its name
class Layer:
    def __init__(self):
        self.ready = False
        self.total = None

    def fill(self, x, y):
        self.total = x * 0
        self.ready = True  # expect: DYN104 once # expect: DYN104 once

    def update(self, x, y):
        if not self.ready:
            self.fill(x, y)
        before = self.total
        self.total = self.total + x
        return before


class Extra:
    def fill(self, x, y):
        self.other = True


class Mixed(Extra, Layer):
    def fill(self, *args, **kwargs):
        if len(args) == 2 and len(kwargs) == 0:
            Layer.fill(self, *args)
        if len(kwargs) > 0:
            Extra.fill(self, **kwargs)


class Block(nn.Module):
    def forward(self, x, layer: Layer):
        return layer.update(x, x)


class Other(nn.Module):
    def forward(self, x, layer: Mixed):
        return layer.update(x, x)


def drive():
    first, second = torch.compile(Block()), torch.compile(Other())
    layer, mixed = Layer(), Mixed()
    for _ in range(4):
        first(X, layer)
        yield second(X, mixed)


# %% a first value that a base called by its name gives, and nothing else
class Layer:
    def __init__(self):
        self.ready = False
        self.total = None

    def fill(self, x, y):
        self.total = x * 0
        self.ready = True  # expect: DYN104 once

    def update(self, x, y):
        if not self.ready:
            self.fill(x, y)
        self.total = self.total + x
        return self.total

    def length(self):
        return 0 if self.total is None else self.total.shape[0]


class Extra:
    def __init__(self):
        self.other = 0

    def fill(self, x, y):
        self.other = 1


class Mixed(Extra, Layer):
    def __init__(self):
        Layer.__init__(self)
        Extra.__init__(self)

    def fill(self, *args, **kwargs):
        if len(args) == 2 and len(kwargs) == 0:
            Layer.fill(self, *args)
        if len(kwargs) > 0:
            Extra.fill(self, **kwargs)


class Block(nn.Module):
    def forward(self, x, layer: Mixed):
        return layer.update(x, x) * layer.length()


def drive():
    run, mixed = torch.compile(Block()), Mixed()
    for _ in range(4):
        yield run(X, mixed)


# %% a flag of the base that static helpers and base methods lower
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.cold = True

    @staticmethod
    def scale(module, x):
        if module.cold:
            module.cold = False  # expect: DYN101 once
            return x * 2
        return x

    def run(self, x):
        return x + 1


class Model(Base):
    def run(self, x):
        return Base.run(self, x) * 2

    def forward(self, x):
        return Model.run(self, self.scale(self, x))


def drive():
    return torch.compile(Model()), [(X,)]


# %% a buffer that starts as None, which a helper asks for
def exists(value):
    return value is not None


class Bias(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("bias", None, persistent=False)

    def forward(self, x):
        if exists(self.bias) and self.bias.shape[-1] >= x.shape[-1]:
            return x + self.bias[..., : x.shape[-1]]
        bias = torch.arange(x.shape[-1]).neg().float()
        self.register_buffer("bias", bias, persistent=False)  # expect: DYN104 once
        return x + self.bias


def drive():
    run = torch.compile(Bias())
    for _ in range(12):
        yield run(X)
