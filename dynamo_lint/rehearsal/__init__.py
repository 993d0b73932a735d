"""What eager code does around compiled code, in order: the drivers, run over what is known of their values."""
