import os

import torch
import torch.distributed as dist
# %% behind the process group
def main():
    dist.init_process_group("nccl")
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"  # expect: DYN513
    os.environ.setdefault("NCCL_IB_DISABLE", "1")  # expect: DYN513
# %% behind a helper that makes it
def setup():
    torch.cuda.set_device(0)
    dist.init_process_group("nccl")

def tune():
    os.environ["NCCL_ALGO"] = "Ring"  # expect: DYN513

def main():
    setup()
    tune()
# %% quiet: before it
def main():
    os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "1"
    dist.init_process_group("nccl")
# %% quiet: in the other branch
def main(single):
    if single:
        os.environ["NCCL_ALGO"] = "Ring"
    else:
        dist.init_process_group("nccl")
        print(os.environ.get("NCCL_ALGO"))
# %% quiet: only some of the callers have made it
def tune():
    os.environ["NCCL_ALGO"] = "Ring"

def main():
    dist.init_process_group("nccl")
    tune()

def other():
    tune()
# %% quiet: another variable
def main():
    dist.init_process_group("nccl")
    os.environ["LOG_LEVEL"] = "debug"
