"""Tests of `values`: abstract values: containers, records, registries, patches and what names and texts mean."""
