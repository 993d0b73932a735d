"""The files that start programs, by their names and first bytes."""

from __future__ import annotations

import re

from dynamo_lint.index.decoding import decode

ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".sbatch", ".slurm", ".pbs")
"""How the names of scripts end."""
YAML = (".yaml", ".yml")
_DOCKER = re.compile(r"(?:.*[./])?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?|.*\.(?:d|D)ockerfile")
_VARIABLES = re.compile(r"(?:.*\.)?env(?:\..*)?")
_SHEBANG = re.compile(rb"#![^\n]*\b(?:ba|da|z|k)?sh\b")
_STARTS = re.compile(
    rb"""^[ \t-]*["']?(?:env|envs|environment|env_file|command|args|entrypoint|run|script)["']?[ \t]*:""",
    re.MULTILINE,
)
"""The keys of YAML that start something, or give it variables."""


def kind_of(path: str, head: bytes = b"") -> str:
    """The language of a launcher by its name, or its first bytes; empty for what is none."""
    name = path.rpartition("/")[2]
    if name.endswith(ENDINGS) or (head and "." not in name and _SHEBANG.match(head)):
        return "shell"
    if name.endswith(YAML):
        return "yaml"
    if _VARIABLES.fullmatch(name):
        return "variables"
    return "docker" if _DOCKER.fullmatch(name) else ""


def is_text(source: bytes) -> bool:
    """Whether a file can be read at all."""
    try:
        decode(source)
    except (SyntaxError, ValueError):
        return False
    return True


def is_wanted(path: str, source: bytes) -> bool:
    """Whether a file by the name of a launcher is worth a closer look."""
    return not path.endswith(YAML) or _STARTS.search(source) is not None
