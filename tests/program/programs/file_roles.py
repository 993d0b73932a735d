"""File roles: code that only tests compile or make is not what users compile."""

import torch
from torch import nn

# %% what a test has compiled by what users call is run
# file: lib.py
def relu(x): return x  # compiled: likely
class Net(nn.Module):
    def __init__(self, act=relu):
        super().__init__()
        self.act = act
    def forward(self, x): return self.act(x)  # compiled: likely
def speed_up(net): return torch.compile(net)
# file: main.py
from lib import Net, speed_up
fast = speed_up(Net())
# file: test_net.py
from lib import Net, speed_up
def fake(x): return x  # compiled: likely
def test_act(x): speed_up(Net(fake))(x)

# %% what a test compiles itself is run
# file: lib.py
def relu(x): return x  # compiled: likely
class Net(nn.Module):
    def __init__(self, act=relu):
        super().__init__()
        self.act = act
    def forward(self, x): return self.act(x)  # compiled: likely
def speed_up(net): return torch.compile(net)
# file: test_net.py
import torch
from lib import Net, speed_up
def fake(x): return x  # compiled: likely
def test_act(x): torch.compile(Net(fake))(x)

# %% what a test makes is run by no code that its file does not call
# file: lib.py
class Net(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act
    def forward(self, x): return self.act(x)  # compiled: likely
def fast(model): return torch.compile(model)
# file: test_a.py
from lib import Net
def test_plain():
    def act(x): return x
    Net(act)(torch.ones(2))
# file: test_b.py
from lib import Net, fast
def test_compiled():
    def act(x): return x * 2  # compiled: likely
    fast(Net(act))(torch.ones(2))
def test_plain():
    def act(x): return x * 3  # compiled: likely
    Net(act)(torch.ones(2))

# %% what a test makes is not compiled by another test
# file: lib.py
class Net(nn.Module):
    def __init__(self, act):
        super().__init__()
        self.act = act
    def forward(self, x): return self.act(x)  # compiled: likely
def fast(model): return torch.compile(model)
# file: test_a.py
from lib import Net
def test_plain():
    def act(x): return x
    Net(act)(torch.ones(2))
# file: test_b.py
from lib import Net, fast
def test_compiled():
    def act(x): return x * 2  # compiled: likely
    compiled = torch.compile(Net(act))(torch.ones(2))
def test_plain():
    def act(x): return x * 3
    Net(act)(torch.ones(2))

# %% what a user compiles as a test does is certain
# file: lib.py
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
# file: test_net.py
from lib import Net
fast = torch.compile(Net())
# file: main.py
from lib import Net
fast = torch.compile(Net())

# %% a function that evaluates a model on its test set is no test
# file: lib.py
class Net(nn.Module):
    def forward(self, x): return x  # compiled: certain
# file: main.py
from lib import Net
def test_epoch(x): return torch.compile(Net())(x)
