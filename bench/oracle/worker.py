"""One architecture in a process of its own: build it, compile it, live through the schedule, write a record.

python -m bench.oracle.worker SOURCE FAMILY NAME MODE BACKEND RECORD.json
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

MEMORY = 6 * 2**30
"""Bytes of address space beyond what torch itself maps; more is a failure of this architecture alone."""


def main() -> None:
    """Write what happened, also when it was an exception."""
    source, family, name, mode, backend, record = sys.argv[1:]
    try:
        written = _watched(source, family, name, mode, backend)
    except Exception as error:
        last = traceback.format_exc(limit=-3)
        written = {"status": "not built", "why": f"{type(error).__name__}: {error}"[:2000], "trace": last}
    target = Path(record)
    draft = target.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps({"source": source, "family": family, "name": name, "mode": mode} | written))
    draft.replace(target)


def _watched(source: str, family: str, name: str, mode: str, backend: str) -> dict[str, Any]:
    import torch

    from bench.oracle.attributes import Attributes
    from bench.oracle.blocks import repeated_blocks
    from bench.oracle.sizes import sized
    from dynamo_lint.confirm.child.witness import note_failure, witness

    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY + _mapped(), resource.RLIM_INFINITY))
    model, steps, how = _subject(source, family, name)
    blocks = repeated_blocks(model)
    # What another instance holds that is not compiled recompiles nothing.
    compiled = [model] if mode == "whole" else [block for _, block in blocks]
    attributes, sizes = Attributes(compiled), sized(compiled)
    failures: dict[str, str] = {}
    with witness(backend) as heard:
        if mode == "whole":
            model.compile()
        for _, block in blocks if mode == "blocks" else ():
            block.compile()
        attributes.watch()
        for number, (label, step) in enumerate(steps):
            heard.call, heard.label = number, label
            try:
                step()
            except Exception as error:
                # The other phases still tell something.
                note_failure(heard, error)
                failures[label] = f"{type(error).__name__}: {error}"[:500]
            attributes.look()
        receipt = heard.receipt(len(steps) - len(failures))
    return {
        "status": "ran" if blocks or mode == "whole" else "no repeated blocks",
        "how": how,
        "compiled": sorted({_identity(type(one)) for one in compiled}),
        "phases": len(steps),
        "failures": failures,
        "sized": sizes,
        "watched": True,
        "lasting": _lasting(model, family, compiled),
        "held": attributes.held(),
        "differing": attributes.differing(),
        "changed": attributes.changed(),
        "receipt": asdict(receipt),
    }


def _lasting(model: Any, family: str, compiled: list[Any]) -> list[str]:
    """The classes of the objects that are handed from call to call where the model generates, uncompiled.

    Who compiles it may do that too, whether or not the schedule did.
    """
    from bench.oracle.attributes import Attributes
    from bench.oracle.schedule import generate

    for module in compiled:
        module._compiled_call_impl = None
    attributes = Attributes(compiled)
    attributes.watch()
    for cache in (None, "static") if getattr(model, "can_generate", bool)() else ():
        with contextlib.suppress(Exception):  # not every model takes every cache, or these inputs
            generate(model, family, cache)
    return sorted({name.partition(".")[0] for name in attributes.held()})


def _subject(source: str, family: str, name: str) -> tuple[Any, list[tuple[str, Callable[[], Any]]], str]:
    from bench.oracle import others
    from bench.oracle.architectures import build
    from bench.oracle.schedule import phases

    if source == "x-transformers":
        return *others.stack(name), ""
    if source == "timm":
        return *others.image_model(name), ""
    import transformers

    transformers.logging.set_verbosity_error()
    model, how = build(family, name)
    return model, phases(model, family), how


def _identity(cls: type) -> str:
    """`pkg.module:Class`, as regions are declared."""
    return f"{cls.__module__}:{cls.__qualname__}"


def _mapped() -> int:
    """Bytes of address space in use already."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


if __name__ == "__main__":
    main()
