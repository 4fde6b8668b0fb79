package portal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
)

// TestPlainResults: what is read here without the SDK is what the SDK would read, and
// what isn't plain is left to it.
func TestPlainResults(t *testing.T) {
	for raw, plain := range map[string]bool{
		`{"content":[]}`: true,
		`{}`:             true,
		`{"content":null,"structuredContent":null,"isError":false,"resultType":"complete"}`:                                 true,
		`{"content":[{"type":"text","text":"a"},{"text":"","type":"text"}],"isError":true}`:                                 true,
		`{"_meta":{"a":1},"content":[{"type":"text","text":"a","_meta":{"a":1}}],"structuredContent":{"z":[1.50],"a":1e3}}`: true,
		`{"content":[{"type":"text","text":"größer <&> \u2028 \ud83d\ude00 \"\\\n"}]}`:                                      true,

		`{"content":[{"type":"text","text":"a","annotations":{"priority":1}}]}`:     false,
		`{"content":[{"type":"image","data":"YQ==","mimeType":"image/png"}]}`:       false,
		`{"content":[{"type":"text"}]}`:                                             false,
		`{"content":[null]}`:                                                        false,
		`{"content":"a"}`:                                                           false,
		`{"content":[],"resultType":"input_required"}`:                              false,
		`{"content":[],"inputRequests":{}}`:                                         false,
		`{"content":[],"structuredContent":{"n":9007199254740993}}`:                 false,
		`{"content":[],"structuredContent":{"n":` + strings.Repeat("9", 400) + `}}`: false,
		`{"content":[],"structuredContent":{"twice":1,"twice":2}}`:                  false,
		``: false,
	} {
		got := plainResult(json.RawMessage(raw))
		if (got != nil) != plain {
			t.Errorf("%s: read here: %v", raw, got != nil)
			continue
		}
		if got == nil {
			continue
		}
		r := new(mcp.CallToolResult)
		if err := r.UnmarshalJSON([]byte(raw)); err != nil {
			t.Fatal(err)
		}
		want, err := resultOf(r)
		if err != nil {
			t.Fatal(err)
		}
		if got.IsError != want.IsError || canonical(t, got.Content) != canonical(t, want.Content) || canonical(t, got.Structured) != canonical(t, want.Structured) {
			t.Errorf("%s: read as %s %s, by the SDK as %s %s", raw, got.Content, got.Structured, want.Content, want.Structured)
		}
		if got.Commitment(ubl.Salt{}) != want.Commitment(ubl.Salt{}) {
			t.Errorf("%s: another hash", raw)
		}
	}
}

func canonical(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	if raw == nil {
		return ""
	}
	out, err := ubl.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
