"""Abstract values, and the points-to analysis that asks which of them an expression may hold."""
