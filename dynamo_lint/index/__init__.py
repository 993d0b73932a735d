"""Stage 1: one pass per file, from source text to plain facts."""
