"""Keeps a probe that no person wrote from writing into folders of the user, and from the network.

It runs code of the program for its guards alone, and what that code saves or sends is of no use to anybody.
This is no protection from hostile code, which a probe must not run anyway.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {
    "os.mkdir": 1,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.rename": 2,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
    "os.chmod": 1,
    "os.chown": 1,
    "shutil.rmtree": 1,
}
"""Audit events about paths, and how many of their arguments are such."""
DEVICES = ("/dev/", "/proc/", "/sys/")
LOCAL = ("127.0.0.1", "::1", "localhost", "None", "")
OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "WANDB_MODE": "disabled",
    "CUDA_VISIBLE_DEVICES": "",
}


def confine(folder: Path) -> None:
    """Refuse from now on, for good, what would change files outside of a folder or reach the network."""
    os.environ |= {**OFFLINE, "MPLCONFIGDIR": str(folder), "XDG_CACHE_HOME": str(folder)}
    own = tuple(f"{Path(one).resolve()}{os.sep}" for one in (folder, tempfile.gettempdir()))
    own = own if _is_own(own[1], str(folder.resolve())) else own[:1]

    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = arguments
            writes = (
                any(one in mode for one in "wax+") if isinstance(mode, str) else bool((flags or 0) & WRITING)
            )
            if writes:
                _allow(path, own)
        elif event in CHANGES:
            for path in arguments[: CHANGES[event]]:
                _allow(path, own)
        elif event in ("socket.connect", "socket.getaddrinfo"):
            address = arguments[1] if event == "socket.connect" else arguments
            if isinstance(address, tuple) and str(address[0]) not in LOCAL:
                raise PermissionError(f"a made probe reaches no network: {address[0]}")

    sys.addaudithook(check)
    _saves_nothing_elsewhere(own)


def _is_own(folder: str, inside: str) -> bool:
    """Whether the folder for temporary files is the probe's own."""
    return folder.startswith(inside)


def _allow(path: object, own: tuple[str, ...]) -> None:
    if not isinstance(path, str | bytes | os.PathLike):
        return  # a descriptor, of what has been opened already
    real = os.path.realpath(os.fsdecode(path))
    if not f"{real}{os.sep}".startswith((*own, *DEVICES)):
        raise PermissionError(f"a made probe writes to its own folder only: {real}")


def _saves_nothing_elsewhere(own: tuple[str, ...]) -> None:
    """`torch.save` opens its file in C++, where no audit event is raised."""
    import torch

    real = torch.save

    def save(value: Any, file: Any, *arguments: Any, **options: Any) -> None:
        _allow(file, own)
        real(value, file, *arguments, **options)

    torch.save = save  # type: ignore[assignment]
