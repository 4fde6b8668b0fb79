package web_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl/schemas"
)

// types are the records of app/src/types, by the place in the schemas that they are after,
// and the fields there that no screen needs.
var types = map[string]struct{ place, unused string }{
	"Agreement":       {"ubl.agreement.v1", "as_of heir salt sealed_at"},
	"AgreementChange": {"ubl.agreement.v1/$defs/change", ""},
	"Attachment":      {"ubl.attachment.v1", ""},
	"Budget":          {"ubl.api.budget.v1/properties/budget", ""},
	"Call":            {"ubl.call.v1", ""},
	"ClusterNode":     {"ubl.cluster.status.v1/$defs/node", "key_ids secret_ids server_id voters"},
	"ClusterReplica":  {"ubl.cluster.status.v1/$defs/replica", "applied_index"},
	"ClusterStatus":   {"ubl.cluster.status.v1", ""},
	"Container":       {"ubl.container.v1/$defs/config", "as_of content documents member members messages tenant_id tools"},
	"Document":        {"ubl.document.v1/$defs/version", "salt"},
	"DocumentHit":     {"ubl.document.v1/$defs/hit", "salt"},
	"Domain":          {"ubl.domain.v1", "confirmed_by"},
	"Entry":           {"ubl.entry.v2", "attachments"},
	"Invitation":      {"ubl.invitation.v1", ""},
	"Limit":           {"ubl.terms.v1/$defs/limit", ""},
	"Mandate":         {"ubl.mandate.v1", ""},
	"Member":          {"ubl.member.v1", ""},
	"Message":         {"ubl.message.v1", ""},
	"MessageHit":      {"ubl.api.message_hits.v1/$defs/hit", ""},
	"Passkey":         {"ubl.passkey.v1", ""},
	"Permit":          {"ubl.terms.v1/$defs/permit", ""},
	"Physics":         {"ubl.common.v1/$defs/physics", ""},
	"PlatformToken":   {"ubl.platform_token.v1", ""},
	"Presence":        {"ubl.presence.v1", ""},
	"Proposal":        {"ubl.terms.v1/$defs/proposal", ""},
	"Receipt":         {"ubl.receipt.v1", ""},
	"Room":            {"ubl.room.v1/$defs/config", "as_of"},
	"RoomEntry":       {"ubl.room.v1/$defs/entry", ""},
	"RoomPolicy":      {"ubl.room.v1/$defs/policy", ""},
	"RoomSummary":     {"ubl.room.v1/$defs/summary", ""},
	"Server":          {"ubl.server.v1", "salt"},
	"ServiceToken":    {"ubl.service_token.v1", "client_salt salt"},
	"Tenant":          {"ubl.api.tenant.v1/properties/tenant", ""},
	"Terms":           {"ubl.terms.v1/$defs/terms", ""},
	"Tool":            {"ubl.portal_tool.v1/$defs/listing", ""},
	"ToolAccess":      {"ubl.tool_access.v1", ""},
	"ToolResult":      {"ubl.api.tool_result.v1", "foreign led_to n request_id salt server_time"},
	"Usage":           {"ubl.call.v1/$defs/usage", ""},
}

// own are fields that a record has in the app alone.
var own = map[string][]string{
	"Message": {"answered", "answeredAt", "form", "poll", "polled", "pollAt"}, // of a message that is a poll or a form, from its entries
}

// TestTypes: the app knows each field that a record has by its schema, or no screen needs it,
// and none besides.
func TestTypes(t *testing.T) {
	files, err := filepath.Glob("app/src/types/*.ts")
	if err != nil {
		t.Fatal(err)
	}
	var source []byte
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		source = append(source, text...)
	}
	fields := map[string][]string{}
	for _, found := range regexp.MustCompile(`(?ms)^export interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}`).FindAllStringSubmatch(string(source), -1) {
		name, parent := found[1], found[2]
		fields[name] = slices.Clone(fields[parent])
		for _, f := range regexp.MustCompile(`(?m)^  (\w+)\??:`).FindAllStringSubmatch(found[3], -1) {
			fields[name] = append(fields[name], f[1])
		}
	}
	for name, of := range types {
		known := append(fields[name], strings.Fields(of.unused)...)
		described := propertiesAt(t, of.place)
		for _, f := range described {
			if !slices.Contains(known, f) {
				t.Errorf("%s has no %s, which %s describes: add it there, and to the screens, or say here that none needs it", name, f, of.place)
			}
		}
		for _, f := range known {
			if !slices.Contains(described, f) && !slices.Contains(own[name], f) {
				t.Errorf("%s has %s, which %s doesn't describe", name, f, of.place)
			}
		}
	}
}

// propertiesAt are those of an object in a schema, by its id and the way there.
func propertiesAt(t *testing.T, place string) []string {
	t.Helper()
	way := strings.Split(place, "/")
	text, _ := schemas.Read(way[0])
	for _, step := range append(way[1:], "properties") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatalf("there is nothing at %s: %v", place, err)
		}
		text = object[step]
	}
	var properties map[string]any
	if err := json.Unmarshal(text, &properties); err != nil {
		t.Fatalf("there is nothing at %s: %v", place, err)
	}
	return slices.Collect(maps.Keys(properties))
}
