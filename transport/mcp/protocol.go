package mcp

import (
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Protocol versions that make a difference here.
const (
	modernProtocol  = "2026-07-28" // from here on there are no sessions
	newestLegacy    = "2025-11-25"
	noBatchProtocol = "2025-06-18" // from here on there are no batches
	assumedProtocol = "2025-03-26" // of a client that doesn't say
)

// protocols are those of the older era by their index in session ids: a new one
// goes to the end.
var protocols = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}

// protocolIndex is the version's, the newest's for one that isn't known.
func protocolIndex(version string) byte {
	return byte(slices.Index(protocols, negotiate(version)))
}

// negotiate is the version that initialize answers to one that was asked for.
func negotiate(version string) string {
	if slices.Contains(protocols, version) {
		return version
	}
	return newestLegacy
}

func isModern(version string) bool { return version >= modernProtocol }

// versions are those that the server speaks, newest first.
func versions() []string { return sdk.SupportedProtocolVersions() }

func supported(version string) bool { return slices.Contains(versions(), version) }

// Headers, in Go's canonical form.
const (
	headerProtocol    = "Mcp-Protocol-Version"
	headerSession     = "Mcp-Session-Id"
	headerMethod      = "Mcp-Method"
	headerName        = "Mcp-Name"
	headerLastEventID = "Last-Event-Id"
	headerRequestID   = "X-Request-Id"
)

// Methods that are answered here, or differ between the eras.
const (
	methodInitialize    = "initialize"
	methodPing          = "ping"
	methodDiscover      = "server/discover"
	methodToolsList     = "tools/list"
	methodToolsCall     = "tools/call"
	methodResourcesList = "resources/list"
	methodTemplatesList = "resources/templates/list"
	methodResourcesRead = "resources/read"
	methodSubscribe     = "resources/subscribe"
	methodUnsubscribe   = "resources/unsubscribe"
	methodPromptsList   = "prompts/list"
	methodPromptsGet    = "prompts/get"
	methodComplete      = "completion/complete"
	methodSetLevel      = "logging/setLevel"
	methodListen        = "subscriptions/listen"
	methodTasksGet      = "tasks/get"
	methodTasksResult   = "tasks/result"
	methodTasksList     = "tasks/list"
	methodTasksUpdate   = "tasks/update"
	methodTasksCancel   = "tasks/cancel"

	noticeCancelled = "notifications/cancelled"
)

// method is what the door knows of one.
type method struct {
	// legacy and modern are the eras that have it.
	legacy, modern bool
	// params makes what the SDK decodes the parameters into; needed says that
	// there must be some.
	params func() any
	needed bool
	// named says that the header Mcp-Name repeats the name or URI.
	named bool
}

var methods = map[string]method{
	methodInitialize:    {legacy: true, needed: true, params: func() any { return new(sdk.InitializeParams) }},
	methodPing:          {legacy: true, params: func() any { return new(sdk.PingParams) }},
	methodSetLevel:      {legacy: true, needed: true, params: func() any { return new(levelParams) }},
	methodSubscribe:     {legacy: true, needed: true, params: func() any { return new(sdk.SubscribeParams) }},
	methodUnsubscribe:   {legacy: true, needed: true, params: func() any { return new(sdk.UnsubscribeParams) }},
	methodDiscover:      {modern: true, params: func() any { return new(sdk.DiscoverParams) }},
	methodListen:        {modern: true, needed: true, params: func() any { return new(sdk.SubscriptionsListenParams) }},
	methodToolsList:     {legacy: true, modern: true, params: func() any { return new(sdk.ListToolsParams) }},
	methodToolsCall:     {legacy: true, modern: true, needed: true, named: true, params: func() any { return new(sdk.CallToolParamsRaw) }},
	methodResourcesList: {legacy: true, modern: true, params: func() any { return new(sdk.ListResourcesParams) }},
	methodTemplatesList: {legacy: true, modern: true, params: func() any { return new(sdk.ListResourceTemplatesParams) }},
	methodResourcesRead: {legacy: true, modern: true, needed: true, named: true, params: func() any { return new(sdk.ReadResourceParams) }},
	methodPromptsList:   {legacy: true, modern: true, params: func() any { return new(sdk.ListPromptsParams) }},
	methodPromptsGet:    {legacy: true, modern: true, needed: true, named: true, params: func() any { return new(sdk.GetPromptParams) }},
	methodComplete:      {legacy: true, modern: true, needed: true, params: func() any { return new(sdk.CompleteParams) }},
	methodTasksGet:      {legacy: true, modern: true, needed: true, named: true, params: func() any { return new(taskParams) }},
	methodTasksCancel:   {legacy: true, modern: true, needed: true, named: true, params: func() any { return new(taskParams) }},
	methodTasksUpdate:   {modern: true, needed: true, named: true, params: func() any { return new(taskParams) }},
	methodTasksResult:   {legacy: true, needed: true, params: func() any { return new(taskParams) }},
	methodTasksList:     {legacy: true, params: func() any { return new(sdk.ListToolsParams) }},
}

// levelParams are those of logging/setLevel, which the SDK calls deprecated.
type levelParams struct {
	Level string `json:"level"`
}

// in reports whether the era has the method.
func (m method) in(modern bool) bool {
	if modern {
		return m.modern
	}
	return m.legacy
}
