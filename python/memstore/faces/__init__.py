"""The faces memstore shows: the command line and the MCP server. Thin: parse, one call, render."""
