"""Stage 2: link the facts of all files and find which functions Dynamo traces."""
