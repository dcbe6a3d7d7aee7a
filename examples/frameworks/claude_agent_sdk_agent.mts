import { query } from "@anthropic-ai/claude-agent-sdk";

const server = { command: "memstore-mcp", args: ["--db", "memory.db"], alwaysLoad: true };
const options = { mcpServers: { memstore: server }, allowedTools: ["mcp__memstore__*"] };
for await (const message of query({ prompt: "I have moved to Lisbon. Remember it.", options })) {
  if (message.type === "result" && message.subtype === "success") console.log(message.result);
}
