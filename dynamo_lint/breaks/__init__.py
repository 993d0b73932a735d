"""Which compiled functions certainly break the graph, and what is compiled by itself for that."""
