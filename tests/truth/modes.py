"""Modes that flip around a region, and how and where compiling is done."""

import torch
from torch import nn

X = torch.linspace(0.1, 1.0, 8).reshape(2, 4)


# %% training and evaluation take turns around a dropout
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x)


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.train(i % 2 == 0)  # expect: DYN110 once
        yield run(X).shape


# %% training and evaluation take turns around a branch
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if self.training else x * 3


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i % 2:
            model.eval()  # expect: DYN110 once
        else:
            model.train()
        yield run(X)


# %% training and evaluation take turns around nothing that cares
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return torch.relu(self.linear(x))


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.train(i % 2 == 0)
        yield run(X)


# %% evaluation set once
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x)


def drive():
    model = Model()
    model.eval()
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% parameters frozen and thawed
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.linear.weight.requires_grad_(i % 2 == 0)  # expect: DYN110 once
        yield run(X)


# %% inference and training take turns
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    run = torch.compile(Model())
    for _ in range(6):
        yield run(X)
        with torch.inference_mode():  # expect: DYN110 once
            yield run(X)


# %% a validation without gradients inside the training loop
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    run = torch.compile(Model())
    for step in range(8):
        yield run(X)
        if step % 4 == 0:
            with torch.no_grad():  # expect: DYN110 once
                yield run(X)


# %% everything without gradients
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        with torch.no_grad():
            yield run(X)


# %% no gradients inside the region
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            scale = x.mean()
        return self.linear(x) * scale


def drive():
    return torch.compile(Model()), [(X,)]


# %% autocast around some calls
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    run = torch.compile(Model())
    for i in range(12):
        with torch.autocast("cpu", torch.bfloat16, enabled=i % 2 == 0):  # expect: DYN110 once
            yield run(X)


# %% autocast around all calls
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        with torch.autocast("cpu", torch.bfloat16):
            yield run(X)


# %% a branch on the gradient mode
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if torch.is_grad_enabled() else x * 3


def drive():
    run = torch.compile(Model())
    for i in range(12):
        with torch.set_grad_enabled(i % 2 == 0):  # expect: DYN110 once
            yield run(X)


# %% one function compiled again and again
def step(x):
    return x * 2


def drive():
    for _ in range(12):
        yield torch.compile(step)(X)


# %% a lambda compiled again and again
def drive():
    for _ in range(12):
        yield torch.compile(lambda x: x * 2)(X)


# %% a block compiled in each eager forward
class Block(nn.Module):
    def forward(self, x):
        return x * 2


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return torch.compile(self.block)(x)


def drive():
    return Model(), [(X,)]


# %% a reset before each call
def step(x):
    return x * 2


def drive():
    for _ in range(12):
        torch._dynamo.reset()  # expect: DYN111 storm
        yield torch.compile(step)(X)


# %% a model built and compiled for each call
class Model(nn.Module):
    def forward(self, x):
        return x * 2


def drive():
    for _ in range(12):
        yield torch.compile(Model())(X)


# %% a closure with a number, compiled for each call
def drive():
    for k in range(12):

        def scale(x):
            return x * k  # expect: DYN111 once

        yield torch.compile(scale)(X)


# %% two models of one class that count
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 0

    def forward(self, x):
        self.k += 1  # expect: DYN101 storm
        return x * 2


def drive():
    first, second = torch.compile(Model()), torch.compile(Model())
    for _ in range(12):
        yield first(X)
        yield second(X)


# %% a counter that only eager code keeps
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        if not torch.compiler.is_compiling():
            self.n += 1  # expect: DYN304 stale
        return x * 2


def drive():
    model = Model()
    run = torch.compile(model)
    for _ in range(12):
        yield run(X), model.n


# %% branches that are constant while compiling
class Model(nn.Module):
    def forward(self, x):
        if torch.jit.is_scripting() or torch.compiler.is_compiling():
            return x * 2
        return x + x


def drive():
    return torch.compile(Model()), [(X,)]


# %% a counter behind guards that are dropped
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a hook that comes after the first call
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        if i == 4:
            model.linear.register_forward_hook(
                lambda module, args, output: output * 2
            )  # expect: DYN302 stale
        yield run(X)


# %% a hook that is there before compiling
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    model = Model()
    model.linear.register_forward_hook(lambda module, args, output: output * 2)
    run = torch.compile(model)
    for _ in range(12):
        yield run(X)


# %% a checkpoint loaded between calls
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    model = Model()
    run = torch.compile(model)
    for i in range(12):
        model.load_state_dict({name: value * i for name, value in model.state_dict().items()})
        yield run(X)


# %% a step argument of a whole training step
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    run = torch.compile(model)
    for _ in range(12):
        loss = run(X).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss


# %% a compiled result that is thrown away
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


def drive():
    model = Model()
    torch.compile(model)  # expect: DYN501 eager
    for _ in range(12):
        yield model(X)


# %% a counter behind a filter that drops the guards on torch's own modules alone
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return self.layer(x) * self.n


def drive():
    torch.manual_seed(0)
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a global counter behind a filter that drops the guards on modules
CALLS = 0


class Model(nn.Module):
    def forward(self, x):
        global CALLS
        CALLS += 1  # expect: DYN106 storm
        return x * CALLS


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a global counter behind a filter that drops the guards on globals
CALLS = 0


class Model(nn.Module):
    def forward(self, x):
        global CALLS
        CALLS += 1  # expect: DYN303 stale
        return x * CALLS


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter of a module behind a filter that drops the guards on globals
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter that keeps the guards on tensors
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    options = {"guard_filter_fn": torch.compiler.keep_tensor_guards_unsafe}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter of the project that drops all
def nothing(entries):
    return [False for _ in entries]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": nothing})
    for _ in range(12):
        yield run(X)


# %% a counter behind a lambda that drops the guards on globals
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    options = {"guard_filter_fn": lambda entries: [not entry.is_global for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter behind a lambda that keeps the guards on tensors
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    options = {"guard_filter_fn": lambda entries: [entry.guard_type == "TENSOR_MATCH" for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% quiet: modules that never change behind filters that drop guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        return x * self.scale


def drive():
    kept = torch.compile(
        Model(), options={"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}
    )
    free = torch.compile(lambda x: x + 1, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for _ in range(12):
        yield free(kept(X))


# %% a number that changes under a stance that skips guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        return x * self.scale


def drive():
    model = Model()
    run = torch.compile(model)
    yield run(X)
    torch.compiler.set_stance(skip_guard_eval_unsafe=True)
    for step in range(11):
        model.scale = step + 2  # expect: DYN303 stale
        yield run(X)


# %% a text that changes in a block that skips guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.mode = "train"

    def forward(self, x):
        return x * 2 if self.mode == "train" else x * 3


def drive():
    model = Model()
    run = torch.compile(model)
    yield run(X)
    with torch.compiler.set_stance("default", skip_guard_eval_unsafe=True):
        for step in range(11):
            model.mode = "train" if step % 2 else "serve"  # expect: DYN303 stale
            yield run(X)


# %% a counter that goes on counting in a block that skips guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    run = torch.compile(Model())
    yield run(X)
    with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
        for _ in range(11):
            yield run(X)


# %% a counter under a decorator that is to skip guards, and forgets to
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


@torch.compiler.set_stance(skip_guard_eval_unsafe=True)
def served(run):
    return run(X)


def drive():
    run = torch.compile(Model())
    for _ in range(12):
        yield served(run)


# %% a global that changes under a stance that skips guards
GAIN = 1


def scaled(x):
    return x * GAIN


def drive():
    global GAIN
    run = torch.compile(scaled)
    yield run(X)
    torch.compiler.set_stance(skip_guard_eval_unsafe=True)
    for step in range(11):
        GAIN = step + 2  # expect: DYN303 stale
        yield run(X)


# %% a list that grows under a stance that skips guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.gains = [2]

    def forward(self, x):
        for gain in self.gains:
            x = x * gain
        return x


def drive():
    model = Model()
    run = torch.compile(model)
    yield run(X)
    torch.compiler.set_stance(skip_guard_eval_unsafe=True)
    for step in range(11):
        model.gains.append(step + 2)  # expect: DYN303 stale
        yield run(X)


# %% quiet: a flag whose both values were seen before guards are skipped
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.double = False

    def forward(self, x):
        return x * 2 if self.double else x * 3


def drive():
    model = Model()
    run = torch.compile(model)
    for double in (False, True):
        model.double = double  # expect: DYN102 once
        yield run(X)
    with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
        for step in range(10):
            model.double = step % 2 == 0
            yield run(X)


# %% quiet: guards are skipped for tensors that change
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(()))

    def forward(self, x):
        return x * self.scale


def drive():
    model = Model()
    run = torch.compile(model)
    yield run(X)
    torch.compiler.set_stance(skip_guard_eval_unsafe=True)
    for step in range(11):
        model.scale.fill_(step)
        yield run(X * step)


# %% quiet: a number that is set before the first call and kept while guards are skipped
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        return x * self.scale


def drive():
    model = Model()
    model.scale = 3
    run = torch.compile(model)
    yield run(X)
    torch.compiler.set_stance(skip_guard_eval_unsafe=True)
    for _ in range(11):
        yield run(X)


# %% a number that changes once guards are no longer skipped
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        return x * self.scale


def drive():
    model = Model()
    run = torch.compile(model)
    yield run(X)
    with torch.compiler.set_stance(skip_guard_eval_unsafe=True):
        yield run(X)
    for step in range(10):
        model.scale = step + 2  # expect: DYN102 storm
        yield run(X)


# %% a number that changes under a stance that checks guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1

    def forward(self, x):
        return x * self.scale


def drive():
    model = Model()
    run = torch.compile(model)
    yield run(X)
    torch.compiler.set_stance("default", skip_guard_eval_unsafe=False)
    for step in range(11):
        model.scale = step + 2  # expect: DYN102 storm
        yield run(X)


# %% a counter behind a filter that drops it by its name
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    options = {"guard_filter_fn": lambda entries: [entry.name != "self.n" for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter that drops another one by its name
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.m = 2

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n * self.m


def drive():
    options = {"guard_filter_fn": lambda entries: [entry.name != "self.m" for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter with a list of names
SKIPPED = ("hits", "misses")


def without(entries):
    """Drop the guards on counters."""
    return [not any(name in entry.name for name in SKIPPED) for entry in entries]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hits = 0

    def forward(self, x):
        self.hits += 1  # expect: DYN303 stale
        return x * self.hits


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": without})
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter with a list of other names
SKIPPED = ("hits", "misses")


def without(entries):
    """Drop the guards on counters."""
    return [not any(name in entry.name for name in SKIPPED) for entry in entries]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # expect: DYN101 storm
        return x * self.calls


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": without})
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter that drops the guards on constants
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        return x * self.n


def drive():
    dropped = ("CONSTANT_MATCH", "EQUALS_MATCH")
    options = {"guard_filter_fn": lambda entries: [entry.guard_type not in dropped for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a counter behind a filter that drops the guards on the identity of objects
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    options = {"guard_filter_fn": lambda entries: [entry.guard_type != "ID_MATCH" for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% a global counter behind a filter that goes by the source, guard by guard
CALLS = 0


def own(entries):
    """Keep what is not of a global."""
    kept = []
    for entry in entries:
        if entry.is_global:
            kept.append(False)
        else:
            kept.append(True)
    return kept


class Model(nn.Module):
    def forward(self, x):
        global CALLS
        CALLS += 1  # expect: DYN303 stale
        return x * CALLS


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": own})
    for _ in range(12):
        yield run(X)


# %% a counter of a module behind a filter that goes by the source, guard by guard
def own(entries):
    """Keep what is not of a global."""
    kept = []
    for entry in entries:
        if entry.is_global:
            kept.append(False)
        else:
            kept.append(True)
    return kept


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN101 storm
        return x * self.n


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": own})
    for _ in range(12):
        yield run(X)


# %% a global counter behind a filter that drops it by its name
CALLS = 0


class Model(nn.Module):
    def forward(self, x):
        global CALLS
        CALLS += 1  # expect: DYN303 stale
        return x * CALLS


def drive():
    options = {"guard_filter_fn": lambda entries: ["CALLS" not in entry.name for entry in entries]}
    run = torch.compile(Model(), options=options)
    for _ in range(12):
        yield run(X)


# %% quiet: a flag that is set before the first call behind a filter that keeps the guards on tensors
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.double = False

    def forward(self, x):
        return x * 2 if self.double else x * 3


def drive():
    model = Model()
    model.double = True
    run = torch.compile(model, options={"guard_filter_fn": torch.compiler.keep_tensor_guards_unsafe})
    for _ in range(12):
        yield run(X)
