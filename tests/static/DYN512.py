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

configure()
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
# %% a line is missing, and the function is called
# contract: settings = { automatic_dynamic_shapes = false, capture_scalar_outputs = true }
# contract: settings-site = "program:configure"
def configure():  # expect: DYN512
    torch._dynamo.config.capture_scalar_outputs = True

def main():
    configure()
    scale(torch.ones(3))

main()
# %% no code makes any setting
# file: job.py
# contract: settings = { capture_scalar_outputs = true }
import torch

@torch.compile  # expect: DYN512
def shift(x):
    return x + 1
# %% nobody calls the function
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.capture_scalar_outputs = True

def main():
    scale(torch.ones(3))  # expect: DYN512

main()
# %% nobody calls the function, nor compiled code
# contract: settings-site = "program:configure"
def configure():  # expect: DYN512
    torch._dynamo.config.capture_scalar_outputs = True
# %% it is called too late
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.capture_scalar_outputs = True

def main():
    scale(torch.ones(3))
    configure()  # expect: DYN512

if __name__ == "__main__":
    main()
# %% it is called too late, behind a call by way of a model
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.capture_scalar_outputs = True

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        return scale(self.inner(x))

class Trainer:
    def __init__(self):
        self.net = Net()
        self.warm(torch.ones(3))
        configure()  # expect: DYN512

    def warm(self, x):
        return self.net(x)

Trainer()
# %% it is called under a condition
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.capture_scalar_outputs = True

def main():
    if torch.cuda.is_available():
        configure()  # expect: DYN512
    scale(torch.ones(3))

main()
# %% a setting is made under a condition
# contract: settings = { capture_scalar_outputs = true }
# contract: settings-site = "program:configure"
def configure():
    if torch.cuda.is_available():
        torch._dynamo.config.capture_scalar_outputs = True  # expect: DYN512

def main():
    configure()
    scale(torch.ones(3))

main()
# %% one of two scripts does without
# file: setup.py
# contract: settings-site = "setup:configure"
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True
# file: model.py
import torch

@torch.compile
def step(x):
    return x * 2
# file: train.py
# contract: settings-site = "setup:configure"
import torch
from model import step
from setup import configure

if __name__ == "__main__":
    configure()
    step(torch.ones(3))
# file: evaluate.py
# contract: settings-site = "setup:configure"
import torch
from model import step

if __name__ == "__main__":
    step(torch.ones(3))  # expect: DYN512
# %% one of two scripts does without, and both run the same loop
# file: loop.py
# contract: settings-site = "loop:configure"
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True

@torch.compile
def step(x):
    return x * 2

def run(batches):
    for batch in batches:
        step(batch)
# file: train.py
# contract: settings-site = "loop:configure"
import torch
from loop import configure, run

def main():
    configure()
    run([torch.ones(3)])

if __name__ == "__main__":
    main()
# file: evaluate.py
# contract: settings-site = "loop:configure"
import torch
from loop import run

def main():
    run([torch.ones(3)])  # expect: DYN512

if __name__ == "__main__":
    main()
# %% quiet: all is made before
# contract: settings = { automatic_dynamic_shapes = false, capture_scalar_outputs = true, recompile_limit = 16 }
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.automatic_dynamic_shapes = False
    setattr(torch._dynamo.config, "capture_scalar_outputs", True)

def main():
    configure()
    scale(torch.ones(3))

if __name__ == "__main__":
    main()
# %% quiet: torch has that value by itself
# contract: settings = { suppress_errors = false, automatic_dynamic_shapes = true }
def main():
    scale(torch.ones(3))

main()
# %% quiet: the names stand in a table
# contract: settings = { capture_scalar_outputs = true }
WANTED = {"capture_scalar_outputs": True}
for name, value in WANTED.items():
    setattr(torch._dynamo.config, name, value)
scale(torch.ones(3))
# %% quiet: a file that is imported calls it
# file: setup.py
# contract: settings-site = "setup:configure"
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True

configure()
# file: train.py
# contract: settings-site = "setup:configure"
import setup
import torch

@torch.compile
def step(x):
    return x * 2

if __name__ == "__main__":
    step(torch.ones(3))
# %% quiet: by way of another function, before the loop
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.capture_scalar_outputs = True

class Trainer:
    def __init__(self):
        self.prepare()

    def prepare(self):
        configure()

    def run(self):
        for _ in range(3):
            scale(torch.ones(3))

Trainer().run()
# %% quiet: compiled code is called under the same condition
# contract: settings-site = "program:configure"
def configure():
    torch._dynamo.config.capture_scalar_outputs = True

def main():
    if torch.cuda.is_available():
        configure()
        scale(torch.ones(3))

main()
# %% quiet: a test may do without
# file: test_step.py
# contract: settings-site = "test_step:configure"
import torch

def configure():
    torch._dynamo.config.capture_scalar_outputs = True

@torch.compile
def step(x):
    return x * 2

def test_step():
    step(torch.ones(3))
# %% quiet: both branches make it
# contract: settings = { capture_scalar_outputs = true }
# contract: settings-site = "program:configure"
def configure():
    if torch.cuda.is_available():
        torch._dynamo.config.capture_scalar_outputs = True
    else:
        torch._dynamo.config.capture_scalar_outputs = True

configure()
scale(torch.ones(3))
# %% contrary to a variable of the contract
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1", TORCHINDUCTOR_AUTOGRAD_CACHE = "1" }
import torch._functorch.config
import torch._inductor.config as inductor

@torch.compile
def step(x):
    return x * 2

inductor.fx_graph_cache = False  # expect: DYN512
torch._functorch.config.enable_autograd_cache = False  # expect: DYN512
other = torch.compile(step, options={"fx_graph_cache": False})  # expect: DYN512
# %% all caches off, and a new folder for a while
# contract: environment = { TORCHINDUCTOR_CACHE_DIR = { required = true } }
from torch._inductor.utils import fresh_cache

@torch.compile
def step(x):
    return x * 2

def main():
    torch.compiler.config.force_disable_caches = True  # expect: DYN512
    with fresh_cache():  # expect: DYN512
        step(torch.ones(2))
    with torch._inductor.config.patch(force_disable_caches=True):  # expect: DYN512
        step(torch.ones(2))
# %% quiet: as the contract says
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1", TORCHINDUCTOR_CACHE_DIR = { required = true } }
torch._inductor.config.fx_graph_cache = True
torch.compiler.config.force_disable_caches = False
torch._functorch.config.enable_autograd_cache = False
# %% quiet: caches are off without a contract
torch._inductor.config.fx_graph_cache = False
torch._inductor.config.force_disable_caches = True
# %% quiet: caches are off where somebody asks for it
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1" }
import os

if os.environ.get("COLD_START") == "1":
    torch._inductor.config.force_disable_caches = True
# %% quiet: the contract wants them off
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "0" }
torch._inductor.config.fx_graph_cache = False
