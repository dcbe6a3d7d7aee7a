// As connect.py, with the TypeScript SDK: node connect.mjs PROGRAM
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import assert from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "memstore-"));
const claim = "Ana drinks lapsang in the morning";
const client = new Client({ name: "connect", version: "1" });
try {
  const args = ["--db", join(folder, "memory.db"), "--answers", "json"];
  await client.connect(new StdioClientTransport({ command: process.argv[2], args }));
  const { tools } = await client.listTools();
  assert.equal(tools.length, 12);
  await client.callTool({
    name: "memory_store",
    arguments: { content: claim, subject: "ana", category: "preference" },
  });
  // listTools compiled the schemas of answers, which callTool now holds this one to.
  const found = await client.callTool({
    name: "memory_search",
    arguments: { query: "what does Ana drink?" },
  });
  assert.equal(found.structuredContent.facts[0].content, claim);
  console.log("typescript: 12 tools, stored and found");
} finally {
  await client.close();
  rmSync(folder, { recursive: true });
}
