// A client of either TypeScript SDK whose person answers a form. Arguments: URL, token, which
// SDK (sdk or client), tool. Prints what was asked and what the tool answered.
const [url, token, which, name] = process.argv.slice(2);
const asked = [];
const person = async (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { name: "Ana" } };
};
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
let client;
if (which === "sdk") {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, person);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
} else {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  client = new Client(
    { name: "typescript-client", version: "1" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", person);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
}
const answer = await client.callTool({ name, arguments: {} });
await client.close();
console.log(JSON.stringify({ asked, answer: answer.content.map((c) => c.text ?? "").join("\n") }));
