"""The interfaces: the command line, the MCP server over stdio and HTTP, hosts, and pages.

They read arguments, ask the store and word the answer.
"""
