"""Names that are looked up while the code runs."""

import functools

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a method named by a string argument
class Model(nn.Module):
    def double(self, x):
        return x * 2

    def triple(self, x):
        return x * 3

    def forward(self, x, name):
        return getattr(self, name)(x)  # expect: DYN202 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, "double" if i % 2 else "triple")


# %% a table named by an int argument
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        for k in range(12):
            setattr(self, f"table_{k}", torch.full((4,), float(k)))

    def forward(self, x, k):
        return x * getattr(self, f"table_{k}")  # expect: DYN202 eager


def drive():
    run = torch.compile(Model())
    for k in range(12):
        yield run(X, k)


# %% a table named by an int argument through str
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        for k in range(12):
            setattr(self, "table_" + str(k), torch.full((4,), float(k)))

    def forward(self, x, k: int):
        return x * getattr(self, "table_" + str(k))  # expect: DYN202 break


def drive():
    run = torch.compile(Model())
    for k in range(12):
        yield run(X, k)


# %% a table named by an element of a tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table_0 = torch.ones(4)
        self.table_1 = torch.zeros(4)

    def forward(self, x, k):
        y = torch.relu(x)
        return y * getattr(self, f"table_{k.item()}")  # expect: DYN202 break


def drive():
    run = torch.compile(Model())
    for k in range(12):
        yield run(X, torch.tensor(k % 2))


# %% a method named by a constant of the model
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = "relu"

    def act_relu(self, x):
        return torch.relu(x)

    def forward(self, x):
        return getattr(self, "act_" + self.kind)(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% tables named by a loop over numbers
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table_0 = torch.ones(4)
        self.table_1 = torch.zeros(4)

    def forward(self, x):
        for k in range(2):
            x = x + getattr(self, f"table_{k}")
        return x


def drive():
    return torch.compile(Model()), [(X,)]


# %% a module chosen by a string argument
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4), "c": nn.Linear(4, 4)})

    def forward(self, x, head):
        return self.heads[head](x)  # expect: DYN109 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, "abc"[i % 3])


# %% an activation chosen from a table by a constant
ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.kind = "relu"

    def forward(self, x):
        return ACTIVATIONS[self.kind](x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a wrapped model behind __getattr__
class Inner:
    gain = 3


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)

    def forward(self, x):
        return x * self.gain


def drive():
    return torch.compile(Model()), [(X,)]


# %% a dict with attribute access
class Settings(dict):
    def __getattr__(self, name):
        return self[name]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.settings = Settings(gain=3)

    def forward(self, x):
        return x * self.settings.gain


def drive():
    return torch.compile(Model()), [(X,)]


# %% a submodule by its path
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.get_submodule("linear")(x)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a walk over the parameters
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        total = 0
        for name, weight in self.named_parameters():
            if name.endswith("weight"):
                total = total + weight.sum()
        return x * total


def drive():
    return torch.compile(Model()), [(X,)]


# %% a walk over the children
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.ReLU()

    def forward(self, x):
        for child in self.children():
            x = child(x)
        return x


def drive():
    return torch.compile(Model()), [(X,)]


# %% a memoised function of a constant
@functools.lru_cache(maxsize=None)
def table(n):  # expect: DYN304 stale note
    return torch.arange(n, dtype=torch.float32)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 4

    def forward(self, x):
        return x * table(self.n)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a missing attribute that an exception replaces
class Model(nn.Module):
    def forward(self, x):
        try:
            return x * self.never
        except AttributeError:
            return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% an attribute named by an element of a list on the model
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = ["a", "b"]
        self.a = torch.ones(4)
        self.b = torch.zeros(4)

    def forward(self, x):
        for name in self.names:
            x = x + getattr(self, name)
        return x


def drive():
    return torch.compile(Model()), [(X,)]


# %% quiet: a part that a base replaces in those of its heirs that have one
class Wrapping(nn.Module):
    def replace(self, part):
        self.wrapped = part

    def forward(self, x):
        wrapped = getattr(self, "wrapped", None)
        return x * 2 if wrapped is None else wrapped(x)


class WithPart(Wrapping):
    def __init__(self):
        super().__init__()
        self.wrapped = nn.Identity()


class Model(Wrapping):
    pass


def drive():
    other, run = WithPart(), torch.compile(Model())
    for i in range(12):
        if i == 4:
            other.replace(nn.ReLU())
        yield run(X)


# %% quiet: an attribute that the constructor of what holds a part sets on it
class Part(nn.Module):
    def forward(self, x):
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList()
        for keys in ((0,), (1,)):
            part = Part()
            part.keys = keys
            self.parts.append(part)

    def forward(self, x):
        for part in self.parts:
            if hasattr(part, "keys"):
                x = part(x)
        return x


def drive():
    return torch.compile(Model()), [(X,)]


# %% keys that a setter keeps, which the constructor runs
class Transform(nn.Module):
    def __init__(self, keys):
        super().__init__()
        self.in_keys = keys

    @property
    def in_keys(self):
        keys = self.__dict__.get("_in_keys", None)
        return [] if keys is None else keys

    @in_keys.setter
    def in_keys(self, keys):
        self._in_keys = list(keys)

    def forward(self, x):
        return x * (1 + len(self.in_keys))


def drive():
    model = torch.compile(Transform(["a", "b"]))
    for _ in range(4):
        yield model(X)
