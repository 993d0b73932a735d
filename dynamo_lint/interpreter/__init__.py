"""The order of what eager code does around compiled code: drivers, run over what is known of their values."""
