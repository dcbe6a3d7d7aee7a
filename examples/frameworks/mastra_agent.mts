import { Agent } from "@mastra/core/agent";
import { MCPClient } from "@mastra/mcp";

const server = { command: "memstore-mcp", args: ["--db", "memory.db"] };
const memory = new MCPClient({ servers: { memstore: server } });
const agent = new Agent({
  id: "assistant",
  name: "Assistant",
  instructions: "Look into your memory before you answer; keep what holds for longer than today.",
  model: "openai/gpt-5-mini",
  tools: await memory.listTools(),
});
const { text } = await agent.generate("I have moved to Lisbon. Remember it.");
console.log(text);
await memory.disconnect();
