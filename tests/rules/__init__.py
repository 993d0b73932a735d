"""Tests of `rules`: findings, and the programs that hold them."""
