"""Compiled classes whose calls run through one and the same code object."""

import functools

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


class Stack(nn.Module):
    def __init__(self, *kinds):
        super().__init__()
        self.blocks = nn.ModuleList([kind() for kind in kinds])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


# %% one wrapper around the forward of every subclass
class Wrapped(nn.Module):
    noisy = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward

        @functools.wraps(forward)
        def around(self, *args, **kwargs):  # expect: DYN108 per-instance
            if self.noisy and self.training:
                args = tuple(a + 0.1 for a in args)
            return forward(self, *args, **kwargs)

        cls.forward = around


class Encoder(Wrapped):
    def forward(self, x):
        return x + 1


class Decoder(Wrapped):
    def forward(self, x):
        return x * 2


def drive():
    encoder, decoder = Encoder(), Decoder()
    encoder.compile()
    decoder.compile()
    for _ in range(3):
        yield decoder(encoder(X))


# %% one wrapper around the forward of every subclass, of which one is compiled
class Wrapped(nn.Module):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward

        @functools.wraps(forward)
        def around(self, *args, **kwargs):
            return forward(self, *args, **kwargs)

        cls.forward = around


class Encoder(Wrapped):
    def forward(self, x):
        return x + 1


class Decoder(Wrapped):
    def forward(self, x):
        return x * 2


def drive():
    encoder, decoder = Encoder(), Decoder()
    encoder.compile()
    for _ in range(3):
        yield decoder(encoder(X))


# %% one wrapper around the forward of every subclass, called inside a compiled model
class Wrapped(nn.Module):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward

        @functools.wraps(forward)
        def around(self, *args, **kwargs):
            return forward(self, *args, **kwargs)

        cls.forward = around


class Encoder(Wrapped):
    def forward(self, x):
        return x + 1


class Decoder(Wrapped):
    def forward(self, x):
        return x * 2


def drive():
    model = Stack(Encoder, Decoder)
    model.compile()
    for _ in range(3):
        yield model(X)


# %% a hook for subclasses that leaves their forward alone
class Registered(nn.Module):
    kinds = []

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        Registered.kinds.append(cls)


class Encoder(Registered):
    def forward(self, x):
        return x + 1


class Decoder(Registered):
    def forward(self, x):
        return x * 2


def drive():
    encoder, decoder = Encoder(), Decoder()
    encoder.compile()
    decoder.compile()
    for _ in range(3):
        yield decoder(encoder(X))


# %% a forward that two compiled classes inherit
class Base(nn.Module):
    def forward(self, x):  # expect: DYN108 per-instance
        return self.mix(x) + 1


class Plus(Base):
    def mix(self, x):
        return x + 2


class Times(Base):
    def mix(self, x):
        return x * 2


def drive():
    plus, times = Plus(), Times()
    plus.compile()
    times.compile()
    for _ in range(3):
        yield times(plus(X))


# %% a forward that two compiled classes inherit, each compiled on its own
class Base(nn.Module):
    def forward(self, x):
        return self.mix(x) + 1


class Plus(Base):
    def mix(self, x):
        return x + 2


class Times(Base):
    def mix(self, x):
        return x * 2


def drive():
    plus, times = Plus(), Times()
    plus.compile(isolate_recompiles=True)
    times.compile(isolate_recompiles=True)
    for _ in range(3):
        yield times(plus(X))


# %% heirs with a forward each
class Base(nn.Module):
    def forward(self, x):
        return x + 1


class Plus(Base):
    def forward(self, x):
        return super().forward(x) + 2


class Times(Base):
    def forward(self, x):
        return super().forward(x) * 2


def drive():
    plus, times = Plus(), Times()
    plus.compile()
    times.compile()
    for _ in range(3):
        yield times(plus(X))


# %% a decorator that wraps the forward of two compiled classes
def scaled(forward):
    @functools.wraps(forward)
    def around(self, x):  # expect: DYN108 per-instance
        return forward(self, x) * 0.5

    return around


class Encoder(nn.Module):
    @scaled
    def forward(self, x):
        return x + 1


class Decoder(nn.Module):
    @scaled
    def forward(self, x):
        return x * 2


def drive():
    encoder, decoder = Encoder(), Decoder()
    encoder.compile()
    decoder.compile()
    for _ in range(3):
        yield decoder(encoder(X))


# %% a decorator that gives back the function itself
def documented(forward):
    forward.__doc__ = "What a block does."
    return forward


class Encoder(nn.Module):
    @documented
    def forward(self, x):
        return x + 1


class Decoder(nn.Module):
    @documented
    def forward(self, x):
        return x * 2


def drive():
    encoder, decoder = Encoder(), Decoder()
    encoder.compile()
    decoder.compile()
    for _ in range(3):
        yield decoder(encoder(X))


# %% a class decorator that wraps the forward of what it decorates
def scaled(cls):
    forward = cls.forward

    @functools.wraps(forward)
    def around(self, x):  # expect: DYN108 per-instance
        return forward(self, x) * 0.5

    cls.forward = around
    return cls


@scaled
class Encoder(nn.Module):
    def forward(self, x):
        return x + 1


@scaled
class Decoder(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    encoder, decoder = Encoder(), Decoder()
    encoder.compile()
    decoder.compile()
    for _ in range(3):
        yield decoder(encoder(X))


# %% a forward that two classes inherit, compiled by two programs
class Base(nn.Module):
    def forward(self, x):
        return self.mix(x) + 1


class Plus(Base):
    def mix(self, x):
        return x + 2


class Times(Base):
    def mix(self, x):
        return x * 2


def another_program():
    times = Times()
    times.compile()
    return times(X)


def drive():
    plus = Plus()
    plus.compile()
    for _ in range(3):
        yield plus(X)


# %% quiet: a forward that two classes inherit, of which a program chooses one to compile
class Base(nn.Module):
    def forward(self, x):
        return self.act(x)


class Relu(Base):
    def act(self, x):
        return torch.relu(x)


class Tanh(Base):
    def act(self, x):
        return torch.tanh(x)


def make(name):
    return {"relu": Relu, "tanh": Tanh}[name]()


def drive():
    run = torch.compile(make("tanh"))
    for _ in range(3):
        yield run(X)


# %% quiet: a method that a class compiles of itself, of which a program has the class or an heir
class Model(nn.Module):
    def core(self, x):
        return self.act(x)

    def act(self, x):
        return torch.relu(x)

    def forward(self, x):
        return self.core(x) + 1

    def prepare(self):
        self.core = torch.compile(self.core)
        return self


class Heir(Model):
    def act(self, x):
        return torch.tanh(x)


class Last(Heir):
    pass


def load(name):
    model = {"model": Model, "heir": Heir, "last": Last}[name]()
    return model.prepare()


def drive():
    model = load("last")
    for _ in range(3):
        yield model(X)


# %% a method that a class compiles of itself, for the class and an heir in one program
class Model(nn.Module):
    def core(self, x):  # expect: DYN108 per-instance
        return self.act(x)

    def act(self, x):
        return torch.relu(x)

    def forward(self, x):
        return self.core(x) + 1

    def prepare(self):
        self.core = torch.compile(self.core)
        return self


class Heir(Model):
    def act(self, x):
        return torch.tanh(x)


def drive():
    first, second = Model().prepare(), Heir().prepare()
    for _ in range(3):
        yield second(first(X))


# %% a forward that two classes inherit, compiled by one line that runs for each
class Base(nn.Module):
    def forward(self, x):  # expect: DYN108 per-instance
        return self.act(x)


class Relu(Base):
    def act(self, x):
        return torch.relu(x)


class Tanh(Base):
    def act(self, x):
        return torch.tanh(x)


def make(name):
    return {"relu": Relu, "tanh": Tanh}[name]()


def compiled(name):
    return torch.compile(make(name))


def drive():
    first, second = compiled("tanh"), compiled("relu")
    for _ in range(3):
        yield second(first(X))
