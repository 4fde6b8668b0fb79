// The OAuth code of both TypeScript SDKs. Arguments: URL, and "sdk" or "client". It writes where the
// person has to go, reads from stdin where the browser was led back to, and then works.
import { createInterface } from "node:readline";

const [url, which] = process.argv.slice(2);
const lib =
  which === "client"
    ? await import("@modelcontextprotocol/client")
    : {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
        ...(await import("@modelcontextprotocol/sdk/client/auth.js")),
      };

const kept = {};
let authorize;
const provider = {
  redirectUrl: "http://localhost:1/oauth/callback",
  clientMetadata: {
    client_name: "TypeScript",
    redirect_uris: ["http://localhost:1/oauth/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  redirectToAuthorization: (to) => void (authorize = to.href),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => void (kept.discovery = state),
  discoveryState: () => kept.discovery,
};

const transport = () => new lib.StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
const client = () => new lib.Client({ name: "typescript", version: "1" });

const first = transport();
const refused = await client()
  .connect(first)
  .then(() => "connected", (e) => e.constructor.name);
console.log(authorize ?? `nowhere: ${refused}`);
const back = await new Promise((resolve) => createInterface({ input: process.stdin }).once("line", resolve));
const answer = new URL(back).searchParams;
await (which === "client" ? first.finishAuth(answer) : first.finishAuth(answer.get("code")));

const say = async (text) => {
  const c = client();
  await c.connect(transport());
  const sent = await c.callTool({ name: "messenger.send", arguments: { room_id: "r:general", type: "text", body: { text } } });
  await c.close();
  return sent.structuredContent.message.body.text;
};
const sent = [await say(`before, from ${which}`)];
const before = kept.tokens;
const refreshed = await lib.auth(provider, { serverUrl: url });
sent.push(await say(`after, from ${which}`));
console.log(
  JSON.stringify({
    refused,
    state: answer.get("state"),
    sent,
    refreshed,
    rotated: before.refresh_token !== kept.tokens.refresh_token && before.access_token !== kept.tokens.access_token,
  }),
);
process.exit(0);
