"""Tests of `regions`: what is compiled, where it ends, how it is said and what finding it costs."""
