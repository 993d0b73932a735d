"""The state pass: how hot code reads and writes Python values that outlive one call."""
