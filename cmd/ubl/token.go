package main

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ubl/transport/auth"
)

// tokenCmd makes a bearer token. It needs the key alone, not a server; tenant 0
// receipts the token at its first use.
type tokenCmd struct {
	Email       string        `arg:"" help:"Whose token; with --service, the service's maker."`
	Data        string        `default:"./ubl-data" type:"path" help:"Data directory, which holds the key." placeholder:"DIR"`
	IdentityKey string        `type:"path" help:"The key's file, instead of the one in --data." placeholder:"FILE"`
	TTL         time.Duration `name:"ttl" default:"12h" help:"How long it holds."`
	Service     string        `help:"Make it for a service of this name, in the maker's tenant." placeholder:"NAME"`
}

// Run prints the token and nothing else.
func (c *tokenCmd) Run(p *program) error {
	path := c.IdentityKey
	if path == "" {
		path = keyPath(c.Data)
	}
	key, err := auth.LoadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no key at %s: \"ubl serve\" makes one at its first start; say with --data or --identity-key where it is", path)
	}
	if err != nil {
		return err
	}
	token, _, err := key.Sign(auth.TokenSpec{Email: c.Email, Service: c.Service, TTL: c.TTL, Now: p.now(), Random: p.random})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, token)
	return err
}
