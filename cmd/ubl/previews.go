package main

import (
	"log/slog"
	"net/netip"
	"net/url"

	"ubl/portal"
	"ubl/preview"
	"ubl/transport/api"
)

// previewFlags say whether pages that messages link to are fetched, and from where.
type previewFlags struct {
	LinkPreviews bool     `default:"true" negatable:"" help:"Show what pages are about that messages link to: the server fetches them from public addresses."`
	PreviewAllow []string `help:"Private network that such pages are fetched from, too, for everybody who can send a message; may be repeated." placeholder:"NETWORK"`
}

// networks are the private ones.
func (f *previewFlags) networks() (list []netip.Prefix, err error) {
	for _, s := range f.PreviewAllow {
		network, err := netip.ParsePrefix(s)
		if err == nil {
			err = portal.CheckNetwork(network)
		}
		if err != nil {
			return nil, usagef("--preview-allow: %v", err)
		}
		list = append(list, network)
	}
	return list, nil
}

// previews fetches previews for a node; nil where the operator wants none.
func (c *serveCmd) previews(p *program, n *node, f *front, log *slog.Logger) (api.Previews, error) {
	if !c.LinkPreviews {
		return nil, nil
	}
	allowed, err := c.previewFlags.networks()
	if err != nil {
		return nil, err
	}
	own, err := url.Parse(f.at)
	if err != nil {
		return nil, err
	}
	return preview.New(preview.Options{
		Transport: f.agents.portal.PublicTransport(allowed), Own: own.Host, Now: p.now, Log: log, Panics: n.panics,
	}), nil
}
