"""The server in the bundle for Claude Desktop, whose environment uv makes."""

from memstore.__main__ import mcp_server

raise SystemExit(mcp_server())
