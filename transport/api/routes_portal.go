package api

import (
	"ubl"
	"ubl/transport/envelope"
)

func (a *API) serverRoutes() {
	handle(a, operation{method: "GET", path: "/portal/servers", id: "list-servers", tool: "portal.server.list", tag: "portal", answers: "ubl.api.servers.v1",
		summary: "External MCP servers that the tenant knows"}, a.listServers)
	handle(a, operation{method: "POST", path: "/portal/servers", id: "add-server", asks: proof, counts: ubl.Creations, tool: "portal.server.add", tag: "portal", answers: "ubl.api.server.v1", creates: true, slow: true,
		summary: "Make an external MCP server known", more: "Owners of the tenant. Its tools can be used by whom ToolAccess lets."}, a.addServer)
	handle(a, operation{method: "PATCH", path: "/portal/servers/{serverId}", id: "update-server", asks: proof, counts: ubl.Creations, tool: "portal.server.update", tag: "portal", answers: "ubl.api.server.v1", slow: true,
		summary: "Change a server", more: "Owners of the tenant."}, a.updateServer)
	handle(a, operation{method: "DELETE", path: "/portal/servers/{serverId}", id: "remove-server", asks: proof, counts: ubl.Sends, tool: "portal.server.remove", tag: "portal", answers: "ubl.api.server.v1",
		summary: "Forget a server with its tools", more: "Owners of the tenant. Answers the server as it was."}, a.removeServer)
	handle(a, operation{method: "POST", path: "/portal/servers/{serverId}/sync", id: "sync-server", asks: nothing, counts: ubl.Creations, tool: "portal.server.sync", tag: "portal", answers: "ubl.api.server.v1", slow: true,
		summary: "Ask a server for its tools now", more: "Owners of the tenant. A definition that has changed is held until it is approved."}, a.syncServer)
	handle(a, operation{method: "POST", path: "/portal/servers/{serverId}/connect", id: "connect-server", asks: proof, counts: ubl.Creations, tool: "portal.server.connect", tag: "portal", answers: "ubl.api.connect.v1", slow: true,
		summary: "Sign in to a server by oneself", more: "For servers of auth authorization_code. Answers the URL to open in a browser, within ten minutes."}, a.connectServer)
	handle(a, operation{method: "DELETE", path: "/portal/servers/{serverId}/connect", id: "disconnect-server", asks: nothing, counts: ubl.Sends, tool: "portal.server.disconnect", tag: "portal", answers: "ubl.api.server.v1",
		summary: "Forget one's own sign-in to a server", more: "What the caller signed in with is deleted here; it can be revoked only where it was given."}, a.disconnectServer)
	handle(a, operation{method: "POST", path: "/portal/discover", id: "discover-servers", asks: nothing, counts: ubl.Creations, tool: "portal.discover", tag: "portal", answers: "ubl.api.discovered.v1", slow: true, foreign: wroteOffers,
		summary: "List what an MCP Registry offers", more: "Owners of the tenant. Nothing is added by that."}, a.discover)
}

// noTool is what operations about a tool may answer besides.
var noTool = []ubl.Code{ubl.CodeUnknownTool}

func (a *API) toolRoutes() {
	handle(a, operation{method: "GET", path: "/portal/tools", id: "list-tools", tool: "portal.tool.list", tag: "portal", answers: "ubl.api.tools.v1", foreign: wroteDefinitions,
		summary: "All tools with their definitions, and who may use them",
		more: "Owners of the tenant; with usable, all members. External tools and the server's own, which are of server ubl. By name; next_cursor is null on the last page. " +
			"A tool with a held definition can't be called until that is approved."}, a.listTools)
	handle(a, operation{method: "PUT", path: "/portal/tools/{tool}/access", id: "set-tool-access", asks: sometimes, counts: ubl.Creations, tool: "tool.access", tag: "portal", answers: "ubl.api.tool_access.v1",
		summary: "Say who may use a tool", more: "Owners of the tenant. Without such a record a tool of the server's own is open to all members, an external one to nobody. " +
			"The tool's server must have been added; it needn't be up, nor have listed its tools yet. Users that the record doesn't name yet must be members.", also: noTool}, a.setToolAccess)
	handle(a, operation{method: "POST", path: "/portal/tools/{tool}/approve", id: "approve-tool", asks: proof, counts: ubl.Creations, tool: "portal.tool.approve", destroys: true, tag: "portal", answers: "ubl.api.portal_tool.v1", foreign: wroteDefinitions,
		summary: "Take over the definition of a tool that was held", more: "Owners of the tenant.", also: noTool}, a.approveTool)
	handle(a, operation{method: "POST", path: "/portal/tools/{tool}/call", id: "call-tool", asks: nothing, counts: ubl.Sends, tool: "office.tool.call", destroys: true, tag: "portal", answers: "ubl.api.tool_result.v1", large: true, slow: true, foreign: wroteResult,
		summary: "Use a tool", more: "One of an external server, whom its ToolAccess lets, or one of the server's own. The intent is receipted before the call.", also: noTool}, a.callTool)
	handle(a, operation{method: "GET", path: "/portal/logs", id: "read-portal-log", tool: envelope.ToolLog, tag: "portal", answers: "ubl.api.calls.v1",
		summary: "Calls through the portal, newest first",
		more:    "Refused ones too. Owners of the tenant see all, others their own and those of agents that they keep. next_before is null at the beginning."}, a.readCalls)
	handle(a, operation{method: "GET", path: "/portal/budget", id: "get-budget", tool: "portal.budget.get", tag: "portal", answers: "ubl.api.budget.v1",
		summary: "What the tenant may spend on models, and has spent today"}, a.getBudget)
	handle(a, operation{method: "PATCH", path: "/portal/budget", id: "set-budget", asks: sometimes, counts: ubl.Creations, tool: "portal.budget.update", tag: "portal", answers: "ubl.api.budget.v1",
		summary: "Bound what the tenant spends on models", more: "Owners of the tenant."}, a.setBudget)
}
