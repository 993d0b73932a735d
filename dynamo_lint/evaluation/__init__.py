"""The answers of the points-to analysis, where values, calls, conditions, models and guesses meet."""
