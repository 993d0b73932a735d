"""How right the linter is on models that people use: `python -m bench.oracle` runs, joins and reports.

    python -m bench.oracle run [--family causal,masked] [--name llama] [--mode blocks|whole|both] [--jobs N]
    python -m bench.oracle report [--source transformers] [--mode whole] [--every N]

Records are kept in --records, one per architecture and mode, so an interrupted run goes on where it was.
transformers==5.23.0, x-transformers==2.31.10 and timm==1.0.31 must be importable.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

SECONDS = 420
HERE = Path(__file__).parent


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.oracle", description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--records", type=Path, default=Path("oracle-records"))
    parser.add_argument("--source", default="transformers,x-transformers,timm")
    parser.add_argument(
        "--family", default="", help="families of transformers, comma-separated; default: all"
    )
    parser.add_argument("--name", default="", help="architectures, comma-separated; default: all")
    parser.add_argument("--mode", choices=["blocks", "whole", "both"], default="both")
    parser.add_argument(
        "--backend",
        default="eager",
        help="what gets the graphs; guards of state are Dynamo's own, made before a backend is asked",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="the time cap of one architecture")
    parser.add_argument("--readme", type=Path, default=HERE / "README.md", help="where the report goes")
    parser.add_argument("--every", type=int, default=1, help="report on every Nth record of each table alone")
    options = parser.parse_args()
    if options.what == "run":
        _run(options)
    else:
        from bench.oracle.report import report

        sources = options.source.split(",")
        options.readme.write_text(report(options.records, sources, _modes(options), options.every))


def _run(options: argparse.Namespace) -> None:
    from bench.oracle.drive import Task, drive

    modes = _modes(options)
    wanted = {name for name in options.name.split(",") if name}
    tasks = [
        Task(source, family, name, mode, options.backend)
        for mode in modes
        for source, family, name in _subjects(options.source.split(","), options.family)
        if not wanted or name in wanted
    ]
    drive(tasks, options.records, options.jobs, options.seconds)


def _modes(options: argparse.Namespace) -> list[str]:
    return ["blocks", "whole"] if options.mode == "both" else [options.mode]


def _subjects(sources: list[str], families: str) -> list[tuple[str, str, str]]:
    """(source, family, name) of everything that can be watched."""
    from bench.oracle import others
    from bench.oracle.architectures import FAMILIES, architectures

    found: list[tuple[str, str, str]] = []
    if "transformers" in sources:
        chosen = families.split(",") if families else list(FAMILIES)
        found += [("transformers", family, name) for family, name in architectures(chosen)]
    if "x-transformers" in sources:
        found += [("x-transformers", "stack", name) for name in others.stacks()]
    if "timm" in sources:
        found += [("timm", "image", name) for name in others.image_modules()]
    return found


if __name__ == "__main__":
    main()
