"""Tests of `points_to`: what attributes and parameters hold."""
