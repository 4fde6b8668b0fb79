package auth

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"ubl"
)

// mint signs any payload with any key: what a forger, or a provider gone wrong,
// can make.
func mint(t testing.TB, alg jose.SignatureAlgorithm, key any, header map[jose.HeaderKey]any, payload []byte) string {
	t.Helper()
	o := &jose.SignerOptions{}
	for name, value := range header {
		o.WithHeader(name, value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// unsigned makes a token of the algorithm none.
func unsigned(payload []byte) string {
	enc := base64.RawURLEncoding
	return enc.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + enc.EncodeToString(payload) + "."
}

// mill makes tokens as one issuer does, true or not.
type mill struct {
	alg    jose.SignatureAlgorithm
	key    any // private
	public []byte
	header map[jose.HeaderKey]any
	good   map[string]any
}

// payload is the good claims with changes; a nil value leaves a claim out.
func (m mill) payload(t testing.TB, changes map[string]any) []byte {
	t.Helper()
	claims := maps.Clone(m.good)
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	data, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (m mill) make(t testing.TB, changes map[string]any) string {
	t.Helper()
	return mint(t, m.alg, m.key, m.header, m.payload(t, changes))
}

// localMill makes tokens as the node's key does.
func (w *world) localMill() mill {
	now := w.clock.Now()
	return mill{alg: jose.EdDSA, key: w.key.private, public: w.key.public, good: map[string]any{
		"iss": LocalIssuer, "aud": "ubl", "sub": "ann@corp.example", "email": "ann@corp.example", "email_verified": true,
		"exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "jti": "0123456789abcdef",
	}}
}

// badTokens is every way a token can be bad, for a mill whose good tokens are
// accepted.
func badTokens(t testing.TB, m mill, now time.Time) map[string]string {
	_, strangerEd, _ := ed25519.GenerateKey(rand.Reader)
	strangerRSA, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := m.make(t, nil)
	head, rest, _ := strings.Cut(good, ".")
	body, sig, _ := strings.Cut(rest, ".")
	changed := base64.RawURLEncoding.EncodeToString(m.payload(t, map[string]any{"email": "root@ops.example"}))
	payload := string(m.payload(t, nil))
	again := func(member string) string {
		return mint(t, m.alg, m.key, m.header, []byte(payload[:len(payload)-1]+","+member+"}"))
	}
	with := func(name string, value any) string { return m.make(t, map[string]any{name: value}) }
	return map[string]string{
		"alg none":                     unsigned(m.payload(t, nil)),
		"alg none, signature kept":     unsigned(m.payload(t, nil)) + sig,
		"HS256 with the public key":    mint(t, jose.HS256, m.public, m.header, m.payload(t, nil)),
		"HS512 with the public key":    mint(t, jose.HS512, append(make([]byte, 0, 64), pad(m.public, 64)...), m.header, m.payload(t, nil)),
		"another Ed25519 key":          mint(t, jose.EdDSA, strangerEd, m.header, m.payload(t, nil)),
		"another RSA key":              mint(t, jose.RS256, strangerRSA, m.header, m.payload(t, nil)),
		"another key, embedded":        embedded(t, m, strangerRSA),
		"payload changed":              head + "." + changed + "." + sig,
		"signature cut":                head + "." + body + "." + sig[:len(sig)-8],
		"signature empty":              head + "." + body + ".",
		"an unknown critical header":   mint(t, m.alg, m.key, map[jose.HeaderKey]any{"crit": []string{"x"}, "x": 1}, m.payload(t, nil)),
		"a logout token by its header": mint(t, m.alg, m.key, merged(m.header, "typ", "logout+jwt"), m.payload(t, nil)),
		"a logout token by its claims": with("events", map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}),

		"another audience":    with("aud", "someone-else"),
		"audience a prefix":   with("aud", m.good["aud"].(string)+"x"),
		"audience empty":      with("aud", []string{}),
		"no audience":         with("aud", nil),
		"another issuer":      with("iss", "https://evil.example"),
		"issuer with slash":   with("iss", m.good["iss"].(string)+"/"),
		"no issuer":           with("iss", nil),
		"issuer not a string": with("iss", 7),

		"expired":              with("exp", now.Add(-time.Second).Unix()),
		"expires now":          with("exp", now.Unix()),
		"expired long ago":     with("exp", 0),
		"no exp":               with("exp", nil),
		"exp beyond all time":  with("exp", 1e18),
		"exp overflows":        with("exp", 1e300),
		"exp a string":         with("exp", "tomorrow"),
		"not yet valid":        with("nbf", now.Add(2*time.Minute).Unix()),
		"issued in the future": with("iat", now.Add(time.Hour).Unix()),

		"no subject":              with("sub", nil),
		"subject empty":           with("sub", ""),
		"subject too long":        with("sub", strings.Repeat("s", 300)),
		"no email":                with("email", nil),
		"email empty":             with("email", ""),
		"email no address":        with("email", "ann"),
		"email two addresses":     with("email", "ann@corp.example@evil.example"),
		"email with a blank":      with("email", "ann b@corp.example"),
		"email with a newline":    with("email", "ann@corp.example\n"),
		"email domain with ..":    with("email", "ann@corp..example"),
		"email domain look-alike": with("email", "ann@\u212aorp.example"),
		"email not verified":      with("email_verified", false),
		"email_verified a no":     with("email_verified", "false"),
		"email_verified absent":   with("email_verified", nil),
		"email_verified a 1":      with("email_verified", 1),

		"email twice":                again(`"email":"root@ops.example"`),
		"email in capitals":          m.make(t, map[string]any{"email": nil, "Email": "ann@corp.example"}),
		"exp twice":                  again(`"exp":99999999999`),
		"payload an array":           mint(t, m.alg, m.key, m.header, []byte(`[]`)),
		"payload null":               mint(t, m.alg, m.key, m.header, []byte(`null`)),
		"payload empty":              mint(t, m.alg, m.key, m.header, nil),
		"payload with a tail":        mint(t, m.alg, m.key, m.header, []byte(payload+"{}")),
		"payload nested a lot":       mint(t, m.alg, m.key, m.header, []byte(strings.Repeat("[", 3000))),
		"huge":                       good + strings.Repeat("A", maxCredential),
		"garbage":                    "garbage",
		"two dots":                   "..",
		"two parts":                  head + "." + body,
		"four parts":                 good + ".",
		"five parts":                 good + ".x.y",
		"JSON serialization":         `{"payload":"` + body + `","protected":"` + head + `","signature":"` + sig + `"}`,
		"padded":                     good + "==",
		"standard base64":            head + "." + body + ".+/+/",
		"control bytes":              good + "\x00",
		"not ASCII":                  "ä.ö.ü",
		"nothing":                    "",
		"the good one twice":         good + " " + good,
		"the good one after a comma": "x," + good,
	}
}

// embedded carries the key that signed it, and asks to be believed.
func embedded(t testing.TB, m mill, key *rsa.PrivateKey) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key}, &jose.SignerOptions{EmbedJWK: true})
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(m.payload(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func merged(h map[jose.HeaderKey]any, name jose.HeaderKey, value any) map[jose.HeaderKey]any {
	out := map[jose.HeaderKey]any{name: value}
	maps.Copy(out, h)
	return out
}

func pad(b []byte, n int) []byte {
	if len(b) >= n {
		return b
	}
	return append(b[:len(b):len(b)], make([]byte, n-len(b))...)
}

// refusesAll asserts that every bad token is a 401 and bothers no tenant, and
// that the good one would have been accepted: the table can fail.
func (w *world) refusesAll(t *testing.T, m mill) {
	for name, token := range badTokens(t, m, w.clock.Now()) {
		t.Run(name, func(t *testing.T) {
			a := w.get(bearer(token)...).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			if len(token) > 4 && strings.Contains(a.message, token[:4]) {
				t.Errorf("the message echoes the token: %s", a.message)
			}
			w.get(headerAssertion, token).refused(t, http.StatusUnauthorized, ubl.CodeUnauthorized)
			w.tenants.silent(t)
		})
	}
	t.Run("and accepts the good one", func(t *testing.T) {
		w.get(bearer(m.make(t, nil))...).let(t)
		w.get(bearer(m.make(t, map[string]any{"email_verified": "true", "aud": []any{"x", m.good["aud"]}}))...).let(t)
	})
}
