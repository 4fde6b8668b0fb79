// The client of the second TypeScript SDK, which finds out the era by itself.
// Arguments: URL, token.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [url, token] = process.argv.slice(2);
const client = new Client({ name: "typescript-client", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
);

const { tools } = await client.listTools();
const progress = [];
const sent = await client.callTool({
  name: "messenger.send",
  arguments: { room_id: "r:general", type: "text", body: { text: "from the TypeScript client" } },
});
const streamed = await client.callTool(
  { name: "messenger.stream_room", arguments: { room_id: "r:general", from_seq: 0, limit: 2 } },
  { onprogress: (p) => progress.push(p.progress) },
);
const failed = await client.callTool({ name: "messenger.send", arguments: { room_id: "no room" } });
const { resources } = await client.listResources();
const room = await client.readResource({ uri: resources[0].uri });
const prompt = await client.getPrompt({ name: "summarize_room", arguments: { room_id: "r:general" } });
await client.close();
console.log(
  JSON.stringify({
    tools: tools.map((t) => t.name),
    sent: sent.structuredContent.message.body.text,
    streamed: streamed.structuredContent.messages.length,
    progress,
    failed: { isError: failed.isError, ...failed.structuredContent },
    room: room.contents[0].mimeType,
    prompt: prompt.messages.length,
  }),
);
