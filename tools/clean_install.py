"""Install what lies in a folder into environments with nothing else, and run it there.

    python tools/clean_install.py dist                      with the running Python
    python tools/clean_install.py dist python3.10 python3.13

Each wheel and each sdist is installed with its dependencies, without torch, and lints a project whose verdict
is known.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "fixtures" / "moe" / "hazard"


def main(arguments: list[str]) -> int:
    """The exit status: 1 if an artifact does not install or does not run as it should."""
    if not arguments:
        sys.stderr.write("usage: python tools/clean_install.py FOLDER [PYTHON ...]\n")
        return 2
    artifacts = [path for path in sorted(Path(arguments[0]).iterdir()) if path.suffix in (".whl", ".gz")]
    if not artifacts:
        sys.stderr.write(f"no wheel and no sdist in {arguments[0]}\n")
        return 2
    faults = 0
    for python in arguments[1:] or [sys.executable]:
        for artifact in artifacts:
            with tempfile.TemporaryDirectory() as folder:
                fault = installed(artifact.resolve(), python, Path(folder))
            print(f"{artifact.name} under {version(python)}: {fault or 'installs and runs, without torch'}")
            faults += bool(fault)
    return int(faults > 0)


def installed(artifact: Path, python: str, folder: Path) -> str:
    """The fault of an artifact that is installed into a new environment and used there; empty if none."""
    environment = folder / "environment"
    run(python, "-m", "venv", str(environment), cwd=folder)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    done = run(str(programs / "python"), "-m", "pip", "install", "-q", str(artifact), cwd=folder)
    if done.returncode != 0:
        return f"pip: {done.stderr[-500:]}"
    if run(str(programs / "python"), "-c", "import torch", cwd=folder).returncode == 0:
        return "torch was installed"
    for arguments, status, words in (
        (("--version",), 0, "dynamo-lint"),
        (("rule", "DYN101"), 0, "mutated-scalar-attribute"),
        (("check", "--isolated", str(PROJECT)), 1, "DYN101 mutated-scalar-attribute"),
        (("regions", "--isolated", str(PROJECT)), 0, "MoEBlock.forward"),
        (("doctor", "--output-format", "json"), 0, "schema"),
    ):
        done = run(str(programs / "dynamo-lint"), *arguments, cwd=folder)
        if done.returncode != status or words not in done.stdout:
            said = (done.stderr or done.stdout)[-500:]
            return f"dynamo-lint {' '.join(arguments)}: exit {done.returncode}: {said}"
    return ""


def version(python: str) -> str:
    """The version of a Python, as it says itself."""
    return run(python, "--version", cwd=ROOT).stdout.strip()


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A program that ran, with nothing of this checkout on its path."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    return subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
