"""The subcommands, a module each; `cli` puts them together."""
