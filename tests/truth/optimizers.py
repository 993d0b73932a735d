"""Counters and rates that an optimizer or another plain object keeps in its groups."""

import torch
from torch import nn
from torch.optim import Optimizer

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


def train(model, optimizer, step):
    optimizer.zero_grad()
    model(X).sum().backward()
    step()
    return model.weight.detach().clone()


# %% a step count that the first step puts into the group
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            if "step" in group:
                group["step"] += 1  # expect: DYN101 per-value
            else:
                group["step"] = 1  # expect: DYN105 once
            correction = 1 - group["beta"] ** group["step"]
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"] / correction)


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a step count among the defaults of the groups
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1, beta=0.9):
        defaults = {"lr": lr, "beta": beta, "step": 0}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["step"] += 1  # expect: DYN101 per-value
            correction = 1 - group["beta"] ** group["step"]
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"] / correction)


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a step count in the state of each parameter
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]  # expect: DYN105 once
                if len(state) == 0:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(p)
                state["step"] += 1  # expect: DYN101 per-value
                correction = 1 - group["beta"] ** state["step"]
                state["mean"].mul_(0.9).add_(p.grad)
                p.add_(state["mean"], alpha=-group["lr"] / correction)


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% groups whose settings never change
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr, maximize=False))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            sign = 1 if group["maximize"] else -1
            for p in group["params"]:
                p.add_(p.grad, alpha=sign * group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a rate that a loop sets in every group, as alpha
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    step = torch.compile(optimizer.step)
    for i in range(12):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 / (i + 1)  # expect: DYN102 storm
        yield train(model, optimizer, step)


# %% a rate that a schedule sets in the first group, as a factor
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad * group["lr"])


def schedule(optimizer, i):
    optimizer.param_groups[0]["lr"] = 0.1 / (i + 1)  # expect: DYN102 once


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    step = torch.compile(optimizer.step)
    for i in range(12):
        schedule(optimizer, i)
        yield train(model, optimizer, step)


# %% a rate set before the first step
class Sgd(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Sgd(model.parameters())
    for group in optimizer.param_groups:
        group["lr"] = 0.05
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a count in a list of dicts of a module
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.groups = [{"step": 0, "scale": 2.0}]

    def forward(self, x):
        for group in self.groups:
            group["step"] += 1  # expect: DYN101 storm
            x = x * group["scale"] ** group["step"]
        return x


def drive():
    step = torch.compile(Model())
    for _ in range(12):
        yield step(X)


# %% a count in a list of dicts that begins with a default
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.groups = [{"scale": 2.0}]

    def forward(self, x):
        for group in self.groups:
            group["step"] = group.get("step", 0) + 1  # expect: DYN101 storm
            x = x * group["scale"] ** group["step"]
        return x


def drive():
    step = torch.compile(Model())
    for _ in range(12):
        yield step(X)


# %% a list of dicts that is only read
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.groups = [{"scale": 2.0}, {"scale": 3.0}]

    def forward(self, x):
        for group in self.groups:
            x = x * group["scale"]
        return x


def drive():
    step = torch.compile(Model())
    for _ in range(12):
        yield step(X)


# %% a count on a plain object whose method is compiled
class Runner:
    def __init__(self):
        self.n = 0

    def step(self, x):
        self.n += 1  # expect: DYN101 once
        return x * self.n


def drive():
    step = torch.compile(Runner().step)
    for _ in range(12):
        yield step(X)


# %% a count in the groups of a plain object whose method is compiled
class Runner:
    def __init__(self):
        self.groups = [{"n": 0}]

    def step(self, x):
        for group in self.groups:
            group["n"] += 1  # expect: DYN101 once
            x = x * group["n"]
        return x


def drive():
    step = torch.compile(Runner().step)
    for _ in range(12):
        yield step(X)


# %% a rate that a schedule moves, and a memory that the first step makes for each parameter
class Momentum(Optimizer):
    def __init__(self, params, lr=0.1, power=0.0):
        super().__init__(params, dict(lr=lr, power=power))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None or p.grad.is_sparse or torch.is_complex(p):
                    continue
                state = self.state[p]  # expect: DYN105 once
                if len(state) == 0:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].mul_(0.9).add_(p.grad)
                p.add_(state["mean"], alpha=-group["lr"] / (1 + 3 ** group["power"]))


def drive():
    model = nn.Linear(4, 4)
    optimizer = Momentum(model.parameters())
    step = torch.compile(optimizer.step)
    for n in range(12):
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + n)  # expect: DYN102 storm
        yield train(model, optimizer, step)


# %% quiet: a memory for each parameter that is made before the first step
class Kept(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p] = {"mean": torch.zeros_like(p)}

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                mean = self.state[p]["mean"]
                mean.mul_(0.9).add_(p.grad)
                p.sub_(mean * group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Kept(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a step that a schedule has wrapped before it is compiled
class Plain(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad * group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Plain(model.parameters())
    torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1.0)
    step = torch.compile(optimizer.step)  # expect: DYN411 break note
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a distance that tensors decide, with a memory that the first step puts into the group
class Distance(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, growth=float("inf")):
        super().__init__(params, dict(lr=lr, growth=growth, d=1e-6, most=1e-6))

    @torch.no_grad()
    def step(self):
        group = self.param_groups[0]
        d = group["d"]
        if "moved" not in group:
            group["moved"] = torch.zeros(1)  # expect: DYN105 once
        size = torch.zeros(1)
        for p in group["params"]:
            group["moved"].add_((p.grad * p).sum(), alpha=d)
            size.add_(p.grad.abs().sum())
        estimate = (group["moved"] / size).abs().item()  # expect: DYN402 break
        most = max(group["most"], estimate)  # expect: DYN109 storm note
        group["most"] = most  # expect: DYN101 storm note
        group["d"] = min(most, d * group["growth"])  # expect: DYN101 storm  # expect: DYN109 storm note
        for p in group["params"]:
            p.add_(p.grad, alpha=-group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Distance(model.parameters())
    step = torch.compile(optimizer.step)
    for _ in range(12):
        yield train(model, optimizer, step)


# %% a rate and a count that both change, behind a memory that the first step makes
import math


class Corrected(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta, step=0))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["step"] += 1  # expect: DYN101 storm
            correction = 1.0 - math.pow(group["beta"], group["step"])
            for p in filter(lambda p: p.grad is not None, group["params"]):
                state = self.state[p]  # expect: DYN105 once
                if len(state) == 0:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].mul_(0.9).add_(p.grad)
                p.add_(state["mean"] / correction, alpha=-group["lr"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Corrected(model.parameters())
    step = torch.compile(optimizer.step)
    for n in range(12):
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + n)  # expect: DYN102 storm
        yield train(model, optimizer, step)


# %% a rate that a schedule moves, beside counts that the first step makes for each parameter
class Counting(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, beta=0.9):
        super().__init__(params, dict(lr=lr, beta=beta))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in filter(lambda p: p.grad is not None, group["params"]):
                state = self.state[p]  # expect: DYN105 once
                if len(state) == 0:
                    state["steps"] = 0
                    state["mean"] = torch.zeros_like(p)
                steps = state["steps"] + 1
                state["mean"].mul_(0.9).add_(p.grad)
                p.add_(state["mean"] / (1 - group["beta"] ** steps), alpha=-group["lr"])
                state["steps"] = steps  # expect: DYN101 once


def drive():
    model = nn.Linear(4, 4)
    optimizer = Counting(model.parameters())
    step = torch.compile(optimizer.step)
    for n in range(12):
        optimizer.param_groups[0]["lr"] = 0.1 / (1 + n)  # expect: DYN102 storm
        yield train(model, optimizer, step)


# %% a rate that changes between the calls of a step which every run compiles for itself
class Halving(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad, alpha=group["lr"])


def fit(factor, rounds):
    model = nn.Linear(4, 4)
    optimizer = Halving(model.parameters())

    @torch.compile
    def step():
        optimizer.step()

    for _ in range(rounds):
        yield train(model, optimizer, step)
        optimizer.param_groups[0]["lr"] *= factor  # expect: DYN102 per-value


def drive():
    for factor, rounds in ((0.5, 4), (0.7, 2)):
        yield from fit(factor, rounds)


# %% a step that a schedule has wrapped, with a count that it keeps in the group
class Ticks(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr, ticks=0))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["ticks"] += 1  # expect: DYN101 per-value
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"] / group["ticks"])


def drive():
    model = nn.Linear(4, 4)
    optimizer = Ticks(model.parameters())
    schedule = torch.optim.lr_scheduler.ConstantLR(optimizer)

    def update():
        optimizer.step()  # expect: DYN411 break

    step = torch.compile(update)
    for _ in range(12):
        loss = model(X).sum()
        loss.backward()
        step()
        yield loss.detach()
    schedule.last_epoch = 1


# %% a list that a plain object with a compiled method grows
class Runner:
    def __init__(self):
        self.seen = []

    def step(self, x):
        self.seen.append(x.sum())  # expect: DYN105 storm
        return x * len(self.seen)


def drive():
    step = torch.compile(Runner().step)
    for _ in range(12):
        yield step(X)
