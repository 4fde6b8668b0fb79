package portal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"ubl"
)

const (
	// minSecret is how long a credential is at least to be looked for in what a server
	// says: shorter ones stand in texts by chance.
	minSecret = 8
	// maxShown bounds how many credentials of a session are looked for: the last ones.
	maxShown = 16
)

// shown is which credentials a server was sent in a session. Some servers show
// callers the headers that they got.
type shown struct {
	mu      sync.Mutex
	secrets secrets
}

// add notes the proof in a header.
func (sh *shown) add(proof http.Header) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, values := range proof {
		for _, v := range values {
			v = strings.TrimPrefix(v, "Bearer ")
			if len(v) < minSecret || slices.ContainsFunc(sh.secrets, func(s secret) bool { return s.text == v }) {
				continue
			}
			// What get has handed out is never written to.
			sh.secrets = append(slices.Clone(sh.secrets[max(0, len(sh.secrets)-maxShown+1):]), newSecret(v))
		}
	}
}

// get is what was sent so far.
func (sh *shown) get() secrets {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.secrets
}

// secret is a text that callers must not see.
type secret struct {
	text string
	// spelled is the text inside JSON, as encoding/json and as RFC 8785 write it. It is
	// worked out once: each result is searched for it.
	spelled [2][]byte
	err     error // why there is no such spelling
}

func newSecret(text string) secret {
	s := secret{text: text}
	quoted, err := json.Marshal([]string{text})
	if err == nil {
		var canonical []byte
		if canonical, err = ubl.Canonical(quoted); err == nil {
			s.spelled = [2][]byte{quoted[2 : len(quoted)-2], canonical[2 : len(canonical)-2]}
		}
	}
	if err != nil {
		s.err = fmt.Errorf("couldn't write a secret: %w", err)
	}
	return s
}

type secrets []secret

// redact takes them out of a text.
func (ss secrets) redact(text string) string {
	for _, s := range ss {
		text = strings.ReplaceAll(text, s.text, "[secret]")
	}
	return text
}

// redactResult takes them out of a result. Where that fails, nobody may see it.
func (ss secrets) redactResult(r *ubl.ToolResult) (err error) {
	if r.Content, err = ss.redactJSON(r.Content); err == nil {
		r.Structured, err = ss.redactJSON(r.Structured)
	}
	if err != nil {
		return ubl.Errorf(ubl.CodeUnavailable, "the tool's result can't be read").Because(err)
	}
	return nil
}

// redactJSON takes them out of the texts of canonical JSON, or of JSON as
// encoding/json writes it.
func (ss secrets) redactJSON(raw json.RawMessage) (json.RawMessage, error) {
	found, err := ss.in(raw)
	if err != nil || !found {
		return raw, err
	}
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(ss.redactValue(v))
}

// in reports whether one of them may be in JSON, in either spelling.
func (ss secrets) in(raw json.RawMessage) (bool, error) {
	for _, s := range ss {
		if s.err != nil {
			return false, s.err
		}
		if bytes.Contains(raw, s.spelled[0]) || bytes.Contains(raw, s.spelled[1]) {
			return true, nil
		}
	}
	return false, nil
}

func (ss secrets) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return ss.redact(v)
	case json.Number:
		if text := ss.redact(v.String()); text != v.String() {
			return text
		}
	case []any:
		for i := range v {
			v[i] = ss.redactValue(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[ss.redact(name)] = ss.redactValue(e)
		}
		return out
	}
	return v
}
