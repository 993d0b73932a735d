"""The wheel: all that the program reads is in it, and nothing else; what PyPI shows leads somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from dynamo_lint import REPOSITORY, __version__

ROOT = Path(__file__).parent.parent.parent
PACKAGE = ROOT / "dynamo_lint"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    pytest.importorskip("hatchling")
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (file,) = folder.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    text = wheel.read(f"dynamo_lint-{__version__}.dist-info/METADATA").decode()
    return message_from_string(text)


def test_the_wheel_has_the_package_its_tables_and_its_types(wheel: zipfile.ZipFile) -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".pyc", ".pyo")]
    assert {path.relative_to(ROOT).as_posix() for path in files} <= set(wheel.namelist())
    names = {path.name for path in files}
    assert {"py.typed", "torch.toml", "libraries.toml", "graph_breaks.toml"} <= names


def test_the_wheel_has_every_rule_page_and_what_they_were_measured_to_cost(wheel: zipfile.ZipFile) -> None:
    shipped = {name.removeprefix("dynamo_lint/pages/") for name in wheel.namelist() if "/pages/" in name}
    assert shipped == {path.name for path in (ROOT / "rules").iterdir()}


def test_the_wheel_has_nothing_else(wheel: zipfile.ZipFile) -> None:
    assert {name.partition("/")[0] for name in wheel.namelist()} == {
        "dynamo_lint",
        f"dynamo_lint-{__version__}.dist-info",
    }
    assert [
        name for name in wheel.namelist() if re.search(r"(?:^|/)(?:tests?|conftest|__pycache__)\b", name)
    ] == []


def test_the_wheel_needs_no_torch(metadata: Message) -> None:
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert needed
    assert [line for line in needed if line.startswith(("torch", "numpy"))] == []


def test_what_pypi_shows_has_no_link_that_only_the_repository_can_follow(metadata: Message) -> None:
    description = str(metadata.get_payload())
    assert description.startswith("# dynamo-lint")
    links = re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", description, flags=re.DOTALL))
    assert links
    for link in links:
        assert link.startswith("https://"), link
        if link.startswith(f"{REPOSITORY}/blob/main/"):
            assert (ROOT / link.removeprefix(f"{REPOSITORY}/blob/main/").partition("#")[0]).is_file()
