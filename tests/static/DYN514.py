import os

import torch


def step(x):
    return x * 2
# %% another value than the contract wants
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1", TORCHINDUCTOR_AUTOGRAD_CACHE = "1" }
SWITCH = "TORCHINDUCTOR_FX_GRAPH_CACHE"
os.environ[SWITCH] = "0"  # expect: DYN514
os.environ.update(TORCHINDUCTOR_AUTOGRAD_CACHE="0")  # expect: DYN514
# %% taken away
# contract: environment = { TORCHINDUCTOR_CACHE_DIR = { required = true } }
def main():
    os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)  # expect: DYN514
    del os.environ["TORCHINDUCTOR_CACHE_DIR"]  # expect: DYN514
    step(torch.ones(2))
# %% a folder that the contract does not want
# contract: environment = { TRITON_CACHE_DIR = { mount = "/mnt/x" }, TORCHINDUCTOR_CACHE_DIR = { per-run = "JOB" } }
os.environ["TRITON_CACHE_DIR"] = "/home/me/triton"  # expect: DYN514
os.environ["TORCHINDUCTOR_CACHE_DIR"] = "/mnt/x/inductor"  # expect: DYN514
# %% a default that does not count where the launcher sets it
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1" }
os.environ.setdefault("TORCHINDUCTOR_FX_GRAPH_CACHE", "0")  # expect: DYN514 note
# %% quiet: what the contract wants
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1", TRITON_CACHE_DIR = { mount = "/mnt/x" } }
os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "1"
os.environ["TRITON_CACHE_DIR"] = "/mnt/x/triton"
os.environ["TRITON_CACHE_DIR"] = os.path.join(os.environ["HOME"], "triton")
# %% quiet: somebody has to ask for it
# contract: environment = { TORCH_COMPILE_DEBUG = { forbidden = true } }
import argparse

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    if parser.parse_args().debug:
        os.environ["TORCH_COMPILE_DEBUG"] = "1"
    step(torch.ones(2))
# %% quiet: for a while
# contract: environment = { TORCHINDUCTOR_CACHE_DIR = { required = true } }
def cold():
    before = os.environ.pop("TORCHINDUCTOR_CACHE_DIR")
    step(torch.ones(2))
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = before
# %% quiet: no contract
os.environ["TORCHINDUCTOR_FX_GRAPH_CACHE"] = "0"
del os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"]
# %% quiet: another variable
# contract: environment = { TORCHINDUCTOR_FX_GRAPH_CACHE = "1" }
os.environ["TORCHINDUCTOR_AUTOGRAD_CACHE"] = "0"
# %% quiet: of a job with ranks alone
# contract: environment = { NCCL_DEBUG = { equals = "WARN", when = "ranks > 1" } }
os.environ["NCCL_DEBUG"] = "INFO"
