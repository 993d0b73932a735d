"""The agent interface: each tool runs a command of ours in a process of its own, and shortens what it says.

`tools` is pure: from arguments to a command, from its output to an answer. `serve` speaks the protocol.
"""
