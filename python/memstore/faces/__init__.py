"""The interfaces: the command line, the MCP server and hosts. Thin: parse, one call, render."""
