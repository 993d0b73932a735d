"""Lists, dicts, sets and queues that outlive the call."""

import collections

import torch
from torch import nn

X = torch.linspace(-1.0, 1.0, 8).reshape(2, 4)


# %% a list of losses that grows
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list of losses that the loop clears before each call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())
        return x * 2


def drive():
    model = Model()
    step = torch.compile(model)
    for _ in range(12):
        model.losses.clear()
        yield step(X), len(model.losses)


# %% a list of losses that the call begins anew
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses = []
        self.losses.append(x.mean())
        self.losses.append(x.std())
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list of losses that the call clears when it is done
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        for scale in (1, 2):
            self.losses.append(x.mean() * scale)
        total = sum(self.losses)
        self.losses.clear()
        return x * total


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list of losses that the next call clears
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.clear()
        for scale in (1, 2):
            self.losses.append(x.mean() * scale)  # expect: DYN105 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list of sizes that grows
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.sizes = []

    def forward(self, x):
        self.sizes.append(x.shape[0])  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list that grows by +=
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen += [x.sum()]  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list rebuilt one longer
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        self.history = self.history + [x.sum()]  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list rebuilt with at most three elements
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.history = []

    def forward(self, x):
        self.history = (self.history + [x.sum()])[-3:]  # expect: DYN105 per-value
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a queue without an end
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.queue = collections.deque()

    def forward(self, x):
        self.queue.append(x.sum())  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a queue of at most three
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.queue = collections.deque(maxlen=3)

    def forward(self, x):
        self.queue.append(x.sum())  # expect: DYN105 per-value
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list on the class
class Model(nn.Module):
    shared = []

    def forward(self, x):
        self.shared.append(x.sum())  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list that the loop clears every third call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())  # expect: DYN105 per-value
        return x * 2


def drive():
    model = Model()
    step = torch.compile(model)
    for i in range(12):
        if i % 3 == 0:
            model.losses.clear()
        yield step(X)


# %% a dict that starts empty and then keeps its keys
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {}

    def forward(self, x):
        self.stats.update({"loss": x.mean(), "top": x.max()})  # expect: DYN105 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a dict filled by layer number, always the same numbers
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.features = {}

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            self.features[i] = x  # expect: DYN105 once
        return x


def drive():
    return torch.compile(Model()), [(X,)]


# %% a dict overwritten under a key that is there
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {"loss": torch.zeros(())}

    def forward(self, x):
        self.stats["loss"] = x.mean()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a dict keyed by the number of the call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.log = {}

    def forward(self, x):
        self.log[len(self.log)] = x.mean()  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a cache of tables by length
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = {}

    def forward(self, x):
        n = x.shape[0]
        if n not in self.cache:
            self.cache[n] = torch.arange(n, dtype=x.dtype)  # expect: DYN105 per-value
        return x * self.cache[n].unsqueeze(-1)


def drive():
    step = torch.compile(Model())
    for n in (2, 3, 4, 5, 6, 7, 2, 3, 4, 5, 6, 7):
        yield step(torch.ones(n, 4))


# %% a set of numbers that grows
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def forward(self, x):
        self.seen.add(len(self.seen))  # expect: DYN105 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a tensor in a dict, updated in place
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.state = {"n": torch.zeros(())}

    def forward(self, x):
        self.state["n"].add_(1)
        return x * self.state["n"]


def drive():
    return torch.compile(Model()), [(X,)]


# %% a local list
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x):
        outputs = []
        for layer in self.layers:
            x = layer(x)
            outputs.append(x)
        return torch.stack(outputs)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list of losses that a submodule fills and its parent empties within the call
class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.losses = []

    def forward(self, x):
        self.losses.append(x.mean())
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        y = self.router(x)
        loss = torch.stack(self.router.losses).sum()
        self.router.losses.clear()
        return y + loss


def drive():
    return torch.compile(Model()), [(X,)]


# %% a module list that grows between calls
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4)])

    def forward(self, x):
        for layer in self.layers:  # expect: DYN105 storm
            x = layer(x)
        return x


def drive():
    model = Model()
    step = torch.compile(model)
    for _ in range(12):
        yield step(X)
        model.layers.append(nn.Linear(4, 4))


# %% a list that is popped from
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.todo = [torch.ones(4) for _ in range(20)]

    def forward(self, x):
        return x * self.todo.pop()  # expect: DYN105 storm


def drive():
    return torch.compile(Model()), [(X,)]


# %% a list of outputs in a helper object
class Recorder:
    def __init__(self):
        self.values = []

    def record(self, value):
        self.values.append(value)  # expect: DYN105 storm


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.recorder = Recorder()

    def forward(self, x):
        self.recorder.record(x.mean())
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a default list of a layer within another
class Recording(nn.Module):
    def forward(self, x, seen=[]):  # noqa: B006
        seen.append(1)  # expect: DYN105 storm
        return x * len(seen)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.recording = Recording()

    def forward(self, x):
        return self.recording(x) + 1


def drive():
    return torch.compile(Net()), [(X,)]


# %% a default list of a static method
class Net(nn.Module):
    @staticmethod
    def noted(x, seen=[]):  # noqa: B006
        seen.append(1)  # expect: DYN105 storm
        return x * len(seen)

    def forward(self, x):
        return self.noted(x) + 1


def drive():
    return torch.compile(Net()), [(X,)]


# %% a default list of a method that is inherited
class Base(nn.Module):
    def forward(self, x, seen=[]):  # noqa: B006
        seen.append(1)  # expect: DYN105 storm
        return x * len(seen)


class Net(Base):
    def forward(self, x):
        return super().forward(x) + 1


def drive():
    return torch.compile(Net()), [(X,)]


# %% a cache keyed by shape in a default dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hits = collections.defaultdict(int)

    def forward(self, x):
        self.hits["calls"] += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]
