"""Whatever a module looks like: fixed text parses, fixing it again changes nothing, and other lines stay."""

from __future__ import annotations

import ast
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixes.fixing import fixed

NAMES = st.sampled_from(["_n", "_seen", "total", "flag", "_größe", "last_loss"])
STARTS = st.sampled_from(["0", "1", "-3", "0.0", "2.5", "False", "None", "start", "(0)", "[]", "'a'"])
UPDATES = st.sampled_from(
    [
        "self.{} += 1",
        "self.{} -= (2 if x.ndim > 1 else 1)",
        "self.{0} = self.{0} + 1",
        "self.{0} = (self.{0} + 1) % 3; y = x * self.{0}",
        "self.{0} = min(self.{0} + 1, 9)",
        "self.{0} = not self.{0}",
        "self.{} *= 0.5",
        "self.{} += x.shape[0]  # tokens",
        "self.{0} = x.mean() if self.{0} is None else self.{0} + x.mean()",
        "self.{0} = self.{0} + \\\n{indent}    1",
        "if self.{0} > 3: self.{0} = 0",
        "if self.training: self.{} += 1",
        "x = x * self.{0}; self.{0} += 1",
        "self.{0} += 1; print(f'{{self.{0}}}')",
        "before = self.{0}; self.{0} = before + 1; x = x + before",
    ]
)
READS = st.sampled_from(
    [
        "return model.{}",
        "return f'{{model.{}:>4}}', model.{}",
        "model.{} = 0",
        "model.{} += 2; return -model.{} ** 2",
        "return getattr(model, '{}')",
        "return [m.{} for m in [model]]",
        "del model.{}",
        "pass",
    ]
)


@st.composite
def modules(draw: st.DrawFn) -> tuple[bytes, frozenset[str]]:
    """A module of one or two attributes, in some layout."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    indent = draw(st.sampled_from(["    ", "\t", "  "]))
    names = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
    first, extra = draw(st.booleans()), draw(st.sampled_from(["", "  # here", "\x0c"]))
    lines = ["import torch", "from torch import nn", "", "", "class Model(nn.Module):"]
    lines += [f"{indent}def __init__(self, start=2):"]
    starts = [f"{indent * 2}self.{name} = {draw(STARTS)}{extra}" for name in names]
    call = f"{indent * 2}super().__init__()"
    lines += [*starts, call] if first else [call, *starts]
    lines += ["", f"{indent}def forward(self, x):"]
    for name in names:
        lines.append(indent * 2 + draw(UPDATES).format(name, indent=indent * 2))
    lines += [f"{indent * 2}return x * 2", "", ""]
    for name in names:
        lines += [f"def read_{len(lines)}(model: Model):", indent + draw(READS).replace("{}", name), ""]
    lines += ["compiled = torch.compile(Model())"]
    text = end.join("\n".join(lines).split("\n")) + draw(st.sampled_from(["", end]))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + text.encode(), frozenset(names)


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(modules())
def test_fixed_modules_parse_stay_fixed_and_keep_every_other_line(
    module: tuple[bytes, frozenset[str]],
) -> None:
    raw, names = module
    try:
        ast.parse(raw)
    except SyntaxError:
        return  # `self.n = 0\x0c` and the like are not the question here
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "model.py"
        file.write_bytes(raw)
        done = fixed(Path(name))
        after = done.files.get("model.py", raw)
        ast.parse(after)
        file.write_bytes(after)
        assert fixed(Path(name)).files == {}
    kept = [line for line in raw.splitlines(True) if not any(n.encode() in line for n in names)]
    found = iter(after.splitlines(True))
    for line in kept:
        if line.strip() and not line.strip().isdigit():  # a continuation line belongs to its statement
            assert line in found
