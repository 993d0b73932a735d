import torch


@torch.compile
def scale(x):
    return x * 2
# %% two functions and two values
def for_training():
    torch._dynamo.config.capture_scalar_outputs = True

def for_export():
    torch._dynamo.config.capture_scalar_outputs = False  # expect: DYN512 note
# %% a setting of inductor, in two files
# file: one.py
import torch

torch._inductor.config.triton.cudagraphs = True
# file: two.py
import one
import torch._inductor.config as inductor

def off():
    inductor.triton.cudagraphs = False  # expect: DYN512 note
# %% between two calls of what it is meant for
def main():
    scale(torch.ones(3))
    torch._dynamo.config.capture_scalar_outputs = True  # expect: DYN512
    scale(torch.ones(4))
# %% by a helper between two calls
def prepare():
    torch._dynamo.config.specialize_int = True  # expect: DYN512

def main():
    scale(torch.ones(3))
    prepare()
    scale(torch.ones(4))
# %% quiet: the same value twice
def one():
    torch._dynamo.config.capture_scalar_outputs = True

def two():
    torch._dynamo.config.capture_scalar_outputs = True
# %% quiet: one function decides
def configure(small):
    if small:
        torch._dynamo.config.automatic_dynamic_shapes = False
    else:
        torch._dynamo.config.automatic_dynamic_shapes = True
# %% quiet: before the first call
def main():
    torch._dynamo.config.capture_scalar_outputs = True
    scale(torch.ones(3))
    scale(torch.ones(4))
# %% quiet: patched for a while
def main():
    torch._dynamo.config.capture_scalar_outputs = True
    with torch._dynamo.config.patch(capture_scalar_outputs=False):
        scale(torch.ones(3))
# %% quiet: everything compiles again
def main():
    scale(torch.ones(3))
    torch._dynamo.reset()
    torch._dynamo.config.capture_scalar_outputs = True
    scale(torch.ones(4))
# %% quiet: what is compiled later sees it
@torch.compile
def shift(x):
    return x + 1

def main():
    scale(torch.ones(3))
    torch._dynamo.config.capture_scalar_outputs = True
    shift(torch.ones(4))
# %% quiet: enter and leave
class Static:
    def __enter__(self):
        torch._dynamo.config.assume_static_by_default = True

    def __exit__(self, *error):
        torch._dynamo.config.assume_static_by_default = False
# %% quiet: a setting that is read at any time
def main():
    scale(torch.ones(3))
    torch._dynamo.config.verbose = True
    scale(torch.ones(4))
# %% outside of the site of the contract
# file: job.py
# contract: settings-site = "job:configure"
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True

def later():
    torch._dynamo.config.specialize_int = True  # expect: DYN512
# %% another value than the contract's
# contract: settings = { automatic_dynamic_shapes = false, capture_scalar_outputs = true }
def configure():
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.automatic_dynamic_shapes = True  # expect: DYN512
# %% quiet: two programs
# file: one.py
import torch

torch._dynamo.config.specialize_int = True

if __name__ == "__main__":
    print(torch)
# file: two.py
import torch

torch._dynamo.config.specialize_int = False

if __name__ == "__main__":
    print(torch)
# %% quiet: settings of somebody else
class Options:
    specialize_int = True

def one(config):
    config.specialize_int = True

def two(config):
    config.specialize_int = False
# %% the caller of the function that sets it first
# file: evaluate.py
import torch
from setup import configure

def main():
    configure()
    torch._dynamo.config.capture_scalar_outputs = False  # expect: DYN512 note
    return torch.compile(lambda x: x * 2)
# file: setup.py
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True
# %% quiet: the caller says the same
# file: evaluate.py
import torch
from setup import configure

def main():
    configure()
    torch._dynamo.config.capture_scalar_outputs = True
    return torch.compile(lambda x: x * 2)
# file: setup.py
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True
