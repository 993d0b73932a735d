"""The tests: a folder for each package, a file for each concept.

`<package>/test_<concept>.py` holds tables of variants and whatever needs code; `<package>/programs/<concept>.py` holds
whole programs with marks beside the functions that are compiled (read by `compiled_programs.py`). `truth`, `proofs` and
`cases` are programs that are linted and run under torch; those in `static` are only linted, for no run would show what
their rules say.
"""
