"""One program per row of the cost table of DYN409; a probe's docstring is the label of its row."""

import time

import torch
from torch import nn

X = torch.randn(4, 8)


class Block(nn.Module):
    """A layer and three heads, one for each task."""

    def __init__(self):
        super().__init__()
        self.index = 3
        self.body = nn.Linear(8, 8)
        self.heads = nn.ModuleDict({f"task_{task}": nn.Linear(8, 4) for task in range(3)})


class StepNames(Block):
    """Returns a metric under a name made of the step."""

    def forward(self, x, step: int):
        y = self.body(x)
        return x + y, {f"norm/{step}": y.norm()}  # expect: DYN409 eager


def probe_step():
    """f-string of an int argument as a key: `{f"norm/{step}": y.norm()}`"""
    model = torch.compile(StepNames())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)

    return call, [(X,)]


class RateNames(Block):
    """Returns a metric under a name made of the learning rate."""

    def forward(self, x, rate: float):
        y = self.body(x)
        return x + y, {f"norm/{rate:.2f}": y.norm()}  # expect: DYN409 eager


def probe_rate():
    """f-string of a float argument with a format: `f"norm/{rate:.2f}"`"""
    model = torch.compile(RateNames())
    rate = 0.0

    def call(x):
        nonlocal rate
        rate += 0.25
        return model(x, rate)

    return call, [(X,)]


class Unused(Block):
    """Makes a text that only a debugger would look at."""

    def forward(self, x, step: int):
        note = f"step {step}"  # noqa: F841  # expect: DYN409 eager
        return x + self.body(x)


def probe_unused():
    """f-string of an int argument that nobody uses"""
    model = torch.compile(Unused())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)

    return call, [(X,)]


class PickedHead(Block):
    """Picks the head of the task by its name."""

    def forward(self, x, task: int):
        head = self.heads[f"task_{task}"]  # expect: DYN409 eager
        return head(self.body(x).relu())


def probe_picked():
    """f-string that picks a layer: `self.heads[f"task_{task}"]`"""
    model = torch.compile(PickedHead())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, step % 3)

    return call, [(X,)]


class PickedInHelper(Block):
    """Picks the head in a method that `forward` calls."""

    def forward(self, x, task: int):
        x = self.body(x).relu()
        return self.head(task)(x)

    def head(self, task):
        return self.heads[f"task_{task}"]  # expect: DYN409 break


def probe_helper():
    """the same in a helper that `forward` calls"""
    model = torch.compile(PickedInHelper())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, step % 3)

    return call, [(X,)]


class PickedByStr(Block):
    """Picks the head by a name that `str` makes."""

    def forward(self, x, task: int):
        x = self.body(x).relu()
        return self.heads["task_" + str(task)](x)  # expect: DYN409 break


def probe_str():
    """`str` that picks a layer: `self.heads["task_" + str(task)]`"""
    model = torch.compile(PickedByStr())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, step % 3)

    return call, [(X,)]


class Checked(Block):
    """Formats the step for errors that never come."""

    def forward(self, x, step: int):
        assert x.shape[-1] == 8, f"wrong width at step {step}"
        if x.dim() != 2:
            raise ValueError(f"bad input at step {step}")
        return x + self.body(x)


def probe_error():
    """f-string of the step in an error that is never raised"""
    model = torch.compile(Checked())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        return model(x, step)

    return call, [(X,)]


class FixedNames(Block):
    """The names are made of what stays the same, and of a loop index."""

    def forward(self, x):
        norms = {}
        for task in range(3):
            y = self.heads[f"task_{task}"](self.body(x).relu())
            norms[f"{type(self).__name__}.{self.index}/{task}/{y.shape[-1]}/{y.dtype}"] = y.norm()
        return norms


def probe_fixed():
    """f-string of a fixed attribute, a loop index, a shape and a dtype"""
    return torch.compile(FixedNames()), [(X,)]


class CallerNames(Block):
    """The metric has a fixed name; the caller adds the step."""

    def forward(self, x):
        y = self.body(x)
        return x + y, {"norm": y.norm()}


def probe_caller():
    """f-string in the caller of the compiled function"""
    model = torch.compile(CallerNames())
    step = 0

    def call(x):
        nonlocal step
        step += 1
        out, metrics = model(x)
        return out, {f"{name}/{step}": value for name, value in metrics.items()}

    return call, [(X,)]


class Timed(nn.Module):
    """Says when its result was computed."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        x = self.layer(x).relu()
        now = time.time()  # expect: DYN401 break
        label = f"computed at {now}"  # expect: DYN409 break
        return x + 0 * len(label)


def probe_timed():
    """f-string of a number that a break gives: `f"computed at {now}"` after `now = time.time()`"""
    return torch.compile(Timed()), [(torch.randn(4, 8),)]
