// The client of the first TypeScript SDK: sends a message, reads it back, and
// hears of it through a subscription. Arguments: URL, token.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, token] = process.argv.slice(2);
const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: {} });
const transport = new StreamableHTTPClientTransport(new URL(url), {
  // It holds every answer against its output schema, where a tool is listed with one.
  requestInit: { headers: { Authorization: `Bearer ${token}`, "X-Mcp-Schemas": "output" } },
});
let heard;
const update = new Promise((resolve) => (heard = resolve));
client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => heard(n.params.uri));
await client.connect(transport);

const { tools } = await client.listTools();
await client.subscribeResource({ uri: "ubl://rooms/r:general" });
const send = (text) =>
  client.callTool({ name: "messenger.send", arguments: { room_id: "r:general", type: "text", body: { text } } });
const sent = await send("from the TypeScript SDK");
// The channel may have opened a moment after the first message.
const again = setInterval(() => send("again"), 200);
const updated = await update;
clearInterval(again);
const history = await client.callTool({ name: "messenger.history", arguments: { room_id: "r:general" } });
const failed = await client.callTool({ name: "messenger.send", arguments: { room_id: "no room" } });
const { resources } = await client.listResources();
const room = await client.readResource({ uri: resources[0].uri });
const prompt = await client.getPrompt({ name: "summarize_room", arguments: { room_id: "r:general" } });
const completion = await client.complete({
  ref: { type: "ref/prompt", name: "summarize_room" },
  argument: { name: "room_id", value: "r:g" },
});
await transport.terminateSession();
await client.close();
console.log(
  JSON.stringify({
    tools: tools.map((t) => t.name),
    sent: sent.structuredContent.message.body.text,
    updated,
    history: history.structuredContent.messages.length,
    failed: { isError: failed.isError, ...failed.structuredContent },
    room: room.contents[0].mimeType,
    prompt: prompt.messages.length,
    completion: completion.completion.values,
  }),
);
