"""The pipeline of one run: read, resolve, judge, and, where asked for, rewrite."""
