"""Whether what was asked for is found."""
