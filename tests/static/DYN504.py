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
# %% a flag of argparse that is on by default
import argparse

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--eager", action="store_true", default=True)
    args = parser.parse_args()
    if args.eager:
        torch._dynamo.config.disable = True  # expect: DYN504
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% a flag whose default is set apart
import argparse

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", action="store_true")
    parser.set_defaults(compile=False)
    args, rest = parser.parse_known_args()
    if not args.compile:
        torch._dynamo.config.disable = True  # expect: DYN504
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% a test of which nothing is known
def main(arguments):
    if torch.cuda.is_available():
        torch._dynamo.config.disable = True  # expect: DYN504 note
    net = torch.compile(Net())
    net(torch.ones(3))

main(None)
# %% a key of a file of settings that leaves it off
import yaml

def main():
    config = yaml.safe_load(open("config.yaml"))
    if not config["compile"]:
        torch._dynamo.config.disable = True  # expect: DYN504
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# file: config.yaml
model: big
compile: false
# %% beside the places of the contract
# contract: off-sites = ["program:main"]
import argparse

def setup(args):
    if args.eager:
        torch._dynamo.config.disable = True  # expect: DYN504
    os.environ["TORCHDYNAMO_DISABLE"] = "1"  # expect: DYN504

def build(args):
    return torch.compile(Net(), disable=args.eager)  # expect: DYN504

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--eager", action="store_true")
    args = parser.parse_args()
    setup(args)
    if args.eager:
        torch._dynamo.config.disable = True
        torch.compiler.set_stance("force_eager")
    build(args)(torch.ones(3))

main()
# %% a hatch that the contract forbids
# contract: off-switches = "forbid"
COMPILE = os.environ.get("NO_COMPILE") != "1"

def build():
    net = Net()
    if os.environ.get("NO_COMPILE") != "1":
        net.compile()  # expect: DYN504
    return torch.compile(Net(), disable=not COMPILE)  # expect: DYN504
# %% a hatch by a return, by an option and by a helper
# contract: off-switches = "forbid"
import argparse

def wanted():
    return os.environ.get("NO_COMPILE", "0") == "0"

def build(args):
    net = Net()
    if args.no_compile:
        return net
    return torch.compile(net)  # expect: DYN504

def other():
    return torch.compile(Net()) if wanted() else Net()  # expect: DYN504

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-compile", action="store_true")
    build(parser.parse_args())
    if False:
        torch._dynamo.config.disable = True  # expect: DYN504

main()
# %% quiet: a flag of argparse that is off by default
import argparse

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-compile", action="store_true")
    args = parser.parse_args()
    if args.no_compile:
        torch._dynamo.config.suppress_errors = True
        torch._dynamo.config.disable = True
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% quiet: either way of a flag, compiled by default
import argparse

def parse():
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("compiler")
    group.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    group.add_argument("--keep", dest="keep_compiled", action="store_false")
    return parser.parse_known_args()[0]

class Trainer:
    def __init__(self, args):
        self.args = args
        self.eager = not args.compile

    def setup(self):
        if not self.args.compile or not self.args.keep_compiled:
            torch._dynamo.config.disable = True
        if self.eager:
            torch.compiler.set_stance("force_eager")

    def run(self):
        net = torch.compile(Net())
        net(torch.ones(3))

def main():
    args = parse()
    trainer = Trainer(args)
    trainer.setup()
    trainer.run()

main()
# %% quiet: a flag that is handed on
import argparse

def setup(no_compile, debug=False):
    if no_compile or debug:
        torch._dynamo.config.disable = True

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-compile", action="store_true")
    parser.set_defaults(no_compile=False)
    args = parser.parse_args()
    setup(args.no_compile)
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% quiet: a mode that by default is another
import argparse

def configure(args):
    match args.mode:
        case "off":
            torch.compiler.set_stance("force_eager")
    if vars(args)["mode"] in ("off", "debug") or getattr(args, "mode", None) == "off":
        torch._dynamo.config.disable = True

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="default", choices=["default", "off", "debug"])
    configure(parser.parse_args())
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% quiet: a flag of click
import click

@click.command()
@click.option("--no-compile", is_flag=True, help="run eagerly")
@click.option("--fast/--slow", default=True)
def main(no_compile, fast):
    if no_compile:
        torch._dynamo.config.disable = True
    if not fast:
        torch._dynamo.config.disable = True
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% quiet: a flag of typer
import typer

app = typer.Typer()

@app.command()
def main(no_compile: bool = typer.Option(False, "--no-compile"), eager: bool = False):
    if no_compile or eager:
        torch._dynamo.config.disable = True
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% quiet: a field of a dataclass, from the command line
import dataclasses
from transformers import HfArgumentParser

@dataclasses.dataclass
class Options:
    lr: float = 1e-3
    no_compile: bool = dataclasses.field(default=False, metadata={"help": "run eagerly"})

def main():
    (options,) = HfArgumentParser(Options).parse_args_into_dataclasses()
    if options.no_compile:
        torch._dynamo.config.disable = True
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# %% quiet: keys of a file of settings
import yaml

def main():
    config = yaml.safe_load(open("config.yaml"))
    if not config["model"]["compile"] or config.get("eager", False):
        torch._dynamo.config.disable = True
    net = torch.compile(Net())
    net(torch.ones(3))

main()
# file: config.yaml
model:
  compile: true
eager: no
# %% quiet: the places of the contract
# contract: off-sites = ["program:main"]
# contract: off-switches = "forbid"
import sys

def main():
    net = Net()
    if "--eager" in sys.argv:
        torch._dynamo.config.disable = True
        torch._dynamo.config.suppress_errors = True
    if os.environ.get("NO_COMPILE") != "1":
        net.compile()
    net(torch.ones(3))

main()
# %% quiet: a device decides, not a switch
# contract: off-switches = "forbid"
def build():
    net = Net()
    if torch.cuda.is_available():
        net.compile()
    return net
# %% quiet: compiled in any case
# contract: off-switches = "forbid"
def build(args):
    torch._dynamo.config.disable = False
    return torch.compile(Net(), disable=False, mode=os.environ.get("MODE", "default"))
