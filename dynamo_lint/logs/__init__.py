"""Reads what a job left behind, TORCH_LOGS text or TORCH_TRACE files, and maps it to lines and findings."""
