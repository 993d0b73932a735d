"""Tests of `breaks`: certain graph breaks."""
