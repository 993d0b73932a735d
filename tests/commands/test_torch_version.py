"""The torch that a project is judged by: what it requires, else what is installed beside it, else the newest known."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint import cli, torch_version
from dynamo_lint.config import TORCH_VERSIONS, Settings
from dynamo_lint.doctor.checks import examine
from dynamo_lint.doctor.look import surroundings
from dynamo_lint.torch_version import torch_of, with_torch

NEWEST = TORCH_VERSIONS[-1]
LOCK = '[[package]]\nname = "torch"\nversion = "{}"\n'
POETRY = "[tool.poetry.dependencies]\ntorch = {}\n"
CONDA = "name: torch\nchannels: [pytorch]\ndependencies:\n  - python=3.11\n  - pytorch-cuda=12.4\n  - {}\n"


@pytest.fixture(autouse=True)
def no_torch_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    in_folders = torch_version.installed
    monkeypatch.setattr(torch_version, "installed", lambda folders=(): in_folders(folders))


def install(root: Path, version: str) -> None:
    (root / f".venv/lib/python3.12/site-packages/torch-{version}.dist-info").mkdir(parents=True)


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("requirements.txt", "numpy\ntorch==2.8.0+cu126  # as on the cluster\n", (2, 8)),
        ("requirements.txt", "torch==2.8.0 \\\n    --hash=sha256:0123\n", (2, 8)),
        (
            "requirements.txt",
            "torch @ https://w.org/whl/torch-2.9.1%2Bcpu-cp311-cp311-linux_x86_64.whl\n",
            (2, 9),
        ),
        ("requirements.txt", "torch==2.11.0.dev20251102\n", (2, 11)),
        ("requirements/gpu.txt", "torch[opt]~=2.7.1 ; sys_platform == 'linux'\n", (2, 7)),
        ("requirements-gpu.in", "torch>=2.8,<2.9\n", (2, 8)),
        ("dev-requirements.txt", "torch==2.9.*\n", (2, 9)),
        ("pyproject.toml", '[project]\ndependencies = ["torch (==2.11.0)"]\n', (2, 11)),
        ("pyproject.toml", '[project.optional-dependencies]\ngpu = ["torch == 2.12"]\n', (2, 12)),
        (
            "pyproject.toml",
            '[dependency-groups]\na = [{include-group = "b"}]\nb = ["torch == 2.12"]\n',
            (2, 12),
        ),
        ("pyproject.toml", '[tool.uv]\nconstraint-dependencies = ["torch==2.12.1"]\n', (2, 12)),
        ("pyproject.toml", POETRY.format('"2.9.1"'), (2, 9)),
        ("pyproject.toml", POETRY.format('"~2.9.1"'), (2, 9)),
        ("pyproject.toml", POETRY.format('{version = "~=2.8.0"}'), (2, 8)),
        (
            "pyproject.toml",
            POETRY.format('[{version = "2.2.2", platform = "darwin"}, {version = "2.8.*"}]'),
            (2, 8),
        ),
        ("Pipfile", '[packages]\ntorch = "==2.9.1"\n', (2, 9)),
        ("environment.yml", CONDA.format("pytorch=2.8"), (2, 8)),
        ("environment.yml", CONDA.format("conda-forge::pytorch=2.7.1=cuda126*"), (2, 7)),
        ("environment.yml", CONDA.format("pytorch 2.9.* *cuda*"), (2, 9)),
        ("environment.yaml", CONDA.format("pip:\n    - torch==2.10.0"), (2, 10)),
        ("conda-gpu.yml", CONDA.format("pytorch[version='>=2.8,<2.9']"), (2, 8)),
        ("uv.lock", LOCK.format("2.10.0+cu126"), (2, 10)),
        ("poetry.lock", LOCK.format("2.10.0"), (2, 10)),
        ("pylock.toml", LOCK.replace("package", "packages").format("2.10.0"), (2, 10)),
        ("pylock.gpu.toml", LOCK.replace("package", "packages").format("2.10.0"), (2, 10)),
        ("Pipfile.lock", '{"default": {"torch": {"version": "==2.10.0"}}}', (2, 10)),
    ],
)
def test_a_pin_decides(name: str, text: str, version: tuple[int, int], tmp_path: Path) -> None:
    put(tmp_path, name, text)
    install(tmp_path, "2.13.0")
    assert torch_of(tmp_path) == (version, f"{'locked' if 'lock' in name else 'pinned'} in {name}")


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("requirements.txt", "torch<3.0\n", NEWEST),
        ("requirements.txt", "torch>=2.0,<3.0\n", NEWEST),
        ("requirements.txt", "torch~=2.7\n", NEWEST),
        ("requirements.in", "torch>=2.6,<2.10\n", (2, 9)),
        ("pyproject.toml", '[dependency-groups]\ngpu = ["torch <= 2.12"]\n', (2, 12)),
        ("pyproject.toml", POETRY.format('"^2.9"'), NEWEST),
        ("pyproject.toml", POETRY.format('">=2.6 <2.9"'), (2, 8)),
        ("pyproject.toml", POETRY.format('"~2.7 || ~2.9"'), (2, 9)),
        ("environment.yml", CONDA.format("pytorch >=2.4, <2.8"), (2, 7)),
        ("environment.yml", CONDA.format("pytorch=2.7|2.9"), (2, 9)),
    ],
)
def test_a_range_is_judged_by_what_is_installed_or_the_newest_that_it_allows(
    name: str, text: str, version: tuple[int, int], tmp_path: Path
) -> None:
    put(tmp_path, name, text)
    assert torch_of(tmp_path) == (version, f"the newest known that {name} allows")
    install(tmp_path, ".".join(map(str, version)) + ".1")
    assert torch_of(tmp_path) == (version, "installed in .venv")


@pytest.mark.parametrize(
    "text",
    ["torchvision==0.20\n", "torch\n", "-e torch==2.8\n", "#torch==2.8\n", "torch @ git+https://x.org/t\n"],
)
def test_what_leaves_the_version_open_is_no_pin(text: str, tmp_path: Path) -> None:
    put(tmp_path, "requirements.txt", text)
    nothing = "the newest known, as the project pins none and none is installed beside it"
    assert torch_of(tmp_path) == (NEWEST, nothing)
    install(tmp_path, "2.9.1")
    assert torch_of(tmp_path) == ((2, 9), "installed in .venv")


def test_what_is_more_exact_comes_first_and_what_differs_is_told(tmp_path: Path) -> None:
    put(tmp_path, "pyproject.toml", '[project]\ndependencies = ["torch>=2.6"]\n')
    put(tmp_path, "constraints.txt", "torch<2.12\n")
    install(tmp_path, "2.13.0")
    both = "the newest known that constraints.txt and pyproject.toml allow; 2.13.0 is installed in .venv"
    assert torch_of(tmp_path) == ((2, 11), both)
    put(tmp_path, "requirements.txt", "-r deep/base.txt\n")
    put(tmp_path, "deep/base.txt", "-r ../requirements.txt\n-c ../../other.txt\n-r ../b.txt\n")
    put(tmp_path, "b.txt", "torch==2.9.1\n")
    assert torch_of(tmp_path) == ((2, 9), "pinned in b.txt")
    put(tmp_path, "environment.yml", CONDA.format("pytorch=2.8"))
    differs = "; torch==2.8.* in environment.yml would be another"
    assert torch_of(tmp_path) == ((2, 9), f"pinned in b.txt{differs}")
    put(tmp_path, "uv.lock", LOCK.format("2.10.0"))
    differs = "; torch==2.9.1 in b.txt and 1 more would be another"
    assert torch_of(tmp_path) == ((2, 10), f"locked in uv.lock{differs}")


def test_of_several_in_one_file_the_newest_counts(tmp_path: Path) -> None:
    extras = 'cu118 = ["torch==2.9.0"]\ncu126 = ["torch==2.11.*"]\ncpu = ["torch"]\n'
    put(tmp_path, "pyproject.toml", f"[project.optional-dependencies]\n{extras}")
    differs = "torch==2.9.0 in pyproject.toml would be another"
    assert torch_of(tmp_path) == ((2, 11), f"pinned in pyproject.toml; {differs}")


def test_of_several_for_other_systems_that_for_linux_counts(tmp_path: Path) -> None:
    mac, linux = LOCK.format("2.2.2"), LOCK.format("2.8.0")
    markers = "resolution-markers = [\"sys_platform == '{}'\", \"sys_platform == 'x'\"]\n"
    put(tmp_path, "uv.lock", linux + markers.format("linux") + mac + markers.format("darwin"))
    assert torch_of(tmp_path) == ((2, 8), "locked in uv.lock")
    put(tmp_path, "uv.lock", mac.replace("2.2.2", "2.7.0") + markers.format("darwin"))
    assert torch_of(tmp_path) == ((2, 7), "locked in uv.lock")


@pytest.mark.parametrize(
    ("text", "version", "where"),
    [
        ("torch==2.4.1", TORCH_VERSIONS[0], "pinned in requirements.txt as 2.4, which is older"),
        ("torch==1.13.1", TORCH_VERSIONS[0], "pinned in requirements.txt as 1.13, which is older"),
        ("torch<2.5", TORCH_VERSIONS[0], "allowed in requirements.txt as 2.4, which is older"),
        ("torch==2.97.0", NEWEST, "pinned in requirements.txt as 2.97, which is newer"),
        ("torch>=2.97", NEWEST, "allowed in requirements.txt as 2.97, which is newer"),
        ("torch>2.97", NEWEST, "allowed in requirements.txt as 2.98, which is newer"),
    ],
)
def test_a_version_that_is_not_known_is_told_and_judged_as_the_nearest(
    text: str, version: tuple[int, int], where: str, tmp_path: Path
) -> None:
    put(tmp_path, "requirements.txt", text)
    assert torch_of(tmp_path) == (version, f"{where} than all that are known here")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", "[[package]\ntorch"),
        ("uv.lock", "torch = " + "[" * 5000),
        ("Pipfile.lock", "[" * 50_000 + "torch"),
        ("pyproject.toml", "[project\ntorch"),
        ("requirements.txt", "torch==new\n"),
        ("requirements.txt", "torch===\n"),
        ("requirements.txt", f"torch>=1.{'9' * 5000}\n"),
        ("requirements.txt", f"torch=={'9' * 4300}\n"),
        (
            "requirements.txt",
            f"torch; python_version < '{'9' * 5000}'\ntorch<2; python_version > '3.{'9' * 5000}'\n",
        ),
        ("environment.yml", "dependencies: [pytorch"),
        ("environment.yml", "- pytorch=2.8\n" + "-\n" * 200_000),
    ],
)
def test_a_broken_file_is_told(name: str, text: str, tmp_path: Path) -> None:
    put(tmp_path, name, text)
    version, where = torch_of(tmp_path)
    assert (version, where.rpartition("; ")[2]) == (NEWEST, f"{name} cannot be read")
    put(tmp_path, "poetry.lock", LOCK.format("2.8.0"))
    assert torch_of(tmp_path) == ((2, 8), "locked in poetry.lock")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", 'package = ["torch", {name = "torch", version = 2}, {name = "torch"}]\n'),
        (
            "pyproject.toml",
            'project = "torch"\ntool = {poetry = {dependencies = {torch = [1, "*"]}}, uv = 1}\n',
        ),
        ("Pipfile.lock", '["torch"]'),
        ("environment.yml", "- &a pytorch\n- *a\n- <<: *a\n"),
        ("requirements.txt", "-r\n-r no.txt\ntorch\n"),
    ],
)
def test_an_odd_file_says_nothing(name: str, text: str, tmp_path: Path) -> None:
    put(tmp_path, name, text)
    assert torch_of(tmp_path)[1].endswith("none is installed beside it")


def test_check_its_settings_and_doctor_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, "requirements.txt", "torch==2.4.1\n")
    put(tmp_path, "a.py", "import torch\n\n\n@torch.compile\ndef f(x):\n    return x\n")
    put(tmp_path, "dynamo-lint.toml", "")
    monkeypatch.chdir(tmp_path)
    where = "pinned in requirements.txt as 2.4, which is older than all that are known here"
    assert cli.run(["check"]) == 0
    assert f"Judged as torch 2.6 ({where}).\n" in capsys.readouterr().out
    assert cli.run(["--show-settings"]) == 0
    assert f'torch-version = "2.6"  # {where}\n' in capsys.readouterr().out
    assert cli.run(["rule", "DYN101"]) == 0
    assert f"Measured tables are those of torch 2.6 ({where}).\n" in capsys.readouterr().out
    checks = examine(surroundings({}, [], with_torch(Settings()), None))
    advice = f"judged as torch 2.6 ({where}); name another with --torch-version"
    assert f"torch is not installed here; {advice}" in [one.message for one in checks]
