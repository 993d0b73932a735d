"""Scripts and descriptions that start programs: the variables that each program gets, and which it is.

Shell scripts are read command by command, Dockerfiles by instruction, YAML (Kubernetes, Compose, workflows)
by the maps that give a container its variables and its command. Nothing is run: what only a run tells is said
to be open.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

from dynamo_lint.index.containers import read_dockerfile, read_yaml
from dynamo_lint.index.decoding import decode
from dynamo_lint.index.ir import MODULE_KEY, FileFacts, Function, Launch, Launcher
from dynamo_lint.index.launcher_names import kind_of
from dynamo_lint.index.shell_scripts import OPEN, read_shell, read_variables


def summarize_launcher(path: str, source: bytes) -> FileFacts:
    """The facts of one launcher; one that cannot be read starts nothing."""
    top = {MODULE_KEY: Function(MODULE_KEY, MODULE_KEY, 1, 1, 1)}
    launcher = Launcher()
    try:
        text = decode(source)
        match kind_of(path, source[:200]):
            case "docker":
                launcher = read_dockerfile(text)
            case "yaml":
                launcher = read_yaml(text)
            case "variables":
                launcher = read_variables(text)
            case _:
                launcher = read_shell(text)
    except (SyntaxError, ValueError, RecursionError):
        pass
    return FileFacts(path, path, functions=top, is_code=False, configures=False, launcher=launcher)


def target_of(launch: Launch, launcher: str, paths: Iterable[str]) -> str | None:
    """The file that a launcher starts: beside it, from where all paths count, or the only one of the name."""
    folder = posixpath.dirname(launcher)
    if launch.is_module:
        way = launch.program.replace(".", "/")
        wanted = [f"{way}.py", f"{way}/__main__.py"]
    else:
        whole = launch.program.rpartition(OPEN)[2].lstrip("/") if OPEN in launch.program else launch.program
        wanted = [posixpath.normpath(whole)]
    known = list(paths)
    for one in wanted:
        for place in (posixpath.normpath(posixpath.join(folder, one)), one):
            if place in known:
                return place
        tail = one.lstrip("/").removeprefix("../")
        while tail:
            ends = [path for path in known if path == tail or path.endswith(f"/{tail}")]
            if len(ends) == 1 or tail in ends:
                return tail if tail in ends else ends[0]
            absolute = one.startswith(("/", "..")) and "/" in tail
            tail = tail.partition("/")[2] if absolute else ""
    return None
