package auth

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-jose/go-jose/v4/jwt"

	"ubl"
)

const (
	// leeway is how far another machine's clock may be ahead of ours when it
	// writes nbf and iat. There is none for exp.
	leeway = time.Minute
	// maxYear is the last that ubl.Time can write.
	maxYear = 9999
	// maxEmail and maxSubject are the limits of RFC 5321 and OpenID Connect.
	maxEmail   = 254
	maxSubject = 255
	// maxTokenID bounds what tenant 0 has to remember of a token.
	maxTokenID = 128
)

// claims is what we read of a token. It is decoded by go-jose, which takes
// names as they are written and refuses duplicates; encoding/json, used inside
// go-oidc, would let a custom claim "Email" stand in for "email".
type claims struct {
	jwt.Claims
	Email         string          `json:"email,omitempty"`
	Name          text            `json:"name,omitempty"`
	EmailVerified *flag           `json:"email_verified,omitempty"`
	IsService     bool            `json:"is_service,omitempty"`
	Groups        groups          `json:"groups,omitempty"`
	Events        json.RawMessage `json:"events,omitempty"`
	// AuthTime is when a provider last had its user prove who they are.
	AuthTime *moment `json:"auth_time,omitempty"`

	signer earlierKey // of ours, for a platform token
}

// flag is a boolean that some providers write as a string.
type flag bool

// UnmarshalJSON reads true, false and both in quotes.
func (f *flag) UnmarshalJSON(data []byte) error {
	switch strings.Trim(string(data), `"`) {
	case "true":
		*f = true
	case "false":
		*f = false
	default:
		return badToken("email_verified is neither true nor false")
	}
	return nil
}

// text is a claim that some providers fill with something else; then it is none.
type text string

// UnmarshalJSON reads a string and takes anything else for none.
func (s *text) UnmarshalJSON(data []byte) error {
	var given string
	if json.Unmarshal(data, &given) == nil {
		*s = text(given)
	}
	return nil
}

// groups is a list of names. Providers put other things under that name too;
// those are no reason to turn their users away.
type groups []string

// UnmarshalJSON reads a list of strings and takes anything else for none.
func (g *groups) UnmarshalJSON(data []byte) error {
	var names []string
	if json.Unmarshal(data, &names) == nil {
		*g = names
	}
	return nil
}

// moment is a time in seconds since 1970. What is none counts as not said.
type moment time.Time

// UnmarshalJSON reads a number and takes anything else for none.
func (m *moment) UnmarshalJSON(data []byte) error {
	var at jwt.NumericDate
	if json.Unmarshal(data, &at) == nil && at > 0 {
		*m = moment(at.Time())
	}
	return nil
}

// provedAt is when the provider last had its user prove who they are; zero where it doesn't say.
func (c *claims) provedAt() time.Time {
	if c.AuthTime == nil {
		return time.Time{}
	}
	return time.Time(*c.AuthTime)
}

// called is what to call whom the claims are about, "" for nothing.
func (c *claims) called() string { return ubl.FitMemberName(string(c.Name)) }

// check is everything that can be said of claims whose signature holds and that
// does not depend on who made them.
func (c *claims) check(issuer, audience string, now time.Time) error {
	switch {
	case c.Issuer != issuer:
		return badToken("the token comes from an issuer that is not known here")
	case !c.Audience.Contains(audience):
		return badToken("the token is meant for another audience")
	case c.Expiry == nil || c.Expiry.Time().Year() > maxYear:
		return badToken("the token never expires, which is not accepted")
	case !now.Before(c.Expiry.Time()):
		return badToken("the token has expired")
	case c.NotBefore != nil && now.Add(leeway).Before(c.NotBefore.Time()):
		return badToken("the token is not valid yet")
	case c.IssuedAt != nil && now.Add(leeway).Before(c.IssuedAt.Time()):
		return badToken("the token was issued in the future")
	case c.Events != nil: // a logout token looks like an ID token but for this
		return badToken("the token is not for signing in")
	}
	return nil
}

// checkAddress says whether the token's address may decide which tenant its
// bearer belongs to. An issuer that the operator trusts for the domain may leave
// email_verified out; where it says false, it says so for a reason.
func (c *claims) checkAddress(trusted []string) error {
	switch {
	case c.Email == "":
		return badToken("the token carries no email address; a service signs in with CF-Access-Client-Id and CF-Access-Client-Secret")
	case !validEmail(c.Email):
		return badToken("the email address in the token cannot be used")
	case c.EmailVerified != nil && !bool(*c.EmailVerified),
		c.EmailVerified == nil && !slices.Contains(trusted, ubl.EmailDomain(c.Email)):
		return badToken("the email address in the token is not verified")
	case c.Subject == "" || len(c.Subject) > maxSubject:
		return badToken("the token does not say whom it is about")
	}
	return nil
}

// validEmail accepts addresses without quoting. What it leaves out (blanks,
// colons, angle brackets …) has no place in ids, atoms or logs.
func validEmail(s string) bool {
	if len(s) > maxEmail || ubl.EmailDomain(s) == "" || strings.Count(s, "@") != 1 {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return !unicode.IsGraphic(c) || unicode.IsSpace(c) || c == unicode.ReplacementChar || strings.ContainsRune(`"(),:;<>[\]`, c)
	})
}

// lowerEmail makes one address of its spellings. Letters beyond ASCII stay as
// they are: Unicode folds the Kelvin sign to k, and one address would become
// another's.
func lowerEmail(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, s)
}

// lowerEmails is lowerEmail of several.
func lowerEmails(list []string) []string {
	out := make([]string, len(list))
	for n, s := range list {
		out[n] = lowerEmail(s)
	}
	return out
}

// badToken is the refusal of a credential.
func badToken(message string) *ubl.Error { return ubl.Errorf(ubl.CodeUnauthorized, "%s", message) }

// notValid is the refusal that tells a stranger nothing.
func notValid(cause error) *ubl.Error {
	return badToken("the credentials are not valid").Because(cause)
}
