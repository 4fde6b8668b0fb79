// A session in which the server is killed and comes back. It says "in
// mid-session" when a subscription is open and a call is under way, and goes on
// when it reads a line. Arguments: URL, token, client (sdk or client), era (legacy
// or modern).
import { once } from "node:events";

const [url, token, which, era] = process.argv.slice(2);
const general = "ubl://rooms/r:general";

let heard = () => {};
let client, transport;
const updated = (n) => heard(n.params.uri);
const options = {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
  // Clients try twice within three seconds; the server may take longer here.
  reconnectionOptions: { initialReconnectionDelay: 200, maxReconnectionDelay: 200, reconnectionDelayGrowFactor: 1, maxRetries: 300 },
};
if (which === "sdk") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ResourceUpdatedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: {} });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, updated);
  transport = new StreamableHTTPClientTransport(new URL(url), options);
} else {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
  client = new Client({ name: "typescript-client", version: "1" }, { versionNegotiation: { mode } });
  client.setNotificationHandler("notifications/resources/updated", updated);
  transport = new StreamableHTTPClientTransport(new URL(url), options);
}

const send = (text) =>
  client.callTool({ name: "messenger.send", arguments: { room_id: "r:general", type: "text", body: { text } } });
const subscribe = () =>
  era === "modern" ? client.listen({ resourceSubscriptions: [general] }) : client.subscribeResource({ uri: general });

// hears answers what changed. It makes changes until it hears of one, since a
// session's channel opens beside its requests.
async function hears() {
  const update = new Promise((resolve) => (heard = resolve));
  const again = setInterval(() => send("noise").catch(() => {}), 200);
  const uri = await update;
  clearInterval(again);
  return uri;
}

await client.connect(transport);
const id = transport.sessionId;
const subscription = await subscribe();
await hears();
await client.callTool({ name: "room.create", arguments: { name: "quiet" } });
const cut = client
  .callTool({ name: "messenger.stream_room", arguments: { room_id: "r:quiet", seconds: 60 } })
  .then(() => "answered", (e) => e.message);
await send("before the crash");
console.log("in mid-session");

await once(process.stdin, "data");
const ended = await cut;
const closed = await subscription.closed;
await send("after the crash");
// A node that died has forgotten what a session subscribed to.
await subscribe();
const told = await hears();
const history = await client.callTool({ name: "messenger.history", arguments: { room_id: "r:general", limit: 200 } });
console.log(
  JSON.stringify({
    era: which === "client" ? client.getProtocolEra() : "legacy",
    cut: ended,
    same: transport.sessionId === id && (id !== undefined) === (era === "legacy"),
    closed,
    updated: told,
    texts: history.structuredContent.messages.map((m) => m.body.text).filter((text) => text?.endsWith("the crash")),
  }),
);
await client.close();
process.stdin.destroy();
