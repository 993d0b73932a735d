"""How right the findings are about blocks of transformers: each one confirmed, refuted or not foretold.

    python bench/confirm_transformers.py --site FOLDER [--jobs N] [KIND]...

FOLDER holds transformers==5.23.0 and its pure dependencies (`pip install --target FOLDER --no-deps ...`); the
torch of the running Python testifies. Per architecture: the block's class is declared as a region, the files
that its module imports and those of the cache are linted, and the
model runs in a process of its own with each block compiled.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from confirm_probes import KINDS

from dynamo_lint.config import Settings
from dynamo_lint.confirm.model import Recompile, Request
from dynamo_lint.confirm.probes import ProbeRef, imported
from dynamo_lint.confirm.run import report, run
from dynamo_lint.confirm.verdicts import ProbeReport
from dynamo_lint.discovery import Discovered
from dynamo_lint.findings import Finding
from dynamo_lint.render import receipt as text
from dynamo_lint.run.check import check
from dynamo_lint.selectors import catalogue
from dynamo_lint.sources import Sources
from dynamo_lint.terminal import Look

PROBES = Path(__file__).parent / "confirm_probes.py"
INPUTS = frozenset({"size", "stride", "rank", "dtype", "requires_grad", "class", "dispatch"})
"""Differences between tensors: what no reading of the code can know."""
WORDS = ("confirmed", "stale", "refuted", "unobserved", "not foretold", "inputs", "failed")


def about_inputs(recompile: Recompile) -> bool:
    """Only shapes, strides or types of tensors changed."""
    return any(
        all(cause.kind in ("TENSOR_MATCH", "SHAPE_ENV") and cause.aspect in INPUTS for cause in joint)
        for joint in recompile.causes
    )


def lint(kind: str, site: Path) -> tuple[Finding, ...]:
    """The findings in the files that an architecture's module imports."""
    folder, block, _ = KINDS[kind]
    module = site / "transformers" / "models" / folder / f"modeling_{folder}.py"
    near = {
        module,
        *imported(module, site, site),
        *imported(site / "transformers" / "cache_utils.py", site, site),
    }
    files = tuple(sorted(path.relative_to(site).as_posix() for path in near))
    settings = Settings(regions=(f"transformers.models.{folder}.modeling_{folder}:{block}",))
    found = Discovered(root=site, files=files, reported=frozenset(files))
    done = check(settings, found, catalogue(), Sources(site))
    return tuple(one for one in done.findings if not one.code.startswith("DYN9"))


def testify(kind: str, site: Path, timeout: float) -> tuple[ProbeReport, float]:
    """The report on one architecture, and the seconds it took."""
    start = time.monotonic()
    findings = lint(kind, site)
    request = Request(
        path=str(PROBES),
        probe=f"probe_{kind}",
        root=str(site),
        calls=10,
        watch=tuple(dict.fromkeys(one.subject for one in findings)),
        preload=(
            f"transformers.models.{KINDS[kind][0]}.modeling_{KINDS[kind][0]}",
            "transformers.generation",
        ),
    )
    reply = run(request, timeout)
    done = report(ProbeRef(PROBES, f"probe_{kind}", 1), reply, findings, site)
    return done, time.monotonic() - start


def tally(done: ProbeReport) -> Counter[str]:
    """How often each word applies."""
    receipt = done.reply.receipt
    row = Counter(one.verdict for one in done.verdicts)
    missed = [receipt.recompiles[index] for index in done.unpredicted_recompiles] if receipt else []
    row["inputs"] = sum(about_inputs(one) for one in missed)
    row["not foretold"] = len(missed) - row["inputs"] + len(done.unpredicted_breaks)
    row["failed"] = int(bool(done.reply.error))
    return row


def main() -> None:
    """Run the architectures and print what was shown."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--site", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("kinds", nargs="*", default=[])
    options = parser.parse_args()
    site, kinds = options.site.resolve(), options.kinds or list(KINDS)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for done, seconds in pool.map(lambda kind: testify(kind, site, options.timeout), kinds):
            print(text.render([done], Look(root=site, cwd=site)), flush=True)
            receipt = done.reply.receipt
            graphs = len(receipt.compiles) if receipt else 0
            recompiles = len(receipt.recompiles) if receipt else 0
            rows.append((done.name.removeprefix("probe_"), tally(done), graphs, recompiles, seconds))
    print(f"{'':<12} seconds graphs recompiles " + " ".join(f"{word:>12}" for word in WORDS))
    for kind, row, graphs, recompiles, seconds in rows:
        cells = " ".join(f"{row[word]:>12}" for word in WORDS)
        print(f"{kind:<12} {seconds:>7.0f} {graphs:>6} {recompiles:>10} {cells}")


if __name__ == "__main__":
    main()
