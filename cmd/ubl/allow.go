package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"ubl"
	"ubl/portal"
)

// allowFlags say in which networks, on this machine and private ones, the servers of
// tools of a tenant may be. The YAML file's section portal may say more.
type allowFlags struct {
	PortalAllow []string `help:"Private network that a tenant's servers of tools may be in, as t:example.com=10.1.0.0/16, *=10.2.0.0/16 for every tenant; may be repeated." placeholder:"TENANT=NETWORK"`
}

// portalSection is the section portal of the YAML file.
type portalSection struct {
	Allow    []allowance               `yaml:"allow"`
	Commands map[string]commandSection `yaml:"commands"`
}

// allowance is a network that the servers of a tenant may be in, of all with "*".
type allowance struct {
	Tenant  string `yaml:"tenant"`
	Network string `yaml:"network"`
}

// anyTenant stands for all of them.
const anyTenant = "*"

func (a allowance) parse() (netip.Prefix, error) {
	if a.Tenant != anyTenant && !ubl.TenantID(a.Tenant).Valid() {
		return netip.Prefix{}, fmt.Errorf("tenant: an id, as t:example.com, or * for every tenant")
	}
	network, err := netip.ParsePrefix(a.Network)
	if err == nil {
		err = portal.CheckNetwork(network)
	}
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("network: %w", err)
	}
	return network, nil
}

// takePortal takes the section portal out of the YAML file.
func takePortal(file map[string]any) (s portalSection, err error) {
	if err := takeSection(file, "portal", &s); err != nil {
		return s, err
	}
	for i, a := range s.Allow {
		if _, err := a.parse(); err != nil {
			return s, fmt.Errorf("the YAML file's portal.allow[%d].%w", i, err)
		}
	}
	return s, checkNames(s.Commands)
}

func (f *allowFlags) check() error {
	for _, s := range f.PortalAllow {
		tenant, network, _ := strings.Cut(s, "=")
		if _, err := (allowance{tenant, network}).parse(); err != nil {
			return usagef("--portal-allow is TENANT=NETWORK: %v", err)
		}
	}
	return nil
}

// networks lists those that a tenant's servers may be in. The operators' and the
// owner's may be everywhere; whoever else can sign in has a tenant too.
func (c *serveCmd) networks(p *program) func(ubl.TenantID) []netip.Prefix {
	allowed := slices.Clone(p.portal.Allow)
	for _, s := range c.PortalAllow {
		tenant, network, _ := strings.Cut(s, "=")
		allowed = append(allowed, allowance{tenant, network})
	}
	of := make(map[string][]netip.Prefix)
	for _, a := range allowed {
		if network, err := a.parse(); err == nil { // they were checked
			of[a.Tenant] = append(of[a.Tenant], network)
		}
	}
	return func(t ubl.TenantID) []netip.Prefix {
		if c.trusted(t) {
			return portal.Everywhere()
		}
		return slices.Concat(of[anyTenant], of[string(t)])
	}
}
