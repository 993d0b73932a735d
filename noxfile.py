"""The tasks of this project, each in an environment of its own: `nox -l` lists them, `nox -s quick` runs one.

CI runs the same ones. What stands behind `--` goes to the program: `nox -s quick -- tests/values -x`.
"""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.4"
nox.options.sessions = ["lint", "quick"]
nox.options.reuse_existing_virtualenvs = True

PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
ANALYSIS = [
    f"tests/{folder}"
    for folder in (
        *(
            "calls",
            "conditions",
            "evaluation",
            "heuristics",
            "index",
            "interpreter",
            "models",
            "program",
        ),
        *("regions", "render", "rules", "state", "values"),
    )
]
"""The folders of tests that start no shell and no terminal: they run on every system."""


@nox.session
def test(session: nox.Session) -> None:
    """Everything, with torch: what CI decides by."""
    session.install("-e", ".[dev,docs]")
    session.run("pytest", "-q", "-n", "2", *session.posargs)


@nox.session(python=PYTHONS)
def quick(session: nox.Session) -> None:
    """The tests that need no torch."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "-n", "2", *session.posargs)


@nox.session(python=PYTHONS)
def portable(session: nox.Session) -> None:
    """Of those the ones about the analysis, which need neither a shell nor processes as POSIX has them."""
    session.install("-e", ".[test]")
    session.run("pytest", "-q", "-n", "2", *(session.posargs or ANALYSIS))
    session.run("dynamo-lint", "--exit-zero", "fixtures")


@nox.session
def truth(session: nox.Session) -> None:
    """Every program under torch, also those whose verdict is known from an earlier run; half an hour."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-q", "-n", "2", "--all-under-torch", "-k", "under_torch", *session.posargs)


@nox.session
def newest(session: nox.Session) -> None:
    """What reads torch's own reports, under the newest torch there is: the runtime harness and the logs."""
    session.install("-e", ".[test]", "numpy", "torch")
    session.run("pytest", "-q", "-n", "2", *(session.posargs or ("tests/confirm", "tests/logs")))


@nox.session
def bench(session: nox.Session) -> None:
    """How often the linter agrees with what torch was measured to do, and how fast it is on its own code."""
    session.install("-e", ".[test]")
    session.run("python", "bench/agreement.py", "--recorded")
    session.run("python", "bench/regions.py", "--speed", *(session.posargs or ("dynamo_lint",)))


@nox.session
def docs(session: nox.Session) -> None:
    """The site, in build/site; `nox -s docs -- serve` shows it while you write."""
    session.install("-e", ".[docs]")
    session.run("python", "tools/readme.py", "--check")
    session.run("mkdocs", *(session.posargs or ("build", "--strict")))


@nox.session
def lint(session: nox.Session) -> None:
    """Style, types and the figures of the house."""
    session.install("-e", ".[dev]")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("mypy")
    session.run("python", "bench/house.py", "--ratchet")


@nox.session
def build(session: nox.Session) -> None:
    """The wheel and the sdist, in dist/, and whether PyPI would take them."""
    session.install("-e", ".[release]")
    session.run("python", "-m", "build")
    session.run("twine", "check", "--strict", "dist/*")
