"""Graph breaks after which Dynamo compiles every layer by itself, and those after which it goes on."""

import logging
import time
import warnings
from dataclasses import dataclass

import torch
from torch import nn

logger = logging.getLogger("quiet")
logger.setLevel(logging.CRITICAL)
X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


@torch.compiler.disable
def by_hand(x):
    return x + 1


# %% a print in the loop over the layers
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            print(end="")  # expect: DYN401 break
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print before the loop over the layers
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        print(end="")  # expect: DYN401 break
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print after the loop over the layers
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        x = x + 1
        print(end="")  # expect: DYN401 break
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a logger in the loop
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            logger.info("layer")  # expect: DYN401 break
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a warning in the loop
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            warnings.warn("layer", stacklevel=2)  # expect: DYN401 break
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% the time in the loop
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            began = time.time()  # expect: DYN401 break
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a disabled function in the loop
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(by_hand(x))  # expect: DYN406 break
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a disabled function before the loop
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        x = by_hand(x)  # expect: DYN406 break
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% layers that are dropped by a coin
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            coin = torch.rand([])
            if coin < 0.0:  # expect: DYN403 break
                continue
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% layers that are dropped by a coin in training alone
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            drop = False
            if self.training:
                coin = torch.rand([])
                drop = coin < 0.0
            if not drop:  # expect: DYN403 break
                x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a rate that the constructor sets above zero
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.rate = 0.1

    def forward(self, x):
        for layer in self.layers:
            skip = False
            if self.training and self.rate > 0.0:
                coin = torch.rand([])
                skip = coin < -1.0
            if not skip:  # expect: DYN403 break
                x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a rate that the constructor sets to zero
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.rate = 0.0

    def forward(self, x):
        for layer in self.layers:
            skip = False
            if self.training and self.rate > 0.0:
                coin = torch.rand([])
                skip = coin < -1.0
            if not skip:
                x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a rate that a configuration gives by default
@dataclass
class Config:
    rate: float = 0.1


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.config = Config()

    def forward(self, x):
        for layer in self.layers:
            skip = False
            if self.training and self.config.rate > 0.0:
                coin = torch.rand([])
                skip = coin < -1.0
            if not skip:  # expect: DYN403 break
                x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a rate that a configuration leaves at zero
@dataclass
class Config:
    rate: float = 0.0


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.config = Config()

    def forward(self, x):
        for layer in self.layers:
            skip = False
            if self.training and self.config.rate > 0.0:
                coin = torch.rand([])
                skip = coin < -1.0
            if not skip:
                x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a coin that is asked for its value
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            coin = torch.rand([]).item()  # expect: DYN402 break
            if coin < 0.0:
                continue
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print that a flag turns off
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.noisy = False

    def forward(self, x):
        for layer in self.layers:
            if self.noisy:
                print("layer")
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print on a path that an argument takes
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            if x.shape[0] > 100:
                print("layer")  # expect: DYN401 break note
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print while nothing is compiled
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            if not torch.compiler.is_compiling():
                print("layer")
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print behind a return that is taken
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.quick = True

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        if self.quick:
            return x
        for layer in self.layers:
            print("again")
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print behind a continue that is taken
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.quiet = True

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            if self.quiet:
                continue
            print("layer")
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print for each of no callbacks
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))
        self.callbacks = []

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            for callback in self.callbacks:
                print(callback)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a loop of other things breaks in a function of its own before the layers
def report(x):
    print(end="")  # expect: DYN401 break
    return x


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        x = report(x)
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a function that prints is called in the loop
def report(x):
    print(end="")  # expect: DYN401 break
    return x


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(report(x))
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print in the layer itself
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        y = x * self.number  # expect: DYN107 per-instance
        print(end="")  # expect: DYN401 break
        return y + x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print in a part of the layer
class Part(nn.Module):
    def forward(self, x):
        x = x + 1
        print(end="")  # expect: DYN401 break
        return x * 2


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number
        self.part = Part()

    def forward(self, x):
        return self.part(x) * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print in the layers of a comprehension
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        y = x * self.number  # expect: DYN107 per-instance
        print(end="")  # expect: DYN401 break
        return y + x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        return sum([layer(x) for layer in self.layers])


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print in layers that are called one by one
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        y = x * self.number  # expect: DYN107 per-instance
        print(end="")  # expect: DYN401 break
        return y + x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        x = self.layers[0](x)
        x = self.layers[1](x)
        return self.layers[2](x)


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print in a try around the layers
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        try:
            print(end="")  # expect: DYN401 break
            for layer in self.layers:
                x = layer(x)
        finally:
            x = x + 1
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a print in a context that Dynamo knows
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        with torch.no_grad():
            print(end="")  # expect: DYN401 break
            x = x + 1
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% positions of what is not zero
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor):
        hits = (x > 0).nonzero()  # expect: DYN404 break
        return x * self.number + hits.sum()  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a list of a tensor's numbers
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor):
        counts = (x > 0).sum(0).tolist()  # expect: DYN402 break
        return x * self.number + len(counts)  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a test on a tensor
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor):
        if torch.isnan(x).any():  # expect: DYN403 break
            x = torch.zeros_like(x)
        return x * self.number  # expect: DYN107 per-instance


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a test on the shape of a tensor
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor):
        if x.sum(0).shape[0] > 100:
            x = torch.zeros_like(x)
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a tensor that is there
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor):
        y = x.sum()
        if y is not None:
            x = x + y
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% an assertion on a tensor
class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x: torch.Tensor):
        assert x.sum() < 1e9
        return x * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a test on a parameter that may be a number
def scaled(x, rate):
    return x * 2 if rate > 0 else x


class Layer(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return scaled(x, 1) * self.number


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer(number) for number in range(3, 6))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% two classes of layers under one wrapper, with a break in both loops
class Wrapped(nn.Module):
    noisy = False

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward

        def around(self, x):
            if self.noisy and self.training:
                x = x + 0.1
            return forward(self, x)  # expect: DYN108 per-instance

        cls.forward = around


class First(Wrapped):
    def forward(self, x):
        return x + 1


class Second(Wrapped):
    def forward(self, x):
        return x * 2


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(First() for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            print(end="")  # expect: DYN401 break
            x = layer(x)
        return x


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Second() for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            print(end="")  # expect: DYN401 break
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.decoder = Decoder()

    def forward(self, x):
        return self.decoder(self.encoder(x))


def drive():
    model = torch.compile(Model())
    for _ in range(3):
        yield model(X)


# %% a threshold in a buffer that a closure of the caller compares
class Redraw(nn.Module):
    def __init__(self, interval):
        super().__init__()
        self.interval = interval
        self.register_buffer("calls", torch.tensor(0))

    def redraw(self):
        if self.interval is not None and self.calls >= self.interval:  # expect: DYN403 break
            self.calls.zero_()
        self.calls += 1


def wrapped(model, redraw):
    def run(x):
        redraw()
        return model(x) * 2

    return run


def drive():
    run = torch.compile(wrapped(nn.Linear(4, 4), Redraw(1000).redraw))
    for _ in range(12):
        yield run(X)


# %% quiet: a threshold that is compared with the number of rows
class Rows(nn.Module):
    def __init__(self, most):
        super().__init__()
        self.most = most

    def forward(self, x):
        if x.dim() == 2 and x.shape[0] >= self.most and x.is_floating_point():
            return x - 1
        return x + 1


def drive():
    run = torch.compile(Rows(4))
    for _ in range(12):
        yield run(X)


# %% a place in a buffer that a part behind a closure takes as a number
class Bank(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("place", torch.zeros(1, dtype=torch.long))
        self.register_buffer("rows", torch.zeros(8, 4))

    def push(self, x):
        place = int(self.place)  # expect: DYN402 break
        self.rows[place] = x[0].detach()  # expect: DYN109 per-value note


def pushing(model, push):
    def run(x):
        push(x)
        return model(x) * 2

    return run


def drive():
    run = torch.compile(pushing(nn.Linear(4, 4), Bank().push))
    for _ in range(12):
        yield run(X)


# %% quiet: a number of rows that a part behind a closure takes as a number
class Counted(nn.Module):
    def push(self, x):
        return int(x.shape[0]) + int(x.dim())


def counting(model, push):
    def run(x):
        return model(x) * push(x)

    return run


def drive():
    run = torch.compile(counting(nn.Linear(4, 4), Counted().push))
    for _ in range(12):
        yield run(X)


# %% a buffer that a part behind a closure makes require a gradient
class Zero(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("zero", torch.zeros(1))

    def loss(self):
        total = self.zero
        total.requires_grad_()  # expect: DYN408 break  # expect: DYN110 once note
        return total


def adding(model, loss):
    def run(x):
        return model(x) + loss()

    return run


def drive():
    run = torch.compile(adding(nn.Linear(4, 4), Zero().loss))
    for _ in range(12):
        yield run(X)


# %% quiet: a parameter that a part behind a closure makes require the gradient it has
class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.zero = nn.Parameter(torch.zeros(1))

    def loss(self):
        total = self.zero
        total.requires_grad_()
        return total


def joining(model, loss):
    def run(x):
        return model(x) + loss()

    return run


def drive():
    run = torch.compile(joining(nn.Linear(4, 4), Kept().loss))
    for _ in range(12):
        yield run(X)


# %% a counter that the part behind a break uses
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        doubled = x * 2
        print(end="")  # expect: DYN401 break
        self.steps += 1  # expect: DYN101 storm
        return doubled * self.steps


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a number that a tensor tells, and the part behind it computes with
class Model(nn.Module):
    def forward(self, x):
        top = x.max().item()  # expect: DYN402 break
        return x / top  # expect: DYN109 once note


def drive():
    run = torch.compile(Model())
    for number in range(12):
        yield run(X * (number + 1))


# %% a number of rows that differs between calls in a frame that a break leaves
def pick(x, rows):
    return x[:rows].sum() * rows  # expect: DYN109 per-value


class Model(nn.Module):
    def forward(self, x):
        parts = []
        for rows in (1, 2):
            parts.append(pick(x, rows))
            print(end="")  # expect: DYN401 break
        return parts[0] + parts[1]


def drive():
    run = torch.compile(Model())
    for _ in range(4):
        yield run(X)


# %% a flag of a function that breaks, turned by its caller
def report(x, loud):
    if loud:  # expect: DYN109 once note
        x = x + 1
    print(end="")  # expect: DYN401 break
    return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.loud = False

    def forward(self, x):
        return report(x, self.loud) + 1


def drive():
    model = Model()
    run = torch.compile(model)
    for number in range(6):
        model.loud = number > 3  # expect: DYN102 once note
        yield run(X)


# %% quiet: a counter in a frame that a break in a loop leaves
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        for _ in range(2):
            x = double(x)
            torch._dynamo.graph_break()  # expect: DYN406 break
            self.seen += 1
        return x


def double(x):
    return x * 2


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: a counter that is read before a break and not used behind it
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        seen = self.seen
        self.last = x.shape[0]
        print(end="")  # expect: DYN401 break
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        model.seen += 1
        yield run(X)


# %% a break on a path that only the first version takes
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        return self.checked(x) * self.scale

    def checked(self, x):
        if self.training and x.sum() > 100:  # expect: DYN403 break
            x = x * 0.5
        return x


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(3):
        yield run(X)
    model.eval()  # expect: DYN110 once
    for _ in range(6):
        yield run(X)


# %% a loop in which a later version breaks, so that the function is left for good
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = 0.0

    def forward(self, x):
        for index in range(2):
            if self.drop > 0 and x.sum() < self.drop * index:  # expect: DYN403 eager
                continue
            x = x * 2
        return x


def drive():
    model = Model()
    run = torch.compile(model)
    for number in range(12):
        model.drop = 0.0 if number < 6 else 0.2  # expect: DYN102 once
        yield run(X)


# %% a step in which a later version breaks and Dynamo goes on
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = 0.0

    def forward(self, x):
        x = x * 2
        if self.drop > 0 and x.sum() < self.drop:  # expect: DYN403 break
            x = x * 3
        return x + 1


def drive():
    model = Model()
    run = torch.compile(model)
    for number in range(12):
        model.drop = 0.0 if number < 6 else 0.2  # expect: DYN102 once
        yield run(X)


# %% two classes of layers under one wrapper, of which a model has one
class Wrapped(nn.Module):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        forward = cls.forward

        def around(self, x):
            return forward(self, x) * 2

        cls.forward = around


class First(Wrapped):
    def forward(self, x):
        return x + 1


class Second(Wrapped):
    def forward(self, x):
        return x * 2


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(First() for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            print(end="")  # expect: DYN401 break
            x = layer(x)
        return x


class Stable(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Second() for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            print(end="")  # expect: DYN401 break
            x = layer(x)
        return x


class Model(nn.Module):
    def __init__(self, stable):
        super().__init__()
        if stable:
            self.encoder = Stable()
        else:
            self.encoder = Plain()

    def forward(self, x):
        return self.encoder(x)


def drive():
    model = torch.compile(Model(False))
    for _ in range(3):
        yield model(X)
