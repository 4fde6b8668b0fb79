// Both clients for TypeScript at a knowledge commons, without an identity. Arguments: URL.
import { Client as Second, StreamableHTTPClientTransport as SecondTransport } from "@modelcontextprotocol/client";
import { Client as First } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const url = new URL(process.argv[2]);
const visits = [];
for (const [client, transport] of [
  [new First({ name: "typescript-sdk", version: "1" }, { capabilities: {} }), new FirstTransport(url)],
  [new Second({ name: "typescript-client", version: "1" }, { versionNegotiation: { mode: "auto" } }), new SecondTransport(url)],
]) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  // They hold each answer against its tool's output schema.
  const call = (name, args) => client.callTool({ name, arguments: args });
  const found = await call("search_knowledge", { query: "who has a purpose?", filters: { contentType: "pattern", limit: 3 } });
  const { id, contentType } = found.structuredContent.results[0];
  const read = await call("get_document", { contentType, id });
  const whole = await call("search_with_documents", { query: "who has a purpose?" });
  const defined = await call("define_term", { term: "Working circle" });
  const lexicon = await call("search_lexicon", { keyword: "circle" });
  const groups = await call("list_groups", {});
  const releases = await call("list_releases", {});
  const failed = await call("get_document", { contentType: "pattern", id: "none" });
  const { resources } = await client.listResources();
  const texts = [];
  for (const { uri } of resources) texts.push((await client.readResource({ uri })).contents[0].text);
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: "research-topic", arguments: { topic: "circles" } });
  await client.close();
  visits.push({
    tools: tools.map((t) => t.name),
    read: read.structuredContent.content,
    whole: whole.structuredContent.results.map((r) => r.document.content),
    defined: defined.content[0].text,
    lexicon: lexicon.structuredContent.results.map((r) => r.title),
    groups: groups.structuredContent.groups,
    releases: releases.structuredContent.releases,
    failed: failed.isError && failed.structuredContent.error.code,
    resources: resources.map((r) => r.uri),
    texts,
    prompts: prompts.map((p) => p.name),
    prompt: prompt.messages[0].content.text,
  });
}
console.log(JSON.stringify(visits));
