package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// dialect is how a client wants tools to be spelled. The zero one takes names
// as they are.
type dialect struct {
	// plain clients refuse dots; max is the longest name they take, 0 for any.
	plain bool
	max   int
}

// dialects are those of clients by what their names begin with, in lower case.
// They announce themselves in clientInfo. The protocol allows [A-Za-z0-9_.-] and
// 128 characters, and these do not: most hand names to a model's interface, which
// knows [a-zA-Z0-9_-]{1,64}, some with the name of the server in front.
var dialects = []struct {
	prefix string
	max    int
}{
	{"claude", 64},    // claude-ai (Claude Desktop and the web), claude-code, Claude Desktop
	{"anthropic", 64}, // its connector
	{"cursor", 48},    // cursor-vscode; the server's name and the tool's have 60 together
	{"codex", 64},     // codex-mcp-client
	{"openai", 64},    // openai-mcp, openai-agents
	{"chatgpt", 64},
	{"visual studio", 48}, // Visual Studio Code and its Copilot, which put mcp_SERVER_ in front
	{"vscode", 48},
	{"copilot", 48},
	{"github-copilot", 48},
	{"gemini", 63},
	{"windsurf", 48},
	{"cline", 64},
	{"roo", 64},
	{"zed", 64},
	{"continue", 64},
	{"goose", 64},
	{"kiro", 64},
	{"amazon", 64},
	{"q-dev", 64},
	{"jetbrains", 64},
	{"warp", 64},
	{"librechat", 64},
	{"n8n", 64},
}

var asIs = &dialect{}

// dialectOf is that of a client by its name. mcp-remote, which many are behind,
// announces them as "NAME (via mcp-remote VERSION)".
func dialectOf(client string) *dialect {
	if client == "" {
		return asIs
	}
	name := strings.ToLower(strings.TrimSpace(client))
	for i := range dialects {
		if strings.HasPrefix(name, dialects[i].prefix) {
			return &dialect{plain: true, max: dialects[i].max}
		}
	}
	return asIs
}

// spell is the tool's name for the client.
func (d *dialect) spell(name string) string {
	if !d.plain {
		return name
	}
	return shorten(plain(name), name, d.max)
}

// spellIn spells the tools that a text names as the client does.
func (d *dialect) spellIn(text string, known func(name string) bool) string {
	if !d.plain {
		return text
	}
	return dotted.ReplaceAllStringFunc(text, func(name string) string {
		if known(name) {
			return d.spell(name)
		}
		return name
	})
}

// dotted is what may be a tool's name in a text.
var dotted = regexp.MustCompile(`\b[a-z]+(\.[a-z_]+)+\b`)

// plain is a name without dots.
func plain(name string) string { return strings.ReplaceAll(name, ".", "_") }

// shorten cuts what is too long and adds part of the whole name's hash, so that
// two long names stay two.
func shorten(spelled, name string, max int) string {
	if len(spelled) <= max {
		return spelled
	}
	return spelled[:max-hashSuffix-1] + "_" + hashOf(name)
}

// hashSuffix is how many characters tell names apart that were cut.
const hashSuffix = 8

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])[:hashSuffix]
}

// means reports whether a client may mean the tool by what it called: its name,
// or any spelling that a dialect has for it.
func means(called, name string) bool {
	if called == name || called == plain(name) {
		return true
	}
	cut, hash, ok := cutLast(called, "_")
	return ok && hash == hashOf(name) && strings.HasPrefix(plain(name), cut)
}

func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", "", false
}
