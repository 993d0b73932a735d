"""Tests of a whole run: reading, judging, reuse, odd input and what the system denies."""
