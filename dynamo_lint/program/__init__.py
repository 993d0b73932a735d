"""The linked program: files, scopes, classes, tables by name, and the references that later stages share."""
