"""Scripts of training and inference, as people write them: what they keep in Python, and what of it costs."""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import itertools
import math
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% a scale for deep layers that an initialiser derives from the depth
@dataclasses.dataclass
class Config:
    dim: int = 4
    depth: int = 12


class Residual(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.fn = nn.Linear(cfg.dim, cfg.dim)
        self.res_scale = 1

    def forward(self, x):
        return x * self.res_scale + self.fn(x)  # expect: DYN107 per-instance


class Tower(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.layers = nn.ModuleList(Residual(cfg) for _ in range(cfg.depth))
        self._init_scales()

    def _init_scales(self):
        for n, layer in enumerate(self.layers, start=1):
            layer.res_scale = 2 * n

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    tower = Tower(Config())
    for layer in tower.layers:
        layer.forward = torch.compile(layer.forward)
    with torch.no_grad():
        for _ in range(12):
            yield tower(X)


# %% a recorder of activations that numbers what it sees
class Recorder:
    def __init__(self):
        self.store = {}
        self.batch = 0
        self.handles = []

    def watch(self, model, names):
        for name, module in model.named_modules():
            if name in names:
                self.handles.append(module.register_forward_hook(functools.partial(self._save, name)))

    def _save(self, name, module, args, output):
        self.store[f"{name}/{self.batch}"] = output.detach()  # expect: DYN105 storm

    def next_batch(self):
        self.batch += 1  # expect: DYN102 storm


def drive():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    recorder = Recorder()
    recorder.watch(model, {"0", "2"})
    compiled = torch.compile(model)
    for _ in range(12):
        yield compiled(X)
        recorder.next_batch()


# %% quiet: a recorder of activations that only the loop asks for its batch
class Recorder:
    def __init__(self, names):
        self.store = {name: torch.zeros(()) for name in names}
        self.batch = 0
        self.lines = collections.deque(maxlen=4)

    def watch(self, model):
        for name, module in model.named_modules():
            if name in self.store:
                module.register_forward_hook(functools.partial(self._save, name))

    def _save(self, name, module, args, output):
        self.store[name] = output.detach()

    def flush(self):
        self.lines.append((self.batch, {k: v.mean().item() for k, v in self.store.items()}))
        self.batch += 1


def drive():
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    recorder = Recorder(["0", "2"])
    recorder.watch(model)
    compiled = torch.compile(model)
    for _ in range(12):
        yield compiled(X)
        recorder.flush()


# %% a stage of progressive growing that the class keeps for all blocks
class Resolution(enum.IntEnum):
    LOW = 1
    MID = 2
    HIGH = 4


class UpBlock(nn.Module):
    resolution = Resolution.LOW

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, x):
        if self.resolution >= Resolution.MID:  # expect: DYN102 per-value
            x = torch.relu(self.conv(x))
        return x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(UpBlock() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def grow(to):
    UpBlock.resolution = to


def drive():
    net = torch.compile(Net())
    x = X[None, :1]
    for stage in Resolution:
        grow(stage)
        for _ in range(4):
            yield net(x)


# %% quiet: a stage of progressive growing that ends before anything is compiled
class Resolution(enum.IntEnum):
    LOW = 1
    MID = 2
    HIGH = 4


class UpBlock(nn.Module):
    resolution = Resolution.LOW

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, x):
        if self.resolution >= Resolution.MID:
            x = torch.relu(self.conv(x))
        return x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(UpBlock() for _ in range(2))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def grow(to):
    UpBlock.resolution = to


def drive():
    net = Net()
    x = X[None, :1]
    for stage in Resolution:
        grow(stage)
        net(x)
    net = torch.compile(net)
    for _ in range(12):
        grow(Resolution.HIGH)
        yield net(x)


# %% a weight of the auxiliary loss that warms up in the trainer
@dataclasses.dataclass
class TrainConfig:
    steps: int = 12
    warmup: int = 20
    aux: float = 0.5


class Losses:
    def __init__(self, cfg):
        self.cfg = cfg

    @torch.compile
    def __call__(self, pred, target, aux_weight):
        main = F.mse_loss(pred, target)
        return main + aux_weight * pred.abs().mean()  # expect: DYN109 once


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.losses = Losses(cfg)
        self.step = 0

    def aux_weight(self):
        return self.cfg.aux * min(1.0, (self.step + 1) / self.cfg.warmup)

    def train_step(self, x):
        loss = self.losses(self.model(x), x, self.aux_weight())
        self.step += 1
        return loss

    def run(self, x):
        while self.step < self.cfg.steps:
            yield self.train_step(x)


def drive():
    yield from Trainer(nn.Linear(4, 4), TrainConfig()).run(X)


# %% an attention backend that a benchmark tries one after the other
def naive(q, k, v):
    return (q @ k.T).softmax(-1) @ v


def scaled(q, k, v):
    return (q @ k.T / math.sqrt(q.shape[-1])).softmax(-1) @ v


def linear(q, k, v):
    return (F.elu(q) + 1) @ ((F.elu(k) + 1).T @ v)


BACKENDS = {"naive": naive, "scaled": scaled, "linear": linear}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)
        self.kernel = naive

    def use(self, name):
        self.kernel = BACKENDS[name]
        return self

    def forward(self, x):
        return self.kernel(*self.qkv(x).chunk(3, -1))  # expect: DYN102 per-value


def drive():
    attention = Attention()
    compiled = torch.compile(attention)
    for name in BACKENDS:
        attention.use(name)
        for _ in range(4):
            yield compiled(X)


# %% quiet: an attention backend that the config picks and a benchmark confirms
def naive(q, k, v):
    return (q @ k.T).softmax(-1) @ v


def linear(q, k, v):
    return (F.elu(q) + 1) @ ((F.elu(k) + 1).T @ v)


BACKENDS = {"naive": naive, "linear": linear}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(4, 12)
        self.kernel = naive

    def use(self, name):
        self.kernel = BACKENDS[name]
        return self

    def forward(self, x):
        return self.kernel(*self.qkv(x).chunk(3, -1))


def drive():
    attention = Attention()
    for name in BACKENDS:
        attention.use(name)(X)
    attention.use("linear")
    compiled = torch.compile(attention)
    for _ in range(12):
        attention.use("linear")
        yield compiled(X)


# %% a noise schedule that builds its function for every step
class Schedule:
    def __init__(self, total):
        self.total = total

    def at(self, step):
        sigma = 0.1 * (step + 1) / self.total

        def add_noise(x, noise):
            return x + sigma * noise

        return add_noise


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x, corrupt):
        noise = torch.ones_like(x)
        return F.mse_loss(self.net(corrupt(x, noise)), noise)  # expect: DYN109 once


def drive():
    schedule = Schedule(50)
    loss = torch.compile(Denoiser())
    for step in range(12):
        yield loss(X, schedule.at(step))


# %% quiet: a noise schedule that builds its function for every step out of a tensor
class Schedule:
    def __init__(self, total):
        self.sigmas = torch.linspace(0.1, 1.0, total)

    def at(self, step):
        sigma = self.sigmas[step].clone()

        def add_noise(x, noise):
            return x + sigma * noise

        return add_noise


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 4)

    def forward(self, x, corrupt):
        noise = torch.ones_like(x)
        return F.mse_loss(self.net(corrupt(x, noise)), noise)


def drive():
    schedule = Schedule(50)
    loss = torch.compile(Denoiser())
    for step in range(12):
        yield loss(X, schedule.at(step))


# %% an average that a validation swaps in as a whole model
class EMA:
    def __init__(self, model, decay=0.9):
        self.module = copy.deepcopy(model)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.module.parameters(), model.parameters()):
            mine.lerp_(theirs, 1 - self.decay)


class Task:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.ema = EMA(self.model)
        self.ema.module.requires_grad_(False)
        self.step = torch.compile(self._step)

    def _step(self, model, x):
        return model(x).pow(2).mean()  # expect: DYN110 once

    def train(self, x):
        loss = self.step(self.model, x)
        self.ema.update(self.model)
        return loss

    def validate(self, x):
        return self.step(self.ema.module, x)


def drive():
    task = Task()
    for i in range(12):
        yield task.train(X)
        if i % 6 == 5:
            yield task.validate(X)


# %% quiet: an average whose weights a validation swaps in and out
class EMA:
    def __init__(self, model, decay=0.9):
        self.shadow = {k: v.detach().clone() for k, v in model.state_dict().items()}
        self.decay = decay
        self.updates = 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        for name, value in model.state_dict().items():
            self.shadow[name].lerp_(value, 1 - self.decay)

    @contextlib.contextmanager
    def applied(self, model):
        backup = {k: v.clone() for k, v in model.state_dict().items()}
        model.load_state_dict(self.shadow)
        yield
        model.load_state_dict(backup)


class Task:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
        self.ema = EMA(self.model)
        self.step = torch.compile(self._step)

    def _step(self, x):
        return self.model(x).pow(2).mean()

    def train(self, x):
        loss = self.step(x)
        self.ema.update(self.model)
        return loss


def drive():
    task = Task()
    for i in range(12):
        yield task.train(X)
        if i % 6 == 5:
            with task.ema.applied(task.model):
                yield task.step(X)


# %% an adapter that the server enables for one tenant and not for the other
class LoraLinear(nn.Module):
    def __init__(self, dim, rank=2):
        super().__init__()
        self.base = nn.Linear(dim, dim)
        self.down = nn.Linear(dim, rank, bias=False)
        self.up = nn.Linear(rank, dim, bias=False)
        self.enabled = True

    def forward(self, x):
        y = self.base(x)
        if self.enabled:  # expect: DYN102 once
            y = y + self.up(self.down(x))
        return y


class Server:
    def __init__(self, model):
        self.model = model
        self.fn = torch.compile(model)

    def handle(self, request):
        for module in self.model.modules():
            if isinstance(module, LoraLinear):
                module.enabled = request["tenant"] is not None
        with torch.inference_mode():
            return self.fn(request["inputs"])


def drive():
    server = Server(nn.Sequential(LoraLinear(4), nn.GELU()))
    for i in range(12):
        yield server.handle({"tenant": "acme" if i % 3 else None, "inputs": X})


# %% quiet: an adapter that the server enables for every tenant
class LoraLinear(nn.Module):
    def __init__(self, dim, rank=2):
        super().__init__()
        self.base = nn.Linear(dim, dim)
        self.down = nn.Linear(dim, rank, bias=False)
        self.up = nn.Linear(rank, dim, bias=False)
        self.enabled = False
        self.tenant = None

    def forward(self, x):
        y = self.base(x)
        if self.enabled:
            y = y + self.up(self.down(x))
        return y


class Server:
    def __init__(self, model):
        self.model = model
        self.fn = torch.compile(model)

    def handle(self, request):
        for module in self.model.modules():
            if isinstance(module, LoraLinear):
                module.enabled = request["tenant"] is not None
                module.tenant = request["tenant"]
        with torch.inference_mode():
            return self.fn(request["inputs"])


def drive():
    server = Server(nn.Sequential(LoraLinear(4), nn.GELU()))
    for i in range(12):
        yield server.handle({"tenant": f"tenant-{i % 3}", "inputs": X})


# %% an accumulation whose share depends on what is left of the epoch
class Accumulator:
    def __init__(self, every, total):
        self.every, self.total = every, total

    def share(self, index):
        last = self.total - self.total % self.every
        return self.every if index < last else self.total % self.every


@torch.compile(dynamic=False)
def loss_fn(model, x, share):
    return model(x).square().mean() / share  # expect: DYN109 once


def train_epoch(model, optimizer, batches, accumulator):
    for index, x in enumerate(batches):
        loss = loss_fn(model, x, accumulator.share(index))
        loss.backward()
        if (index + 1) % accumulator.every == 0:
            optimizer.step()
            optimizer.zero_grad()
        yield loss.detach()


def drive():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    yield from train_epoch(model, optimizer, [X] * 14, Accumulator(4, 14))


# %% quiet: an accumulation whose share is always the same
class Accumulator:
    def __init__(self, every):
        self.every = every
        self.seen = 0

    @property
    def share(self):
        return self.every

    @property
    def due(self):
        self.seen += 1
        return self.seen % self.every == 0


@torch.compile(dynamic=False)
def loss_fn(model, x, share):
    return model(x).square().mean() / share


def train_epoch(model, optimizer, batches, accumulator):
    for x in batches:
        loss = loss_fn(model, x, accumulator.share)
        loss.backward()
        if accumulator.due:
            optimizer.step()
            for p in model.parameters():
                p.grad.zero_()
        yield loss.detach()


def drive():
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    yield from train_epoch(model, optimizer, [X] * 14, Accumulator(4))


# %% a cache of keys that a decoder fills up to where it is
class StaticCache:
    def __init__(self, length, dim):
        self.keys = torch.zeros(length, dim)
        self.length = 0

    def update(self, k):
        self.keys[self.length] = k
        self.length += 1
        return self.keys[: self.length]


class Attention(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)

    def forward(self, x, cache):
        keys = cache.update(self.k(x))  # expect: DYN101 storm
        return (self.q(x) @ keys.T).softmax(-1) @ keys


@torch.no_grad()
def generate(step, x, cache, tokens):
    for _ in range(tokens):
        x = step(x, cache)
        yield x


def drive():
    step = torch.compile(Attention(), dynamic=False)
    yield from generate(step, X[0], StaticCache(16, 4), 12)


# %% quiet: a cache of keys that a decoder fills through an index of a tensor
class StaticCache:
    def __init__(self, length, dim):
        self.keys = torch.zeros(length, dim)
        self.position = torch.zeros(1, dtype=torch.long)
        self.length = 0

    def update(self, k):
        self.keys.index_copy_(0, self.position, k[None])
        return self.keys

    def advance(self):
        self.position += 1
        self.length += 1

    def __len__(self):
        return self.length


class Attention(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)

    def forward(self, x, cache):
        keys = cache.update(self.k(x))
        return (self.q(x) @ keys.T).softmax(-1) @ keys


@torch.no_grad()
def generate(step, x, cache, tokens):
    while len(cache) < tokens:
        x = step(x, cache)
        cache.advance()
        yield x


def drive():
    step = torch.compile(Attention(), dynamic=False)
    yield from generate(step, X[0], StaticCache(16, 4), 12)


# %% a curriculum that a callback writes into a settings object
class Callback:
    def on_epoch_start(self, trainer):
        pass


class Curriculum(Callback):
    def __init__(self, milestones):
        self.milestones = milestones

    def on_epoch_start(self, trainer):
        for epoch, level in self.milestones:
            if trainer.epoch >= epoch:
                trainer.settings.level = level


class Trainer:
    def __init__(self, model, callbacks):
        self.settings = types.SimpleNamespace(level="easy", seed=0)
        self.callbacks = callbacks
        self.model = torch.compile(model(self.settings))
        self.epoch = 0

    def fit(self, x, epochs):
        for self.epoch in range(epochs):
            for callback in self.callbacks:
                callback.on_epoch_start(self)
            yield self.model(x)


class Model(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        if self.settings.level == "hard":  # expect: DYN102 per-value
            x = x.roll(1, 0)
        return self.lin(x)


def drive():
    yield from Trainer(Model, [Callback(), Curriculum([(4, "medium"), (8, "hard")])]).fit(X, 12)


# %% a head that a registry exchanges for each data set
HEADS = {}


def register(name):
    def add(cls):
        HEADS[name] = cls
        return cls

    return add


@register("classify")
class Classify(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.out = nn.Linear(dim, 3)

    def forward(self, x):
        return self.out(x).log_softmax(-1)


@register("regress")
class Regress(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.out = nn.Linear(dim, 1)

    def forward(self, x):
        return self.out(x)


class Net(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.trunk = nn.Linear(dim, dim)
        self.heads = nn.ModuleDict({name: cls(dim) for name, cls in HEADS.items()})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))  # expect: DYN109 per-value


def drive():
    net = torch.compile(Net())
    for task in itertools.islice(itertools.cycle(HEADS), 12):
        yield net(X, task)


# %% a default argument that the search for a temperature binds anew
def contrast(logits, temperature=1.0):
    return (logits / temperature).softmax(-1)  # expect: DYN102 once


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(4, 4)
        self.text = nn.Linear(4, 4)

    def forward(self, x):
        return contrast(self.image(x) @ self.text(x).T)


def search(model, x, temperatures):
    for temperature in temperatures:
        contrast.__defaults__ = (temperature,)
        yield model(x)


def drive():
    model = torch.compile(Clip())
    yield from search(model, X, [0.05 * n for n in range(1, 13)])


# %% quiet: a default argument that every call of the search overrides
def contrast(logits, temperature=1.0, *, label="none"):
    return (logits / temperature).softmax(-1)


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(4, 4)
        self.text = nn.Linear(4, 4)
        self.register_buffer("temperature", torch.tensor(1.0))

    def forward(self, x):
        return contrast(self.image(x) @ self.text(x).T, temperature=self.temperature)


def search(net, model, x, temperatures):
    for temperature in temperatures:
        contrast.__defaults__ = (1.0,)
        net.temperature.fill_(temperature)
        yield model(x)


def drive():
    net = Clip()
    yield from search(net, torch.compile(net), X, [0.05 * n for n in range(1, 13)])


# %% a global that the main loop moves on and a helper of the model reads
GLOBAL_STEP = 0
WARMUP = 40


def warm():
    return min(1.0, GLOBAL_STEP / WARMUP)


class Quantizer(nn.Module):
    def __init__(self):
        super().__init__()
        self.codebook = nn.Parameter(torch.linspace(0, 1, 16).reshape(4, 4))

    def forward(self, x):
        near = self.codebook[torch.cdist(x, self.codebook).argmin(-1)]
        return x + warm() * (near - x).detach()  # expect: DYN102 storm


def main(steps):
    global GLOBAL_STEP
    quantizer = torch.compile(Quantizer())
    for step in range(steps):
        GLOBAL_STEP = step
        yield quantizer(X)


def drive():
    yield from main(12)


# %% a layer that looks up its neighbour through the model
class Layer(nn.Module):
    def __init__(self, owner):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._owner = [owner]

    @property
    def owner(self):
        return self._owner[0]

    def forward(self, x):
        if self.owner.active_layers < 3:  # expect: DYN102 per-value
            return x * 0.5
        return torch.relu(self.lin(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.active_layers = 1
        self.layers = nn.ModuleList([Layer(self) for _ in range(3)])

    def unfreeze_next(self):
        self.active_layers = min(self.active_layers + 1, len(self.layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    net = Net()
    compiled = torch.compile(net)
    for epoch in range(12):
        if epoch and epoch % 4 == 0:
            net.unfreeze_next()
        yield compiled(X)


# %% quiet: a layer that asks its model for what never changes
class Layer(nn.Module):
    def __init__(self, owner):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self._owner = [owner]

    @property
    def owner(self):
        return self._owner[0]

    def forward(self, x):
        return torch.relu(self.lin(x)) / self.owner.width


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.active_layers = 1
        self.layers = nn.ModuleList([Layer(self) for _ in range(3)])

    @property
    def width(self):
        return len(self.layers)

    def unfreeze_next(self):
        self.active_layers = min(self.active_layers + 1, len(self.layers))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def drive():
    net = Net()
    compiled = torch.compile(net)
    for epoch in range(12):
        if epoch and epoch % 4 == 0:
            net.unfreeze_next()
        yield compiled(X)


# %% embeddings that a tokenizer widens while the tie follows
class TiedLM(nn.Module):
    def __init__(self, vocab=6, dim=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.tie()

    def tie(self):
        self.head.weight = self.embed.weight

    def add_tokens(self, count):
        old = self.embed
        self.embed = nn.Embedding(old.num_embeddings + count, old.embedding_dim)
        with torch.no_grad():
            self.embed.weight[: old.num_embeddings] = old.weight
        self.head.out_features = self.embed.num_embeddings
        self.tie()

    def forward(self, ids):
        return self.head(self.embed(ids))  # expect: DYN102 once


def drive():
    model = TiedLM()
    run = torch.compile(model)
    ids = torch.tensor([0, 3, 5])
    for i in range(12):
        if i == 6:
            model.add_tokens(2)
        yield run(ids).shape


# %% quiet: embeddings that are tied again before every epoch
class TiedLM(nn.Module):
    def __init__(self, vocab=6, dim=4):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.tied = False
        self.tie()

    def tie(self):
        self.head.weight = self.embed.weight
        self.tied = True

    def forward(self, ids):
        assert self.tied
        return self.head(self.embed(ids))


def drive():
    model = TiedLM()
    run = torch.compile(model)
    ids = torch.tensor([0, 3, 5])
    for i in range(12):
        if i % 4 == 0:
            model.tie()
        yield run(ids)


# %% a critic that a trainer of a game freezes while the generator learns
class Gan:
    def __init__(self):
        self.generator = nn.Linear(4, 4)
        self.critic = nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(), nn.Linear(4, 1))
        self.score = torch.compile(self.critic)

    @contextlib.contextmanager
    def frozen(self, module):
        flags = [p.requires_grad for p in module.parameters()]
        module.requires_grad_(False)  # expect: DYN110 once
        try:
            yield module
        finally:
            for p, flag in zip(module.parameters(), flags):
                p.requires_grad_(flag)

    def critic_step(self, x):
        return self.score(x).mean() - self.score(self.generator(x).detach()).mean()

    def generator_step(self, x):
        fake = self.generator(x).detach()
        with self.frozen(self.critic):
            return -self.score(fake).mean()


def drive():
    gan = Gan()
    for _ in range(6):
        yield gan.critic_step(X)
        yield gan.generator_step(X)


# %% quiet: a critic that a trainer of a game asks in the same mode for all
class Gan:
    def __init__(self):
        self.generator = nn.Linear(4, 4)
        self.critic = nn.Sequential(nn.Linear(4, 4), nn.LeakyReLU(), nn.Linear(4, 1))
        self.score = torch.compile(self.critic)
        self.generator_on = True

    @contextlib.contextmanager
    def frozen(self, module):
        module.requires_grad_(False)
        try:
            yield module
        finally:
            module.requires_grad_(True)

    def critic_step(self, x):
        self.generator_on = False
        with self.frozen(self.generator), torch.no_grad():
            fake = self.generator(x)
        return self.score(x).mean() - self.score(fake).mean()

    def generator_step(self, x):
        self.generator_on = True
        return -self.score(self.generator(x).detach()).mean()


def drive():
    gan = Gan()
    for _ in range(6):
        yield gan.critic_step(X)
        yield gan.generator_step(X)


# %% a mode that each request brings as a member
class Mode(enum.Enum):
    PREFILL = "prefill"
    DECODE = "decode"
    VERIFY = "verify"


@dataclasses.dataclass(frozen=True)
class Batch:
    tokens: torch.Tensor
    mode: Mode
    request_id: int


class Engine(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.out = nn.Linear(4, 8)

    def forward(self, batch):
        hidden = self.embed(batch.tokens)
        if batch.mode is Mode.PREFILL:  # expect: DYN109 per-value
            hidden = hidden.cumsum(0)
        elif batch.mode is Mode.VERIFY:
            hidden = hidden * 2
        return self.out(hidden)


def requests(n):
    tokens = torch.tensor([1, 2, 3])
    modes = itertools.cycle(Mode)
    for request_id in range(n):
        yield Batch(tokens, next(modes), request_id)


def drive():
    engine = torch.compile(Engine())
    for batch in requests(12):
        yield engine(batch)


# %% extra features that loaders add to the dictionary by and by
class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, features):
        total = 0
        for name, value in features.items():  # expect: DYN109 per-value
            total = total + self.proj(value)
        return total


class Pipeline:
    def __init__(self):
        self.sources = [("rgb", 0), ("depth", 4), ("flow", 8)]

    def collate(self, step):
        return {name: X.clone() for name, start in self.sources if step >= start}


def drive():
    fusion = torch.compile(Fusion())
    pipeline = Pipeline()
    for step in range(12):
        yield fusion(pipeline.collate(step))


# %% quiet: extra features that loaders leave empty by and by
class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, features):
        total = 0
        for name, value in features.items():
            total = total + self.proj(value)
        return total


class Pipeline:
    def __init__(self):
        self.sources = [("rgb", 0), ("depth", 4), ("flow", 8)]

    def collate(self, step):
        return {name: X.clone() if step >= start else torch.zeros_like(X) for name, start in self.sources}


def drive():
    fusion = torch.compile(Fusion())
    pipeline = Pipeline()
    for step in range(12):
        yield fusion(pipeline.collate(step))


# %% a tracker of losses that the compiled step keeps in a deque
class LossTracker:
    def __init__(self, size):
        self.window = collections.deque(maxlen=size)

    def add(self, loss):
        self.window.append(loss.detach())  # expect: DYN105 per-value
        return torch.stack(tuple(self.window)).mean()


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 4)
        self.tracker = LossTracker(5)

    @torch.compile
    def step(self, x):
        loss = self.model(x).square().mean()
        return loss / self.tracker.add(loss)


def drive():
    trainer = Trainer()
    for _ in range(12):
        yield trainer.step(X)


# %% quiet: a tracker of losses that the loop keeps in a deque
class LossTracker:
    def __init__(self, size):
        self.window = collections.deque(maxlen=size)
        self.mean = torch.ones(())

    def add(self, loss):
        self.window.append(loss.detach())
        self.mean = torch.stack(tuple(self.window)).mean()


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 4)
        self.tracker = LossTracker(5)

    @torch.compile
    def step(self, x):
        return self.model(x).square().mean() / self.tracker.mean

    def train(self, x):
        loss = self.step(x)
        self.tracker.add(loss)
        return loss


def drive():
    trainer = Trainer()
    for _ in range(12):
        yield trainer.train(X)


# %% a router that the next expert finds by counting
class Router(nn.Module):
    def __init__(self, experts):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(experts)])
        self.turn = 0

    def forward(self, x):
        expert = self.experts[self.turn % len(self.experts)]
        self.turn += 1  # expect: DYN101 storm
        return expert(x)


class Moe(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(4, 4)
        self.router = Router(3)

    def forward(self, x):
        return x + self.router(self.inp(x))


def drive():
    moe = torch.compile(Moe(), backend="aot_eager")
    for _ in range(12):
        yield moe(X)


# %% a gain per channel group that a factory of partials binds
def gated(x, *, groups, gain):
    return torch.cat([part * gain for part in x.chunk(groups, -1)], -1)


class Gate(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn
        self.mix = nn.Linear(4, 4)

    def forward(self, x):
        return self.fn(self.mix(x))  # expect: DYN107 per-instance


def make_gates(gains):
    return nn.ModuleList(Gate(functools.partial(gated, groups=2, gain=g)) for g in gains)


@torch.no_grad()
def drive():
    gates = make_gates([n / 4 for n in range(1, 13)])
    for gate in gates:
        gate.compile(backend="aot_eager")
    for _ in range(12):
        x = X
        for gate in gates:
            x = gate(x)
        yield x


# %% quiet: a gain per channel group that a factory of partials binds to one number
def gated(x, *, groups, gain):
    return torch.cat([part * gain for part in x.chunk(groups, -1)], -1)


class Gate(nn.Module):
    def __init__(self, fn, name):
        super().__init__()
        self.fn = fn
        self.name = name
        self.mix = nn.Linear(4, 4)

    def forward(self, x):
        return self.fn(self.mix(x))


def make_gates(gain, depth):
    fn = functools.partial(gated, groups=2, gain=gain)
    return nn.ModuleList(Gate(fn, f"gate{n}") for n in range(depth))


@torch.no_grad()
def drive():
    gates = make_gates(0.5, 12)
    for gate in gates:
        gate.compile(backend="aot_eager")
    for _ in range(12):
        x = X
        for gate in gates:
            x = gate(x)
        yield x


# %% a batch whose last chunk is smaller, and a loader that says how many rows are real
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x, valid: int):
        return self.lin(x)[:valid].mean()  # expect: DYN109 per-value


class Loader:
    def __init__(self, sizes):
        self.sizes = sizes

    def __iter__(self):
        for size in self.sizes:
            padded = torch.zeros(8, 4)
            padded[:size] = 1.0
            yield padded, size


def drive():
    model = torch.compile(Masked(), dynamic=False)
    for x, valid in Loader([8, 7, 6, 5, 4, 3, 2, 1, 8, 8, 8, 8]):
        yield model(x, valid)


# %% quiet: a batch whose last chunk is smaller, in a dimension that is marked
class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x).sum(-1)


class Loader:
    def __init__(self, sizes):
        self.sizes = sizes

    def __iter__(self):
        for size in self.sizes:
            x = torch.ones(size, 4)
            torch._dynamo.mark_dynamic(x, 0)
            yield x, size


def drive():
    model = torch.compile(Masked())
    seen = 0
    for x, size in Loader([8, 7, 6, 5, 4, 3, 9, 2, 8, 8, 8, 8]):
        seen += size
        yield model(x)


# %% a worker thread that serves with one precision and a main thread that checks with another
class Service:
    def __init__(self, model):
        self.model = model
        self.level = 0
        self.fn = torch.compile(model)

    def work(self, x, out):
        self.model.level = self.level
        out.append(self.fn(x))

    def serve(self, x):
        out = []
        thread = threading.Thread(target=self.work, args=(x, out))
        thread.start()
        thread.join()
        self.level += 1
        return out[0]


class Leveled(nn.Module):
    level = 0

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x) * self.level  # expect: DYN102 storm


def drive():
    service = Service(Leveled())
    for _ in range(12):
        yield service.serve(X).detach()


# %% quiet: a worker thread that counts what it serves
class Service:
    def __init__(self, model):
        self.model = model
        self.served = 0
        self.lock = threading.Lock()
        self.fn = torch.compile(model)

    def work(self, x, out):
        with self.lock:
            self.served += 1
            self.model.served = self.served
        out.append(self.fn(x))

    def serve(self, x):
        out = []
        thread = threading.Thread(target=self.work, args=(x, out))
        thread.start()
        thread.join()
        return out[0]


class Leveled(nn.Module):
    served = 0
    level = 2

    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x) * self.level


def drive():
    service = Service(Leveled())
    for _ in range(12):
        yield service.serve(X).detach()


# %% a checkpoint in half precision that a loader assigns
class Evaluator:
    def __init__(self, model):
        self.model = model
        self.fn = torch.compile(model)
        self.loaded = None

    def load(self, name, state):
        self.model.load_state_dict(state, assign=True)  # expect: DYN102 once
        self.loaded = name

    @torch.no_grad()
    def __call__(self, x):
        dtype = next(self.model.parameters()).dtype
        return self.fn(x.to(dtype)).float()


def drive():
    evaluator = Evaluator(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    full = copy.deepcopy(evaluator.model.state_dict())
    half = {name: value.bfloat16() for name, value in full.items()}
    for i in range(12):
        if i % 4 == 0:
            evaluator.load(f"ckpt-{i}", half if i == 4 else full)
        yield evaluator(X)


# %% quiet: checkpoints of one precision that a loader assigns
class Evaluator:
    def __init__(self, model):
        self.model = model
        self.fn = torch.compile(model)
        self.loaded = None

    def load(self, name, state):
        self.model.load_state_dict(state, assign=True)
        self.loaded = name

    @torch.no_grad()
    def __call__(self, x):
        dtype = next(self.model.parameters()).dtype
        return self.fn(x.to(dtype)).float()


def drive():
    evaluator = Evaluator(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    full = copy.deepcopy(evaluator.model.state_dict())
    scaled = {name: value * 0.5 for name, value in full.items()}
    for i in range(12):
        if i % 4 == 0:
            evaluator.load(f"ckpt-{i}", scaled if i == 4 else full)
        yield evaluator(X)


# %% a guidance that a sampler ramps in the config of its denoiser
@dataclasses.dataclass
class SamplerConfig:
    steps: int = 12
    guidance: int = 1


class Denoiser(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.cond = nn.Linear(4, 4)
        self.uncond = nn.Linear(4, 4)

    def forward(self, x):
        u, c = self.uncond(x), self.cond(x)
        return u + self.config.guidance * (c - u)  # expect: DYN102 storm


class Sampler:
    def __init__(self, config):
        self.config = config
        self.denoise = torch.compile(Denoiser(config))

    @torch.no_grad()
    def sample(self, x):
        for step in range(self.config.steps):
            if step > 0:
                self.config.guidance += 1
            yield self.denoise(x)


def drive():
    yield from Sampler(SamplerConfig()).sample(X)


# %% a memory bank that lengthens with every batch it has seen
class MemoryBank(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.bank = torch.zeros(2, dim)

    @torch.no_grad()
    def enqueue(self, keys):
        self.bank = torch.cat([self.bank, keys])


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.memory = MemoryBank(4)

    def forward(self, x):
        q = F.normalize(self.encoder(x), dim=-1)
        return (q @ self.memory.bank.T).logsumexp(-1).mean()  # expect: DYN102 once


def drive():
    model = Contrast()
    loss = torch.compile(model)
    for _ in range(12):
        yield loss(X)
        model.memory.enqueue(X)


# %% quiet: a memory bank that writes over its oldest rows
class MemoryBank(nn.Module):
    def __init__(self, dim, size=8):
        super().__init__()
        self.register_buffer("bank", torch.zeros(size, dim))
        self.head = 0

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.shape[0]
        self.bank[self.head : self.head + n] = keys
        self.head = (self.head + n) % self.bank.shape[0]


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.memory = MemoryBank(4)

    def forward(self, x):
        q = F.normalize(self.encoder(x), dim=-1)
        return (q @ self.memory.bank.T).logsumexp(-1).mean()


def drive():
    model = Contrast()
    loss = torch.compile(model)
    for _ in range(12):
        yield loss(X)
        model.memory.enqueue(X)


# %% a stride that each stage of a detector gets from the table of its config
STRIDES = {f"p{n}": 2**n for n in range(12)}


class Level(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name = name
        self.offset = nn.Linear(4, 4)

    @property
    def stride(self):
        return STRIDES[self.name]

    def forward(self, x):
        return self.offset(x) * self.stride  # expect: DYN107 per-instance


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleDict({name: Level(name) for name in STRIDES})

    def compile_levels(self):
        for level in self.levels.values():
            level.compile()
        return self

    def forward(self, x):
        return torch.cat([level(x) for level in self.levels.values()])


@torch.no_grad()
def detect(head, images):
    for image in images:
        yield head(image)


def drive():
    yield from detect(Head().compile_levels(), [X] * 12)


# %% a probe of gradients whose hook comes and goes
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(torch.relu(self.body(x)))


class Ablation:
    def __init__(self, layer):
        self.layer = layer

    def __enter__(self):
        self.handle = self.layer.register_forward_hook(self.zero)
        return self

    def __exit__(self, *exc):
        self.handle.remove()  # expect: DYN102 once

    def zero(self, module, args, output):
        return output * 0


def drive():
    net = Net()
    run = torch.compile(net)
    with Ablation(net.body):
        for _ in range(6):
            yield run(X)
    for _ in range(6):
        yield run(X)


# %% quiet: a probe of gradients whose hook is gone before anything is compiled
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(torch.relu(self.body(x)))


class Ablation:
    def __init__(self, layer):
        self.layer = layer

    def __enter__(self):
        self.handle = self.layer.register_forward_hook(self.zero)
        return self

    def __exit__(self, *exc):
        self.handle.remove()

    def zero(self, module, args, output):
        return output * 0


def drive():
    net = Net()
    with Ablation(net.body):
        for _ in range(6):
            net(X)
    run = torch.compile(net)
    for _ in range(12):
        yield run(X)


# %% a retry that lowers the size of a chunk in the options of a decoder
class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 4)

    def forward(self, x, *, chunk=8):
        return torch.cat([self.out(part) for part in x.split(chunk)])  # expect: DYN109 per-value


class Vae:
    def __init__(self):
        self.decoder = torch.compile(Decoder(), dynamic=False)
        self.options = collections.OrderedDict(chunk=8)

    def shrink(self):
        self.options["chunk"] = max(1, self.options["chunk"] // 2)

    def decode(self, z):
        return self.decoder(z, **self.options)


def drive():
    vae = Vae()
    z = torch.ones(8, 4)
    for n in range(12):
        if n % 3 == 2:
            vae.shrink()
        yield vae.decode(z)


# %% a rank that a pruner of adapters cuts while it trains
class Lora(nn.Module):
    def __init__(self, dim=4, rank=4):
        super().__init__()
        self.base = nn.Linear(dim, dim)
        self.a = nn.Parameter(torch.ones(rank, dim))
        self.b = nn.Parameter(torch.zeros(dim, rank))

    def prune(self, rank):
        self.a = nn.Parameter(self.a.detach()[:rank].clone())
        self.b = nn.Parameter(self.b.detach()[:, :rank].clone())

    def forward(self, x):
        return self.base(x) + x @ self.a.T @ self.b.T  # expect: DYN102 per-value


class Pruner:
    def __init__(self, ranks):
        self.ranks = ranks

    def on_step(self, step, model):
        if step in self.ranks:
            model.prune(self.ranks[step])


def drive():
    model = Lora()
    run = torch.compile(model)
    pruner = Pruner({4: 3, 8: 2})
    for step in range(12):
        pruner.on_step(step, model)
        yield run(X)


# %% quiet: a rank that a pruner of adapters cuts by a mask
class Lora(nn.Module):
    def __init__(self, dim=4, rank=4):
        super().__init__()
        self.base = nn.Linear(dim, dim)
        self.a = nn.Parameter(torch.ones(rank, dim))
        self.b = nn.Parameter(torch.zeros(dim, rank))
        self.register_buffer("keep", torch.ones(rank, 1))
        self.rank = rank

    def prune(self, rank):
        self.keep[rank:] = 0
        self.rank = rank

    def forward(self, x):
        return self.base(x) + x @ (self.a * self.keep).T @ self.b.T


class Pruner:
    def __init__(self, ranks):
        self.ranks = ranks

    def on_step(self, step, model):
        if step in self.ranks:
            model.prune(self.ranks[step])


def drive():
    model = Lora()
    run = torch.compile(model)
    pruner = Pruner({4: 3, 8: 2})
    for step in range(12):
        pruner.on_step(step, model)
        yield run(X)


# %% a method that a decorator counts for its object
def counted(limit):
    def decorate(method):
        @functools.wraps(method)
        def wrapper(self, *args, **kwargs):
            self.calls = min(self.calls + 1, limit)
            return method(self, *args, **kwargs)

        return wrapper

    return decorate


class Annealed(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.lin = nn.Linear(4, 4)

    @counted(limit=1000)
    def forward(self, x):
        return self.lin(x) / self.calls  # expect: DYN101 storm


def drive():
    run = torch.compile(Annealed())
    for _ in range(12):
        yield run(X)


# %% quiet: a method that a decorator counts around what is compiled
def counted(limit):
    def decorate(method):
        @functools.wraps(method)
        def wrapper(self, *args, **kwargs):
            self.calls = min(self.calls + 1, limit)
            return method(self, *args, **kwargs)

        return wrapper

    return decorate


class Annealed:
    def __init__(self):
        self.calls = 0
        self.lin = torch.compile(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))

    @counted(limit=1000)
    def step(self, x):
        return self.lin(x) / self.calls


def drive():
    annealed = Annealed()
    for _ in range(12):
        yield annealed.step(X)


# %% flags of a renderer that a scene turns on one after the other
class Effects(enum.Flag):
    NONE = 0
    FOG = 1
    BLOOM = 2
    GRAIN = 4


class Renderer(nn.Module):
    def __init__(self):
        super().__init__()
        self.field = nn.Linear(4, 4)

    def forward(self, rays, effects):
        color = self.field(rays).sigmoid()
        if effects & Effects.FOG:  # expect: DYN109 per-value
            color = color * 0.9
        if effects & Effects.BLOOM:
            color = color + color.mean()
        return color


def drive():
    renderer = torch.compile(Renderer())
    effects = Effects.NONE
    for frame in range(12):
        if frame == 4:
            effects |= Effects.FOG
        if frame == 8:
            effects |= Effects.BLOOM
        yield renderer(X, effects)


# %% a double precision in which a solver finishes
class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("matrix", torch.eye(4))

    def forward(self, y):
        return y @ self.matrix.to(y.dtype)  # expect: DYN109 once


class Solver:
    def __init__(self, field, tolerance):
        self.field = torch.compile(field)
        self.tolerance = tolerance

    def integrate(self, y, steps):
        for step in range(steps):
            if step == steps // 2:
                y = y.double()
            y = y + self.tolerance * self.field(y)
            yield y


def drive():
    with torch.no_grad():
        yield from Solver(Field(), 0.1).integrate(X, 12)


# %% quiet: a double precision in which a solver sums up
class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("matrix", torch.eye(4))

    def forward(self, y):
        return y @ self.matrix.to(y.dtype)


class Solver:
    def __init__(self, field, tolerance):
        self.field = torch.compile(field)
        self.tolerance = tolerance
        self.total = 0.0

    def integrate(self, y, steps):
        for step in range(steps):
            change = self.field(y)
            self.total += change.double().sum().item()
            y = y + self.tolerance * change
            yield y


def drive():
    with torch.no_grad():
        yield from Solver(Field(), 0.1).integrate(X, 12)


# %% a phase of the game that agents read through a shared weak reference
class Arena:
    def __init__(self):
        self.round = 0
        self.agents = []

    def join(self, agent):
        agent.arena = self
        self.agents.append(agent)
        return self

    def play(self, x):
        self.round += 1
        for agent in self.agents:
            yield agent.policy(x)


class Agent(nn.Module):
    def __init__(self, explore):
        super().__init__()
        self.net = nn.Linear(4, 2)
        self.explore = explore
        self.policy = torch.compile(self.act)

    def act(self, x):
        logits = self.net(x)
        if self.arena.round > self.explore:  # expect: DYN102 storm
            return logits.softmax(-1)
        return torch.full_like(logits, 0.5)


def drive():
    arena = Arena().join(Agent(explore=8))
    for _ in range(12):
        yield from arena.play(X)


# %% a queue of negatives that is made longer between the calls
class Queue(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(2, 4))

    def forward(self, x):
        return x @ self.rows.T


def drive():
    queue = Queue()
    run = torch.compile(queue)
    for n in range(12):
        yield run(X)
        queue.rows = torch.zeros(3 + n, 4)  # expect: DYN102 storm


# %% blocks of a pyramid that widen from one to the next
class Block(nn.Module):
    def __init__(self, inside, outside):
        super().__init__()
        self.widen = nn.Linear(inside, outside)

    def forward(self, x):
        return torch.relu(self.widen(x))  # expect: DYN107 per-instance


@torch.no_grad()
def drive():
    blocks = nn.ModuleList([Block(4 + n, 5 + n) for n in range(12)])
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% quiet: a memory that is joined and cut to the same length
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = torch.zeros(6, 4)

    def forward(self, x):
        self.kept = torch.cat([self.kept[2:], x.detach()])
        return x + self.kept.mean(0)


def drive():
    run = torch.compile(Memory())
    for _ in range(12):
        yield run(X)


# %% quiet: a number of rows that is rounded down to the same one
class Model(nn.Module):
    def forward(self, x, rows):
        return x[:rows]


def drive():
    run = torch.compile(Model(), dynamic=False)
    for step in range(12):
        rows = 1 + step // 100
        yield run(X, rows)


# %% a pool of threads whose jobs move a number on
class Model(nn.Module):
    round = 0

    def forward(self, x):
        return x * self.round


def job(run, model):
    model.round += 1  # expect: DYN102 storm
    return run(X)


def drive():
    model = Model()
    run = torch.compile(model)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(12):
            yield pool.submit(job, run, model).result()


# %% an heir of a forward that a decorator clamps
def clamped(method):
    def wrapper(self, x):
        return method(self, x).clamp(max=self.top)

    return wrapper


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.top = 1

    @clamped
    def forward(self, x):
        return x + 1


class Heir(Base):
    def forward(self, x):
        return super().forward(x) * 2


def drive():
    heir = Heir()
    run = torch.compile(heir)
    for top in range(12):
        heir.top = top  # expect: DYN102 storm
        yield run(X)


# %% keys and values that a loop hands round as a tuple that grows
class CausalHead(nn.Module):
    def __init__(self, dim=4):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim) for _ in range(3))

    def forward(self, x, past=()):
        past = past + ((self.k(x), self.v(x)),)
        keys = torch.cat([k for k, _ in past])  # expect: DYN109 storm
        values = torch.cat([v for _, v in past])
        return (self.q(x) @ keys.T).softmax(-1) @ values, past


def generate(head, x, n):
    past = ()
    for _ in range(n):
        x, past = head(x, past)
        yield x


def drive():
    head = torch.compile(CausalHead().eval())
    with torch.no_grad():
        yield from generate(head, X[:1], 12)


# %% a length that a collator hands out beside the padded batch
class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)

    def forward(self, ids, longest):
        h = self.emb(ids)
        return h[:, :longest].mean(1)  # expect: DYN109 per-value


def collate(texts, width=12):
    ids = torch.zeros(len(texts), width, dtype=torch.long)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = torch.tensor(text)
    return ids, max(len(text) for text in texts)


def loader(texts, size=2):
    for at in range(0, len(texts), size):
        yield collate(texts[at : at + size])


def drive():
    embed = torch.compile(Pooled(), dynamic=False)
    texts = [list(range(n % 9 + 1)) for n in range(24)]
    with torch.no_grad():
        for ids, longest in loader(texts):
            yield embed(ids, longest)


# %% a layer that grows neurons when the loss no longer falls
class Growing(nn.Module):
    def __init__(self, width=2):
        super().__init__()
        self.hidden = nn.Linear(4, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))  # expect: DYN102 storm

    def grow(self):
        width = self.hidden.out_features + 1
        self.hidden = nn.Linear(4, width)
        self.out = nn.Linear(width, 1)


class Plateau:
    def __init__(self, patience=1):
        self.patience, self.bad, self.best = patience, 0, -1.0

    def __call__(self, loss):
        self.bad = 0 if loss < self.best else self.bad + 1
        return self.bad >= self.patience


def drive():
    net, plateau = Growing(), Plateau()
    step = torch.compile(net)
    for _ in range(12):
        out = step(X)
        yield out.detach()
        if plateau(out.square().mean().item()):
            net.grow()


# %% a game in which the judge is frozen while the painter learns
class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

    def forward(self, img):
        return self.net(img)  # expect: DYN110 once


def set_requires_grad(nets, requires_grad=False):
    for net in nets if isinstance(nets, list) else [nets]:
        for param in net.parameters():
            param.requires_grad = requires_grad


class Gan:
    def __init__(self):
        self.painter = nn.Linear(4, 4)
        self.judge = Judge()
        self.ask = torch.compile(self.judge)
        self.opt_p = torch.optim.SGD(self.painter.parameters(), lr=0.01)
        self.opt_j = torch.optim.SGD(self.judge.parameters(), lr=0.01)

    def optimize(self, z, real):
        set_requires_grad(self.judge, True)
        fake = self.painter(z)
        loss_j = (self.ask(fake.detach() * 1.0) - self.ask(real)).mean()
        self.opt_j.zero_grad()
        loss_j.backward()
        self.opt_j.step()
        set_requires_grad([self.judge], False)
        loss_p = self.ask(fake.detach()).mean()
        return loss_j.detach() + loss_p.detach()


def drive():
    gan = Gan()
    for _ in range(6):
        yield gan.optimize(X, X + 1)


# %% quiet: a loss that the stage of the training puts into a closure for each compiled step
def make_loss(kind, scale):
    def loss(pred):
        return pred.abs().mean() * scale

    return loss


def fit(model, stages, per_stage=4):
    loss_fn = make_loss("l1", 1.0)

    @torch.compile
    def step(x):
        return loss_fn(model(x))

    for kind in stages:
        tag = f"stage/{kind}"
        for _ in range(per_stage):
            loss = step(X)
            loss.backward()
            yield loss.detach() * len(tag)


def drive():
    yield from fit(nn.Linear(4, 2), ["l1", "l2", "l1"])


# %% quiet: a schedule that has already reached its end
class BetaVae(nn.Module):
    def __init__(self, beta=1.0):
        super().__init__()
        self.beta = beta
        self.enc = nn.Linear(4, 4)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, -1)
        kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum()
        return mu.square().sum() + torch.full_like(kl, self.beta) * kl


class WarmUp:
    def __init__(self, model, start, end, rate):
        self.model, self.value, self.end, self.rate = model, start, end, rate

    def step(self):
        self.value = min(self.value + self.rate, self.end)
        self.model.beta = self.value


def drive():
    model = BetaVae()
    schedule = WarmUp(model, start=1.0, end=1.0, rate=0.25)
    loss_fn = torch.compile(model)
    for _ in range(12):
        loss = loss_fn(X)
        loss.backward()
        schedule.step()
        yield loss.detach()


# %% quiet: widths of a matryoshka that are cut from what was embedded
class Nested(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.proj = nn.Linear(4, dim)
        self.width = dim

    def forward(self, x):
        z = self.proj(x)
        return F.normalize(z[..., : self.width], dim=-1)


class Evaluator:
    def __init__(self, model):
        self.model = model
        self.embed = torch.compile(model)

    def at(self, width):
        old, self.model.width = self.model.width, width
        try:
            return old, width
        finally:
            self.model.width = old


def drive():
    evaluator = Evaluator(Nested())
    with torch.no_grad():
        for width in range(1, 13):
            old, cut = evaluator.at(width)
            yield evaluator.embed(X)[..., :cut] * old


# %% a group of a norm that a search changes in torch's own module
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.GroupNorm(1, 4)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(self.norm(x))  # expect: DYN102 per-value


def drive():
    net = Net().eval()
    run = torch.compile(net)
    with torch.no_grad():
        for groups in (1, 2, 4):
            net.norm.num_groups = groups
            for _ in range(4):
                yield run(X)


# %% an order of the layers that a shuffle draws for every step
class Shuffled(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(n))
        self.order = list(range(n))

    def forward(self, x):
        for n in self.order:  # expect: DYN102 storm
            x = torch.tanh(self.layers[n](x))
        return x


@torch.no_grad()
def drive():
    net = Shuffled()
    run = torch.compile(net)
    for order in itertools.islice(itertools.permutations(range(4)), 12):
        net.order = list(order)
        yield run(X)


# %% an observer pattern in which a subscriber changes the net
class Bus:
    def __init__(self):
        self.handlers = collections.defaultdict(list)

    def on(self, name, handler):
        self.handlers[name].append(handler)

    def emit(self, name, *args):
        for handler in self.handlers[name]:
            handler(*args)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.repeats = 1

    def forward(self, x):
        for _ in range(self.repeats):  # expect: DYN102 storm
            x = torch.tanh(self.fc(x))
        return x


@torch.no_grad()
def drive():
    bus, net = Bus(), Net()

    def deepen(step):
        net.repeats = step + 2

    bus.on("step", deepen)
    run = torch.compile(net)
    for step in range(12):
        yield run(X)
        bus.emit("step", step)


# %% quiet: a state machine that has come to its end
class Phase(enum.IntEnum):
    WARMUP = 0
    TRAIN = 1
    COOLDOWN = 2


NEXT = {Phase.WARMUP: Phase.TRAIN, Phase.TRAIN: Phase.COOLDOWN, Phase.COOLDOWN: Phase.COOLDOWN}


class Machine(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.phase = Phase.COOLDOWN

    def forward(self, x):
        y = self.fc(x)
        if self.phase == Phase.TRAIN:
            return y.relu()
        return y * 0.5 if self.phase == Phase.WARMUP else y


def drive():
    machine = Machine()
    run = torch.compile(machine)
    for step in range(12):
        yield run(X).detach()
        if step % 4 == 3:
            machine.phase = NEXT[machine.phase]


# %% quiet: samples of a chain whose proposals cannot widen any more
class Chain(nn.Module):
    def __init__(self, energy):
        super().__init__()
        self.energy = energy
        self.leaps = 1

    def forward(self, x):
        for _ in range(self.leaps):
            x = x - 0.1 * self.energy(x)
        return x


class Sampler:
    def __init__(self, chain, most):
        self.chain = chain
        self.most = most
        self.accepted = collections.deque(maxlen=3)

    def run(self, x, steps):
        move = torch.compile(self.chain)
        for _ in range(steps):
            y = move(x)
            self.accepted.append(True)
            if all(self.accepted):
                self.chain.leaps = min(self.chain.leaps + 1, self.most)
            x = y
            yield x


@torch.no_grad()
def drive():
    yield from Sampler(Chain(nn.Linear(4, 4)), most=1).run(X, 12)


# %% quiet: a share of the run as a text with one digit
class Tagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.tag = "0.0"

    def forward(self, x):
        return self.fc(x) * 2 if self.tag == "1.0" else self.fc(x)


@torch.no_grad()
def drive():
    model = Tagged()
    run = torch.compile(model)
    for step in range(12):
        model.tag = f"{step / 1000:.1f}" if step % 2 else "%.1f" % (step / 1000)
        yield run(X)


# %% quiet: names that come in any order and are sorted
@torch.no_grad()
def drive():
    def pick(x, names):
        return x * (len(names[0]) + 1)

    run = torch.compile(pick)
    names = ["a", "bb", "ccc"]
    for step in range(12):
        names = names[1:] + names[:1]
        yield run(X, sorted(names) if step % 2 else sorted(names, key=len))


# %% quiet: a queue from both ends that keeps its length
@torch.no_grad()
def drive():
    run = torch.compile(lambda frames: sum(frames))
    frames = collections.deque([X, X + 1, X + 2])
    for step in range(12):
        frames.appendleft(X * step)
        frames.pop()
        yield run(list(frames))


# %% a function that is exchanged in a later round of a loop whose length nobody knows
import argparse


def scaled(x):
    return x * 2


def shifted(x):
    return x + 2


STEP = scaled


def forward(x):
    return STEP(x)


def drive():
    global STEP
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int)
    args, _ = parser.parse_known_args([])
    run = torch.compile(forward)
    for i in range(args.steps or 12):
        if i == 6:
            STEP = shifted  # expect: DYN102 once
        yield run(X)


# %% quiet: a table of which no key is known, and none is asked for
import os


class Block(nn.Module):
    scale = 1

    def forward(self, x):
        return x * self.scale


def drive():
    table = {f"block{i + os.cpu_count()}": i for i in range(12)}
    blocks = [Block() for _ in range(12)]
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% scales from a table of which no key is known
import os


class Block(nn.Module):
    scale = 1

    def forward(self, x):
        return x * self.scale  # expect: DYN107 per-instance


def drive():
    first = int(os.environ.get("FIRST") or "0")
    table = {f"block{i + first}": i for i in range(12)}
    blocks = [Block() for _ in range(12)]
    for number, block in enumerate(blocks):
        scale = table.get(f"block{number}")
        if scale is not None:
            block.scale = scale
    for block in blocks:
        block.compile()
    for _ in range(3):
        x = X
        for block in blocks:
            x = block(x)
        yield x


# %% a flag that is turned every fiftieth step of a long loop
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "train"

    def forward(self, x):
        return x * 2 if self.mode == "train" else x * 3


def drive():
    model = Model()
    run = torch.compile(model)
    for step in range(60):
        model.mode = "eval" if step % 50 == 49 else "train"  # expect: DYN102 per-value
        yield run(X)


# %% a rate of the command line that a schedule scales
import argparse


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def forward(self, x):
        return torch.full_like(x, self.scale) + x


def drive():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args([])
    model = Scaled()
    run = torch.compile(model)
    for step in range(12):
        model.scale = options.lr * (step + 1)  # expect: DYN102 storm
        yield run(X)


# %% quiet: a rate of the command line that stays
import argparse


class Steady(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return torch.full_like(x, self.scale) + x


def drive():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dropout-rate", type=float, default=0.5)
    options = parser.parse_args([])
    model = Steady(options.dropout_rate)
    run = torch.compile(model)
    for _ in range(12):
        model.scale = options.dropout_rate
        yield run(X)


# %% a batch whose extras come along into the compiled step
def keep(batch, *names):
    return {name: batch[name] for name in names if name in batch}


@torch.no_grad()
def drive():
    net = nn.Linear(4, 4)

    @torch.compile
    def run(batch):
        y = net(batch["x"])
        return y * batch["w"] if "w" in batch else y  # expect: DYN109 once

    for n in range(12):
        batch = {"x": X, "id": n, **({"w": torch.ones(4)} if n % 3 else {})}
        yield run(keep(batch, "x", "w"))
