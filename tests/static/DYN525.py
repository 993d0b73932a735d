from datetime import timedelta

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@torch.compile
def scale(x):
    return x * 2
# %% shorter than the contract says
# contract: min-group-timeout = 1800
TIMEOUT = timedelta(minutes=10)

def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))  # expect: DYN525
    dist.new_group([0], timeout=TIMEOUT)  # expect: DYN525
# %% what torch takes by itself
# contract: min-group-timeout = 1800
def main():
    dist.init_process_group("nccl")  # expect: DYN525
# %% tuned on every rank
def main(model):
    dist.init_process_group("nccl")
    model = DDP(model)
    return torch.compile(model, mode="max-autotune")  # expect: DYN525 note
# %% tuned on every rank, under a contract
# contract: max-autotune-configs = 8
def main(model):
    model = DDP(model)
    torch._inductor.config.max_autotune = True  # expect: DYN525
    return torch.compile(model, options={"max_autotune_gemm": True})  # expect: DYN525
# %% quiet: long enough
# contract: min-group-timeout = 1800
def main(arguments):
    dist.init_process_group("gloo", timeout=timedelta(0, 1800))
    dist.new_group([0], timeout=timedelta(hours=1, seconds=5))
    dist.new_group([0], timeout=timedelta(seconds=arguments.timeout))
    dist.new_group([0])
# %% quiet: no contract
def main():
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
# %% quiet: one process
# file: serve.py
import torch

def main(model):
    return torch.compile(model, mode="max-autotune")

if __name__ == "__main__":
    main(torch.nn.Linear(3, 3))
# file: program.py
import torch
# %% quiet: another mode
def main(model):
    return torch.compile(DDP(model), mode="reduce-overhead", options=None)
# %% quiet: tuning is off
def main(model):
    torch._inductor.config.max_autotune = False
    return torch.compile(DDP(model), options={"max_autotune": False})
