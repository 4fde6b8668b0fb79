package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"ubl"
)

// rich is what huma gathered as an OpenAPI 3.1 document, under /api but for what is public,
// with the published schemas quoted in it so that it stands alone. Tools are made of it. It
// panics where huma's own document is no JSON, which is a programming error.
func (a *API) rich() map[string]any {
	spec := a.huma.OpenAPI()
	spec.Info.Description = "Rooms, documents, containers and tools, and the ledger that receipts every act. " +
		"In paths %3A and : are the same, and rooms and workspaces are found without their prefix, too: /api/rooms/general. The schemas here are a flat form of those published at /schemas/, for generators of clients."
	spec.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	spec.Info.Contact = &huma.Contact{Name: "The operator of this server"}
	spec.Servers = []*huma.Server{{URL: "/", Description: "The server that this document comes from"}}
	spec.Components.SecuritySchemes = securitySchemes()
	spec.Security = []map[string][]string{{"bearer": {}}, {"accessJWT": {}}, {"clientID": {}, "clientSecret": {}}, {"session": {}}}

	doc := parse(must(json.Marshal(spec)))
	paths := map[string]any{}
	for path, item := range doc["paths"].(map[string]any) {
		if !strings.HasPrefix(path, public) {
			path = "/api" + path
		}
		paths[path] = item
	}
	doc["paths"] = paths
	components := doc["components"].(map[string]any)["schemas"].(map[string]any)
	for _, id := range a.schemas.List() {
		s, _ := a.schemas.Read(id)
		components[id] = quoted(id, parse(s))
	}
	return doc
}

// document is the OpenAPI document that is served: the rich one with what else programs
// like to know, and made flat.
func (a *API) document() []byte {
	doc := a.rich()
	a.furnish(doc)
	flat(doc)
	return must(json.Marshal(doc))
}

func parse(data []byte) map[string]any {
	var m map[string]any
	if err := json.Unmarshal(data, &m); err != nil {
		panic(fmt.Sprintf("a document of our own is no JSON object: %v", err))
	}
	return m
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(fmt.Sprintf("couldn't write the OpenAPI document: %v", err))
	}
	return data
}

// quoted is a published schema as a component: its references are turned from
// names into places in the document.
func quoted(id string, schema map[string]any) map[string]any {
	delete(schema, "$id")
	delete(schema, "$schema")
	redirect(id, schema)
	return schema
}

func redirect(id string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, member := range v {
			if ref, ok := member.(string); ok && k == "$ref" {
				v[k] = component(id, ref)
				continue
			}
			redirect(id, member)
		}
	case []any:
		for _, item := range v {
			redirect(id, item)
		}
	}
}

// component is the place of a reference made inside the schema id: to itself
// ("#/$defs/x"), to another ("y"), or into another ("y#/$defs/x").
func component(id, ref string) string {
	name, fragment, _ := strings.Cut(ref, "#")
	if name == "" {
		name = id
	}
	return "#/components/schemas/" + name + fragment
}

func securitySchemes() map[string]*huma.SecurityScheme {
	header := func(name, about string) *huma.SecurityScheme {
		return &huma.SecurityScheme{Type: "apiKey", In: "header", Name: name, Description: about}
	}
	return map[string]*huma.SecurityScheme{
		"bearer": {Type: "http", Scheme: "bearer",
			Description: "Either a JWT, of the node's own key or of a configured OIDC issuer; or a service token as one string, which begins with ubl_ and is no JWT."},
		"accessJWT":    header("Cf-Access-Jwt-Assertion", "A JWT of a configured issuer, as Cloudflare Access adds it."),
		"clientID":     header("CF-Access-Client-Id", "A service token's id; with its secret."),
		"clientSecret": header("CF-Access-Client-Secret", "A service token's secret; with its id."),
		"session": {Type: "apiKey", In: "cookie", Name: "ubl",
			Description: "A browser's session, for pages of this server. Where --public-url is https its name is __Host-ubl."},
	}
}

// describeStreams documents the live streams, which package sse serves.
func (a *API) describeStreams() {
	a.describeStream("/events/rooms/{roomId}", "stream-room", "Follow a room",
		"The id of message.created is its room_seq. Last-Event-ID beats from_seq; both mean: after that message, 0 from the "+
			"beginning. Without either, only what is new. room.gap says that retention took what was asked for. room.typing has no id: who writes just now is never told again. only=typing leaves out everything else, for who has the messages from the stream of all rooms.",
		&huma.Param{Name: "roomId", In: "path", Required: true, Schema: &huma.Schema{Type: "string", Pattern: `^r:[A-Za-z0-9._-]{1,128}$`}},
		&huma.Param{Name: "from_seq", In: "query", Schema: &huma.Schema{Type: "integer"}},
		&huma.Param{Name: "only", In: "query", Description: "Not with from_seq.", Schema: &huma.Schema{Type: "string", Enum: []any{"typing"}}},
		lastEventID("The room_seq of the last message seen."))
	a.describeStream("/events", "stream-rooms", "Follow all rooms of the caller",
		"Carries room.created besides, effects that everyone in the tenant hears of (ubl.sse.effect_event.v1), and room.left where the caller is no longer in a room; who resumes lists their rooms anew instead. The ids are opaque; hand the last one back to go on after it. Last-Event-ID beats cursor.",
		&huma.Param{Name: "cursor", In: "query", Description: "The id of the last event seen.", Schema: &huma.Schema{Type: "string"}},
		lastEventID("The id of the last event seen."))
	a.describeCalls()
}

// describeCalls documents the live log of the portal.
func (a *API) describeCalls() {
	o := operation{method: http.MethodGet, path: "/portal/logs/live", id: "stream-portal-log", tag: "portal",
		summary: "Follow the portal's log",
		more: "Each call as it begins and as it ends: owners of the tenant see all, others their own. There are no ids and nothing is " +
			"repeated; who was away reads the log. Each data line is a ubl.sse.portal_event.v1. A comment comes every 15 s.",
		answers: "ubl.sse.portal_event.v1"}
	d := o.describe(http.StatusOK, streamType)
	d.Parameters = nil
	a.huma.OpenAPI().AddOperation(&d)
}

func lastEventID(about string) *huma.Param {
	return &huma.Param{Name: "Last-Event-ID", In: "header", Description: about, Schema: &huma.Schema{Type: "string"}}
}

func (a *API) describeStream(path, id, summary, more string, params ...*huma.Param) {
	o := operation{method: http.MethodGet, path: path, id: id, summary: summary, tag: "streams",
		more:    more + " Each data line is a ubl.sse.room_event.v1. A comment comes every 15 s.",
		answers: "ubl.sse.room_event.v1", also: []ubl.Code{ubl.CodeNotAMember}}
	d := o.describe(http.StatusOK, streamType)
	d.Parameters = params
	a.huma.OpenAPI().AddOperation(&d)
}

// describeBackup documents the backup of the platform, which package transport
// serves.
func (a *API) describeBackup() {
	o := operation{method: http.MethodPost, path: "/platform/backup", id: "back-up", asks: proof, tag: "platform",
		summary: "A copy of all tenants' data",
		more: "Owners of tenant 0, one at a time. Answers a tar archive that \"ubl restore\" takes. The act is receipted before " +
			"the first byte leaves. A connection cut before its end means a failed backup."}
	d := o.describe(http.StatusOK, "application/x-tar")
	d.Responses[strconv.Itoa(http.StatusOK)].Content["application/x-tar"].Schema = &huma.Schema{Type: "string", Format: "binary"}
	d.Parameters = nil // no key: a second backup is another copy
	a.huma.OpenAPI().AddOperation(&d)
}
