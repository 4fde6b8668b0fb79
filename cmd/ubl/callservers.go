package main

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"ubl/secretfile"
	"ubl/transport/api"
)

// turnSecret holds the secret of the TURN servers that the flags name.
const turnSecret = "UBL_TURN_SECRET"

// callFlags say by which servers browsers in a call reach each other. All nodes of a cluster are
// given the same.
type callFlags struct {
	CallServer     []string `help:"STUN or TURN server by which browsers in a call reach each other; may be repeated. Without one they do in their own network alone." placeholder:"URL"`
	TURNSecretFile string   `name:"turn-secret-file" type:"path" help:"File with the secret of the TURN servers (coturn: static-auth-secret); else it is the variable UBL_TURN_SECRET." placeholder:"FILE"`
}

// check refuses flags that don't go together.
func (f *callFlags) check() error {
	turn := false
	for i, server := range f.CallServer {
		scheme, err := callScheme(server)
		if err != nil {
			return usagef("--call-server number %d of %d: %s. Write it like stun:stun.example.com or turn:turn.example.com:3478?transport=udp", i+1, len(f.CallServer), err)
		}
		turn = turn || strings.HasPrefix(scheme, "turn")
	}
	if f.TURNSecretFile != "" && !turn {
		return usagef("--turn-secret-file goes with a TURN server in --call-server")
	}
	return nil
}

// callScheme is the scheme of a STUN or TURN server's URL (RFC 7064, RFC 7065). The error doesn't
// quote the URL, since somebody may have written a password into it.
func callScheme(server string) (string, error) {
	scheme, at, _ := strings.Cut(server, ":")
	host, query, asks := strings.Cut(at, "?")
	switch scheme {
	case "stun", "stuns", "turn", "turns":
	default:
		return "", errors.New("the scheme is not stun, stuns, turn or turns")
	}
	if strings.Contains(at, "@") {
		return "", errors.New("a name or a password stands before the server: --turn-secret-file is the place for secrets")
	}
	if asks && (!strings.HasPrefix(scheme, "turn") || query != "transport=udp" && query != "transport=tcp") {
		return "", errors.New("only transport=udp or transport=tcp may follow, and only for TURN")
	}
	u, err := url.Parse("https://" + host)
	if err != nil || u.Host != host || u.Hostname() == "" || net.ParseIP(host) != nil && strings.Contains(host, ":") {
		return "", errors.New("that is no server's name or address")
	}
	if port, named := u.Port(), strings.HasSuffix(host, ":") || u.Port() != ""; named {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", errors.New("the port is not 1 to 65535")
		}
	}
	return scheme, nil
}

// servers are what the flags say, with the secret.
func (f *callFlags) servers(p *program) (s api.CallServers, err error) {
	const holds = "the TURN servers' secret, on one line"
	place, text := "the variable "+turnSecret, strings.TrimSpace(p.env[turnSecret])
	if f.TURNSecretFile != "" {
		place = "the file " + f.TURNSecretFile
		if text, err = secretfile.Read(f.TURNSecretFile, holds); err == nil && text == "" {
			err = secretfile.Wrong(place, holds)
		}
	}
	if err == nil && (len(text) > maxSecret || strings.ContainsAny(text, "\r\n")) {
		err = secretfile.Wrong(place, holds)
	}
	return api.CallServers{URLs: f.CallServer, Secret: text}, err
}
