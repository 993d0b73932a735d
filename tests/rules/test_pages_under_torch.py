"""The rule pages are held against real Dynamo: every program costs what its page says, every fix is free.

A program or a proof that was run as it stands under this torch before is run again only for a sample, or with
`--all-under-torch`: see tests/receipts.py and tests/verdicts.py.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from tests import verdicts
from tests.proof import Receipt, probes, prove, shows
from tests.receipts import runs_of, texts_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent.parent
SECTIONS = ["What it does", "Why Dynamo guards it", "What it costs", "Hazard", "Fixed", "When to ignore"]
STATIC = ["What it does", "Why it matters", "Why no run proves it", "Hazard", "Fixed", "When to ignore"]
INDUCTOR = " (inductor)"


@dataclass(frozen=True)
class Page:
    """The parts of a rule page that can be tested."""

    code: str
    facts: dict[str, Any]
    sections: dict[str, str]

    def program(self, section: str) -> str:
        """The one Python block of a section."""
        (program,) = re.findall(r"```python\n(.*?)```", self.sections[section], re.DOTALL)
        return program

    def rows(self) -> dict[str, list[str]]:
        """Label of each row of the cost table to its other cells."""
        lines = re.findall(r"^\| (.*) \|$", self.sections["What it costs"], re.MULTILINE)
        cells = [line.split(" | ") for line in lines[1:]]
        return {row[0]: row[1:] for row in cells}


def read(path: Path) -> Page:
    _, front, body = path.read_text(encoding="utf-8").split("+++\n", 2)
    facts = tomllib.loads(front)
    head, *rest = re.split(r"^## ", body, flags=re.MULTILINE)
    assert head.strip().splitlines()[0] == f"# {facts['code']} {facts['name']}"
    sections = dict(part.split("\n", 1) for part in rest)
    return Page(facts["code"], facts, sections)


ALL = {path.stem[:6]: read(path) for path in sorted((ROOT / "rules").glob("DYN[!9]*.md"))}
PAGES = {code: page for code, page in ALL.items() if page.facts["proof"] != "static"}
"""Those whose hazard Dynamo can show; the others say why no run would."""
ROWS = [(code, label) for code, page in PAGES.items() for label in page.rows()]
each_page = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)


def proofs(code: str) -> Path:
    return ROOT / "tests" / "proofs" / f"{code}.py"


def programs(code: str) -> dict[str, str]:
    """Row label to the name of the probe that proves it."""
    tree = ast.parse(proofs(code).read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {ast.get_docstring(node) or "": node.name for node in functions if node.name.startswith("probe_")}


def run(page: Page, section: str, folder: Path, config: pytest.Config) -> Receipt:
    """What the program of a section comes to."""
    path, calls = folder / f"{page.code}_{section.lower()}.py", page.facts["proof"]["calls"]
    program = page.program(section)
    path.write_text(program, encoding="utf-8")
    texts = [(path.name, program), ("calls", f"{calls}")]
    name = recorded_as(page.code, section)
    (receipt,) = runs_of(name, texts, lambda: (prove(path, calls=calls),), config)
    return receipt


def recorded_as(code: str, section: str) -> str:
    """The name of the row of a program."""
    return f"pages: {code} {section.lower()}"


def expectations(program: str) -> list[tuple[str, str]]:
    """Code and effect of every `# expect:` comment."""
    return re.findall(r"# expect: (\S+) (\S+)$", program, re.MULTILINE)


def claimed(receipt: Receipt, promise: dict[str, Any]) -> dict[str, Any]:
    """The part of a receipt that a `[proof]` table speaks about."""
    return {key: getattr(receipt, key) for key in promise}


def test_there_is_a_page():
    assert PAGES


@pytest.mark.parametrize("page", ALL.values(), ids=ALL)
def test_page_has_its_sections_in_order(page: Page):
    layouts = [SECTIONS, STATIC] if page.facts["proof"] == "static" else [SECTIONS]
    assert list(page.sections) in layouts


@each_page
def test_hazard_costs_what_its_page_says(page: Page, tmp_path: Path, pytestconfig: pytest.Config):
    proof = page.facts["proof"]
    receipt = run(page, "Hazard", tmp_path, pytestconfig)
    assert claimed(receipt, proof["hazard"]) == proof["hazard"]
    ((_, effect),) = expectations(page.program("Hazard"))
    assert shows(effect, receipt, proof["calls"])


@each_page
def test_fixed_program_compiles_once_and_equals_eager(
    page: Page, tmp_path: Path, pytestconfig: pytest.Config
):
    proof = page.facts["proof"]
    receipt = run(page, "Fixed", tmp_path, pytestconfig)
    assert claimed(receipt, proof["fixed"]) == proof["fixed"]
    assert shows("-", receipt, proof["calls"])


@each_page
def test_hazard_names_its_effect_beside_the_line_and_fixed_program_has_none(page: Page):
    effects = {entry["effect"] for entry in page.facts["effect"]}
    ((code, effect),) = expectations(page.program("Hazard"))
    assert code == page.code
    assert effect in effects
    assert "# expect" not in page.program("Fixed")


@each_page
def test_every_row_of_the_cost_table_has_a_program_and_no_program_lacks_a_row(page: Page):
    assert {label.removesuffix(INDUCTOR) for label in page.rows()} == programs(page.code).keys()
    assert len(programs(page.code)) == len(probes(proofs(page.code)))


@each_page
def test_effects_of_the_cost_table_are_those_of_the_front_matter(page: Page):
    rows = {cells[-1] for cells in page.rows().values()} - {"-"}
    assert rows <= {entry["effect"] for entry in page.facts["effect"]}


def cells_of(receipt: Receipt) -> str:
    """The cells of a receipt."""
    return verdicts.cells({**asdict(receipt), "break_ids": sorted(receipt.break_ids)})


def receipt_of(cells: str) -> Receipt:
    """The receipt of which these are the cells."""
    compiles, graphs_run, breaks, outputs, _ = cells.split(" | ")
    ids = frozenset(breaks.split()) - {"-"}
    return Receipt(
        compiles=int(compiles.split()[0]),
        graphs_run=int(graphs_run.split()[0]),
        limit=compiles.endswith("(limit)"),
        stale=outputs == "wrong",
        breaks=len(ids),
        break_ids=ids,
    )


@pytest.mark.parametrize(("code", "label"), ROWS, ids=[f"{code}: {label}" for code, label in ROWS])
def test_row_of_the_cost_table_is_what_dynamo_does(
    code: str, label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config
):
    name = f"{code}: {label}"
    backend = "inductor" if label.endswith(INDUCTOR) else "aot_eager"

    def run() -> Receipt:
        return prove(proofs(code), programs(code)[label.removesuffix(INDUCTOR)], backend=backend)

    if backend == "inductor":
        if not shutil.which("g++"):
            pytest.skip("inductor needs a C++ compiler")
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
        # bench/versions.py runs none of these.
        texts = texts_of(proofs(code))
        (receipt,) = runs_of(recorded_as(code, label), texts, lambda: (run(),), pytestconfig)
        cells = cells_of(receipt)
    else:
        done = verdicts.recorded(verdicts.ROWS, name, verdicts.digest_of(proofs(code)))
        if done is None or verdicts.sampled(name) or pytestconfig.getoption("--all-under-torch"):
            receipt = run()
            cells = cells_of(receipt)
            again = "run `python bench/versions.py --again .venv/bin/python`"
            assert done is None or done["verdict"] == cells, again
        else:
            cells = done["verdict"]
            receipt = receipt_of(cells)
    assert cells.split(" | ")[:-1] == PAGES[code].rows()[label][:-1]
    assert shows(PAGES[code].rows()[label][-1], receipt)
    assert receipt.break_ids <= set(PAGES[code].facts["gb"])
