"""What is passed to the compiled callable, call by call."""

import collections

import torch
import torch.nn.functional as F
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a step that nobody uses
class Model(nn.Module):
    def forward(self, x, step):
        return x * 2


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% a step that multiplies
class Model(nn.Module):
    def forward(self, x, step):
        return x * step  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% a step that multiplies, passed by name
class Model(nn.Module):
    def forward(self, x, step=0):
        return x * step  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, step=i)


# %% a step that is compared with a threshold
class Model(nn.Module):
    def forward(self, x, step):
        return x * 2 if step > 5 else x * 3  # expect: DYN109 per-value


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% a step that is only stored
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x, step):
        self.step = step  # expect: DYN109 once
        return x * 2


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% a number of rounds
class Model(nn.Module):
    def forward(self, x, rounds):
        for _ in range(rounds):  # expect: DYN109 storm
            x = x + 1
        return x


def drive():
    run = torch.compile(Model())
    for rounds in range(1, 13):
        yield run(X, rounds)


# %% a learning rate that multiplies
class Model(nn.Module):
    def forward(self, x, rate):
        return x * rate  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, 0.1 * (i + 1))


# %% a dropout rate
class Model(nn.Module):
    def forward(self, x, p):
        return F.dropout(x, p=p)  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, i / 20).shape


# %% a tag that nobody uses
class Model(nn.Module):
    def forward(self, x, tag):
        return x * 2


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, f"t{i}")


# %% a tag that is compared
class Model(nn.Module):
    def forward(self, x, tag):
        return x * 2 if tag == "t3" else x * 3  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, f"t{i}")


# %% a mode that is one of two
class Model(nn.Module):
    def forward(self, x, mode):
        return x * 2 if mode == "train" else x * 3  # expect: DYN109 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, "train" if i % 2 else "eval")


# %% a flag that flips
class Model(nn.Module):
    def forward(self, x, extra):
        return x * 2 if extra else x * 3  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, i % 4 == 0)


# %% a flag that is always the same
class Model(nn.Module):
    def forward(self, x, extra=False):
        return x * 2 if extra else x * 3


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, extra=True)


# %% a default that is never passed
class Model(nn.Module):
    def forward(self, x, k=3):
        return x * k


def drive():
    return torch.compile(Model()), [(X,)]


# %% a default that is passed at times
class Model(nn.Module):
    def forward(self, x, k=3):
        return x * k  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X) if i % 2 else run(X, 5)


# %% an argument by position and by name
class Model(nn.Module):
    def forward(self, x, k):
        return x * k


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, 3) if i % 2 else run(X, k=3)


# %% a slice bound
class Model(nn.Module):
    def forward(self, x, n):
        return x[:, :n].sum()  # expect: DYN109 per-value


def drive():
    run = torch.compile(Model())
    wide = torch.ones(2, 20)
    for n in range(1, 13):
        yield run(wide, n)


# %% a key of a dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gains = {k: float(k) for k in range(12)}

    def forward(self, x, k):
        return x * self.gains[k]  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for k in range(12):
        yield run(X, k)


# %% a step of a model compiled with static shapes
class Model(nn.Module):
    def forward(self, x, step):
        return x * step  # expect: DYN109 storm


def drive():
    run = torch.compile(Model(), dynamic=False)
    for step in range(12):
        yield run(X, step)


# %% tensors in a tuple of varying length
class Model(nn.Module):
    def forward(self, *xs):
        return sum(xs)  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for n in range(1, 13):
        yield run(*[X] * n)


# %% tensors in a list of varying length
class Model(nn.Module):
    def forward(self, xs):
        return torch.stack(xs).sum(0)  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for n in range(1, 13):
        yield run([X] * n)


# %% tensors in a list of one length
class Model(nn.Module):
    def forward(self, xs):
        return torch.stack(xs).sum(0)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run([X, X + 1])


# %% tensors stacked before the call
class Model(nn.Module):
    def forward(self, xs):
        return xs.sum(0)


def drive():
    run = torch.compile(Model(), dynamic=True)
    for n in range(5, 17):
        yield run(torch.stack([X] * n))


# %% a dict with changing keys
class Model(nn.Module):
    def forward(self, named):
        return sum(named.values())  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run({f"k{i}": X})


# %% a dict with a fixed key and others that change
class Model(nn.Module):
    def forward(self, named):
        return named["x"] * 2


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run({"x": X, f"k{i}": X})


# %% keywords that nobody uses
class Model(nn.Module):
    def forward(self, x, **options):
        return x * 2


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, **{f"k{i}": i})


# %% a tuple with names and a changing number
Batch = collections.namedtuple("Batch", ["n", "x"])


class Model(nn.Module):
    def forward(self, batch):
        return batch.x * batch.n  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for n in range(12):
        yield run(Batch(n, X))


# %% a set of numbers that changes
class Model(nn.Module):
    def forward(self, x, chosen):
        return x * 2 if 3 in chosen else x * 3  # expect: DYN109 storm


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, {1, i + 2})


# %% a new lambda each time
class Model(nn.Module):
    def forward(self, x, act):
        return act(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, lambda y: y + 1)


# %% a dtype that alternates
class Model(nn.Module):
    def forward(self, x, dtype):
        return x.to(dtype)  # expect: DYN109 per-value


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, torch.float64 if i % 2 else torch.float32)


# %% an optional tensor that comes at times
class Model(nn.Module):
    def forward(self, x, mask=None):
        return x * 2 if mask is None else x * mask  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, torch.ones(4) if i % 2 else None)


# %% a step as a tensor
class Model(nn.Module):
    def forward(self, x, step):
        return x * step


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, torch.tensor(float(i)))


# %% a step that goes to a compiled function
@torch.compile
def scale(x, step):
    return x * step  # expect: DYN109 once


def drive():
    for step in range(12):
        yield scale(X, step)


# %% a step that a helper consumes
def decay(x, step):
    return x / (step + 1)  # expect: DYN109 once


class Model(nn.Module):
    def forward(self, x, step):
        return decay(x, step)


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% an epoch that is enumerated
class Model(nn.Module):
    def forward(self, x, epoch: int):
        return x * epoch  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for epoch, batch in enumerate([X] * 12):
        yield run(batch, epoch)


# %% a constant that the loop passes
class Model(nn.Module):
    def forward(self, x, scale):
        return x * scale


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X, 3)


# %% a float that takes whole values
class Model(nn.Module):
    def forward(self, x, s):
        return x * s  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        yield run(X, float(i))


# %% an int in a format that never runs
class Model(nn.Module):
    def forward(self, x, step):
        if x.dim() > 5:
            raise ValueError(f"step {step}")
        return x * 2


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% the number of rows of a batch
class Model(nn.Module):
    def forward(self, x, rows):
        return x.sum() / rows  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        rows = i + 1
        yield run(X, rows)


# %% the length of a list
class Model(nn.Module):
    def forward(self, x, count):
        return x / count  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    seen = []
    for _ in range(12):
        seen.append(X)
        yield run(X, len(seen))


# %% a window in a named tuple that comes from a tensor
Meta = collections.namedtuple("Meta", ["longest"])


class Model(nn.Module):
    def forward(self, x, meta):
        return x.sum() * meta.longest  # expect: DYN109 once


def drive():
    run = torch.compile(Model())
    for i in range(12):
        lengths = torch.tensor([i, i + 1])
        yield run(X, Meta(int(lengths.max())))


# %% quiet: a changing number for the function itself, beside its compiled handle
def scaled(x, factor: int):
    return x * factor


def drive():
    run = torch.compile(scaled)
    for i in range(2, 14):
        scaled(X, i)
        yield run(X, 2)


# %% quiet: a changing number for the model itself, beside its compiled handle
class Model(nn.Module):
    def forward(self, x, factor: int):
        return x * factor


def drive():
    model = Model().eval()
    run = torch.compile(model)
    for i in range(2, 14):
        model(X, i)
        yield run(X, 2)


# %% a changing number for a model that is compiled under its own name
class Model(nn.Module):
    def forward(self, x, factor: int):
        return x * factor  # expect: DYN109 once


def drive():
    model = Model()
    model = torch.compile(model)
    for i in range(2, 14):
        yield model(X, i)


# %% a changing number for a function that is compiled under its own name
def enlarged(x, factor: int):
    return x * factor  # expect: DYN109 once


enlarged = torch.compile(enlarged)


def drive():
    for i in range(2, 14):
        yield enlarged(X, i)


# %% a cache that the first call does not get, with a default in a method
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x, cache=None):
        y = self.linear(x)
        return y if cache is None else y + cache[0], [y]


def drive():
    run = torch.compile(Model())
    with torch.no_grad():
        y, cache = run(X)
        for _ in range(11):
            y, cache = run(X, cache)  # expect: DYN109 once
            yield y


# %% a changing number for a model that is compiled in place
class Model(nn.Module):
    def forward(self, x, factor: int):
        return x * factor  # expect: DYN109 once


def drive():
    model = Model()
    model.compile()
    for i in range(2, 14):
        yield model(X, i)
