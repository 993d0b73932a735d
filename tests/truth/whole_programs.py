"""Whole programs in the shapes of training and inference code, written before the linter had seen them."""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import types

import torch
import torch.nn.functional as F
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% temperatures that a table of names spreads over the layers
class Head(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.softmax(self.out(x) / self.temperature, -1)  # expect: DYN107 per-instance


class Trunk(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.heads = nn.ModuleDict({f"h{i}": Head() for i in range(n)})

    def forward(self, x):
        for head in self.heads.values():
            x = x + head(x)
        return x


def configure(model, table):
    for name, module in model.named_modules():
        options = table.get(name)
        if options is None:
            continue
        for key, value in options.items():
            setattr(module, key, value)


def drive():
    model = Trunk(12).requires_grad_(False)
    configure(model, {f"heads.h{i}": {"temperature": i + 1} for i in range(12)})
    for head in model.heads.values():
        head.compile()
    for _ in range(12):
        yield model(X)


# %% quiet: one temperature that a table of names spreads over the layers
class Head(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        return torch.softmax(self.out(x) / self.temperature, -1)


class Trunk(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.heads = nn.ModuleDict({f"h{i}": Head() for i in range(n)})

    def forward(self, x):
        for head in self.heads.values():
            x = x + head(x)
        return x


def configure(model, table):
    for name, module in model.named_modules():
        options = table.get(name)
        if options is None:
            continue
        for key, value in options.items():
            setattr(module, key, value)


def drive():
    model = Trunk(12).requires_grad_(False)
    configure(model, {f"heads.h{i}": {"temperature": 3} for i in range(12)})
    for head in model.heads.values():
        head.compile()
    for _ in range(12):
        yield model(X)


# %% a pre-hook that fades its noise with every call
def attach_fade(module, span):
    state = {"seen": 0}

    def fade(mod, args):
        (x,) = args
        state["seen"] += 1  # expect: DYN101 storm
        return (x * max(0.0, 1 - state["seen"] / span),)

    return module.register_forward_pre_hook(fade)


def drive():
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))
    handle = attach_fade(net[2], 50)
    run = torch.compile(net)
    for _ in range(12):
        yield run(X)
    handle.remove()


# %% quiet: a pre-hook that only centres its input
def attach_centre(module, span):
    state = {"span": span}

    def centre(mod, args):
        (x,) = args
        return ((x - x.mean()) / state["span"],)

    return module.register_forward_pre_hook(centre)


def drive():
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))
    handle = attach_centre(net[2], 50)
    run = torch.compile(net)
    for _ in range(12):
        yield run(X)
    handle.remove()


# %% a step that a logging decorator lets through
log = []


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        log.append(len(args) + len(kwargs))
        return fn(*args, **kwargs)

    return wrapper


@logged
@torch.compile
def objective(x, target, *, step):
    warm = step / 100  # expect: DYN109 once
    return ((x - target) ** 2).mean() * warm


def drive():
    for n in range(12):
        yield objective(X, X + 1, step=n)


# %% quiet: a step that a logging decorator takes out
log = []


def logged(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        log.append(kwargs.pop("step", None))
        return fn(*args, **kwargs)

    return wrapper


@logged
@torch.compile
def objective(x, target):
    return ((x - target) ** 2).mean()


def drive():
    for n in range(12):
        yield objective(X, X + 1, step=n)


# %% an activation that the recipe exchanges half-way
class Ffn(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)
        self.act = act

    def forward(self, x):
        return self.down(self.act(self.up(x)))  # expect: DYN102 once


RECIPE = {0: F.relu, 6: F.silu}


def drive():
    ffn = Ffn(F.relu)
    run = torch.compile(ffn)
    for epoch in range(12):
        if epoch in RECIPE:
            ffn.act = RECIPE[epoch]
        yield run(X)


# %% quiet: an activation that the recipe sets again to what it was
class Ffn(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.up = nn.Linear(4, 8)
        self.down = nn.Linear(8, 4)
        self.act = act

    def forward(self, x):
        return self.down(self.act(self.up(x)))


RECIPE = {0: F.relu, 6: F.relu}


def drive():
    ffn = Ffn(F.relu)
    run = torch.compile(ffn)
    for epoch in range(12):
        if epoch in RECIPE:
            ffn.act = RECIPE[epoch]
        yield run(X)


# %% a lambda with the margin of the moment
class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1)

    def forward(self, a, b, loss_fn):
        return loss_fn(self.score(a), self.score(b))  # expect: DYN109 once


def drive():
    ranker = Ranker()
    run = torch.compile(ranker)
    for epoch in range(12):
        margin = 0.3 + 0.05 * epoch
        yield run(X, X.flip(0), lambda p, n: F.relu(n - p + margin).mean())


# %% a stage of a curriculum as an argument
class Stage(enum.Enum):
    EASY = "easy"
    MIXED = "mixed"
    HARD = "hard"


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, stage):
        y = self.lin(x)
        if stage is Stage.EASY:  # expect: DYN109 per-value
            return y * 0.1
        if stage is Stage.MIXED:
            return y * 0.5
        return y


def curriculum(total):
    stages = list(Stage)
    for i in range(total):
        yield stages[i * len(stages) // total]


def drive():
    student = torch.compile(Student())
    for stage in curriculum(12):
        yield student(X, stage)


# %% a weight deep in the settings of the loss
class Criterion(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings

    def forward(self, x, y):
        w = self.settings["terms"]["smooth"]["weight"]
        return F.mse_loss(x, y) + w * (x - y).abs().mean()  # expect: DYN102 storm


def ramp(settings, i):
    settings["terms"]["smooth"].update(weight=i)


def drive():
    settings = {"terms": {"smooth": {"weight": 0}, "data": {"weight": 1}}, "tag": "run0"}
    run = torch.compile(Criterion(settings))
    for i in range(12):
        ramp(settings, i)
        yield run(X, X * 2)


# %% quiet: a tag deep in the settings of the loss
class Criterion(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings

    def forward(self, x, y):
        w = self.settings["terms"]["smooth"]["weight"]
        return F.mse_loss(x, y) + w * (x - y).abs().mean()


def retag(settings, i):
    settings["log"].update(tag=i)


def drive():
    settings = {"terms": {"smooth": {"weight": 2}}, "log": {"tag": 0}}
    run = torch.compile(Criterion(settings))
    for i in range(12):
        retag(settings, i)
        yield run(X, X * 2)


# %% a child that asks its parent how far training is
class Gate(nn.Module):
    def __init__(self, owner):
        super().__init__()
        self._owner = [owner]

    def forward(self, x):
        owner = self._owner[0]
        return x * min(1.0, owner.progress / owner.total)  # expect: DYN102 storm


class Model(nn.Module):
    def __init__(self, total):
        super().__init__()
        self.total = total
        self.progress = 0
        self.lin = nn.Linear(4, 4)
        self.gate = Gate(self)

    def tick(self):
        self.progress += 1

    def forward(self, x):
        return self.gate(self.lin(x))


def drive():
    model = Model(40)
    run = torch.compile(model)
    for _ in range(12):
        model.tick()
        yield run(X)


# %% quiet: a child that asks its parent how long training is
class Gate(nn.Module):
    def __init__(self, owner):
        super().__init__()
        self._owner = [owner]

    def forward(self, x):
        owner = self._owner[0]
        return x * min(1.0, 10 / owner.total)


class Model(nn.Module):
    def __init__(self, total):
        super().__init__()
        self.total = total
        self.progress = 0
        self.lin = nn.Linear(4, 4)
        self.gate = Gate(self)

    def tick(self):
        self.progress += 1

    def forward(self, x):
        return self.gate(self.lin(x))


def drive():
    model = Model(40)
    run = torch.compile(model)
    for _ in range(12):
        model.tick()
        yield run(X)


# %% hits and misses of a table on the module
class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(8, 4)
        self.stats = collections.Counter(hits=0, misses=0)

    def record(self, kind, amount=1):
        self.stats[kind] += amount  # expect: DYN101 storm

    def forward(self, ids):
        rows = self.table(ids)
        self.record("hits", ids.shape[0])
        return rows / self.stats["hits"]


def drive():
    run = torch.compile(Lookup())
    ids = torch.tensor([1, 3, 5])
    for _ in range(12):
        yield run(ids)


# %% a budget that all samplers of a class share
class Sampler(nn.Module):
    budget = 100
    floor = 0.1

    def forward(self, x):
        return x.clamp(min=self.floor) * self.budget  # expect: DYN102 storm


class Service:
    def __init__(self, sampler):
        self.sampler = torch.compile(sampler)

    def handle(self, x):
        try:
            return self.sampler(x)
        finally:
            Sampler.budget -= 5


def drive():
    service = Service(Sampler())
    for _ in range(12):
        yield service.handle(X)


# %% inputs that need gradients only for the adversarial batches
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 3)

    def forward(self, x):
        return self.lin(x).log_softmax(-1)


def attack(run, x):
    x = x.clone().requires_grad_(True)  # expect: DYN110 once
    (grad,) = torch.autograd.grad(run(x).sum(), x)
    return x.detach() + 0.01 * grad.sign()


def drive():
    run = torch.compile(Classifier())
    for i in range(6):
        yield run(X)
        yield attack(run, X)


# %% a validation without gradients every few steps
class Loop:
    def __init__(self, net, every):
        self.net = net
        self.every = every
        self.opt = torch.optim.SGD(net.parameters(), lr=0.01)
        self.fast = torch.compile(net)

    @torch.no_grad()
    def validate(self, x):
        return self.fast(x).mean()  # expect: DYN110 once

    def train_step(self, x):
        loss = self.fast(x).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.detach()

    def run(self, steps):
        for i in range(steps):
            yield self.train_step(X)
            if i % self.every == self.every - 1:
                yield self.validate(X)


def drive():
    yield from Loop(nn.Linear(4, 4), 3).run(9)


# %% quiet: a service that never needs gradients
class Service:
    def __init__(self, net):
        self.net = net
        self.fast = torch.compile(net)
        self.served = 0

    @torch.no_grad()
    def predict(self, x):
        return self.fast(x).mean()

    @torch.inference_mode(False)
    @torch.no_grad()
    def embed(self, x):
        return self.fast(x)

    def run(self, steps):
        for i in range(steps):
            self.served += 1
            yield self.predict(X) if i % 3 else self.embed(X)


def drive():
    yield from Service(nn.Linear(4, 4).eval()).run(12)


# %% a cache of keys that knows its length as a number
class KVCache:
    def __init__(self, size, dim):
        self.k = torch.zeros(size, dim)
        self.v = torch.zeros(size, dim)
        self.length = 0

    def append(self, k, v):
        n = k.shape[0]
        self.k[self.length : self.length + n] = k
        self.v[self.length : self.length + n] = v
        self.length += n  # expect: DYN101 per-value
        return self.k[: self.length], self.v[: self.length]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, -1)
        k, v = cache.append(k, v)
        return (q @ k.T).softmax(-1) @ v


def generate(attn, tokens):
    cache = KVCache(32, 4)
    with torch.no_grad():
        for x in tokens:
            yield attn(x, cache)


def drive():
    attn = torch.compile(Attention())
    yield from generate(attn, [X[:1] * i for i in range(1, 13)])


# %% quiet: a cache of keys that gets the positions as a tensor
class KVCache:
    def __init__(self, size, dim):
        self.k = torch.zeros(size, dim)
        self.v = torch.zeros(size, dim)
        self.length = 0

    def append(self, pos, k, v):
        self.k.index_copy_(0, pos, k)
        self.v.index_copy_(0, pos, v)
        return self.k, self.v


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)

    def forward(self, x, cache, pos):
        q, k, v = self.qkv(x).chunk(3, -1)
        k, v = cache.append(pos, k, v)
        mask = torch.arange(k.shape[0]) <= pos[-1]
        return (q @ k.T).masked_fill(~mask, -1e9).softmax(-1) @ v


def generate(attn, tokens):
    cache = KVCache(32, 4)
    with torch.no_grad():
        for x in tokens:
            yield attn(x, cache, torch.tensor([cache.length]))
            cache.length += 1


def drive():
    attn = torch.compile(Attention())
    yield from generate(attn, [X[:1] * i for i in range(1, 13)])


# %% a state of the run that another file holds
from runstate import run_state
from layers import Damped


def drive():
    run = torch.compile(Damped())
    for i in range(12):
        run_state.advance(tokens=X.numel())
        yield run(X)


# file: runstate.py
class RunState:
    def __init__(self):
        self.tokens = 0
        self.goal = 1000

    def advance(self, tokens):
        self.tokens += tokens


run_state = RunState()


# file: layers.py
import torch
from torch import nn

import runstate


class Damped(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        state = runstate.run_state
        return self.lin(x) * (1 - state.tokens / state.goal)  # expect: DYN102 storm


# %% quiet: a state of the run that another file holds and only the report reads
from runstate import run_state
from layers import Damped


def drive():
    run = torch.compile(Damped())
    for i in range(12):
        run_state.advance(tokens=X.numel())
        yield run(X)
    print(run_state.report(), end="")


# file: runstate.py
class RunState:
    def __init__(self):
        self.tokens = 0
        self.goal = 1000

    def advance(self, tokens):
        self.tokens += tokens

    def report(self):
        return "" if self.tokens < self.goal else "done"


run_state = RunState()


# file: layers.py
import torch
from torch import nn

import runstate


class Damped(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        state = runstate.run_state
        return self.lin(x) * (1 - 8 / state.goal)


# %% weights that a generator hands out beside the batches
def weighted(batches, decay):
    weight = 1.0
    for batch in batches:
        yield {"inputs": batch, "weight": weight}
        weight *= decay


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, inputs, weight=1.0):
        return self.lin(inputs).mean() * weight  # expect: DYN109 once


def drive():
    model = torch.compile(Model())
    for kwargs in weighted(itertools.repeat(X, 12), 0.9):
        yield model(**kwargs)


# %% strengths of adapters that apply hands to every layer
class Adapter(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)
        self.strength = {"default": 1.0}

    def forward(self, x):
        return self.base(x) + self.b(self.a(x)).clamp(max=self.strength["default"])  # expect: DYN102 storm


def with_adapters(model):
    for name, child in list(model.named_children()):
        if isinstance(child, nn.Linear):
            setattr(model, name, Adapter(child))
        else:
            with_adapters(child)
    return model


def set_strength(model, value):
    def visit(m):
        if isinstance(m, Adapter):
            m.strength["default"] = value

    model.apply(visit)


def drive():
    model = with_adapters(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)))
    run = torch.compile(model)
    for i in range(12):
        set_strength(model, 0.1 * (i + 1))
        yield run(X)


# %% quiet: adapters that are merged before anything runs
class Adapter(nn.Module):
    def __init__(self, base, rank=2):
        super().__init__()
        self.base = base
        self.a = nn.Linear(base.in_features, rank, bias=False)
        self.b = nn.Linear(rank, base.out_features, bias=False)
        self.merged = False

    @torch.no_grad()
    def merge(self):
        if not self.merged:
            self.base.weight += self.b.weight @ self.a.weight
            self.merged = True

    def forward(self, x):
        if self.merged:
            return self.base(x)
        return self.base(x) + self.b(self.a(x))


def with_adapters(model):
    for name, child in list(model.named_children()):
        if isinstance(child, nn.Linear):
            setattr(model, name, Adapter(child))
        else:
            with_adapters(child)
    return model


def drive():
    model = with_adapters(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4)))
    for m in model.modules():
        if isinstance(m, Adapter):
            m.merge()
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% an optimizer that corrects its bias with a number
class Adamish(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, beta=0.9):
        super().__init__(params, {"lr": lr, "beta": beta})
        for group in self.param_groups:
            group["t"] = 0
            group["moments"] = [torch.zeros_like(p) for p in group["params"]]

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["t"] += 1  # expect: DYN101 once
            correction = 1 - group["beta"] ** group["t"]
            for p, m in zip(group["params"], group["moments"]):
                m.lerp_(p.grad, 1 - group["beta"])
                p.sub_(group["lr"] * m / correction)


def drive():
    model = nn.Linear(4, 2)
    opt = Adamish(model.parameters())
    update = torch.compile(opt.step)
    for _ in range(12):
        opt.zero_grad()
        model(X).square().sum().backward()
        update()
        yield model.bias.detach().clone()


# %% quiet: an optimizer that corrects its bias with a tensor
class Adamish(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-2, beta=0.9):
        super().__init__(params, {"lr": lr, "beta": beta})
        for group in self.param_groups:
            group["t"] = torch.zeros(())
            group["moments"] = [torch.zeros_like(p) for p in group["params"]]

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["t"].add_(1)
            correction = 1 - group["beta"] ** group["t"]
            for p, m in zip(group["params"], group["moments"]):
                m.lerp_(p.grad, 1 - group["beta"])
                p.sub_(group["lr"] * m / correction)


def drive():
    model = nn.Linear(4, 2)
    opt = Adamish(model.parameters())
    update = torch.compile(opt.step)
    for _ in range(12):
        opt.zero_grad()
        model(X).square().sum().backward()
        update()
        yield model.bias.detach().clone()


# %% a depth rate for each block, zipped on, and regionally compiled
class DropPath(nn.Module):
    keep = 1.0

    def forward(self, x):
        if self.keep == 1.0:
            return x
        return x.clamp(max=self.keep)  # expect: DYN107 per-instance


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.path = DropPath()

    def forward(self, x):
        return x + self.path(self.norm(x))


def set_rates(blocks, rates):
    for block, rate in zip(blocks, rates, strict=True):
        block.path.keep = 1 - rate


def compile_blocks(model, cls):
    for m in model.modules():
        if isinstance(m, cls):
            m.compile()


def drive():
    model = nn.Sequential(*(Block() for _ in range(12))).requires_grad_(False)
    set_rates(model, torch.linspace(0, 0.3, 12).tolist())
    compile_blocks(model, Block)
    for _ in range(12):
        yield model(X)


# %% quiet: a depth rate for each block in a model compiled whole
class DropPath(nn.Module):
    keep = 1.0

    def forward(self, x):
        if self.keep == 1.0:
            return x
        return x.clamp(max=self.keep)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.path = DropPath()

    def forward(self, x):
        return x + self.path(self.norm(x))


def set_rates(blocks, rates):
    for block, rate in zip(blocks, rates, strict=True):
        block.path.keep = 1 - rate


def drive():
    model = nn.Sequential(*(Block() for _ in range(12))).requires_grad_(False)
    set_rates(model, torch.linspace(0, 0.3, 12).tolist())
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a depth rate for each block of a sequence that compiles itself
class DropPath(nn.Module):
    keep = 1.0

    def forward(self, x):
        if self.keep == 1.0:
            return x
        return x.clamp(max=self.keep)  # expect: DYN107 per-instance


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.path = DropPath()

    def forward(self, x):
        return x + self.path(self.norm(x))


def set_rates(blocks, rates):
    for block, rate in zip(blocks, rates, strict=True):
        block.path.keep = 1 - rate


def drive():
    model = nn.Sequential(*(Block() for _ in range(12))).requires_grad_(False)
    set_rates(model, torch.linspace(0, 0.3, 12).tolist())
    model.compile()
    for _ in range(12):
        yield model(X)


# %% a scaler of the loss that halves and doubles
class LossScaler:
    def __init__(self, scale=2.0**4, interval=3):
        self.scale = scale
        self.interval = interval
        self.good = 0

    def update(self, overflow):
        if overflow:
            self.scale /= 2
            self.good = 0
        else:
            self.good += 1
            if self.good % self.interval == 0:
                self.scale *= 2

    def __call__(self, loss):
        return loss * self.scale


class Step(nn.Module):
    def __init__(self, net, scaler):
        super().__init__()
        self.net = net
        self.scaler = scaler

    def forward(self, x):
        return self.scaler(self.net(x).mean())  # expect: DYN102 once


def drive():
    scaler = LossScaler()
    step = torch.compile(Step(nn.Linear(4, 4), scaler))
    for i in range(12):
        yield step(X)
        scaler.update(overflow=i == 7)


# %% a kernel that a context puts on the class for a while
def plain(q, k):
    return (q @ k.T).softmax(-1)


def linear(q, k):
    return (q @ k.T) / q.shape[-1]


class Attention(nn.Module):
    kernel = staticmethod(plain)

    def forward(self, x):
        return self.kernel(x, x) @ x  # expect: DYN102 once


@contextlib.contextmanager
def kernel(cls, fn):
    before = cls.kernel
    cls.kernel = staticmethod(fn)
    try:
        yield
    finally:
        cls.kernel = staticmethod(before)


def drive():
    run = torch.compile(Attention())
    for i in range(12):
        with kernel(Attention, linear) if i >= 6 else contextlib.nullcontext():
            yield run(X)


# %% a named tuple whose horizon grows
class Request(collections.namedtuple("Request", "obs horizon uid")):
    def longer(self):
        return self._replace(horizon=self.horizon + 1, uid=self.uid + 1)


class Planner(nn.Module):
    def __init__(self):
        super().__init__()
        self.dyn = nn.Linear(4, 4)

    def forward(self, req):
        x = req.obs
        for _ in range(req.horizon):  # expect: DYN109 storm
            x = torch.tanh(self.dyn(x))
        return x


def drive():
    plan = torch.compile(Planner())
    req = Request(X, 1, 100)
    for _ in range(12):
        yield plan(req)
        req = req.longer()


# %% quiet: a named tuple whose number nobody reads
class Request(collections.namedtuple("Request", "obs horizon uid")):
    def again(self):
        return self._replace(obs=self.obs + 1)


class Planner(nn.Module):
    def __init__(self):
        super().__init__()
        self.dyn = nn.Linear(4, 4)

    def forward(self, req):
        x = req.obs
        for _ in range(req.horizon):
            x = torch.tanh(self.dyn(x))
        return x


def drive():
    plan = torch.compile(Planner())
    req = Request(X, 3, 100)
    for _ in range(12):
        yield plan(req)
        req = req.again()


# %% more and more skips into a variadic decoder
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x, *skips):
        for skip in skips:
            x = x + self.mix(skip)  # expect: DYN109 storm
        return x


class Unet:
    def __init__(self, decoder):
        self.decoder = torch.compile(decoder)
        self.skips = []

    def push(self, x):
        self.skips.append(x)
        return self.decoder(x, *self.skips)


def drive():
    unet = Unet(Decoder())
    for _ in range(12):
        yield unet.push(X)


# %% quiet: always the same number of skips into a variadic decoder
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(4, 4)

    def forward(self, x, *skips):
        for skip in skips:
            x = x + self.mix(skip)
        return x


class Unet:
    def __init__(self, decoder, depth):
        self.decoder = torch.compile(decoder)
        self.skips = collections.deque([X * k for k in range(1, depth + 1)], maxlen=depth)

    def push(self, x):
        self.skips.append(x)
        return self.decoder(x, *self.skips)


def drive():
    unet = Unet(Decoder(), 3)
    for i in range(12):
        yield unet.push(X + i)


# %% conditions that come and go by keyword
class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)

    def forward(self, x, **cond):
        y = self.body(x)
        for value in cond.values():  # expect: DYN109 per-value
            y = y + value
        return y


def drive():
    net = torch.compile(Denoiser())
    text, depth = X[:1], X[1:]
    variants = [{}, {"text": text}, {"text": text, "depth": depth}]
    for i in range(12):
        yield net(X, **variants[i % 3])


# %% a precision that a policy changes late in the run
@dataclasses.dataclass
class Policy:
    low: torch.dtype = torch.bfloat16
    switch_at: int = 8

    def context(self, i):
        if i < self.switch_at:
            return torch.autocast("cpu", dtype=self.low)
        return contextlib.nullcontext()


def drive():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    run = torch.compile(net)
    policy = Policy()
    for i in range(12):
        with policy.context(i):
            yield run(X).float()  # expect: DYN110 once


# %% quiet: a precision that a policy never changes
@dataclasses.dataclass
class Policy:
    low: torch.dtype = torch.bfloat16
    enabled: bool = True

    def context(self, i):
        return torch.autocast("cpu", dtype=self.low, enabled=self.enabled)


def drive():
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    run = torch.compile(net)
    policy = Policy()
    for i in range(12):
        with policy.context(i):
            yield run(X).float()


# %% norms that are frozen after the warm-up
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        self.head = nn.Linear(4, 2)

    def freeze_norms(self):
        for m in self.modules():
            if isinstance(m, nn.BatchNorm1d):
                m.eval()  # expect: DYN110 once

    def forward(self, x):
        return self.head(self.stem(x))


def drive():
    net = Net()
    run = torch.compile(net)
    for step in range(12):
        if step == 4:
            net.freeze_norms()
        yield run(X)


# %% a forward that a tuner wraps anew for every trial
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x)


def rescale(layer, original, gain):
    def forward(self, x):
        return original(x) * gain  # expect: DYN102 storm

    layer.forward = types.MethodType(forward, layer)


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = Layer()

    def forward(self, x):
        return self.layer(x) + 1


def drive():
    outer = Outer()
    original = outer.layer.forward
    run = torch.compile(outer)
    for trial in range(12):
        rescale(outer.layer, original, trial + 1)
        yield run(X)


# %% a window of frames that fills up
class Smoother(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window
        self.frames = []

    def forward(self, x):
        self.frames.append(x)  # expect: DYN105 per-value
        if len(self.frames) > self.window:
            self.frames.pop(0)
        return torch.stack(self.frames).mean(0)


@torch.inference_mode()
def stream(run, frames):
    for f in frames:
        yield run(f)


def drive():
    run = torch.compile(Smoother(4))
    yield from stream(run, [X + i for i in range(12)])


# %% masks that a helper keeps for every length
class Masks:
    def __init__(self):
        self.made = {}

    def get(self, n):
        if n not in self.made:
            self.made[n] = torch.ones(n, n).tril()  # expect: DYN105 storm
        return self.made[n]


class Mixer(nn.Module):
    def __init__(self, masks):
        super().__init__()
        self.masks = masks
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.masks.get(x.shape[0]) @ self.lin(x)


def drive():
    run = torch.compile(Mixer(Masks()))
    for n in range(2, 14):
        yield run(torch.ones(n, 4))


# %% quiet: masks that a helper made for its one length
class Masks:
    def __init__(self, *lengths):
        self.made = {n: torch.ones(n, n).tril() for n in lengths}

    def get(self, n):
        if n not in self.made:
            self.made[n] = torch.ones(n, n).tril()
        return self.made[n]


class Mixer(nn.Module):
    def __init__(self, masks):
        super().__init__()
        self.masks = masks
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.masks.get(x.shape[0]) @ self.lin(x)


def drive():
    run = torch.compile(Mixer(Masks(2, 4, 8)))
    for _ in range(12):
        yield run(X)


# %% a teacher that is the student itself at first
class Distill(nn.Module):
    def __init__(self, student):
        super().__init__()
        self.student = student
        self.teacher = student

    def forward(self, x):
        if self.teacher is self.student:
            return self.student(x).mean()
        return (self.student(x) - self.teacher(x)).pow(2).mean()


def part_ways(distill):
    distill.teacher = copy.deepcopy(distill.student)  # expect: DYN102 once


def drive():
    distill = Distill(nn.Linear(4, 4))
    run = torch.compile(distill)
    for i in range(12):
        if i == 6:
            part_ways(distill)
        yield run(X)


# %% layers with and without a norm, by parity
class Layer(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.norm = norm

    def forward(self, x):
        y = self.lin(x)
        if self.norm is not None:  # expect: DYN108 per-instance
            y = self.norm(y)
        return x + y


def make(i):
    return Layer(nn.LayerNorm(4) if i % 2 else None)


def drive():
    layers = [make(i).requires_grad_(False) for i in range(12)]
    for layer in layers:
        layer.compile()
    for _ in range(12):
        yield functools.reduce(lambda x, layer: layer(x), layers, X)


# %% quiet: layers that all have a norm, and notes about themselves
class Layer(nn.Module):
    def __init__(self, norm):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.norm = norm

    def forward(self, x):
        y = self.lin(x)
        if self.norm is not None:
            y = self.norm(y)
        return x + y


def make(i):
    layer = Layer(nn.LayerNorm(4))
    layer.note = f"layer {i}"
    layer.meta = types.SimpleNamespace(index=i)
    return layer


def drive():
    layers = [make(i).requires_grad_(False) for i in range(12)]
    for layer in layers:
        layer.compile()
    for _ in range(12):
        yield functools.reduce(lambda x, layer: layer(x), layers, X)


# %% a temperature that a property computes from the clock of a schedule
class Anneal:
    def __init__(self, start, end, steps):
        self.start, self.end, self.steps = start, end, steps
        self._t = 0

    def step(self):
        self._t = min(self._t + 1, self.steps)

    @property
    def value(self):
        return self.start + (self.end - self.start) * self._t / self.steps  # expect: DYN102 storm


class Gumbel(nn.Module):
    def __init__(self, tau):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.tau = tau

    def forward(self, x):
        return (self.lin(x) / self.tau.value).softmax(-1)


def drive():
    tau = Anneal(2.0, 0.5, 100)
    run = torch.compile(Gumbel(tau))
    for _ in range(12):
        yield run(X)
        tau.step()


# %% pages that a server adds to a request as it decodes
@dataclasses.dataclass
class Request:
    id: str
    pages: list = dataclasses.field(default_factory=list)


class PagedAttention(nn.Module):
    def __init__(self, num_pages=32, dim=4):
        super().__init__()
        self.out = nn.Linear(dim, dim)
        self.register_buffer("kv", torch.linspace(0, 1, num_pages * dim).reshape(num_pages, dim))

    def forward(self, x, request):
        keys = torch.stack([self.kv[page] for page in request.pages])  # expect: DYN109 storm
        return self.out(x) + (x @ keys.T).softmax(-1) @ keys


class Server:
    def __init__(self, model):
        self.decode = torch.compile(model)
        self.free = list(range(32))
        self.running = {}

    def admit(self, name):
        self.running[name] = Request(name, [self.free.pop()])

    @torch.no_grad()
    def tick(self, name, x):
        request = self.running[name]
        out = self.decode(x, request)
        request.pages.append(self.free.pop())
        return out


def drive():
    server = Server(PagedAttention())
    server.admit("a")
    for _ in range(12):
        yield server.tick("a", X)


# %% quiet: pages that a server hands over as a padded tensor
@dataclasses.dataclass
class Request:
    id: str
    pages: list = dataclasses.field(default_factory=list)


class PagedAttention(nn.Module):
    def __init__(self, num_pages=32, dim=4):
        super().__init__()
        self.out = nn.Linear(dim, dim)
        self.register_buffer("kv", torch.linspace(0, 1, num_pages * dim).reshape(num_pages, dim))

    def forward(self, x, table):
        keys = self.kv[table.clamp(min=0)]
        scores = (x @ keys.T).masked_fill(table < 0, -1e4)
        return self.out(x) + scores.softmax(-1) @ keys


class Server:
    def __init__(self, model, width=16):
        self.decode = torch.compile(model)
        self.free = list(range(32))
        self.running = {}
        self.width = width

    def admit(self, name):
        self.running[name] = Request(name, [self.free.pop()])

    def table(self, request):
        table = torch.full((self.width,), -1)
        table[: len(request.pages)] = torch.tensor(request.pages)
        return table

    @torch.no_grad()
    def tick(self, name, x):
        request = self.running[name]
        out = self.decode(x, self.table(request))
        request.pages.append(self.free.pop())
        return out


def drive():
    server = Server(PagedAttention())
    server.admit("a")
    for _ in range(12):
        yield server.tick("a", X)


# %% a clip range that a property hides and the trainer of a policy anneals
class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self._clip = 0.2

    @property
    def clip(self):
        return self._clip

    @clip.setter
    def clip(self, value):
        if value <= 0:
            raise ValueError("the clip range must be positive")
        self._clip = float(value)

    def forward(self, obs, old):
        ratio = (self.body(obs) - old).exp()
        return ratio.clamp(1 - self.clip, 1 + self.clip).mean()  # expect: DYN102 storm


class PPO:
    def __init__(self, policy, total):
        self.policy = policy
        self.loss = torch.compile(policy)
        self.total = total

    def learn(self, rollouts):
        for i, (obs, old) in enumerate(rollouts):
            self.policy.clip = 0.2 * (1 - i / self.total)
            yield self.loss(obs, old)


def drive():
    yield from PPO(Policy(), 24).learn([(X, X * 0.9)] * 12)


# %% an average whose closure counts its updates
def make_average(decay):
    seen = 0

    def update(average, fresh):
        nonlocal seen
        seen += 1  # expect: DYN106 once
        d = min(decay, (1 + seen) / (10 + seen))
        return average * d + fresh * (1 - d)

    return update


def drive():
    net = nn.Linear(4, 4)
    update = torch.compile(make_average(0.999))
    shadow = net.weight.detach().clone()
    for i in range(12):
        shadow = update(shadow, net.weight.detach() + 0.01 * i)
        yield shadow


# %% quiet: an average whose closure counts around what is compiled
def make_average(decay):
    seen = torch.zeros(())

    @torch.compile
    def blend(average, fresh, n):
        d = torch.minimum(torch.full((), decay), (1 + n) / (10 + n))
        return average * d + fresh * (1 - d)

    calls = 0

    def update(average, fresh):
        nonlocal calls
        calls += 1
        return blend(average, fresh, seen.fill_(calls))

    return update


def drive():
    net = nn.Linear(4, 4)
    update = make_average(0.999)
    shadow = net.weight.detach().clone()
    for i in range(12):
        shadow = update(shadow, net.weight.detach() + 0.01 * i)
        yield shadow


# %% a generator that grows by replacing its frozen settings
class Resolution(enum.IntEnum):
    R4 = 0
    R8 = 1
    R16 = 2


@dataclasses.dataclass(frozen=True)
class GanConfig:
    channels: int = 4
    resolution: Resolution = Resolution.R4


class Generator(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.stages = nn.ModuleList([nn.Linear(cfg.channels, cfg.channels) for _ in Resolution])

    def forward(self, z):
        for stage in self.stages[: self.cfg.resolution + 1]:  # expect: DYN102 per-value
            z = F.leaky_relu(stage(z), 0.2)
        return z


class GanTrainer:
    def __init__(self, cfg):
        self.generator = Generator(cfg)
        self.sample = torch.compile(self.generator)

    def grow(self):
        cfg = self.generator.cfg
        if cfg.resolution < Resolution.R16:
            self.generator.cfg = dataclasses.replace(cfg, resolution=Resolution(cfg.resolution + 1))


def drive():
    trainer = GanTrainer(GanConfig())
    for i in range(12):
        if i and i % 4 == 0:
            trainer.grow()
        yield trainer.sample(X)


# %% a number of experts that a pattern gives to each layer
@dataclasses.dataclass
class MoeConfig:
    dim: int = 4
    experts: int = 4
    layers: int = 6
    pattern: tuple = (1, 2, 4)


class Router(nn.Module):
    def __init__(self, cfg, layer):
        super().__init__()
        self.gate = nn.Linear(cfg.dim, cfg.experts, bias=False)
        self.top_k = cfg.pattern[layer % len(cfg.pattern)]

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(self.top_k, dim=-1)  # expect: DYN107 per-instance
        return torch.zeros(x.shape[0], self.gate.out_features).scatter(1, chosen, weights)


class MoeLayer(nn.Module):
    def __init__(self, cfg, layer):
        super().__init__()
        self.router = Router(cfg, layer)
        self.experts = nn.Parameter(
            torch.linspace(-1, 1, cfg.experts * cfg.dim * cfg.dim).reshape(-1, cfg.dim, cfg.dim)
        )

    def forward(self, x):
        mixed = torch.einsum("nd,edf->nef", x, self.experts)
        return x + torch.einsum("ne,nef->nf", self.router(x), mixed)


@torch.no_grad()
def infer(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def drive():
    cfg = MoeConfig()
    layers = nn.ModuleList(MoeLayer(cfg, i) for i in range(cfg.layers))
    for layer in layers:
        layer.forward = torch.compile(layer.forward)
    for _ in range(12):
        yield infer(layers, X)


# %% quiet: a number of experts that is the same for each layer
@dataclasses.dataclass
class MoeConfig:
    dim: int = 4
    experts: int = 4
    layers: int = 6
    pattern: tuple = (2,)


class Router(nn.Module):
    def __init__(self, cfg, layer):
        super().__init__()
        self.gate = nn.Linear(cfg.dim, cfg.experts, bias=False)
        self.top_k = cfg.pattern[layer % len(cfg.pattern)]

    def forward(self, x):
        weights, chosen = self.gate(x).softmax(-1).topk(self.top_k, dim=-1)
        return torch.zeros(x.shape[0], self.gate.out_features).scatter(1, chosen, weights)


class MoeLayer(nn.Module):
    def __init__(self, cfg, layer):
        super().__init__()
        self.router = Router(cfg, layer)
        self.experts = nn.Parameter(
            torch.linspace(-1, 1, cfg.experts * cfg.dim * cfg.dim).reshape(-1, cfg.dim, cfg.dim)
        )

    def forward(self, x):
        mixed = torch.einsum("nd,edf->nef", x, self.experts)
        return x + torch.einsum("ne,nef->nf", self.router(x), mixed)


@torch.no_grad()
def infer(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def drive():
    cfg = MoeConfig()
    layers = nn.ModuleList(MoeLayer(cfg, i) for i in range(cfg.layers))
    for layer in layers:
        layer.forward = torch.compile(layer.forward)
    for _ in range(12):
        yield infer(layers, X)


# %% feed-forwards of two kinds out of a registry
FFNS = {}


def register(name):
    def add(cls):
        FFNS[name] = cls
        return cls

    return add


@register("dense")
class Dense(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, dim)

    def forward(self, x):
        return F.gelu(self.up(x))


@register("gated")
class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, dim)
        self.gate = nn.Linear(dim, dim)

    def forward(self, x):
        return self.up(x) * F.silu(self.gate(x))


class DecoderLayer(nn.Module):
    def __init__(self, dim, kind):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.ffn = FFNS[kind](dim)

    def forward(self, x):
        return x + self.ffn(self.norm(x))  # expect: DYN108 per-instance


class Decoder(nn.Module):
    def __init__(self, kinds, dim=4):
        super().__init__()
        self.layers = nn.ModuleDict({f"layer_{i}": DecoderLayer(dim, kind) for i, kind in enumerate(kinds)})

    def compile_layers(self):
        for layer in self.layers.values():
            layer.compile()

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


def drive():
    model = Decoder(["dense", "gated", "dense", "gated"])
    model.compile_layers()
    for _ in range(12):
        with torch.no_grad():
            out = model(X)
        yield out


# %% a history of maxima for delayed scaling
class Fp8Linear(nn.Linear):
    def __init__(self, *args, window=16, **kwargs):
        super().__init__(*args, **kwargs)
        self.history = collections.deque(maxlen=window)

    def observe(self, x):
        self.history.append(x.detach().abs().amax())  # expect: DYN105 storm
        return torch.stack(list(self.history)).amax()

    def forward(self, x):
        scale = 448.0 / self.observe(x)
        return F.linear((x * scale).round() / scale, self.weight, self.bias)


def drive():
    model = nn.Sequential(Fp8Linear(4, 4), nn.ReLU())
    run = torch.compile(model)
    for i in range(12):
        yield run(X * (1 + i))


# %% quiet: a history of maxima in a buffer that turns round
class Fp8Linear(nn.Linear):
    def __init__(self, *args, window=16, **kwargs):
        super().__init__(*args, **kwargs)
        self.register_buffer("history", torch.zeros(window))

    def observe(self, x):
        rolled = torch.roll(self.history, 1)
        rolled[0] = x.detach().abs().amax()
        self.history.copy_(rolled)
        return self.history.amax()

    def forward(self, x):
        scale = 448.0 / self.observe(x)
        return F.linear((x * scale).round() / scale, self.weight, self.bias)


def drive():
    model = nn.Sequential(Fp8Linear(4, 4), nn.ReLU())
    run = torch.compile(model)
    for i in range(12):
        yield run(X * (1 + i))


# %% a sampler that knows which step it is at
class Euler:
    def __init__(self, steps):
        self.sigmas = [1.0 - i / (steps + 1) for i in range(steps + 1)]
        self.step_index = 0

    def scale(self, sample):
        return sample / (self.sigmas[self.step_index] ** 2 + 1) ** 0.5

    def step(self, noise, sample):
        delta = self.sigmas[self.step_index + 1] - self.sigmas[self.step_index]
        self.step_index += 1  # expect: DYN101 storm
        return sample + noise * delta


class DiffusionPipeline:
    def __init__(self, unet, scheduler):
        self.unet = unet
        self.scheduler = scheduler

    def denoise_once(self, latents):
        noise = self.unet(self.scheduler.scale(latents))
        return self.scheduler.step(noise, latents)


def drive():
    pipe = DiffusionPipeline(nn.Linear(4, 4), Euler(16))
    pipe.denoise_once = torch.compile(pipe.denoise_once)
    latents = X
    with torch.no_grad():
        for _ in range(12):
            latents = pipe.denoise_once(latents)
            yield latents


# %% quiet: a sampler that steps beside a compiled network
class Euler:
    def __init__(self, steps):
        self.sigmas = [1.0 - i / (steps + 1) for i in range(steps + 1)]
        self.step_index = 0

    def scale(self, sample):
        return sample / (self.sigmas[self.step_index] ** 2 + 1) ** 0.5

    def step(self, noise, sample):
        delta = self.sigmas[self.step_index + 1] - self.sigmas[self.step_index]
        self.step_index += 1
        return sample + noise * delta


class DiffusionPipeline:
    def __init__(self, unet, scheduler):
        self.unet = unet
        self.scheduler = scheduler

    def denoise_once(self, latents):
        noise = self.unet(self.scheduler.scale(latents))
        return self.scheduler.step(noise, latents)


def drive():
    pipe = DiffusionPipeline(nn.Linear(4, 4), Euler(16))
    pipe.unet = torch.compile(pipe.unet)
    latents = X
    with torch.no_grad():
        for _ in range(12):
            latents = pipe.denoise_once(latents)
            yield latents


# %% callbacks on the latents of which one takes its leave
class Noiser:
    def __call__(self, latents):
        return latents + 0.1


class Clamp:
    def __call__(self, latents):
        return latents.clamp(-1, 1)


class Sampler(nn.Module):
    def __init__(self, callbacks):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.callbacks = callbacks

    def forward(self, latents):
        latents = self.net(latents)
        for callback in self.callbacks:  # expect: DYN105 once
            latents = callback(latents)
        return latents


def drive():
    noiser = Noiser()
    sampler = Sampler([Clamp(), noiser])
    run = torch.compile(sampler)
    for i in range(12):
        if i == 5:
            sampler.callbacks.remove(noiser)
        yield run(X)


# %% a memory of a recurrent policy that the end of an episode forgets
class Memory:
    def reset(self):
        self.hidden = None


class RecurrentPolicy(nn.Module, Memory):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.reset()

    def forward(self, obs):
        if self.hidden is None:  # expect: DYN103 once
            hidden = obs.new_zeros(obs.shape[0], 4)
        else:
            hidden = self.hidden
        self.hidden = self.cell(obs, hidden)
        return self.hidden


def drive():
    policy = RecurrentPolicy()
    act = torch.compile(policy)
    with torch.no_grad():
        for i in range(12):
            if i and i % 5 == 0:
                policy.reset()
            yield act(X)


# %% quiet: a memory of a recurrent policy that the end of an episode zeroes
class Memory:
    def reset(self):
        self.hidden.zero_()


class RecurrentPolicy(nn.Module, Memory):
    def __init__(self, batch=2):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.register_buffer("hidden", torch.zeros(batch, 4), persistent=False)
        self.reset()

    def forward(self, obs):
        self.hidden.copy_(self.cell(obs, self.hidden))
        return self.hidden.clone()


def drive():
    policy = RecurrentPolicy()
    act = torch.compile(policy)
    with torch.no_grad():
        for i in range(12):
            if i and i % 5 == 0:
                policy.reset()
            yield act(X)


# %% a table of rotations that a mixin makes when it is first asked
class RotaryMixin:
    rotary_dim = 4

    def rotations(self, x):
        if not hasattr(self, "_angles"):
            self._angles = torch.arange(self.rotary_dim, device=x.device) * 0.1  # expect: DYN104 once
        return self._angles


class Attention(RotaryMixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 4)

    def forward(self, x):
        angles = self.rotations(x)
        return self.qkv(x) * angles.cos() + x * angles.sin()


def drive():
    run = torch.compile(Attention())
    with torch.no_grad():
        for _ in range(12):
            yield run(X)


# %% quiet: a table of rotations that a mixin makes along with the module
class RotaryMixin:
    rotary_dim = 4

    def init_rotations(self, device=None):
        if not hasattr(self, "_angles"):
            self._angles = torch.arange(self.rotary_dim, device=device) * 0.1

    def rotations(self, x):
        return self._angles.to(x.dtype)


class Attention(RotaryMixin, nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 4)
        self.init_rotations()

    def forward(self, x):
        angles = self.rotations(x)
        return self.qkv(x) * angles.cos() + x * angles.sin()


def drive():
    run = torch.compile(Attention())
    with torch.no_grad():
        for _ in range(12):
            yield run(X)


# %% dropouts that an estimate of the doubt wakes every third batch
class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        return self.drop(self.fc(x))


@contextlib.contextmanager
def monte_carlo(model):
    drops = [m for m in model.modules() if isinstance(m, nn.Dropout)]
    for m in drops:
        m.train()  # expect: DYN110 once
    try:
        yield model
    finally:
        for m in drops:
            m.eval()


class Estimator:
    def __init__(self, model):
        self.model = model.eval()
        self.run = torch.compile(self.model)

    @torch.no_grad()
    def predict(self, x):
        return self.run(x)

    @torch.no_grad()
    def doubt(self, x):
        with monte_carlo(self.model):
            return self.run(x)


def drive():
    estimator = Estimator(Head())
    for i in range(12):
        out = estimator.doubt(X) if i % 3 == 2 else estimator.predict(X)
        yield out.shape


# %% a norm that another file exchanges after the warm-up
import fused
import layers


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.lin(layers.rms_norm(x, self.weight))  # expect: DYN102 once


def drive():
    run = torch.compile(Block())
    for i in range(12):
        if i == 3:
            fused.patch()
        yield run(X)
    fused.unpatch()


# file: layers.py
def rms_norm(x, weight, eps=1e-6):
    return x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight


# file: fused.py
import torch.nn.functional as F

import layers

_plain = layers.rms_norm


def fused_rms_norm(x, weight, eps=1e-6):
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def patch():
    layers.rms_norm = fused_rms_norm


def unpatch():
    layers.rms_norm = _plain


# %% quiet: a norm that another file exchanges before anything is compiled
import fused
import layers

fused.patch()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4))
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.lin(layers.rms_norm(x, self.weight))


def drive():
    run = torch.compile(Block())
    for _ in range(12):
        yield run(X)


# file: layers.py
def rms_norm(x, weight, eps=1e-6):
    return x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight


# file: fused.py
import torch.nn.functional as F

import layers


def fused_rms_norm(x, weight, eps=1e-6):
    return F.rms_norm(x, (x.shape[-1],), weight, eps)


def patch():
    layers.rms_norm = fused_rms_norm


# %% layers that a search adds to the set of those to skip
class SkippingModel(nn.Module):
    def __init__(self, depth=12):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(depth)])
        self.skipped = set()

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            if i in self.skipped:  # expect: DYN105 storm
                continue
            x = x + layer(x).tanh()
        return x


class LayerSearch:
    def __init__(self, model):
        self.model = model
        self.run = torch.compile(model)
        self.order = [7, 3, 9, 1, 5, 11, 0, 2, 8, 4, 6, 10]

    def try_next(self, x):
        out = self.run(x)
        self.model.skipped.add(self.order[len(self.model.skipped)])
        return out


@torch.no_grad()
def drive():
    search = LayerSearch(SkippingModel())
    for _ in range(12):
        yield search.try_next(X)


# %% quiet: layers that a search masks out and only lists in a set
class SkippingModel(nn.Module):
    def __init__(self, depth=12):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(depth)])
        self.register_buffer("kept", torch.ones(depth))
        self.skipped = set()

    def skip(self, i):
        self.skipped.add(i)
        self.kept[i] = 0.0

    def report(self):
        return ", ".join(str(i) for i in sorted(self.skipped))

    def forward(self, x):
        for layer, kept in zip(self.layers, self.kept):
            x = x + layer(x).tanh() * kept
        return x


class LayerSearch:
    def __init__(self, model):
        self.model = model
        self.run = torch.compile(model)
        self.order = [7, 3, 9, 1, 5, 11, 0, 2, 8, 4, 6, 10]
        self.lines = []

    def try_next(self, x):
        out = self.run(x)
        self.model.skip(self.order[len(self.model.skipped)])
        self.lines.append(self.model.report())
        return out


@torch.no_grad()
def drive():
    search = LayerSearch(SkippingModel())
    for _ in range(12):
        yield search.try_next(X)


# %% features of a pipeline that are switched by flags
class Feature(enum.Flag):
    NONE = 0
    GUIDANCE = enum.auto()
    RESCALE = enum.auto()
    TILING = enum.auto()


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)
        self.features = Feature.NONE

    def enable(self, feature):
        self.features = self.features | feature

    def disable(self, feature):
        self.features = self.features & ~feature

    def forward(self, x, guidance):
        out = self.net(x)
        if Feature.GUIDANCE in self.features:  # expect: DYN102 per-value
            out = out + (out - x) * guidance
        if Feature.RESCALE in self.features:
            out = out / out.std()
        return out


def drive():
    model = Denoiser()
    run = torch.compile(model)
    guidance = torch.tensor(3.0)
    for i in range(12):
        if i == 4:
            model.enable(Feature.GUIDANCE)
        elif i == 8:
            model.enable(Feature.RESCALE)
        yield run(X, guidance)


# %% adapters of two parts that the evaluation switches off together
class Lora(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.base = nn.Linear(width, width)
        self.delta = nn.Linear(width, width, bias=False)
        self.enabled = True

    def forward(self, x):
        y = self.base(x)
        return y + self.delta(x) if self.enabled else y  # expect: DYN102 once


class Attention(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.query = Lora(width)
        self.value = Lora(width)

    def forward(self, x):
        return torch.softmax(self.query(x), -1) * self.value(x)


def switch(model, enabled):
    for module in model.modules():
        if isinstance(module, Lora):
            module.enabled = enabled


def drive():
    model = Attention()
    run = torch.compile(model)
    for i in range(12):
        switch(model, i % 3 != 0)
        yield run(X)


# %% a decay that falls in every group of a compiled step
def drive():
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.5, foreach=False)
    step = torch.compile(optimizer.step)
    for i in range(12):
        for n, group in enumerate(optimizer.param_groups):
            group["weight_decay"] = 0.5 / (i + n + 1)  # expect: DYN102 storm
        optimizer.zero_grad()
        model(X).sum().backward()
        step()
        yield model.weight.detach().clone()


# %% an expert that the server pins by the path of its layer
class Router(nn.Module):
    def __init__(self, experts=4):
        super().__init__()
        self.gate = nn.Linear(4, experts)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(experts)])
        self.pinned = 0

    def forward(self, x):
        return self.experts[self.pinned](x) + self.gate(x).mean()


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = Router()

    def forward(self, x):
        return x + self.router(x)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def pin(model, path, expert):
    model.get_submodule(path).pinned = expert  # expect: DYN102 per-value


def drive():
    model = Decoder()
    run = torch.compile(model)
    for i in range(12):
        pin(model, "layers.1.router", i % 4)
        yield run(X)


# %% transforms that plugins register while the service runs
TRANSFORMS = {}


def register(name, function):
    TRANSFORMS[name] = function  # expect: DYN105 storm


def scaled(amount):
    def apply(x):
        return x * amount

    return apply


class Service(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        x = self.fc(x)
        for transform in TRANSFORMS.values():
            x = transform(x)
        return x


def drive():
    service = Service()
    run = torch.compile(service)
    for i in range(12):
        register(f"plugin{i}", scaled(2.0))
        yield run(X)


# %% a window of losses that a compiled monitor keeps
class Monitor:
    def __init__(self):
        self.seen = 0
        self.best = math.inf

    def observe(self, patience):
        self.seen = 0 if patience else self.seen + 1


class Net(nn.Module):
    def __init__(self, monitor):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.monitor = monitor

    def forward(self, x):
        y = self.fc(x)
        if self.monitor.seen > 2:  # expect: DYN102 per-value
            y = y.clamp(max=1.0)
        return y


def drive():
    monitor = Monitor()
    run = torch.compile(Net(monitor))
    for i in range(12):
        monitor.observe(i % 5 == 0)
        yield run(X)


# %% options that a command passes on to a compiled function
def render(x, *, gain=1, **options):
    return x * gain + len(options) + options.get("bias", 0)


class Session:
    def __init__(self, function):
        self.function = torch.compile(function)
        self.options = {"bias": 1}

    def send(self, x):
        return self.function(x, **self.options)

    def learn(self, key, value):
        self.options[key] = value  # expect: DYN109 storm


def drive():
    session = Session(render)
    for i in range(12):
        session.learn(f"note{i}", "seen")
        yield session.send(X)


# %% a phase that a generator of the curriculum hands to the model
class Phase(enum.Enum):
    WARM = "warm"
    MAIN = "main"
    COOL = "cool"


class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.phase = Phase.WARM

    def forward(self, x):
        y = self.fc(x)
        if self.phase is Phase.WARM:
            return y * 0.1
        return y.relu() if self.phase is Phase.MAIN else y.tanh()


def curriculum(lengths):
    for phase, length in zip(Phase, lengths):
        for _ in range(length):
            yield phase


def drive():
    model = Learner()
    run = torch.compile(model)
    for phase in curriculum((3, 5, 4)):
        model.phase = phase  # expect: DYN102 per-value
        yield run(X)


# %% a cache that a request drops when it is done
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        if not hasattr(self, "memo"):
            self.memo = self.fc(x).detach()  # expect: DYN104 once
        return x + self.memo


class Requests:
    def __init__(self, encoder):
        self.encoder = encoder
        self.run = torch.compile(encoder)

    def finish(self):
        if hasattr(self.encoder, "memo"):
            del self.encoder.memo

    def answer(self, tokens):
        for token in tokens:
            yield self.run(token)
        self.finish()


def drive():
    requests = Requests(Encoder())
    for _ in range(4):
        yield from requests.answer([X, X + 1, X + 2])


# %% a loss whose margin a partial method binds anew
class Criterion:
    def __init__(self):
        self.margin = 0.0

    def loss(self, x, margin):
        return (x - margin).relu().sum()

    def current(self):
        return functools.partial(self.loss, margin=self.margin)


def measure(x, criterion):
    return criterion(x) * 2  # expect: DYN109 once


def drive():
    criterion = Criterion()
    run = torch.compile(measure)
    for i in range(12):
        criterion.margin = 0.125 * i
        yield run(X, criterion.current())


# %% quiet: an heir that leaves out the annealing of its base
class Smooth(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.age = 0

    def advance(self):
        self.age += 1

    def forward(self, x):
        self.advance()
        return self.fc(x) * (1 - 0.5**self.age if self.age else 1.0)


class Fixed(Smooth):
    def advance(self):
        """The strength stays as it is."""


def drive():
    run = torch.compile(Fixed())
    for _ in range(12):
        yield run(X)


# %% quiet: a decay that is set to the same number in every group
def drive():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))
    groups = [{"params": part.parameters()} for part in model]
    optimizer = torch.optim.SGD(groups, lr=0.1, weight_decay=0.1, foreach=False)
    step = torch.compile(optimizer.step)
    for _ in range(12):
        for n, group in enumerate(optimizer.param_groups):
            group["weight_decay"] = 0.1 * (n + 1)
        optimizer.zero_grad()
        model(X).sum().backward()
        step()
        yield model[0].weight.detach().clone()


# %% quiet: flags of two adapters that every request sets as they were
class Lora(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.base = nn.Linear(width, width)
        self.delta = nn.Linear(width, width, bias=False)
        self.enabled = True
        self.scale = 0.5

    def forward(self, x):
        y = self.base(x)
        return y + self.scale * self.delta(x) if self.enabled else y


class Attention(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.query = Lora(width)
        self.value = Lora(width)

    def forward(self, x):
        return torch.softmax(self.query(x), -1) * self.value(x)


def choose(model, request):
    for module in model.modules():
        if isinstance(module, Lora):
            module.enabled = request["adapter"] is not None
            module.scale = request["scale"]


def drive():
    model = Attention()
    run = torch.compile(model)
    for i in range(12):
        choose(model, {"adapter": "style", "scale": 0.5, "id": i})
        yield run(X)


# %% an attention that a patch puts on the class after the first batches
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def attend(self, x):
        return torch.softmax(x, -1)

    def forward(self, x):
        return self.attend(self.proj(x))  # expect: DYN305 stale


def linear_attend(self, x):
    return x / x.abs().sum(-1, keepdim=True)


def drive():
    run = torch.compile(Attention())
    for i in range(12):
        if i == 4:
            Attention.attend = linear_attend
        yield run(X)


# %% quiet: a patch that puts the same function on the class again
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def attend(self, x):
        return torch.softmax(x, -1)

    def forward(self, x):
        return self.attend(self.proj(x))


def linear_attend(self, x):
    return x / x.abs().sum(-1, keepdim=True)


def patch():
    Attention.attend = linear_attend


def drive():
    patch()
    run = torch.compile(Attention())
    for _ in range(12):
        patch()
        yield run(X)


# %% a method that a context exchanges on the class of a part
class Gate(nn.Module):
    def weigh(self, x):
        return x.sigmoid()

    def forward(self, x):
        return x * self.weigh(x)  # expect: DYN305 stale


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.gate = Gate()

    def forward(self, x):
        return self.gate(self.fc(x))


@contextlib.contextmanager
def opened():
    before = Gate.weigh
    Gate.weigh = lambda self, x: torch.ones_like(x)
    yield
    Gate.weigh = before


def drive():
    run = torch.compile(Net())
    for i in range(12):
        with opened() if i % 4 == 3 else contextlib.nullcontext():
            yield run(X)


# %% a head that is exchanged behind the module's back
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x).relu())  # expect: DYN305 stale


def transplant(model, head):
    object.__setattr__(model, "head", head)


def drive():
    model = Classifier()
    run = torch.compile(model)
    for i in range(12):
        if i == 6:
            transplant(model, nn.Linear(4, 2))
        yield run(X)


# %% quiet: a head that is exchanged in the open for one of its kind
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.body(x).relu())


def transplant(model, head):
    model.head = head


def drive():
    model = Classifier()
    run = torch.compile(model)
    for i in range(12):
        if i == 6:
            transplant(model, nn.Linear(4, 2))
        yield run(X)


# %% an encoder that two towers share until one of them is copied
class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 4)
        self.right = self.left

    def forward(self, x):
        if self.left is self.right:
            return self.left(x) * 2
        return self.left(x) + self.right(x)


def drive():
    towers = Towers()
    run = torch.compile(towers)
    for i in range(12):
        if i == 5:
            towers.right = copy.deepcopy(towers.left)  # expect: DYN102 once
        yield run(X)


# %% quiet: an encoder that two towers share for good
class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.left = nn.Linear(4, 4)
        self.right = self.left

    def forward(self, x):
        if self.left is self.right:
            return self.left(x) * 2
        return self.left(x) + self.right(x)


def drive():
    towers = Towers()
    run = torch.compile(towers)
    for i in range(12):
        if i == 5:
            towers.right = towers.left
        yield run(X)


# %% inputs of a pair that are the same tensor at first
def distance(x, y):
    return (x - y).abs().sum() if x is not y else x.sum()


def drive():
    run = torch.compile(distance)
    for i in range(12):
        yield run(X, X if i < 3 else X.clone())  # expect: DYN109 once


# %% quiet: inputs of a pair that are never the same tensor
def distance(x, y):
    return (x - y).abs().sum() if x is not y else x.sum()


def drive():
    run = torch.compile(distance)
    for _ in range(12):
        yield run(X, X.clone())


# %% a probe that a later epoch hangs on a layer by a method
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x) + 1


class Probe:
    def __init__(self, model):
        self.model = model
        self.run = torch.compile(model)

    def attach(self):
        for part in self.model.children():
            part.register_forward_hook(lambda module, args, out: out * 0.5)  # expect: DYN302 stale

    def epochs(self):
        for epoch in range(12):
            if epoch == 4:
                self.attach()
            yield self.run(X)


def drive():
    yield from Probe(Net()).epochs()


# %% quiet: a probe that is taken off again before the next compiled call
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x) + 1


def calibrate(model):
    seen = []
    handle = model.proj.register_forward_hook(lambda module, args, out: seen.append(out.mean()))
    with torch.no_grad():
        model(X)
    handle.remove()
    return seen


def drive():
    model = Net()
    run = torch.compile(model)
    for i in range(12):
        if i % 4 == 1:
            calibrate(model)
        yield run(X)


# %% a rate that a warm-up raises in the groups of a compiled AdamW
def drive():
    torch.manual_seed(0)
    model = nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=False)
    step = torch.compile(optimizer.step)
    for i in range(12):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (i + 1)  # expect: DYN102 once
        optimizer.zero_grad()
        model(X).square().sum().backward()
        step()
        yield model.weight.detach().round(decimals=2)


# %% levels that a property of a part sets from a number of bits
class Rounding(nn.Module):
    def __init__(self):
        super().__init__()
        self._levels = 256

    @property
    def bits(self):
        return self._levels.bit_length() - 1

    @bits.setter
    def bits(self, value):
        self._levels = value * 8  # expect: DYN102 storm

    def forward(self, x):
        return (x * self._levels).round()


class Rounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({"depth": Rounding(), "width": Rounding()})

    def forward(self, x):
        return {name: part(x) for name, part in self.parts.items()}


def drive():
    model = Rounded()
    run = torch.compile(model, dynamic=False)
    for step in range(12):
        model.parts["depth"].bits = step + 2
        yield run(X)["depth"]


# %% a compiled model that a summary looks at, beside a loop that runs the other one
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 4)

    def forward(self, x):
        return self.out(x).relu()


def size_of(model):
    return sum(one.numel() for one in model.parameters())


def drive():
    model = Counted()
    fast = torch.compile(model)  # expect: DYN501 eager
    size_of(fast)
    for _ in range(4):
        yield model(X)


# %% a compiled model that a summary calls
class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 4)

    def forward(self, x):
        return self.out(x).relu()


def mean_of(model):
    return model(X).mean()


def drive():
    model = Counted()
    fast = torch.compile(model)
    for _ in range(4):
        yield mean_of(fast)
