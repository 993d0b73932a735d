"""What differs between the instances of one class: the values that constructors are given, block by block."""
