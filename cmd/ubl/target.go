package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"time"

	"ubl/secretfile"
	"ubl/transport/auth"
	"ubl/transport/envelope"
)

// Which server a command asks, and as whom, is decided here and nowhere else. The first of
// these that says something counts; the address and the credential are looked for apart, and
// the credential of a profile goes to that profile's server alone:
//
//  1. --url and --token-file on the command line
//  2. the profile that --profile or UBL_PROFILE chooses
//  3. the variables UBL_URL, UBL_TOKEN and UBL_TOKEN_FILE, or the same keys of the YAML file
//  4. the profile of the address that was found so far, else the default profile
//  5. the server that runs over UBL_DATA or ./ubl-data, as its first owner
//  6. http://127.0.0.1:8080

// precedence is that list for people, below each help that has --profile.
const precedence = `Which server, and as whom: --url and --token-file; else --profile; else UBL_URL and UBL_TOKEN;
else the profile that "ubl login" made last; else the server that runs over ./ubl-data.`

// usualURL is where a server is that nobody has said anything about.
const usualURL = "http://127.0.0.1:8080"

// target is a server, and who asks it.
type target struct {
	url, token string
	// by says where the credential comes from, for people.
	by string
	// profile is the one that was used, "" for none.
	profile string
}

// given reports whether the command line itself has a flag.
func (p *program) given(flag string) bool { return p.flags[flag] }

// target finds the server and the credential.
func (r *remote) target(p *program) (*target, error) {
	at, profiles, err := r.place(p, r.TokenFile)
	if err != nil {
		return nil, err
	}
	switch own := strings.TrimSpace(p.env[ownToken]); {
	case r.TokenFile != "" && (p.given("token-file") || at.profile == ""):
		at.by, at.profile = "the file "+r.TokenFile, ""
		at.token, err = tokenIn(r.TokenFile)
		return at, err
	case at.profile != "": // chosen, or the default one
	case own != "":
		at.by, at.token = "the variable "+ownToken, own
		return at, nil
	default:
		at.profile = profiles.of(at.url)
	}
	if at.profile == "" {
		at.by, at.token, err = p.asOwner(at.url)
		if err != nil {
			return nil, err
		}
		if at.token == "" {
			return nil, noToken(at.url)
		}
		return at, nil
	}
	known := profiles.List[at.profile]
	if !sameServer(at.url, known.URL) {
		return nil, thenDo(usagef("the profile %s is for %s", at.profile, known.URL), "leave out --url, or choose the profile of that server; \"ubl profiles\" lists them")
	}
	at.by, at.token = "the profile "+at.profile, known.Token
	return at, nil
}

// place finds the server alone; its profile is set where that was chosen, or where
// nothing else says which server.
func (r *whichServer) place(p *program, tokenFile string) (*target, *profiles, error) {
	profiles, err := p.profiles()
	if err != nil {
		return nil, nil, err
	}
	at := &target{url: r.URL}
	switch _, known := profiles.List[r.Profile]; {
	case r.Profile != "" && !known:
		err := usagef("there is no profile %s", clean(r.Profile))
		return nil, nil, thenDo(err, "%s", cmp.Or(meant(r.Profile, profiles.names()), `"ubl login URL" makes one`))
	case r.Profile != "":
		at.profile = r.Profile
		if !p.given("url") {
			at.url = profiles.List[r.Profile].URL
		}
	case r.URL == "" && strings.TrimSpace(p.env[ownToken]) == "" && tokenFile == "" && profiles.Default != "":
		at.profile, at.url = profiles.Default, profiles.List[profiles.Default].URL
	case r.URL == "":
		if here := p.serving(); here != nil {
			at.url = here.URL
		}
	}
	at.url = strings.TrimSuffix(cmp.Or(at.url, usualURL), "/")
	return at, profiles, checkURL(at.url)
}

// checkURL refuses an address that is none, and says what is wrong with its scheme.
func checkURL(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	err = usagef("--url is not a URL that begins with http:// or https://")
	if err == nil || strings.Contains(address, "://") {
		return err
	}
	scheme := "https://"
	if envelope.Loopback(hostOf(address)) {
		scheme = "http://"
	}
	return thenDo(err, "write %s%s", scheme, clean(address))
}

// hostOf is the host of an address without a scheme.
func hostOf(address string) string {
	host, _, _ := strings.Cut(address, "/")
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// sameServer reports whether two addresses are one.
func sameServer(a, b string) bool {
	return strings.TrimSuffix(spelled(a), "/") == strings.TrimSuffix(spelled(b), "/")
}

func noToken(at string) error {
	login := "ubl login"
	if at != usualURL {
		login += " " + at
	}
	return thenDo(usagef("a token is needed for %s", at), `sign in with "%s"; on the server's own machine: export UBL_TOKEN=$(ubl token EMAIL)`, login)
}

// tokenIn reads a file that holds a token.
func tokenIn(file string) (string, error) {
	const holds = "a token as \"ubl token\" prints it, on one line"
	token, err := secretfile.Read(file, holds)
	if err == nil && !tokenLike(token) {
		err = secretfile.Wrong("the file "+file, holds)
	}
	return token, err
}

// tokenLike reports whether a text may be a token.
func tokenLike(s string) bool {
	return s != "" && len(s) <= maxToken && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// ownersEvery is how often the token of the server's own machine changes: at each first use
// it leaves a receipt. It holds twice as long.
const ownersEvery = time.Hour

// asOwner is a token of the first owner for an address, and where it comes from: "" unless the
// server that runs over the data directory is there and has proved that it is that one.
func (p *program) asOwner(at string) (by, token string, err error) {
	here, err := running(p.dataDir())
	if here == nil || err != nil {
		return "", "", err
	}
	token, err = p.ownersCredential(here)
	switch {
	case sameServer(at, here.URL):
	case err != nil, !sameServer(at, here.At): // another server is meant
		return "", "", nil
	}
	return "the key in " + here.dir, token, err
}

// ownersToken is [program.ownersCredential], "" where there is none.
func (p *program) ownersToken(here *serving) string {
	token, _ := p.ownersCredential(here)
	return token
}

// ownersCredential is a token of the first owner of the server that runs over a directory
// whose key we may read, once it has proved that it holds that: the same one for an hour. It
// is "" where there is no key.
func (p *program) ownersCredential(here *serving) (string, error) {
	key, err := here.ownKey()
	if key == nil || err != nil {
		return "", err
	}
	if err := p.prove(context.Background(), here, key); err != nil {
		return "", err
	}
	since := p.now().Truncate(ownersEvery)
	drawn := key.Derive("token of the command line v1 " + since.UTC().Format(time.RFC3339))
	token, _, err := key.Sign(auth.TokenSpec{Email: here.Owner, TTL: 2 * ownersEvery, Now: since, Random: bytes.NewReader(drawn)})
	return token, err
}

var errNoHome = errors.New("there is no folder for this user's settings: set XDG_CONFIG_HOME or HOME")
