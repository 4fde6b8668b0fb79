package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"ubl"
)

// A webhook in is the URL /hooks/{room}/{token} for programs that post to chats. Its token is a
// service token: an agent of its own, whose mandate should be messenger.send in that room, with a rate
// a minute. So it is shown once, stored hashed, listed, revoked and receipted as any agent's is. What
// is posted becomes an ordinary request to send a message, before anything else sees it: no
// secret of a path gets into a log, and every check of a request is made as always.
//
// The body is what Slack takes: text, username, attachments, blocks. Their text is kept. Who the
// sender says they are stands in the message as what they said: its author is the agent.

const (
	hooksPath   = "/hooks/"
	maxHookBody = 64 << 10
	maxClaimed  = 80
)

// hooks turns posts to webhooks into requests to send a message.
func hooks(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, hooksPath) {
			next.ServeHTTP(w, r)
			return
		}
		room, token, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, hooksPath), "/")
		to := r.Clone(r.Context())
		to.URL = &url.URL{Path: hooksPath} // which is nothing: a path that may have a secret is told nobody
		to.RequestURI = hooksPath
		if r.Method == http.MethodPost && ubl.RoomID(room).Valid() && token != "" && !strings.Contains(token, "/") {
			to.URL.Path = "/api/rooms/" + room + "/messages"
			to.RequestURI = to.URL.Path
			posts(to, token, hookText(r.Header.Get("Content-Type"), http.MaxBytesReader(w, r.Body, maxHookBody)))
			w = &hookWriter{ResponseWriter: w}
		}
		next.ServeHTTP(w, to)
	})
}

// posts makes a request to send a text with a token. Without a text the answer says that there is none.
func posts(r *http.Request, token, text string) {
	body, err := json.Marshal(map[string]any{"type": ubl.TypeText, "body": ubl.Body{Text: text}})
	if err != nil { // a text
		panic(err)
	}
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}}
	for _, kept := range []string{"Idempotency-Key", "User-Agent", "X-Forwarded-For", "Forwarded", "X-Forwarded-Proto", "X-Request-Id"} {
		if v := r.Header.Values(kept); len(v) > 0 {
			header[kept] = v
		}
	}
	r.Header, r.Body, r.ContentLength, r.TransferEncoding = header, io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
}

// hookWriter answers a message that was sent as Slack does, and anything else as it is.
type hookWriter struct {
	http.ResponseWriter
	begun, sent bool
}

// WriteHeader implements [http.ResponseWriter].
func (w *hookWriter) WriteHeader(code int) {
	if w.begun {
		return
	}
	w.begun = true
	if w.sent = code >= 200 && code < 300; w.sent {
		h := w.Header()
		for _, name := range []string{"Content-Length", "Location", "ETag"} {
			h.Del(name)
		}
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.ResponseWriter.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w.ResponseWriter, "ok")
		return
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements [http.ResponseWriter].
func (w *hookWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.sent {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (w *hookWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// slackMessage is what Slack takes, as far as it is text.
type slackMessage struct {
	Text        string `json:"text"`
	Username    string `json:"username"`
	Attachments []struct {
		Fallback  string `json:"fallback"`
		Pretext   string `json:"pretext"`
		Title     string `json:"title"`
		TitleLink string `json:"title_link"`
		Text      string `json:"text"`
		Fields    []struct {
			Title string `json:"title"`
			Value string `json:"value"`
		} `json:"fields"`
	} `json:"attachments"`
	Blocks []any `json:"blocks"`
}

// hookText is the text of a message, "" where it can't be read or says nothing.
func hookText(contentType string, body io.Reader) string {
	raw, err := io.ReadAll(body)
	if err != nil {
		return ""
	}
	if of, _, _ := mime.ParseMediaType(contentType); of == "application/x-www-form-urlencoded" {
		form, err := url.ParseQuery(string(raw))
		if err != nil {
			return ""
		}
		raw = []byte(form.Get("payload"))
	}
	var m slackMessage
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	return m.text()
}

// text is all that it says, in lines. Where there are blocks its text only stands for them.
func (m *slackMessage) text() string {
	var lines []string
	add := func(s string) {
		if s = strings.TrimSpace(plain(s)); s != "" {
			lines = append(lines, s)
		}
	}
	for _, block := range m.Blocks {
		texts(block, 0, add)
	}
	if len(lines) == 0 {
		add(m.Text)
	}
	for _, a := range m.Attachments {
		before := len(lines)
		add(a.Pretext)
		if a.TitleLink != "" && a.Title != "" {
			add(fmt.Sprintf("%s (%s)", a.Title, a.TitleLink))
		} else {
			add(a.Title)
		}
		add(a.Text)
		for _, f := range a.Fields {
			add(strings.Trim(f.Title+": "+f.Value, ": "))
		}
		if len(lines) == before {
			add(a.Fallback)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	if name := claimed(m.Username); name != "" {
		lines = append([]string{"[" + name + ", as the sender calls itself]"}, lines...)
	}
	return cut(strings.Join(lines, "\n"), ubl.MaxMessageBytes)
}

// maxDepth bounds how deep blocks are looked into.
const maxDepth = 10

// texts calls add for what a block says, wherever it says it.
func texts(v any, depth int, add func(string)) {
	if depth > maxDepth {
		return
	}
	switch x := v.(type) {
	case []any:
		for _, part := range x {
			texts(part, depth+1, add)
		}
	case map[string]any:
		if text, ok := x["text"].(string); ok {
			add(text)
		} else if x["text"] != nil {
			texts(x["text"], depth+1, add)
		}
		texts(x["fields"], depth+1, add)
		texts(x["elements"], depth+1, add)
	}
}

// slackLink is an address, a person or a word that Slack marks up.
var slackLink = regexp.MustCompile(`<([^<>|\s]+)(?:\|([^<>]*))?>`)

// plain is a text without Slack's marks.
func plain(s string) string {
	s = slackLink.ReplaceAllStringFunc(s, func(found string) string {
		part := slackLink.FindStringSubmatch(found)
		target, label := part[1], part[2]
		switch {
		case strings.HasPrefix(target, "!"), strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"):
			if label != "" {
				return label
			}
			return "@" + strings.TrimLeft(target, "!@#")
		case label != "" && label != target:
			return label + " (" + target + ")"
		}
		return target
	})
	return html.UnescapeString(s)
}

// claimed is a name that somebody gave themselves, in one line that nothing hides in.
func claimed(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '[' || r == ']' {
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if utf8.RuneCountInString(name) > maxClaimed {
		name = string([]rune(name)[:maxClaimed]) + "…"
	}
	return name
}

// cut is a text of so many bytes at most.
func cut(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	const more = "…"
	s = s[:most-len(more)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + more
}
