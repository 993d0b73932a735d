"""Numbers, flags and strings that the compiled code changes itself."""

import collections
import dataclasses
import enum
import itertools

import torch
from torch import nn

X = torch.linspace(-1.0, 1.0, 8).reshape(2, 4)


# %% an int counter whose value nobody uses
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Counter()), [(X,)]


# %% an int counter compared with a threshold it will pass
class Warmup(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def forward(self, x):
        self.steps += 1  # expect: DYN101 storm
        if self.steps > 3:
            return x * 2
        return x * 3


def drive():
    model = Warmup()
    step = torch.compile(model)
    for _ in range(12):
        yield step(X)


# %% an int counter that starts from a constructor argument, in long form
class Clock(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.now = start

    def forward(self, x):
        self.now = self.now + 1  # expect: DYN101 storm
        return x + 1


def drive():
    return torch.compile(Clock(5)), [(X,)]


# %% an int counter on a model that is compiled in place
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # expect: DYN101 storm
        return torch.relu(x)


def drive():
    model = Counter()
    model.forward = torch.compile(model.forward)
    for _ in range(12):
        yield model(X)


# %% an int counter in a decorated forward
class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    @torch.compile
    def forward(self, x):
        self.calls -= 1  # expect: DYN101 storm
        return torch.relu(x)


def drive():
    model = Counter()
    for _ in range(12):
        yield model(X)


# %% a float average that is only carried on
class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = 0.0

    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Average()), [(X,)]


# %% a float average that scales the output
class Average(nn.Module):
    def __init__(self):
        super().__init__()
        self.ema = 0.5

    def forward(self, x):
        self.ema = 0.9 * self.ema + 0.1  # expect: DYN101 storm
        return x * self.ema


def drive():
    return torch.compile(Average()), [(X,)]


# %% a float counter that nobody uses
class Hours(nn.Module):
    def __init__(self):
        super().__init__()
        self.hours = 0.0

    def forward(self, x):
        self.hours += 1.0  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Hours()), [(X,)]


# %% a float that halves until it rests
class Cooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.alpha = 1.0

    def forward(self, x):
        self.alpha = max(self.alpha * 0.5, 0.2)  # expect: DYN101 per-value
        return x * self.alpha


def drive():
    return torch.compile(Cooling()), [(X,)]


# %% a tag formatted from a counter
class Tagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 0
        self.tag = ""

    def forward(self, x):
        self.k += 1  # expect: DYN101 storm
        self.tag = f"step{self.k}"
        return x * 2


def drive():
    return torch.compile(Tagged()), [(X,)]


# %% a string that alternates
class Alternating(nn.Module):
    def __init__(self):
        super().__init__()
        self.phase = "up"

    def forward(self, x):
        if self.phase == "up":
            self.phase = "down"  # expect: DYN101 per-value
            return x + 1
        self.phase = "up"
        return x - 1


def drive():
    return torch.compile(Alternating()), [(X,)]


# %% a number filled in on the first call
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = None

    def forward(self, x):
        if self.factor is None:
            self.factor = 3  # expect: DYN104 once
        return x * self.factor


def drive():
    return torch.compile(Scale()), [(X,)]


# %% an enum that takes turns
class Turn(enum.Enum):
    RED = 0
    GREEN = 1
    BLUE = 2


class Lights(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = Turn.RED

    def forward(self, x):
        if self.turn is Turn.RED:
            self.turn = Turn.GREEN  # expect: DYN101 per-value
            return x + 1
        if self.turn is Turn.GREEN:
            self.turn = Turn.BLUE
            return x + 2
        self.turn = Turn.RED
        return x + 3


def drive():
    return torch.compile(Lights()), [(X,)]


# %% a pair of numbers that moves on
class Window(nn.Module):
    def __init__(self):
        super().__init__()
        self.window = (0, 1)

    def forward(self, x):
        self.window = (self.window[1], self.window[1] + 1)  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Window()), [(X,)]


# %% a counter on a helper object
class Stats:
    def __init__(self):
        self.step = 0


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = Stats()

    def forward(self, x):
        self.stats.step += 1  # expect: DYN101 storm
        return x * self.stats.step


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter on a dataclass
@dataclasses.dataclass
class Progress:
    step: int = 0
    epoch: int = 0


class Model(nn.Module):
    def __init__(self, progress):
        super().__init__()
        self.progress = progress

    def forward(self, x):
        self.progress.step += 1  # expect: DYN101 storm
        return x * self.progress.step


def drive():
    return torch.compile(Model(Progress())), [(X,)]


# %% a counter on an object that arrives as an argument
class Clock:
    def __init__(self):
        self.tick = 0


class Model(nn.Module):
    def forward(self, x, clock: Clock):
        clock.tick += 1  # expect: DYN101 once
        return x * clock.tick


def drive():
    clock = Clock()
    step = torch.compile(Model())
    for _ in range(12):
        yield step(X, clock)


# %% a counter on a submodule
class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = 0

    def forward(self, x):
        return x * 2


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        self.inner.used += 1  # expect: DYN101 storm
        return self.inner(x)


def drive():
    return torch.compile(Outer()), [(X,)]


# %% a counter on the class
class Model(nn.Module):
    n = 0

    def forward(self, x):
        self.__class__.n += 1  # expect: DYN101 storm
        return x * self.__class__.n


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter on the class, by its name
class Model(nn.Module):
    served = 0

    def forward(self, x):
        Model.served += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter that begins as a class attribute
class Model(nn.Module):
    calls: int = 0

    def forward(self, x):
        self.calls += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% an iterator that counts
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.numbers = itertools.count()
        self.step = 0

    def forward(self, x):
        self.step = next(self.numbers)  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = {"n": 0, "loss": None}

    def forward(self, x):
        self.stats["n"] += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in an ordered dict
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.stats = collections.OrderedDict(n=0)

    def forward(self, x):
        self.stats["n"] = self.stats["n"] + 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a list
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.counts = [0, 0]

    def forward(self, x):
        self.counts[1] += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a helper method
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self._tick()
        return x * 2

    def _tick(self):
        self.n += 1  # expect: DYN101 storm


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a base class
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x


class Model(Counted):
    def forward(self, x):
        return super().forward(x) * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a mixin
class Ticks:
    ticks = 0

    def tick(self):
        self.ticks += 1  # expect: DYN101 storm


class Model(Ticks, nn.Module):
    def forward(self, x):
        self.tick()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in a function that gets the module
def bump(module):
    module.n += 1  # expect: DYN101 storm


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        bump(self)
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter behind a property
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    @property
    def count(self):
        self._n += 1  # expect: DYN101 storm
        return self._n

    def forward(self, x):
        return x * self.count


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter behind a property setter
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    @property
    def count(self):
        return self._n

    @count.setter
    def count(self, value):
        self._n = value  # expect: DYN101 storm

    def forward(self, x):
        self.count = self.count + 1
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter of training steps
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.training:
            self.n += 1  # expect: DYN101 storm
        return x * 2


def drive():
    model = Model()
    model.train()
    step = torch.compile(model)
    for _ in range(12):
        yield step(X)


# %% a counter of training steps in a model that only evaluates
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.training:
            self.n += 1
        return x * 2


def drive():
    model = Model().eval()
    step = torch.compile(model)
    for _ in range(12):
        yield step(X)


# %% a counter written through the namespace
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.__dict__["n"] += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter written by setattr
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        setattr(self, "n", self.n + 1)  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter created on the first call
class Model(nn.Module):
    def forward(self, x):
        if not hasattr(self, "n"):
            self.n = 0
        self.n += 1  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter that stops, but above the limit
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if self.n < 10:
            self.n += 1  # expect: DYN101 storm
        return x * 2


def drive():
    step = torch.compile(Model())
    for _ in range(24):
        yield step(X)


# %% a parent that storms around a child that does not
class Child(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.child = Child()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return self.child(x) * 2


def drive():
    return torch.compile(Parent()), [(X,)]


# %% the largest length so far
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.longest = 0

    def forward(self, x):
        self.longest = max(self.longest, x.shape[0])  # expect: DYN101 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a number that becomes a tensor
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.total = 0

    def forward(self, x):
        self.total = self.total + x.sum()  # expect: DYN103 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter that one call resets and takes up again
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = 0

    def forward(self, x):
        self.seen = 0
        for _ in range(3):
            self.seen += 1
        return x * self.seen


def drive():
    return torch.compile(Model()), [(X,)]


# %% a flag that is up only during the call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.busy = False

    def forward(self, x):
        self.busy = True
        y = x * 2 if self.busy else x
        self.busy = False
        return y


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter kept with the config option for such ints
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    @torch._dynamo.patch_dynamo_config(allow_unspec_int_on_nn_module=True)  # expect: DYN508 break note
    def forward(self, x):
        self.n += 1  # expect: DYN101 once
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in calls under the config option for such ints
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 once
        return x * 2


def drive():
    run = torch.compile(Model())
    with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True):
        for _ in range(12):
            yield run(X)


# %% a counter beside calls under the config option for such ints
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * 2


def drive():
    with torch._dynamo.config.patch(allow_unspec_int_on_nn_module=True):
        torch.compile(nn.Linear(4, 4))(X)
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% a counter that wraps around
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.slot = 0

    def forward(self, x):
        y = x * (self.slot + 1)
        self.slot = (self.slot + 1) % 3  # expect: DYN101 per-value
        return y


def drive():
    return torch.compile(Model()), [(X,)]


# %% an action on every hundredth call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        if self.n % 100 == 0:
            return x * 3
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a ring of tensors behind a counter
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.ring = [torch.zeros(2, 4) for _ in range(4)]
        self.i = 0

    def forward(self, x):
        self.ring[self.i % 4] = x * 2
        self.i += 1  # expect: DYN101 storm
        return x + 1


def drive():
    return torch.compile(Model()), [(X,)]


# %% two counters
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = 0
        self.b = 0

    def forward(self, x):
        self.a += 1  # expect: DYN101 storm
        self.b += 2  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% rows seen so far
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = 0

    def forward(self, x):
        self.rows += x.size(0)  # expect: DYN101 storm
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter before a graph break
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        torch._dynamo.graph_break()  # expect: DYN406 break
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter after a graph break
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        y = x * 2
        torch._dynamo.graph_break()  # expect: DYN406 break
        self.n += 1  # expect: DYN101 storm
        return y * 3


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter in each block of a list
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # expect: DYN101 storm
        return torch.relu(x)


def drive():
    blocks = nn.ModuleList([Block() for _ in range(4)])
    for block in blocks:
        block.compile()
    for _ in range(12):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a counter in a nested function
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        def tick():
            self.n += 1  # expect: DYN101 storm

        tick()
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter under checkpoint
from torch.utils.checkpoint import checkpoint


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.linear = nn.Linear(4, 4)

    def _body(self, x):
        return torch.relu(self.linear(x))

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return checkpoint(self._body, x, use_reentrant=False)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a temperature that decays and divides
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.temperature = 2.0

    def forward(self, x):
        self.temperature *= 0.95  # expect: DYN101 storm
        return torch.softmax(x / self.temperature, dim=-1)


def drive():
    return torch.compile(Model()), [(X,)]


# %% a flag that is cleared once
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = True

    def forward(self, x):
        if self.first:
            self.first = False  # expect: DYN101 once
            return x + 1
        return x * 2


def drive():
    return torch.compile(Model()), [(X,)]


# %% a step copied from an argument
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x, step):
        y = x * 2 if self.step > 100 else x * 3
        self.step = step  # expect: DYN101 storm
        return y


def drive():
    run = torch.compile(Model())
    for step in range(12):
        yield run(X, step)


# %% a counter that one way in sets anew, and another, through a method that does nothing else, does not
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def _on(self, x):
        return self._count(x)

    def _count(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n

    def forward(self, x):
        if x.dim() == 3:
            self.n = 0
            return self._count(x)
        return self._on(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield run(X)


# %% quiet: a number that both ways in set before it is read, one of them two calls further up
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def _on(self, x):
        return self._scaled(x)

    def _scaled(self, x):
        return x * self.n

    def forward(self, x):
        self.n = 2
        if x.dim() == 3:
            return self._scaled(x)
        return self._on(x)  # quiet


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter set by object.__setattr__
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        object.__setattr__(self, "n", self.n + 1)  # expect: DYN101 storm
        return x * self.n


def drive():
    net = torch.compile(Net())
    for _ in range(12):
        yield net(X)


# %% a counter that decides on messages alone
class Reports(nn.Module):
    def __init__(self, every=4):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.every = every
        self._n = 0

    def forward(self, x):
        self._n += 1  # expect: DYN101 storm
        if self._n % self.every == 0:
            print("batches so far:", self._n)  # expect: DYN401 break
        return self.lin(x)


def drive():
    return torch.compile(Reports()), [(X,)]


# %% a shape that only object.__setattr__ keeps
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        object.__setattr__(self, "last", x.shape)
        return x * 2


def drive():
    net = torch.compile(Net())
    for _ in range(12):
        yield net(X)
