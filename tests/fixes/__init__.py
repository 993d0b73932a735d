"""Tests of the fixes: the engine, each rewrite, and their proof under torch."""
