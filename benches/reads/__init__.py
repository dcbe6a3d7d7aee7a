"""Every call that reads, of the library and of the tools, at 100,000 and a million facts."""
