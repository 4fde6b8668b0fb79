// mcp.ts writes configurations for agents, ready to be copied. The secret is in them:
// they are shown once.

export interface Credentials {
  client_id: string;
  client_secret: string;
}

export interface Config {
  id: string;
  label: string;
  hint: string;
  text: string;
}

// endpoint is where agents find our tools, and those of the other servers that an
// owner has added.
const endpoint = (origin: string) => `${origin}/portal/mcp`;

// configs are for one agent: for clients that take headers, for those that start a
// program instead, and for a shell.
export function configs(origin: string, { client_id, client_secret }: Credentials): Config[] {
  const url = endpoint(origin);
  const headers = { 'CF-Access-Client-Id': client_id, 'CF-Access-Client-Secret': client_secret };
  const insecure = origin.startsWith('http:');
  const bridge = {
    command: 'npx',
    args: [
      '-y', 'mcp-remote@0.15.1', url, ...(insecure ? ['--allow-http'] : []), '--transport', 'http-only',
      '--header', 'CF-Access-Client-Id:${UBL_CLIENT_ID}', '--header', 'CF-Access-Client-Secret:${UBL_CLIENT_SECRET}',
    ],
    env: { UBL_CLIENT_ID: client_id, UBL_CLIENT_SECRET: client_secret },
  };
  return [
    { id: 'http', label: 'HTTP', hint: 'For clients that speak streamable HTTP, such as Cursor or Claude Code, in their MCP settings.', text: json({ mcpServers: { ubl: { type: 'http', url, headers } } }) },
    { id: 'bridge', label: 'mcp-remote', hint: 'For clients that start a program, such as Claude Desktop. It needs Node.js on that machine.', text: json({ mcpServers: { ubl: bridge } }) },
    { id: 'shell', label: 'Shell', hint: 'Claude Code, from a terminal.', text: `claude mcp add --transport http ubl ${url} \\\n  --header "CF-Access-Client-Id: ${client_id}" \\\n  --header "CF-Access-Client-Secret: ${client_secret}"` },
  ];
}

const json = (value: unknown) => JSON.stringify(value, null, 2);
