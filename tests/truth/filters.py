"""Guard filters: what they drop is stale, and what they keep compiles again."""

import torch
from torch import nn

X = torch.randn(4, 4)


# %% an argument that counts behind guards that are dropped
def scaled(x, n):
    return x * n  # expect: DYN303 stale


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(X, n)


# %% an argument of a module that counts behind guards that are dropped
class Model(nn.Module):
    def forward(self, x, n):
        return x * n  # expect: DYN303 stale


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(X, n)


# %% a text as an argument behind a filter that keeps the guards on tensors
def scaled(x, kind):
    return x * 2 if kind == "up" else x * 3  # expect: DYN303 stale


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.keep_tensor_guards_unsafe})
    for n in range(12):
        yield run(X, "up" if n % 2 else "down")


# %% an argument behind a filter that drops the guards on modules
class Model(nn.Module):
    def forward(self, x, flag):
        return x * 2 if flag == "up" else x * 3  # expect: DYN109 per-value


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}
    run = torch.compile(Model(), options=options)
    for n in range(12):
        yield run(X, "up" if n % 2 else "down")


# %% texts as an argument behind a filter that drops the guards on globals
def scaled(x, kind):
    return x * len(kind)  # expect: DYN109 storm


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})
    for n in range(12):
        yield run(X, "a" * n)


# %% an argument behind a filter that drops it by its name
def scaled(x, step):
    return x * step  # expect: DYN303 stale


def drive():
    options = {"guard_filter_fn": lambda entries: [entry.name != "step" for entry in entries]}
    run = torch.compile(scaled, options=options)
    for n in range(12):
        yield run(X, n)


# %% an argument behind a filter that drops another one by its name
def scaled(x, kind, step):
    return x * len(kind) * step  # expect: DYN109 storm


def drive():
    options = {"guard_filter_fn": lambda entries: [entry.name != "step" for entry in entries]}
    run = torch.compile(scaled, options=options)
    for n in range(12):
        yield run(X, "a" * n, 3)


# %% a counter that turns around in a region without guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n = (self.n + 1) % 4  # expect: DYN303 stale
        return x * self.n


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for _ in range(12):
        yield run(X)


# %% a counter of which only the remainder is used in a region without guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        self.n += 1  # expect: DYN303 stale
        if self.n % 2:
            return x * 2
        return x * 3


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for _ in range(12):
        yield run(X)


# %% an argument of which only the remainder is used in a region without guards
def scaled(x, n):
    return x * 2 if n % 2 else x * 3  # expect: DYN303 stale


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(X, n)


# %% an attribute that the driver sets in a region without guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0

    def forward(self, x):
        return x * self.scale


def drive():
    model = Model()
    run = torch.compile(model, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        model.scale = float(n)  # expect: DYN303 stale
        yield run(X)


# %% a dict that is passed in a region without guards
def scaled(x, options):
    return x * options["scale"]  # expect: DYN303 stale


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(X, {"scale": n})


# %% gradients that are switched off in a region without guards
def scaled(x):
    return x * 2 if torch.is_grad_enabled() else x * 3


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        with torch.set_grad_enabled(n % 2 == 0):
            yield run(X)  # expect: DYN303 stale


# %% quiet: gradients that are switched off in a region without guards, of which nothing depends
def scaled(x):
    return x * 2


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        with torch.set_grad_enabled(n % 2 == 0):
            yield run(X)  # expect: DYN303 stale note


# %% sizes that vary in a region without guards
def scaled(x):
    return x * x.shape[0]


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(torch.ones(n + 2, 4))  # expect: DYN303 stale


# %% quiet: sizes that vary in a region without guards, of which nothing depends
def scaled(x):
    return x * 2


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(torch.ones(n + 2, 4))  # expect: DYN303 stale note


# %% quiet: an argument that is symbolic from the start in a region without guards
def scaled(x, n):
    return x * n


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}
    run = torch.compile(scaled, dynamic=True, options=options)
    for n in range(12):
        yield run(X, n + 2)


# %% quiet: arguments that never change in a region without guards
def scaled(x, n, kind):
    return x * n if kind == "up" else x


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for _ in range(12):
        yield run(X, 3, "up")


# %% a dtype that varies in a region without guards
def scaled(x):
    return x * 2 if x.dtype == torch.float32 else x * 3


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield run(X if n % 2 else X.double())  # expect: DYN303 stale


# %% modules of two kinds that share a function in a region without guards
class Up(nn.Module):
    def forward(self, x):
        return x * 2


class Down(nn.Module):
    def forward(self, x):
        return x * 3


def applied(x, module):
    return module(x)  # expect: DYN303 stale


def drive():
    run = torch.compile(applied, options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    up, down = Up(), Down()
    for n in range(12):
        yield run(X, up if n % 2 else down)


# %% layers with a number each in a region without guards
class Layer(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x * self.n  # expect: DYN303 stale


def drive():
    layers = [Layer(n) for n in range(12)]
    for layer in layers:
        layer.compile(options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for layer in layers:
        yield layer(X)


# %% a list that grows in a region without guards
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x):
        self.seen.append(1)  # expect: DYN303 stale
        return x * len(self.seen)


def drive():
    run = torch.compile(Model(), options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for _ in range(12):
        yield run(X)


# %% a global that the driver sets behind a filter that drops the guards on globals
GAIN = 1


def scaled(x):
    return x * GAIN


def drive():
    global GAIN
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe})
    for n in range(12):
        GAIN = n  # expect: DYN303 stale
        yield run(X)


# %% a global that the driver sets behind a filter that drops the guards on modules
GAIN = 1


def scaled(x):
    return x * GAIN


def drive():
    global GAIN
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}
    run = torch.compile(scaled, options=options)
    for n in range(12):
        GAIN = n  # expect: DYN102 storm
        yield run(X)


# %% a layer of torch that goes to evaluation behind a filter that drops the guards on torch's modules
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x)


def drive():
    model = Model()
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe}
    run = torch.compile(model, options=options)
    torch.manual_seed(0)
    yield run(X)
    model.eval()  # expect: DYN303 stale
    for _ in range(11):
        yield run(X)


# %% a layer of torch that goes to evaluation behind a filter that drops the guards on globals
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x)


def drive():
    model = Model()
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
    run = torch.compile(model, options=options)
    torch.manual_seed(0)
    yield run(X)
    model.eval()  # expect: DYN110 once
    for _ in range(11):
        yield run(X)


# %% a module that goes to evaluation behind a filter that drops the guards on torch's modules
class Model(nn.Module):
    def forward(self, x):
        return x * 2 if self.training else x * 3


def drive():
    model = Model()
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe}
    run = torch.compile(model, options=options)
    yield run(X)
    model.eval()  # expect: DYN110 once
    for _ in range(11):
        yield run(X)


# %% an axis of a layer of torch behind a filter that drops the guards on torch's modules
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.soft = nn.Softmax(dim=0)

    def forward(self, x):
        return self.soft(x)


def drive():
    model = Model()
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe}
    run = torch.compile(model, options=options)
    for n in range(12):
        model.soft.dim = n % 2  # expect: DYN303 stale
        yield run(X)


# %% functions that are passed behind a filter that keeps the guards on tensors
def up(x):
    return x * 2


def down(x):
    return x * 3


def applied(x, function):
    return function(x)  # expect: DYN303 stale


def drive():
    run = torch.compile(applied, options={"guard_filter_fn": torch.compiler.keep_tensor_guards_unsafe})
    for n in range(12):
        yield run(X, up if n % 2 else down)


# %% a comparison of a number that is symbolic in a region without guards
def scaled(x, n):
    return x * n if n > 6 else x  # expect: DYN303 stale


def drive():
    options = {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}
    run = torch.compile(scaled, dynamic=True, options=options)
    for n in range(12):
        yield run(X, n + 2)


# %% a number of a module behind a filter that drops one of the two guards on it
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        return x * self.n


def drive():
    model = Model()
    options = {"guard_filter_fn": lambda entries: [one.guard_type != "CONSTANT_MATCH" for one in entries]}
    run = torch.compile(model, options=options)
    for n in range(12):
        model.n = n  # expect: DYN102 storm
        yield run(X)


# %% an argument behind a filter that drops the only guard on it
def scaled(x, n):
    return x * n  # expect: DYN303 stale


def drive():
    options = {"guard_filter_fn": lambda entries: [one.guard_type != "CONSTANT_MATCH" for one in entries]}
    run = torch.compile(scaled, options=options)
    for n in range(12):
        yield run(X, n)


# %% a number of a module behind a filter that goes by what guards are made of
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        return x * self.n


def drive():
    model = Model()
    options = {
        "guard_filter_fn": lambda entries: ["EQUALS_MATCH" not in one.derived_guard_types for one in entries]
    }
    run = torch.compile(model, options=options)
    for n in range(12):
        model.n = n  # expect: DYN303 stale
        yield run(X)


# %% a number of a part behind a filter that drops it by the name of the part
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        return x * self.n


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)


def chosen(entries):
    kept = []
    for number, entry in enumerate(entries):
        if entry.name.startswith("self._modules['part']"):
            kept.append(False)
            continue
        kept.append(True)
    return kept


def drive():
    model = Model()
    run = torch.compile(model, options={"guard_filter_fn": chosen})
    for n in range(12):
        model.part.n = n  # expect: DYN303 stale
        yield run(X)


# %% a number of a part behind a filter that drops what else the module holds
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0

    def forward(self, x):
        return x * self.n


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        return self.part(x)


def chosen(entries):
    return [not (entry.name.startswith("self.") and "_modules" not in entry.name) for entry in entries]


def drive():
    model = Model()
    run = torch.compile(model, options={"guard_filter_fn": chosen})
    for n in range(12):
        model.part.n = n  # expect: DYN102 storm
        yield run(X)


# %% an argument behind a filter that goes by the values
def chosen(entries):
    return [not isinstance(entry.value, (int, str)) for entry in entries]


def scaled(x, n):
    return x * n  # expect: DYN303 stale


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": chosen})
    for n in range(12):
        yield run(X, n)


# %% a module that is compiled in place without guards
class Model(nn.Module):
    def forward(self, x, kind):
        return x * 2 if kind == "up" else x * 3  # expect: DYN303 stale


def drive():
    model = Model()
    model.compile(options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    for n in range(12):
        yield model(X, "up" if n % 2 else "down")


# %% a decorator that drops the guards
@torch.compile(options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
def scaled(x, kind):
    return x * 2 if kind == "up" else x * 3  # expect: DYN303 stale


def drive():
    for n in range(12):
        yield scaled(X, "up" if n % 2 else "down")


# %% a method whose decorator drops the guards
class Model(nn.Module):
    @torch.compile(options={"guard_filter_fn": torch.compiler.skip_all_guards_unsafe})
    def forward(self, x, kind):
        return x * 2 if kind == "up" else x * 3  # expect: DYN303 stale


def drive():
    model = Model()
    for n in range(12):
        yield model(X, "up" if n % 2 else "down")


# %% options that are made for each compile
def options_for(safe):
    if safe:
        return {"guard_filter_fn": torch.compiler.skip_guard_on_globals_unsafe}
    return {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}


def scaled(x, n):
    return x * n  # expect: DYN303 stale


def drive():
    run = torch.compile(scaled, options=options_for(False))
    for n in range(12):
        yield run(X, n)


# %% quiet: a module that may turn to evaluation once its guards are gone, and never does
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        return self.drop(x)


def drive():
    model = Model()
    model.eval()
    options = {"guard_filter_fn": torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe}
    run = torch.compile(model, options=options)
    for _ in range(12):
        yield run(X)


# %% quiet: sizes that vary behind a filter that keeps the guards on tensors
def scaled(x):
    return x * x.shape[0]


def drive():
    run = torch.compile(scaled, options={"guard_filter_fn": torch.compiler.keep_tensor_guards_unsafe})
    for n in range(12):
        yield run(torch.ones(n + 2, 4))  # expect: DYN507 once
