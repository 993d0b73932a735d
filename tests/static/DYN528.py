import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x)
# %% values in the block
def main():
    model = Net().cuda()
    x = torch.ones(2, 4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
        top = y.max().item()  # expect: DYN528
        if y.mean() > 0:  # expect: DYN528
            y = y * top
        kept = y[y > 0]  # expect: DYN528
        torch.cuda.synchronize()  # expect: DYN528
        host = y.cpu()  # expect: DYN528
    return graph, kept, host
# %% in what the block calls
def scaled(y: torch.Tensor):
    return y / float(y.abs().max())  # expect: DYN528

def main(model: nn.Module, x: torch.Tensor):
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.graph(graph, stream=stream):
        out = scaled(model(x))
    return graph, out
# %% in a module that is graphed
class Clipped(Net):
    def forward(self, x):
        y = self.lin(x)
        if y.norm() > 1:  # expect: DYN528
            y = y / y.norm()
        return y

def main(x: torch.Tensor):
    return torch.cuda.make_graphed_callables(Clipped().cuda(), (x,))
# %% in one of several
from torch.cuda import make_graphed_callables

class Listed(Net):
    def forward(self, x):
        y = self.lin(x)
        return y * y.sum().tolist()  # expect: DYN528

def main(x: torch.Tensor):
    first, second = Net().cuda(), Listed().cuda()
    return make_graphed_callables((first, second), ((x,), (x,)))
# %% in a model that a run picks
class Plain(Net):
    pass

class Routed(Net):
    def forward(self, x):
        y = self.lin(x)
        return y[: int(y.argmax())]  # expect: DYN528 note

MODELS = {"plain": Plain, "routed": Routed}

class Runner:
    def __init__(self, model):
        self.model = model
        self.graph = torch.cuda.CUDAGraph()

    def capture(self, x):
        with torch.cuda.graph(self.graph):
            return self.model(x)

def main(name: str, x: torch.Tensor):
    return Runner(MODELS[name]().cuda()).capture(x)
# %% in a module of a model that a run picks, that is graphed
class Plain(Net):
    pass

class Routed(Net):
    def forward(self, x):
        y = self.lin(x)
        return y[: int(y.argmax())]  # expect: DYN528 note

def make(name: str):
    if name == "plain":
        return Plain()
    return Routed()

def main(name: str, x: torch.Tensor):
    return torch.cuda.make_graphed_callables(make(name).cuda(), (x,))
# %% in each of two models that one helper captures
class Plain(Net):
    pass

class Routed(Net):
    def forward(self, x):
        y = self.lin(x)
        return y[: int(y.argmax())]  # expect: DYN528

def capture(model, x):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    return graph, y

def first(x: torch.Tensor):
    return capture(Plain().cuda(), x)

def second(x: torch.Tensor):
    return capture(Routed().cuda(), x)
# %% a lazy loop
import torch_xla.core.xla_model as xm

def train(model: nn.Module, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()  # expect: DYN528
        xm.mark_step()
    return total
# %% a lazy loop that looks now and then
import torch_xla

def train(model: nn.Module, loader, optimizer):
    for step, (x, y) in enumerate(loader):
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        if step % 100 == 0:
            print(step, loss.item())  # expect: DYN528 note
# %% quiet: values before the capture and behind the replay
def main(x: torch.Tensor):
    model = Net().cuda()
    for _ in range(3):
        print(model(x).sum().item())
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    graph.replay()
    torch.cuda.synchronize()
    print(y.sum().item(), y.cpu())
# %% quiet: sizes, flags and masks of one size
def main(x: torch.Tensor, model: nn.Module, twice: bool):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
        if y.shape[0] > 3 or twice:
            y = y * int(x.size(0))
        y = torch.where(y > 0, y, 0).masked_fill(y > 3, 3)
    return graph, y
# %% quiet: the module that is graphed has none
def main(x: torch.Tensor):
    model = torch.cuda.make_graphed_callables(Net().cuda(), (x,))
    print(model(x).sum().item())
# %% quiet: a model that is not captured, beside one that is
class Plain(Net):
    pass

class Routed(Net):
    def forward(self, x):
        y = self.lin(x)
        return y[: int(y.argmax())]

class Runner:
    def __init__(self, model):
        self.model = model

    def capture(self, x):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            return self.model(x)

def main(x: torch.Tensor):
    return Runner(Plain().cuda()).capture(x), Routed().cuda()(x)
# %% quiet: models that a run picks, with their values behind the replay
class Plain(Net):
    pass

class Routed(Net):
    def picked(self, y):
        return y[: int(y.argmax())]

MODELS = {"plain": Plain, "routed": Routed}

def main(name: str, x: torch.Tensor):
    model, graph = MODELS[name]().cuda(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)
    graph.replay()
    return model.picked(y)
# %% quiet: another graph
import networkx

class Tape:
    def graph(self, name):
        return open(name)

def main(tape: Tape, y: torch.Tensor):
    with tape.graph("x"):
        return y.sum().item()
# %% quiet: a lazy loop that hands the value on
import torch_xla.core.xla_model as xm

def report(loss):
    print(loss.item())

def train(model: nn.Module, loader, optimizer):
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        xm.optimizer_step(optimizer)
        xm.add_step_closure(report, args=(loss,))
        xm.mark_step()
# %% quiet: values behind the loop
import torch_xla.core.xla_model as xm

def evaluate(model: nn.Module, loader):
    total = torch.zeros(())
    for epoch in range(3):
        for x, y in loader:
            total += (model(x) - y).abs().sum()
            xm.mark_step()
        print(epoch, total.item())
# %% quiet: an eager loop
def train(model: nn.Module, loader):
    for x in loader:
        print(model(x).sum().item())
