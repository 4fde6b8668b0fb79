package auth

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"

	"ubl"
)

// The headers that carry credentials.
const (
	headerBearer       = "Authorization"
	headerAssertion    = "Cf-Access-Jwt-Assertion"
	headerClientID     = "Cf-Access-Client-Id"
	headerClientSecret = "Cf-Access-Client-Secret"
)

// maxCredential bounds each of those headers.
const maxCredential = 8 << 10

// credential is what a caller showed: either a token, which is a session's where
// a cookie brought it, or a client id with its secret and the tenant inside the id.
type credential struct {
	token            string
	session          bool
	clientID, secret string
	tenant           ubl.TenantID
}

// cacheKey is what a credential is remembered by.
type cacheKey [sha256.Size]byte

// key tells a session's token from the same one sent as a bearer's: what is good
// as the one must not be found as the other. No token has a line break.
func (c credential) key() cacheKey {
	switch {
	case c.session:
		return sha256.Sum256([]byte(c.token + "\nsession"))
	case c.token != "":
		return sha256.Sum256([]byte(c.token))
	}
	return sha256.Sum256([]byte(c.clientID + "\n" + c.secret))
}

// credentialOf picks the one credential that counts; the package comment says
// by which rule. Cookies count where the caller says what they are called.
func credentialOf(r *http.Request, cookie *cookies) (credential, error) {
	h := r.Header
	service := len(h[headerClientID])+len(h[headerClientSecret]) > 0
	switch {
	case len(h[headerBearer]) > 0 && service:
		return credential{}, badToken("a bearer token and a service token were sent together; send one of them")
	case len(h[headerBearer]) > 0:
		return bearerOf(h)
	case service:
		return serviceOf(h)
	case cookie != nil && len(r.CookiesNamed(cookie.name())) > 0:
		return cookie.of(r)
	case len(h[headerAssertion]) > 0:
		return assertionOf(h)
	}
	return credential{}, badToken("the request carries no credentials").Because(errMissing)
}

// programs picks a credential as programs send it.
func programs(r *http.Request) (credential, error) { return credentialOf(r, nil) }

// errMissing tells a request without credentials from one with bad ones.
var errMissing = errors.New("no credentials")

func bearerOf(h http.Header) (credential, error) {
	value, err := single(h, headerBearer)
	if err != nil {
		return credential{}, err
	}
	scheme, token, _ := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return credential{}, badToken("the Authorization header is not of the Bearer scheme")
	}
	token = strings.Trim(token, " ")
	if rest, ok := strings.CutPrefix(token, serviceBearer); ok {
		return serviceBearerOf(rest)
	}
	return tokenOf(token)
}

func assertionOf(h http.Header) (credential, error) {
	value, err := single(h, headerAssertion)
	if err != nil {
		return credential{}, err
	}
	return tokenOf(value)
}

// tokenByte tells which bytes a token may have: those of base64url, and the dot.
var tokenByte = func() (ok [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") {
		ok[c] = true
	}
	return ok
}()

// tokenOf accepts three parts of base64url and nothing else, before any library
// sees them.
func tokenOf(s string) (credential, error) {
	for i := range len(s) {
		if !tokenByte[s[i]] {
			return credential{}, notValid(errors.New("not base64url"))
		}
	}
	if strings.Count(s, ".") != 2 {
		return credential{}, notValid(errors.New("not three parts"))
	}
	return credential{token: s}, nil
}

func serviceOf(h http.Header) (credential, error) {
	clientID, err := single(h, headerClientID)
	if err != nil {
		return credential{}, err
	}
	secret, err := single(h, headerClientSecret)
	if err != nil {
		return credential{}, err
	}
	return serviceCredential(clientID, secret)
}

// serviceBearerOf takes apart what [ServiceBearer] put together, without its beginning. It
// is the same credential as the two headers would be, and is remembered as such.
func serviceBearerOf(rest string) (credential, error) {
	const digits, secret = 2 * clientIDBytes, 2 * secretBytes
	if len(rest) < digits+1+secret+2 || rest[digits] != '_' || rest[digits+1+secret] != '_' {
		return credential{}, notValid(errors.New("malformed service token"))
	}
	tenant := tenantPrefix + rest[digits+1+secret+1:]
	return serviceCredential(rest[:digits]+"."+tenant, rest[digits+1:digits+1+secret])
}

func serviceCredential(clientID, secret string) (credential, error) {
	tenant := TenantOfClient(clientID)
	if tenant == "" || !lowerHex(secret, secretBytes) {
		return credential{}, notValid(errors.New("malformed service token"))
	}
	return credential{clientID: clientID, secret: secret, tenant: tenant}, nil
}

// single refuses a header that is there twice: two readers might pick two.
func single(h http.Header, name string) (string, error) {
	values := h[name]
	if len(values) != 1 {
		return "", notValid(errors.New("a credential header is missing or repeated"))
	}
	if len(values[0]) > maxCredential {
		return "", badToken("the credentials are longer than 8 KiB")
	}
	return values[0], nil
}
