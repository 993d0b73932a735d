"""The language server: open texts in, diagnostics, hovers and edits out.

`positions`, `documents`, `places`, `diagnostics`, `hover`, `actions` and `lenses` are pure; `analysis` runs
the pipeline; `project` says when it runs; `session` and `protocol` speak to the client.
"""
