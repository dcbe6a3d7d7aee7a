"""Learning facts from texts and conversations; every step is recorded."""
