import argparse

import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2


parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
# %% in every run, under a contract
# contract: settings = { suppress_errors = false }
def main():
    torch._dynamo.config.suppress_errors = True  # expect: DYN505  # expect: DYN512
    torch.compile(Net())(torch.ones(3))

main()
# %% in every run, and nobody has a contract
def main():
    torch._dynamo.config.suppress_errors = True  # expect: DYN505 note
    torch.compile(Net())(torch.ones(3))

main()
# %% in another place than the contract says
# contract: suppress-sites = ["program:main"]
def helper(args):
    if args.debug:
        torch._dynamo.config.suppress_errors = True  # expect: DYN505

def main():
    args = parser.parse_args()
    helper(args)
    torch.compile(Net())(torch.ones(3))

main()
# %% a list of off-sites is about errors as well
# contract: off-sites = ["program:main"]
def helper(args):
    if args.debug:
        torch._dynamo.config.suppress_errors = True  # expect: DYN505

def main():
    args = parser.parse_args()
    helper(args)
    torch.compile(Net())(torch.ones(3))

main()
# %% quiet: behind a guard, under a contract
# contract: settings = { suppress_errors = false }
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.suppress_errors = False

def main():
    args = parser.parse_args()
    configure()
    if args.debug:
        torch._dynamo.config.suppress_errors = True
    torch.compile(Net())(torch.ones(3))

main()
# %% quiet: the two places of the contract
# contract: settings = { suppress_errors = false }
# contract: suppress-sites = ["program:main", "program:bench"]
def main():
    torch._dynamo.config.suppress_errors = True
    torch.compile(Net())(torch.ones(3))

def bench():
    torch._dynamo.config.suppress_errors = True

main()
# %% quiet: errors are not hidden
# contract: off-sites = ["program:main"]
def helper():
    torch._dynamo.config.suppress_errors = False
    torch.compile(Net())(torch.ones(3))

helper()
# %% quiet: a list of suppress-sites says nothing about the switch
# contract: suppress-sites = ["program:main"]
def helper(args):
    if args.debug:
        torch._dynamo.config.disable = True

def main():
    args = parser.parse_args()
    helper(args)
    torch.compile(Net())(torch.ones(3))

main()
