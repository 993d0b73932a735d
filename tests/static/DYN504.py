import os

import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2
# %% on request
def build():
    net = Net()
    if os.environ.get("USE_COMPILE", "0") == "1":
        net = torch.compile(net)  # expect: DYN504 note
    return net
# %% on request, by a name in another file
from settings import COMPILE

net = Net()
if COMPILE:
    net.compile()  # expect: DYN504 note
# file: settings.py
import os

COMPILE = os.getenv("COMPILE", "false").lower() in ("1", "true")
# %% on request, left before
def build():
    net = Net()
    if not bool(int(os.environ.get("USE_COMPILE", 0))):
        return net
    return torch.compile(net, dynamic=True)  # expect: DYN504 note
# %% on request, where a helper is called
def compiled(net):
    return torch.compile(net)  # expect: DYN504 note

def main():
    net = Net()
    if "FAST" in os.environ and torch.cuda.is_available():
        net = compiled(net)
    return net
# %% on request, in one line
net = torch.compile(Net()) if os.environ.get("FAST") else Net()  # expect: DYN504 note
# %% on request, by an attribute of a class and of a file
from settings import Options
import settings

def build():
    net = Net()
    if Options.compile:
        net = torch.compile(net)  # expect: DYN504 note
    return torch.compile(net) if settings.FAST else net  # expect: DYN504 note
# file: settings.py
import os

FAST = os.environ.get("FAST") is not None

class Options:
    compile: bool = bool(os.environ.get("COMPILE"))
# %% quiet: an attribute that a command line sets
from settings import Options

def main(arguments):
    Options.compile = arguments.compile
    return torch.compile(Net()) if Options.compile else Net()
# file: settings.py
import os

class Options:
    compile = os.environ.get("COMPILE") == "1"
# %% quiet: an attribute that anybody may set
def build(options):
    net = Net()
    if options.compile:
        net = torch.compile(net)
    return net

class Trainer:
    compile = os.environ.get("COMPILE") == "1"

    def build(self):
        return torch.compile(Net()) if self.compile else Net()
# %% quiet: unless somebody switches it off
def build():
    net = Net()
    if os.environ.get("USE_COMPILE", "1") == "1":
        net = torch.compile(net)
    if not os.environ.get("EAGER"):
        net.compile()
    return net
# %% quiet: left only on request
def build():
    net = Net()
    if os.environ.get("NO_COMPILE", "0") == "1":
        return net
    return torch.compile(net)
# %% quiet: the code sets it
os.environ["USE_COMPILE"] = "1"

def build():
    net = Net()
    if os.environ.get("USE_COMPILE") == "1":
        net = torch.compile(net)
    return net
# %% quiet: an argument asks for it
def build(options):
    net = Net()
    if options.compile or os.environ.get("USE_COMPILE") == "1":
        net = torch.compile(net)
    return net
# %% quiet: one caller compiles in any case
def compiled(net):
    return torch.compile(net)

def main():
    return compiled(Net()) if os.environ.get("FAST") else Net()

def serve():
    return compiled(Net())
# %% quiet: a name that has several values
COMPILE = os.environ.get("COMPILE") == "1"
if torch.cuda.is_available():
    COMPILE = True
net = torch.compile(Net()) if COMPILE else Net()
# %% quiet: the other branch compiles
def build():
    if os.environ.get("EAGER"):
        return Net()
    elif os.environ.get("BACKEND") == "eager":
        return Net()
    else:
        return torch.compile(Net())
# %% quiet: something else is done on request
net = torch.compile(Net())
if os.environ.get("PROFILE"):
    print(net)
# %% quiet: the expression compiles a pattern
import re

if os.environ.get("FILTER"):
    pattern = re.compile(os.environ["FILTER"])
# %% quiet: names that go round in a circle
FAST = SLOW = FAST
net = torch.compile(Net()) if FAST else Net()
# %% quiet: in a test
# file: tests/test_net.py
import os

import torch

if os.environ.get("USE_COMPILE"):
    net = torch.compile(torch.nn.Linear(3, 3))
