import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x)
# %% saved inside a dictionary
def train(path):
    model = Net()
    model = torch.compile(model)
    model(torch.ones(1, 4))
    torch.save({"step": 1, "model": model.state_dict()}, path)  # expect: DYN517
# %% saved by way of names
def train(path):
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    state = model.state_dict()  # expect: DYN517
    checkpoint = {"model": state}
    torch.save(checkpoint, path)
# %% saved by a trainer that holds the wrapper
class Trainer:
    def __init__(self):
        self.model = torch.compile(Net())

    def step(self, x):
        return self.model(x)

    def save(self, path):
        torch.save(self.model.state_dict(), path)  # expect: DYN517
# %% saved by a helper that is given the wrapper
def save(model, path):
    torch.save(model.state_dict(), path)  # expect: DYN517

def train(path):
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    save(model, path)
# %% saved from the processor, by a function that is given the state
def write(state, path):
    torch.save(state, path)

def train(path):
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    write({name: value.cpu() for name, value in model.state_dict().items()}, path)  # expect: DYN517
# %% quiet: compiled in place
def train(path):
    model = Net()
    model.compile()
    model(torch.ones(1, 4))
    torch.save(model.state_dict(), path)
# %% quiet: the module below
def train(path):
    model = Net()
    fast = torch.compile(model)
    fast(torch.ones(1, 4))
    torch.save(model.state_dict(), path)
# %% quiet: kept before it was wrapped
def train(path):
    model = Net()
    plain = model
    model = torch.compile(model)
    model(torch.ones(1, 4))
    torch.save(plain.state_dict(), path)
# %% quiet: by its own name
def train(path):
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    torch.save(model._orig_mod.state_dict(), path)
# %% quiet: who loads takes the prefix off
def train(path):
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    torch.save(model.state_dict(), path)

def load(path):
    model = Net()
    state = torch.load(path)
    model.load_state_dict({key.removeprefix("_orig_mod."): value for key, value in state.items()})
    return model
# %% quiet: the state of an optimizer
def train(path):
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    optimizer = torch.optim.SGD(model.parameters())
    torch.save(optimizer.state_dict(), path)
# %% quiet: the state of a model beside a compiled one
def train(path):
    model, other = torch.compile(Net()), Net()
    model(torch.ones(1, 4))
    torch.save({"other": other.state_dict()}, path)
# %% quiet: nothing is saved
def train():
    model = torch.compile(Net())
    model(torch.ones(1, 4))
    return model.state_dict()
# %% quiet: the step is compiled, not the model
@torch.compile
def step(model, x):
    return model(x).sum()

def train(path):
    model = Net()
    step(model, torch.ones(1, 4))
    torch.save(model.state_dict(), path)
# %% a trainer saves what it wrapped
class Trainer:
    def __init__(self, model: nn.Module):
        self.model = torch.compile(model)

    def save(self, path, step):
        state = {"step": step, "model": self.model.state_dict()}  # expect: DYN517
        torch.save(state, path)
# %% quiet: a trainer compiles in place
class Trainer:
    def __init__(self, model: nn.Module):
        self.model = model
        self.model.compile()

    def save(self, path, step):
        torch.save({"step": step, "model": self.model.state_dict()}, path)
# %% quiet: a trainer keeps the plain model beside the wrapper
class Trainer:
    def __init__(self, model: nn.Module):
        self.plain = model
        self.model = torch.compile(model)

    def save(self, path):
        torch.save(self.plain.state_dict(), path)
# %% quiet: the optimizer is saved
def save(model, optimizer, path):
    model = torch.compile(model)
    torch.save(optimizer.state_dict(), path)
    return model
