"""The programs in tests/*/programs: exactly the functions that they mark are compiled, as surely as they say."""

from __future__ import annotations

import pytest

from tests.compiled_programs import PROGRAMS, Program


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_exactly_what_is_marked_is_compiled(program: Program) -> None:
    assert program.compiled == program.marked
