package main

import (
	"slices"
	"testing"

	"ubl"
)

// TestTenantsWithServers: the daily round goes to them alone, and wakes nobody to
// find out.
func TestTenantsWithServers(t *testing.T) {
	w := newKeeperWorld(t)
	w.begin("a call to a model is no server")
	tenants := func() []ubl.TenantID {
		t.Helper()
		w.close()
		w.open()
		found, err := w.n.withServers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if active := w.n.actors.Stats().Active; active != 0 {
			t.Errorf("looking loaded %d actors", active)
		}
		return found
	}
	if found := tenants(); len(found) != 0 {
		t.Errorf("without servers: %q", found)
	}
	must[*ubl.Server](w, ubl.PortalName(w.ana.TenantID), ubl.AddServer{Request: w.request("add"), Owner: true,
		Server: ubl.Server{ServerID: "ev", Name: "Events", URL: "https://ev.example/mcp", Auth: ubl.AuthNone}})
	if found := tenants(); !slices.Equal(found, []ubl.TenantID{w.ana.TenantID}) {
		t.Errorf("with a server: %q", found)
	}
	w.close()
}
