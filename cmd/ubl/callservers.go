package main

import (
	"net"
	"net/url"
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
	for _, server := range f.CallServer {
		scheme, at, _ := strings.Cut(server, ":")
		host, query, _ := strings.Cut(at, "?")
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		transport := query == "" || query == "transport=udp" || query == "transport=tcp"
		known := scheme == "stun" || scheme == "stuns" || scheme == "turn" || scheme == "turns"
		if u, err := url.Parse("https://" + host); !known || !transport || err != nil || u.Host != host || host == "" {
			return usagef("--call-server %q is not like stun:stun.example.com or turn:turn.example.com:3478?transport=udp", server)
		}
		turn = turn || strings.HasPrefix(scheme, "turn")
	}
	if f.TURNSecretFile != "" && !turn {
		return usagef("--turn-secret-file goes with a TURN server in --call-server")
	}
	return nil
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
