package portal

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ubl"
)

// maxURL bounds an address, in bytes.
const maxURL = 2048

// bad refuses a field, without quoting what was in it.
func bad(field, reason string) error {
	e := ubl.Errorf(ubl.CodeValidation, "%s: %s", field, reason)
	e.Details = map[string]string{field: reason}
	return e
}

// checkServer refuses a server that can't be one. Whether its address may be
// asked is the node's to know, which is where the network is.
func checkServer(s *ubl.Server, secret []byte) error {
	switch {
	case !ubl.ValidServerID(s.ServerID):
		return bad("server_id", "it must be 1 to 32 of a-z, 0-9 and -, and no word that our own tools begin with")
	case ubl.CheckName(s.Name) != nil:
		return bad("name", ubl.AsError(ubl.CheckName(s.Name)).Message)
	case s.Kind == ubl.ServerStdio:
		if err := checkProgram(s); err != nil {
			return err
		}
	case !validURL(s.URL):
		return bad("url", "it must be an http or https URL without credentials and fragment")
	case s.Kind != ubl.ServerMCP && s.Kind != ubl.ServerOpenAPI:
		return bad("kind", "it is no kind of server")
	case s.Command != "":
		return bad("command", "only a program has one")
	case (s.Kind == ubl.ServerOpenAPI) != (s.DocumentURL != "") || s.DocumentURL != "" && !validURL(s.DocumentURL):
		return bad("document_url", "it must be an http or https URL without credentials and fragment, for an API and only there")
	case s.Kind == ubl.ServerOpenAPI && s.Auth == ubl.AuthUser:
		return bad("auth", "nobody signs in to an API: none, header or client_credentials")
	case s.TokenURL != "" && !validURL(s.TokenURL):
		return bad("token_url", "it must be an http or https URL without credentials and fragment")
	case s.AuthorizeURL != "" && !validURL(s.AuthorizeURL):
		return bad("authorize_url", "it must be an http or https URL without credentials and fragment")
	case !slices.Contains([]string{ubl.AuthNone, ubl.AuthHeader, ubl.AuthClient, ubl.AuthUser}, s.Auth):
		return bad("auth", "it is not one of the four ways")
	case (s.Auth == ubl.AuthHeader) != (s.Header != "") || s.Header != "" && !ubl.ValidHeader(s.Header):
		return bad("header", "it must be the name of an HTTP header, with auth header and only there")
	case !ubl.ValidClientID(s.ClientID):
		return bad("client_id", "it is too long or holds what can't be in one")
	case !ubl.ValidScopes(s.Scopes):
		return bad("scopes", "they are too many, too long or hold what can't be in one")
	}
	if len(secret) > ubl.MaxSealed {
		return ubl.Errorf(ubl.CodeTooLarge, "the secret is larger than %d bytes when sealed", ubl.MaxSealed)
	}
	return nil
}

// checkProgram refuses what a program doesn't have: it is known by the name of its command alone.
func checkProgram(s *ubl.Server) error {
	switch {
	case !ubl.ValidCommand(s.Command):
		return bad("command", "it must be 1 to 32 of a-z, 0-9 and -")
	case s.URL != "":
		return bad("url", "a program has none")
	case s.DocumentURL != "":
		return bad("document_url", "only an API has one")
	case s.Auth != ubl.AuthNone && s.Auth != ubl.AuthEnvironment:
		return bad("auth", "of a program it is none or environment")
	case s.Header != "" || s.TokenURL != "" || s.AuthorizeURL != "" || s.ClientID != "" || len(s.Scopes) > 0:
		return bad("auth", "a program has no header and no OAuth")
	}
	return nil
}

func validURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= maxURL && utf8.ValidString(s) && (u.Scheme == "https" || u.Scheme == "http") &&
		u.Host != "" && u.Hostname() != "" && u.User == nil && u.Fragment == ""
}

// origin is where a URL leads, whatever the path.
func origin(s string) string {
	u, err := url.Parse(s)
	if err != nil { // it was checked before it was stored
		return s
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// printable reports whether s is at most max bytes of ASCII that can be seen.
func printable(s string, max int) bool {
	return len(s) <= max && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// clipped is text that came from elsewhere, as it may be stored: valid UTF-8 of at
// most max bytes.
func clipped(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	for len(s) > max {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
