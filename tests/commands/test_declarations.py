"""A gate that cannot be off by accident: declarations that match nothing, and projects that compile nothing."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from dynamo_lint import cli
from tests.commands.test_cli import CLEAN, COUNTER, EAGER, here

__all__ = ["here"]

LIBRARY = "from lib.jit import fuser\nimport lib.skip\n\n\n@fuser\n@lib.skip.eager\ndef f(x): ...\n"


@pytest.fixture
def project(here: Path) -> Path:
    """A project whose module is compiled by code elsewhere."""
    (here / "pkg").mkdir()
    (here / "pkg/__init__.py").touch()
    (here / "pkg/moe.py").write_text(
        EAGER + "\n\nclass Plain: ...\n\n\ndef wrap(mode, model): return model\n\n\ndef eager(): ...\n"
    )
    (here / "other").mkdir()
    (here / "other/use.py").write_text(LIBRARY + "# compiled elsewhere\ndef g(x): ...\n")
    (here / "a.py").write_text("x = 1\n")
    return here


@pytest.mark.parametrize(
    ("declaration", "why"),
    [
        (
            'regions = ["pkg.moe:Countr"]',
            "no class or function has this name; did you mean 'pkg.moe:Counter'?",
        ),
        (
            'regions = ["pgk.moe:Counter"]',
            "no class or function has this name; did you mean 'pkg.moe:Counter'?",
        ),
        (
            'regions = ["pkg.moe:Counter", "zz:qq"]',
            '"zz:qq" matches nothing: no class or function has this name',
        ),
        ('regions = ["pkg.mo*:*"]\nnot-regions = ["pkg.debug:*"]', '"pkg.debug:*" matches nothing'),
        ('regions = ["pkg.moe:Plain"]', "to call it runs no code that is read here; name the method"),
        ('not-regions = ["pkg.moe.Counte"]', "did you mean 'pkg.moe:Counter'?"),
        ('compile-wrappers = ["pkg.moe:warp#1"]', "did you mean 'pkg.moe:wrap'?"),
        ('compile-wrappers = ["pkg.moe:wrap#2"]', "it takes no argument 2, as counted from 0"),
        ('region-comment = "our region"', "no file of the project has this comment"),
        ('compile-decorators = ["lib.jit:fusr"]', "did you mean 'lib.jit:fuser'?"),
        ('disable-decorators = ["lib.skip:eagre"]', "nothing that is defined or used has this name"),
        ('probes = ["pkg/mo.py"]', "there is no such file; did you mean 'pkg/moe.py'?"),
        ('probes = ["pkg/moe.py"]', "it contains no function named probe_*"),
        ('contract = { reset-sites = ["pkg.moe:rap"] }', "did you mean 'pkg.moe:wrap'?"),
        ('contract = { settings-site = "pgk.moe:wrap" }', "did you mean 'pkg.moe:wrap'?"),
        (
            '[contract]\neager-islands = ["pkg.moe:eager", "pkg.moe:Counter.forwad"]',
            '"pkg.moe:Counter.forwad" matches nothing: no class or function has this name; did you mean',
        ),
        ('contract = { off-sites = ["pkg.moe:rap"] }', "did you mean 'pkg.moe:wrap'?"),
        ('contract = { dynamic-axes = ["pkg.moe:x#0"] }', "no code marks this axis"),
        ('[contract.expected-breaks]\n"pkg/mo.py" = 2', "there is no such file below"),
        ('[contract.expected-breaks]\n"pkg/mo.py" = 2', "did you mean 'pkg/moe.py'?"),
        ('[contract.expected-breaks]\n"pkg/moe.py:rap" = 2', "no such function; did you mean 'wrap'?"),
        (
            '[[overrides]]\npaths = ["pkg/mo.py"]\nselect = []',
            '"pkg/mo.py" matches nothing: the project has no',
        ),
    ],
)
@pytest.mark.parametrize("named", [".", "other", "a.py"])
def test_a_declaration_that_matches_nothing_exits_2_with_place_key_value_and_a_guess(
    project: Path, capsys: pytest.CaptureFixture[str], declaration: str, why: str, named: str
) -> None:
    (project / "dynamo-lint.toml").write_text(f"{declaration}\n")
    assert cli.run([named]) == 2
    out, err = capsys.readouterr()
    key = "overrides" if declaration.startswith("[[") else declaration.splitlines()[-1].partition(" ")[0]
    line = declaration.split(key)[0].count("\n") + 1
    if "contract" in declaration:
        line, key = declaration.count("\n") + 1, "contract."
    assert out == ""
    assert err.startswith(f"dynamo-lint: {project / 'dynamo-lint.toml'}:{line}: {key}")
    assert why in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "declaration",
    [
        'regions = ["pkg.moe:Counter"]',
        'regions = ["pkg.moe.Counter", "pkg.*:Counter.forward", "*:wrap"]',
        'not-regions = ["pkg.moe:*"]',
        'not-regions = ["pkg.moe:Plain"]',
        'compile-wrappers = ["pkg.moe:wrap#1"]',
        'compile-wrappers = ["lib.jit:fuser", "pkg.moe:Counter#7"]',
        'region-comment = "compiled elsewhere"',
        'compile-decorators = ["lib.jit:fuser"]',
        'compile-decorators = ["*:fuser"]',
        'disable-decorators = ["lib.skip:eager", "lib.skip.eager"]',
        'disable-decorators = ["pkg.moe:wrap", "pkg.moe:eager"]',
        'probes = ["pkg", "probes.py", "probes.py::probe_it"]',
        '[[overrides]]\npaths = ["pkg", "*.py", "other/**"]\nselect = []',
        'per-file-ignores = { "no/such/file.py" = ["DYN1"] }',
        'contract = { reset-sites = ["pkg.moe:wrap", "pkg.moe:Counter.*"], settings-site = "pkg.moe:eager" }',
        '[contract.expected-breaks]\n"pkg/moe.py" = 2\n"pkg/moe.py:wrap" = 1',
        "",
    ],
)
def test_a_declaration_that_matches_something_anywhere_in_the_project_is_accepted(
    project: Path, declaration: str
) -> None:
    (project / "probes.py").write_text("def probe_it(): ...\n")
    (project / "dynamo-lint.toml").write_text(declaration)
    for named in (".", "other", "a.py"):
        assert cli.run([named, "-q", "--exit-zero"]) == 0


def test_what_stands_in_a_file_that_cannot_be_read_may_be_declared(project: Path) -> None:
    (project / "pkg/new.py").write_text("def f(:\n")
    (project / "dynamo-lint.toml").write_text('regions = ["pkg.new:Thing", "pkg.new.Other"]')
    assert cli.run(["-q"]) == 1
    assert cli.run(["-q", "a.py"]) == 0


@pytest.mark.parametrize("comment", ["# dynamo-lint: region", "# dynamo-lint: region-begin"])
def test_a_region_comment_that_marks_nothing_exits_2_with_its_line(
    here: Path, capsys: pytest.CaptureFixture[str], comment: str
) -> None:
    (here / "a.py").write_text(f"{COUNTER}\n{comment}\nx = 1\n")
    assert cli.run([]) == 2
    assert capsys.readouterr().err.startswith("dynamo-lint: a.py:16: `# region")
    (here / "a.py").write_text(COUNTER.replace("class", "# dynamo-lint: region\nclass"))
    assert cli.run([]) == 1


def test_the_other_commands_refuse_it_too_and_what_is_edited_is_looked_at_again(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "dynamo-lint.toml").write_text(
        'regions = ["pkg.moe:Counter"]\nnot-regions = ["pkg.late:Late"]\n'
    )
    assert cli.run(["regions"]) == 2
    assert 'not-regions: "pkg.late:Late" matches nothing' in capsys.readouterr().err
    assert cli.run([]) == 2
    (project / "pkg/late.py").write_text("class Late: ...\n")
    assert cli.run(["regions"]) == 0
    assert cli.run([]) == 1
    (project / "pkg/late.py").write_text("class Later: ...\n")
    assert cli.run([]) == 2
    assert cli.run(["--isolated", "."]) == 0


def test_a_project_that_compiles_nothing_fails_if_that_is_asked_for(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.py").write_text(EAGER)
    assert cli.run([]) == 0
    assert "Nothing was checked: no compiled code found in 1 file." in capsys.readouterr().out
    assert cli.run(["--fail-on-nothing-compiled", "-q"]) == 1
    assert capsys.readouterr().err.startswith("dynamo-lint: nothing in the project is compiled")
    (here / "dynamo-lint.toml").write_text("fail-on-nothing-compiled = true\n")
    assert cli.run(["--output-format", "junit"]) == 1
    document = ElementTree.fromstring(capsys.readouterr().out)
    assert [suite.get("failures") for suite in (document, *document)] == ["1", "1"]
    assert cli.run(["--exit-zero"]) == 0
    assert cli.run(["--assume", "modules", "--ignore", "DYN1"]) == 0


def test_a_part_of_a_project_that_compiles_something_elsewhere_does_not_fail(here: Path) -> None:
    (here / "dynamo-lint.toml").write_text("fail-on-nothing-compiled = true\n")
    (here / "a.py").write_text(CLEAN)
    (here / "sub").mkdir()
    (here / "sub/b.py").write_text("x = 1\n")
    for named in (".", "sub", "sub/b.py"):
        assert cli.run([named, "-q"]) == 0
    (here / "a.py").write_text(EAGER)
    for named in (".", "sub", "sub/b.py"):
        assert cli.run([named, "-q"]) == 1


def test_a_declaration_that_matches_nothing_is_told_of_the_nearest_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.dynamo-lint]\nregions = ["elsewhere:Net"]\n')
    (tmp_path / "a/dynamo-lint.toml").write_text('extend = "../pyproject.toml"\n')
    (tmp_path / "a/net.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert cli.run(["check", "a"]) == 0
    assert cli.run(["check", "a", "--config", "pyproject.toml"]) == 2
    assert "pyproject.toml:2: regions" in capsys.readouterr().err
