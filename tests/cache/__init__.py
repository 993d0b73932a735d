"""Tests of `cache`: what is kept between runs."""
