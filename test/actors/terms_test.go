package actors_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// TestTermsOfAServerLeaveATrace: whoever adds a field to a server is led here. Each that
// owners set is in the answer and its schema, and in the terms that the receipt has the
// hash of; what an update can set is named there too.
func TestTermsOfAServerLeaveATrace(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	portal := ubl.PortalName(ana.TenantID)
	derived := []string{"server_id", "connected", "status", "problem", "synced_at", "down_since", "next_try", "connecting", "tools", "held",
		"created_at", "created_by", "receipt", "salt"}
	samples := map[string]string{
		"name": `"Another"`, "url": `"https://other.example/mcp"`, "auth": `"none"`, "header": `"X-Other"`,
		"token_url": `"https://id.example/token"`, "authorize_url": `"https://id.example/authorize"`, "client_id": `"c1"`,
		"scopes": `["read"]`, "disabled": "true", "kind": `"openapi"`, "document_url": `"https://one.example/openapi.json"`,
		"command": `"files"`,
	}
	// Only an API has a document, and it has one; only a program has a command, and no address.
	needs := map[string]string{"kind": `,"document_url":"https://one.example/other.json"`, "document_url": `,"kind":"openapi"`,
		"command": `,"kind":"stdio","url":"","auth":"none","header":""`}
	add := func(t *testing.T, changes string) (shown, receipt map[string]any) {
		t.Helper()
		s := ubl.Server{ServerID: "s", Name: "One", URL: "https://one.example/mcp", Auth: ubl.AuthHeader, Header: "X-Key"}
		if err := json.Unmarshal([]byte(changes), &s); err != nil {
			t.Fatal(err)
		}
		if s.Auth == ubl.AuthNone {
			s.Header = ""
		}
		made := harness.Must[*ubl.Server](h, portal, ubl.AddServer{Request: h.Request(ana), Owner: true, Server: s})
		receipt = lastAction(t, h, ana.TenantID)
		harness.Must[*ubl.Server](h, portal, ubl.RemoveServer{Request: h.Request(ana), Owner: true, ServerID: "s"})
		return parsed(t, mustJSON(t, made)).(map[string]any), receipt
	}
	schema := schemaPart{"ubl.server.v1", nil}.properties(t)
	for _, field := range fieldsOf(ubl.Server{}) {
		if !slices.Contains(schema, field) {
			t.Errorf("%s: the schema ubl.server.v1 doesn't have it", field)
		}
		if slices.Contains(derived, field) {
			continue
		}
		sample, ok := samples[field]
		if !ok {
			t.Errorf("%s: say in this test what another value is, or that nobody sets it", field)
			continue
		}
		shown, receipt := add(t, `{"`+field+`":`+sample+needs[field]+`}`)
		if !reflect.DeepEqual(shown[field], parsed(t, []byte(sample))) {
			t.Errorf("%s: the answer says %v", field, shown[field])
		}
		if receipt["terms_hash"] != termsOf(t, shown) {
			t.Errorf("%s: the receipt has other terms: %v", field, receipt)
		}
	}
	changes(t, h, ana, portal)
}

// termsOf is the commitment to the terms of a server as it is shown, made with its salt. It
// has each field that owners set, under the names of the API.
func termsOf(t *testing.T, shown map[string]any) string {
	t.Helper()
	terms := map[string]any{"server": shown["server_id"], "disabled": shown["disabled"], "scopes": []any{}}
	for _, name := range []string{"name", "url", "auth", "header", "token_url", "authorize_url", "client_id"} {
		terms[name] = ""
		if shown[name] != nil {
			terms[name] = shown[name]
		}
	}
	if shown["scopes"] != nil {
		terms["scopes"] = shown["scopes"]
	}
	for _, name := range []string{"kind", "document_url", "command"} { // which came later
		if shown[name] != nil {
			terms[name] = shown[name]
		}
	}
	canonical, err := ubl.Canonical(mustJSON(t, terms))
	if err != nil {
		t.Fatal(err)
	}
	var salt ubl.Salt
	if err := salt.UnmarshalText([]byte(shown["salt"].(string))); err != nil {
		t.Fatal(err)
	}
	return salt.Commit(canonical)
}

// changes updates each field of a ServerPatch alone.
func changes(t *testing.T, h *harness.House, ana ubl.Identity, portal ubl.Name) {
	t.Helper()
	s := ubl.Server{ServerID: "u", Name: "One", URL: "https://one.example/mcp", Auth: ubl.AuthNone,
		Kind: ubl.ServerOpenAPI, DocumentURL: "https://one.example/openapi.json"}
	harness.Must[*ubl.Server](h, portal, ubl.AddServer{Request: h.Request(ana), Owner: true, Server: s})
	samples := map[string]any{"Name": "Two", "URL": "https://two.example/mcp", "Disabled": true, "Secret": []byte("sealed"), "DocumentURL": "https://two.example/openapi.json"}
	for f := range reflect.TypeFor[ubl.ServerPatch]().Fields() {
		sample, ok := samples[f.Name]
		if !ok {
			t.Errorf("%s: say in this test what another value is", f.Name)
			continue
		}
		var p ubl.ServerPatch
		at := reflect.ValueOf(&p).Elem().FieldByIndex(f.Index)
		if value := reflect.ValueOf(sample); at.Kind() == reflect.Pointer {
			at.Set(reflect.New(value.Type()))
			at.Elem().Set(value)
		} else {
			at.Set(value)
		}
		updated := harness.Must[*ubl.Server](h, portal, ubl.UpdateServer{Request: h.Request(ana), Owner: true, ServerID: "u", Patch: p, SecretMAC: "mac"})
		receipt := lastAction(t, h, ana.TenantID)
		if changed, _ := receipt["changed"].(string); strings.ReplaceAll(changed, "_", "") != strings.ToLower(f.Name) {
			t.Errorf("%s: the receipt says that %v changed", f.Name, receipt["changed"])
		}
		if want := termsOf(t, parsed(t, mustJSON(t, updated)).(map[string]any)); receipt["terms_hash"] != want {
			t.Errorf("%s: the receipt's terms are %v, want %v", f.Name, receipt["terms_hash"], want)
		}
	}
}

// TestPhysicsLeaveATrace: each axis is in the answer and its schema, and in the receipt
// in the order of the fields.
func TestPhysicsLeaveATrace(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	samples := map[string]string{ // those that don't contradict themselves
		"fungibility": "strict/objects/gated/sandboxed", "topology": "strict/values/gated/disabled",
		"permeability": "versioned/objects/open/sandboxed", "execution": "versioned/objects/gated/disabled",
	}
	schema := schemaPart{"ubl.common.v1", []string{"$defs", "physics"}}.properties(t)
	for i, field := range fieldsOf(ubl.Physics{}) {
		axes := strings.Split(samples[field], "/")
		if i >= len(axes) || axes[i] == "" {
			t.Errorf("%s: say in this test what another value is", field)
			continue
		}
		if !slices.Contains(schema, field) {
			t.Errorf("%s: the schema ubl.common.v1 doesn't have it", field)
		}
		name := y.found("container", field, samples[field])
		if got := lastAction(t, y.House, y.ana.TenantID)["physics"]; got != samples[field] {
			t.Errorf("%s: the receipt says %v", field, got)
		}
		shown := parsed(t, mustJSON(t, y.look(name))).(map[string]any)["physics"].(map[string]any)
		if shown[field] != axes[i] {
			t.Errorf("%s: the answer says %v", field, shown)
		}
	}
}

// TestTermsOfAnInvitationLeaveATrace in its receipt and its schema.
func TestTermsOfAnInvitationLeaveATrace(t *testing.T) {
	h := harness.Open(t, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	// The address of somebody who may never come has no place in the ledger.
	unsaid := []string{"id", "email", "created_by", "created_at", "accepted_at", "revoked_at"}
	schema := schemaPart{"ubl.invitation.v1", nil}.properties(t)
	act := schemaPart{actionSchema, []string{"$defs", "invitation"}}.properties(t)
	for i, field := range fieldsOf(ubl.Invitation{}) {
		if !slices.Contains(schema, field) {
			t.Errorf("%s: the schema ubl.invitation.v1 doesn't have it", field)
		}
		if slices.Contains(unsaid, field) {
			continue
		}
		invitee := harness.User(fmt.Sprintf("eve%d@else.org", i))
		invitee.TenantID = ana.TenantID
		c := ubl.CreateInvitation{Request: h.Request(ana), InvitationID: ubl.InvitationID(fmt.Sprint("i:", i)), Invitee: invitee,
			Role: ubl.RoleOwner, TTL: 7 * time.Hour, SecretHash: strings.Repeat(fmt.Sprint(i), 64)}
		made := parsed(t, mustJSON(t, harness.Must[*ubl.Invitation](h, ubl.TenantName(ana.TenantID), c))).(map[string]any)
		receipt := lastAction(t, h, ana.TenantID)
		if receipt[field] == nil || receipt[field] != made[field] || !slices.Contains(act, field) {
			t.Errorf("%s: the receipt says %v, the answer %v", field, receipt[field], made[field])
		}
	}
}
