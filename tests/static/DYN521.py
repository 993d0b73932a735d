import os

import torch
import torch.distributed as dist
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(4, 4)

    def forward(self, x):
        return self.proj(x)
# %% compiled on one rank
def build():
    model = Net()
    if dist.get_rank() == 0:
        model.compile()  # expect: DYN521
    return model
# %% by a variable, by a name, and by leaving early
def build():
    model = Net()
    if int(os.environ["LOCAL_RANK"]) == 0:
        model = torch.compile(model)  # expect: DYN521
    return model

def other():
    first = dist.get_rank() == 0
    model = Net()
    return torch.compile(model) if first else model  # expect: DYN521

def third(rank):
    if rank != 0:
        return Net()
    return torch.compile(Net())  # expect: DYN521
# %% by what an option says
def build(model):
    mode = "max-autotune" if dist.get_rank() == 0 else "default"
    return torch.compile(model, mode=mode)  # expect: DYN521
# %% quiet: what is made with a rank tells nothing
from torch.nn.parallel import DistributedDataParallel

def build(rank):
    model = DistributedDataParallel(Net(), device_ids=[rank])
    device = f"cuda:{rank}"
    if model is not None and device:
        model = torch.compile(model)
    return model
# %% by all calls of a helper
def speed(model):
    return torch.compile(model)  # expect: DYN521

def build(is_main_process):
    model = Net()
    if is_main_process:
        model = speed(model)
    return model
# %% a setting and a reset of one rank
def prepare():
    if dist.get_rank() == 0:
        torch._dynamo.config.capture_scalar_outputs = True  # expect: DYN521

def again(model):
    if dist.get_rank() == 0:
        torch._dynamo.reset()  # expect: DYN521
# %% quiet: a check that raises leaves no other ranks
def build(rank):
    if rank not in (0, 1):
        raise ValueError("rank")
    if dist.get_rank() > 1:
        print("too many")
        raise SystemExit(1)
    torch._dynamo.config.capture_scalar_outputs = True
    return torch.compile(Net())

def other(rank):
    if rank < 8:
        model = torch.compile(Net())
    else:
        raise ValueError("rank")
    return model
# %% a check that raises behind one that leaves
def build(rank):
    if rank < 0:
        raise ValueError("rank")
    if rank != 0:
        return Net()
    return torch.compile(Net())  # expect: DYN521
# %% quiet: a check that logs
def build(rank, logger):
    if rank not in (0, 1):
        logger.warning("rank")
    return torch.compile(Net())
# %% quiet: only talking differs
def build():
    model = torch.compile(Net())
    if dist.get_rank() == 0:
        print("compiled", model)
        torch._dynamo.config.verbose = True
    return model
# %% quiet: all ranks, or a number of them
def build():
    model = Net()
    if dist.is_initialized() and dist.get_world_size() > 1:
        model = torch.compile(model)
    return model
# %% quiet: alike in both branches
def build():
    model = Net()
    if dist.get_rank() == 0:
        print("first")
        model = torch.compile(model)
    else:
        model = torch.compile(model)
    return model
# %% quiet: the rank of a matrix
class Adapter:
    def __init__(self, lora_rank, rank_of_update):
        model = Net()
        if lora_rank > 0 and rank_of_update == 2:
            model = torch.compile(model)
        self.model = model
# %% quiet: a stage of a pipeline has its own part
def build(pp_rank):
    model = Net()
    if pp_rank == 0:
        model = torch.compile(model)
    return model
# %% quiet: a helper that some calls leave to all ranks
def speed(model):
    return torch.compile(model)

def build(rank):
    model = speed(Net())
    if rank == 0:
        model = speed(Net())
    return model
# %% quiet: a test
# file: tests/test_ranks.py
import torch
import torch.distributed as dist

def test_first(model):
    if dist.get_rank() == 0:
        torch.compile(model)(torch.ones(1, 4))
# %% quiet: each rank on its own device
def build():
    model = Net().to(f"cuda:{dist.get_rank()}")
    return torch.compile(model)
# %% quiet: a switch
def build(options):
    model = Net()
    if options.compile:
        model = torch.compile(model)
    return model
# %% the main process compiles in its constructor
class Trainer:
    def __init__(self, model: nn.Module, rank: int):
        self.rank = rank
        self.is_main_process = rank == 0
        if self.is_main_process:
            model = torch.compile(model)  # expect: DYN521
        self.model = model
# %% a rank resets after its error
def recover(error):
    if dist.get_rank() == error.rank:
        torch._dynamo.reset()  # expect: DYN521
# %% quiet: a rank has its own device and saves
def build(model):
    rank = int(os.environ.get("LOCAL_RANK", 0))
    torch.cuda.set_device(rank)
    model = torch.compile(model.to(f"cuda:{rank}"))
    if rank == 0:
        torch.save({"a": 1}, "a.pt")
    return model
# %% quiet: only the first rank talks and sets logs
def build(model):
    model = torch.compile(model)
    if dist.get_rank() == 0:
        print(model)
        torch._logging.set_logs(recompiles=True)
    return model
