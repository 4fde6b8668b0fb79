package portal

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ubl"
)

const (
	// minSecret is how long a credential is at least to be looked for in what a server
	// says: shorter ones stand in texts by chance.
	minSecret = 8
	// maxShown bounds how many credentials of a session are looked for: the last ones.
	maxShown = 16
	// blank stands where one was.
	blank = "[secret]"
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
			for _, part := range parts(v) {
				sh.note(part)
			}
		}
	}
}

// addWords notes what a program was started with.
func (sh *shown) addWords(words []string) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, word := range words {
		for _, part := range parts(word) {
			sh.note(part)
		}
		sh.note(word)
	}
}

func (sh *shown) note(text string) {
	if len(text) < minSecret || slices.ContainsFunc(sh.secrets, func(s secret) bool { return s.text == text }) {
		return
	}
	// What get has handed out is never written to.
	sh.secrets = append(slices.Clone(sh.secrets[max(0, len(sh.secrets)-maxShown+1):]), newSecret(text))
}

// parts are what of a header's value may be secret by itself: each word behind the scheme,
// or its value where it has a name, and all of them together. Of those that are credentials
// in base64 it is the user and the password, whatever the scheme is called: some have the
// secret in the one, some in the other.
func parts(value string) (out []string) {
	const quotes = `",;=`
	rest := behindScheme(value)
	for word := range strings.FieldsSeq(rest) {
		if _, named, _ := strings.Cut(word, "="); len(strings.Trim(named, quotes)) >= minSecret {
			word = strings.Trim(named, quotes)
		}
		out = append(out, word)
		if user, password, ok := credentials(word); ok {
			out = append(out, user+":"+password, user, password)
		}
	}
	return append(out, rest)
}

// lengthOf is how long the longest of the secrets in a header's value is, of credentials
// their password where they have one.
func lengthOf(value string) (n int) {
	for word := range strings.FieldsSeq(behindScheme(value)) {
		if user, password, ok := credentials(word); ok {
			word = cmp.Or(password, user)
		}
		n = max(n, len(word))
	}
	return n
}

// behindScheme is a header's value without a first word that others follow, where it can be
// the name of a scheme. Nothing says how schemes are called, but they aren't secret.
func behindScheme(value string) string {
	value = strings.TrimSpace(value)
	scheme, rest, ok := strings.Cut(value, " ")
	if !ok || strings.ContainsFunc(scheme, func(c rune) bool { return c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') }) {
		return value
	}
	return strings.TrimSpace(rest)
}

// credentials reads a name and a password, as Basic has them.
func credentials(word string) (user, password string, ok bool) {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word, "="))
	if err != nil || !utf8.Valid(plain) {
		return "", "", false
	}
	return strings.Cut(string(plain), ":")
}

// get is what was sent so far.
func (sh *shown) get() secrets {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.secrets
}

// secret is a text that callers must not see, in any form that one comes by in passing.
type secret struct {
	text  string
	hex   string // its digits, in lower case
	forms []form
	// spelled are the forms inside JSON, as encoding/json and as RFC 8785 write them.
	// They are worked out once: each result is searched for them.
	spelled [][]byte
	err     error // why there is no such spelling
}

// form is one way to write a secret. The characters before and after it hold some of
// its bits, too.
type form struct {
	text          string
	before, after int
}

func newSecret(text string) secret {
	s := secret{text: text, hex: hex.EncodeToString([]byte(text)), forms: forms(text)}
	for range 2 { // once more for JSON within a text of JSON
		for _, f := range s.forms {
			own, canonical, err := spell(f.text)
			if err != nil {
				s.err = fmt.Errorf("couldn't write a secret: %w", err)
				return s
			}
			s.spelled = append(s.spelled, own, canonical)
		}
		slices.SortFunc(s.spelled, bytes.Compare)
		s.spelled = slices.CompactFunc(s.spelled, bytes.Equal)
		for _, spelled := range s.spelled {
			if !slices.ContainsFunc(s.forms, func(f form) bool { return f.text == string(spelled) }) {
				s.forms = append(s.forms, form{text: string(spelled)})
			}
		}
	}
	return s
}

// spell is a text inside JSON, in both spellings.
func spell(text string) (own, canonical []byte, err error) {
	quoted, err := json.Marshal([]string{text})
	if err == nil {
		canonical, err = ubl.Canonical(quoted)
	}
	if err != nil {
		return nil, nil, err
	}
	return quoted[2 : len(quoted)-2], canonical[2 : len(canonical)-2], nil
}

// forms are the ways to write a secret that don't depend on what stands beside it,
// percent signs aside (see unescape).
func forms(text string) []form {
	runes := []rune(text)
	slices.Reverse(runes)
	out := []form{
		{text: text}, {text: string(runes)}, {text: strings.ReplaceAll(text, " ", "+")},
		{text: hex.EncodeToString([]byte(text))}, {text: strings.ToUpper(hex.EncodeToString([]byte(text)))},
	}
	for shift := range 3 {
		out = append(out, inBase64(base64.RawStdEncoding, text, shift), inBase64(base64.RawURLEncoding, text, shift))
	}
	slices.SortFunc(out, func(a, b form) int { return strings.Compare(a.text, b.text) })
	return slices.Compact(out)
}

// inBase64 is a text as it stands in base64 behind some bytes, as many as a shift and a
// multiple of three: those characters that hold bits of nothing else.
func inBase64(enc *base64.Encoding, text string, shift int) form {
	all := enc.EncodeToString(append(make([]byte, shift), text...))
	bits := 8 * (shift + len(text))
	f := form{text: all[(8*shift+5)/6 : bits/6]}
	if shift > 0 {
		f.before = 1
	}
	if bits%6 != 0 {
		f.after = 1
	}
	return f
}

type secrets []secret

// redact takes them out of a text. Of one that can't be looked for, nothing is said.
func (ss secrets) redact(text string) string {
	for _, s := range ss {
		if s.err != nil {
			return blank
		}
	}
	if len(ss) == 0 || len(text) < minSecret {
		return text
	}
	found := ss.findApart(nil, view{text: text})
	if strings.Contains(text, "%") {
		found = ss.findApart(found, unescape(text))
	}
	return without(text, found)
}

// Encodings are wrapped in lines, and in groups. What else stands between the digits of hex is
// looked at by itself (see digits).
const (
	blanks     = " \t\r\n"
	separators = blanks + ":-,."
)

// findApart adds where they are in a view, and where with something between their
// characters.
func (ss secrets) findApart(found []span, v view) []span {
	found = ss.find(found, v)
	for _, between := range []string{blanks, separators} {
		if strings.ContainsAny(v.text, between) {
			found = ss.find(found, v.without(between))
		}
	}
	return ss.findHex(found, v.digits())
}

// findHex adds where their digits are in a view that has nothing else.
func (ss secrets) findHex(found []span, v view) []span {
	for _, s := range ss {
		for i := 0; ; {
			n := strings.Index(v.text[i:], s.hex)
			if n < 0 {
				break
			}
			from := i + n
			i = from + len(s.hex)
			found = append(found, span{v.origin(from, from+1).from, v.origin(i-1, i).to})
		}
	}
	return found
}

// span is where a secret is in a text.
type span struct{ from, to int }

// find adds where they are in a view.
func (ss secrets) find(found []span, v view) []span {
	text := v.text
	for _, s := range ss {
		for _, f := range s.forms {
			for i := 0; ; {
				n := strings.Index(text[i:], f.text)
				if n < 0 {
					break
				}
				from, to := max(0, i+n-f.before), min(len(text), i+n+len(f.text)+f.after)
				i += n + len(f.text)
				found = append(found, v.origin(from, to))
			}
		}
	}
	return found
}

// view is another text as it reads without something. From and to say where each of its
// bytes stands in the other one; they are nil where it is the text itself.
type view struct {
	text     string
	from, to []int32
}

// origin is where some bytes of a view, one at least, stand in the other text.
func (v view) origin(from, to int) span {
	if v.from == nil {
		return span{from, to}
	}
	return span{int(v.from[from]), int(v.to[to-1])}
}

// without is the view that leaves characters out.
func (v view) without(left string) view {
	var b strings.Builder
	b.Grow(len(v.text))
	out := view{from: make([]int32, 0, len(v.text)), to: make([]int32, 0, len(v.text))}
	for i := range len(v.text) {
		if strings.IndexByte(left, v.text[i]) < 0 {
			at := v.origin(i, i+1)
			b.WriteByte(v.text[i])
			out.from, out.to = append(out.from, int32(at.from)), append(out.to, int32(at.to))
		}
	}
	out.text = b.String()
	return out
}

// digits is the view of the digits of hex alone, in lower case. Whatever stands between them,
// "0x" too, says nothing else: so many in a row are there by no chance.
func (v view) digits() view {
	out := view{from: []int32{}, to: []int32{}}
	var b []byte
	for i := 0; i < len(v.text); i++ {
		if startsHex(v.text[i:]) {
			i++
		} else if c := digit(v.text[i]); c != 0 {
			at := v.origin(i, i+1)
			b, out.from, out.to = append(b, c), append(out.from, int32(at.from)), append(out.to, int32(at.to))
		}
	}
	out.text = string(b)
	return out
}

// digit is a digit of hex in lower case, 0 for what is none.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9' || 'a' <= c && c <= 'f':
		return c
	case 'A' <= c && c <= 'F':
		return c | 0x20
	}
	return 0
}

// startsHex reports whether a text begins as numbers in hex do.
func startsHex(text string) bool { return len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x' }

// unescape is a text without percent signs, as URLs have them.
func unescape(text string) view {
	var b strings.Builder
	b.Grow(len(text))
	v := view{from: make([]int32, 0, len(text)), to: make([]int32, 0, len(text))}
	for i := 0; i < len(text); {
		v.from = append(v.from, int32(i))
		if i+3 <= len(text) && text[i] == '%' {
			if c, err := url.PathUnescape(text[i : i+3]); err == nil {
				b.WriteString(c)
				i += 3
				v.to = append(v.to, int32(i))
				continue
			}
		}
		b.WriteByte(text[i])
		i++
		v.to = append(v.to, int32(i))
	}
	v.text = b.String()
	return v
}

// without is a text with a blank for all spans that touch.
func without(text string, found []span) string {
	if len(found) == 0 {
		return text
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	end := 0
	for i := 0; i < len(found); {
		to := found[i].to
		b.WriteString(text[end:found[i].from])
		b.WriteString(blank)
		for i++; i < len(found) && found[i].from < to; i++ {
			to = max(to, found[i].to)
		}
		end = to
	}
	return strings.ToValidUTF8(b.String()+text[end:], "")
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
	changed := false
	if v = ss.redactValue(v, &changed); !changed {
		return raw, nil
	}
	return json.Marshal(v)
}

// in reports whether one of them may be in JSON.
func (ss secrets) in(raw json.RawMessage) (bool, error) {
	for _, s := range ss {
		if s.err != nil {
			return false, s.err
		}
	}
	if len(ss) > 0 && bytes.IndexByte(raw, '%') >= 0 {
		return true, nil
	}
	if len(ss) == 0 {
		return false, nil
	}
	for _, raw := range [][]byte{raw, joined(raw, blanks), joined(raw, separators)} {
		for _, s := range ss {
			if slices.ContainsFunc(s.spelled, func(form []byte) bool { return bytes.Contains(raw, form) }) {
				return true, nil
			}
		}
	}
	digits := hexIn(raw)
	return slices.ContainsFunc(ss, func(s secret) bool { return strings.Contains(digits, s.hex) }), nil
}

// hexIn are the digits of hex in JSON, without those of its escapes.
func hexIn(raw []byte) string {
	var out []byte
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '\\' && i+1 < len(raw):
			if i++; raw[i] == 'u' {
				i += 4
			}
		case raw[i] == '0' && i+1 < len(raw) && raw[i+1]|0x20 == 'x':
			i++
		case digit(raw[i]) != 0:
			out = append(out, digit(raw[i]))
		}
	}
	return string(out)
}

// joined is JSON without some characters, of which those that it escapes are blanks.
func joined(raw []byte, left string) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch {
		case strings.IndexByte(left, raw[i]) >= 0:
		case raw[i] == '\\' && i+1 < len(raw):
			if i++; strings.IndexByte("nrt", raw[i]) < 0 {
				out = append(out, '\\', raw[i])
			}
		default:
			out = append(out, raw[i])
		}
	}
	return out
}

func (ss secrets) redactValue(v any, changed *bool) any {
	switch v := v.(type) {
	case string:
		text := ss.redact(v)
		*changed = *changed || text != v
		return text
	case json.Number:
		if text := ss.redact(v.String()); text != v.String() {
			*changed = true
			return text
		}
	case []any:
		for i := range v {
			v[i] = ss.redactValue(v[i], changed)
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			now := ss.redact(name)
			*changed = *changed || now != name
			out[now] = ss.redactValue(e, changed)
		}
		return out
	}
	return v
}
