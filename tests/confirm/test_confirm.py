"""The half of confirm that needs no torch: probes are found, sources read, causes picked, receipts carried."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from dynamo_lint.confirm.model import (
    Cause,
    Compile,
    Failure,
    GraphBreak,
    Receipt,
    Recompile,
    Unit,
    from_json,
)
from dynamo_lint.confirm.probes import find, probes
from dynamo_lint.logs.texts import Frame, Place, place_of, readable
from dynamo_lint.trouble import Trouble


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("L['self'].n", Place("L['self']", "n", "", "local")),
        ("L['self'].__dict__['n']", Place("L['self']", "n", "", "local")),
        ("L['self'].cfg.d['a'][0]", Place("L['self'].cfg", "d", "['a'][0]", "local")),
        ("L['x']", Place("", "x", "", "local")),
        ("L['batch']['x'][0]", Place("", "batch", "['x'][0]", "local")),
        ("G['COUNT']", Place("", "COUNT", "", "global")),
        ("L['self']._modules['mlp']", Place("L['self']", "mlp", "", "local")),
        (
            "L['self'].__dict__['_modules']['subs']._modules['0'].p",
            Place("L['self'].__dict__['_modules']['subs']._modules['0']", "p", "", "local"),
        ),
        (
            "L['self'].__dict__['_modules']['subs']._modules['0']",
            Place("L['self']", "subs", "[0]", "local"),
        ),
        ("dict(type(L['self']).__dict__)['N']", Place("type(L['self'])", "N", "", "local")),
        ("list(dict.keys(L['self'].d))[0]", Place("L['self']", "d", " keys[0]", "local")),
        ("dict.__getitem__(L['self'].d, 'k')", Place("L['self']", "d", "['k']", "local")),
        ("L['self'].fn.__code__", Place("L['self']", "fn", ".__code__", "local")),
        (
            "L['fn'].__closure__[0].cell_contents",
            Place("", "fn", ".__closure__[0].cell_contents", "local"),
        ),
        ("L['x'].size()[0]", Place("", "x", ".size()[0]", "local")),
        (
            "L['cache'].layers[0].is_initialized",
            Place("L['cache'].layers[0]", "is_initialized", "", "local"),
        ),
        ("not a source", Place("", "not a source", "", "other")),
    ],
)
def test_a_source_names_its_owner_and_attribute(source: str, place: Place) -> None:
    assert place_of(source) == place


def test_each_of_the_keywords_of_a_call_holds_still_by_itself() -> None:
    one, other = place_of("L['kwargs']['mask']"), place_of("L['kwargs']['cache']")
    assert one.key != other.key
    assert one.key == place_of("L['kwargs']['mask']").key


def test_all_items_of_an_attribute_are_one_piece_of_state() -> None:
    assert place_of("L['self'].scale['a']").key == place_of("L['self'].scale['b']").key
    assert place_of("L['self'].scale").key != place_of("L['self'].shift").key


@pytest.mark.parametrize(
    ("guard", "shown"),
    [
        ("L['self'].CFG_L['k'] == L['n']", "self.CFG_L['k'] == n"),
        ("G['os'].environ._data[b'K'] == b'1'", "os.environ._data[b'K'] == b'1'"),
        ("L['self'].__dict__['_modules']['a']._modules['0'].n == 1", "self.a[0].n == 1"),
        ("L['self']._parameters['w'].__dict__['late']", "self.w.late"),
    ],
)
def test_a_guard_is_readable_as_its_program_spells_it(guard: str, shown: str) -> None:
    assert readable(guard) == shown


def test_a_receipt_survives_json() -> None:
    frame = Frame("m.py", 3, "forward")
    cause = Cause(
        "EQUALS_MATCH",
        "L['self'].n",
        "self.n == 0",
        "m.M",
        ("m.M", "torch.nn.Module"),
        "n",
        "",
        "0",
        "1",
        stack=(frame,),
    )
    receipt = Receipt(
        torch_version="2.13",
        backend="eager",
        calls=2,
        compiles=(Compile("M.forward", "m.py", 1, 0, "", "0/0", ("add",)),),
        recompiles=(
            Recompile("M.forward", "m.py", 1, 1, "", "0/1", False, ("0/0: self.n == 0",), ((cause,),)),
        ),
        breaks=(GraphBreak("m.py", 3, "forward", "GB0059", "print", False, 0, "", 1, (frame,)),),
        graph_calls=(0, 1),
        limit_hit=(),
        traced={"m.py": (3,)},
        units=(Unit("M.forward", "m.py", 1, {"m.py": (3,)}, (("m.py", "M.inner"),), ((0, 1), (1, 1))),),
        failure=Failure(1, "ValueError", "no", (frame,)),
        matches_eager=True,
    )
    assert from_json(Receipt, json.loads(json.dumps(asdict(receipt)))) == receipt


def test_probes_are_top_level_functions_called_probe(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(
        "raise SystemExit\ndef probe_a(): ...\ndef helper(): ...\nclass C:\n    def probe_b(self): ...\n"
    )
    assert probes(tmp_path / "p.py") == ("probe_a",)


def test_probes_are_named_by_file_by_folder_or_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("def probe_a(): ...\ndef probe_b(): ...\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    assert [probe.name for probe in find(["p.py", "."], tmp_path)] == ["probe_a", "probe_b"]
    assert [probe.name for probe in find(["p.py::probe_b"], tmp_path)] == ["probe_b"]


@pytest.mark.parametrize("name", ["gone.py", "other.py", "p.py::probe_z", "broken.py"])
def test_what_is_no_probe_is_told_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text("def probe_a(): ...\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("def probe_(:\n")
    with pytest.raises(Trouble, match=name.partition("::")[0]):
        find([name], tmp_path)
