"""The memory in a browser: pages that a person reads and decides on."""
