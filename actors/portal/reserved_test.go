package portal_test

import (
	"testing"

	"ubl"
	"ubl/test/harness"
)

// TestWordsOfOurs: no server that is added takes a word of our own tools' names as its id;
// one that differs from them may.
func TestWordsOfOurs(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	add := func(id string) ubl.AddServer {
		return ubl.AddServer{Request: h.Request(ana), Owner: true, Server: ubl.Server{
			ServerID: id, Name: "Files", URL: "https://files.example/mcp", Auth: ubl.AuthNone, Status: ubl.ServerNew}}
	}
	for _, id := range []string{"portal", "search", "invitation", "sealed", "domain", "budget", "deadletter", "deadletters"} {
		h.Refused(ubl.CodeValidation, ubl.PortalName(ana.TenantID), add(id))
	}
	for _, id := range []string{"files", "domains", "create"} {
		harness.Must[*ubl.Server](h, ubl.PortalName(ana.TenantID), add(id))
	}
}
