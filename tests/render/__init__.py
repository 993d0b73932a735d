"""Tests of `render`: output formats."""
