"""The torch that a project is judged by: what it pins, else what is installed beside it, else the newest known."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynamo_lint.config import TORCH_VERSIONS
from dynamo_lint.torch_version import torch_of


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("requirements.txt", "numpy\ntorch==2.8.0+cu126  # as on the cluster\n", (2, 8)),
        ("requirements/gpu.txt", "torch[opt]~=2.7.1 ; sys_platform == 'linux'\n", (2, 7)),
        ("requirements-dev.txt", "torch>=2.6,<2.10\n", (2, 9)),
        ("pyproject.toml", '[project]\ndependencies = ["torch (==2.11.0)"]\n', (2, 11)),
        ("pyproject.toml", '[dependency-groups]\ngpu = [{include-group = "x"}, "torch <= 2.12"]\n', (2, 12)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "2.9.1"\n', (2, 9)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = {version = "~=2.8.0"}\n', (2, 8)),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.10.0"\n', (2, 10)),
    ],
)
def test_a_pin_decides(name: str, text: str, version: tuple[int, int], tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert torch_of(tmp_path) == (version, f"{'locked' if name == 'uv.lock' else 'pinned'} in {name}")


@pytest.mark.parametrize(
    "text",
    ["torchvision==0.20\n", "torch\n", "torch>=2.6\n", "torch~=2.7\n", "-r torch==2.8\n", "torch==1.13\n"],
)
def test_what_leaves_the_version_open_is_no_pin(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "requirements.txt").write_text(text)
    (tmp_path / "pyproject.toml").write_text("[project\n")
    monkeypatch.setattr("sys.path", [])
    assert torch_of(tmp_path)[0] == TORCH_VERSIONS[-1]
    (tmp_path / ".venv/lib/python3.12/site-packages/torch-2.9.1.dist-info").mkdir(parents=True)
    assert torch_of(tmp_path) == ((2, 9), "installed in .venv")
