"""Train the hybrid on random tokens, and print one line of JSON: what was compiled, and how fast steps were.

python -m hybrid.train --width 1024 --depth 24 --steps 120
torchrun --nproc-per-node 2 -m hybrid.train --width 1024
"""

from __future__ import annotations

import argparse
import json
import os
import time

import torch
import torch._dynamo
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

from hybrid.model import Hybrid, regional_compile


def main() -> None:
    """Read the options, train, print."""
    options = argparse.ArgumentParser()
    options.add_argument("--width", type=int, default=1024)
    options.add_argument("--depth", type=int, default=24)
    options.add_argument("--experts", type=int, default=4)
    options.add_argument("--batch", type=int, default=8)
    options.add_argument("--length", type=int, default=1024)
    options.add_argument("--steps", type=int, default=120)
    options.add_argument("--pieces", type=int, default=2, help="micro-batches of a step")
    options.add_argument("--backend", default="inductor")
    options.add_argument("--eager", action="store_true", help="compile nothing")
    args = options.parse_args()

    ranks = int(os.environ.get("WORLD_SIZE", "1"))
    local = int(os.environ.get("LOCAL_RANK", "0"))
    on_gpu = torch.cuda.is_available()
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
    if ranks > 1:
        torch.distributed.init_process_group("nccl" if on_gpu else "gloo")
    torch.manual_seed(0)
    vocabulary = 4096
    model = Hybrid(vocabulary, args.width, args.depth, args.width // 64, args.experts)
    model.to(device, torch.bfloat16)
    experts = model.experts()
    if not args.eager:
        regional_compile(model, args.backend)
    wrapped: nn.Module = DistributedDataParallel(model) if ranks > 1 else model
    optimizer = torch.optim.AdamW(wrapped.parameters(), lr=3e-4, fused=on_gpu)

    seconds, losses = [], []
    for _step in range(args.steps):
        start = clock(on_gpu)
        for block in experts:
            block.balance = None
        for _piece in range(args.pieces):
            tokens = torch.randint(vocabulary, (args.batch, args.length), device=device)
            logits = wrapped(tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds.append(clock(on_gpu) - start)
        losses.append(loss.item())
    if local == 0:
        report(seconds, losses, args.pieces * args.batch * args.length * ranks, experts[0].usage())
    if ranks > 1:
        torch.distributed.destroy_process_group()


def clock(on_gpu: bool) -> float:
    """Seconds, once the device has done all that it was asked to do."""
    if on_gpu:
        torch.cuda.synchronize()
    return time.perf_counter()


def report(seconds: list[float], losses: list[float], tokens: int, usage: str) -> None:
    """Print what was compiled, and how long steps took."""
    later = sorted(seconds[len(seconds) // 2 :])
    compiled = torch._dynamo.utils.counters["stats"]
    print(
        json.dumps(
            {
                "graphs": compiled["unique_graphs"],
                "first_ten": round(sum(seconds[:10]), 3),
                "tokens_per_second": round(tokens / later[len(later) // 2]),
                "all_steps": round(sum(seconds), 3),
                "loss": losses[-1],
                "usage": usage,
                "torch": torch.__version__,
                "card": torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu",
            }
        )
    )


if __name__ == "__main__":
    main()
