import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { openai } from "@ai-sdk/openai";
import { isStepCount, ToolLoopAgent } from "ai";

const server = { command: "memstore-mcp", args: ["--db", "memory.db"] };
const memory = await createMCPClient({ transport: new Experimental_StdioMCPTransport(server) });
const agent = new ToolLoopAgent({
  model: openai("gpt-5-mini"),
  instructions: "Look into your memory before you answer; keep what holds for longer than today.",
  tools: await memory.tools(),
  stopWhen: isStepCount(10),
});
const { text } = await agent.generate({ prompt: "I have moved to Lisbon. Remember it." });
console.log(text);
await memory.close();
