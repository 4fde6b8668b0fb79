package main

import (
	"cmp"
	"errors"
	"fmt"

	"ubl/transport/auth"
)

// secretVariable holds the secret of the client that the flags name.
const secretVariable = "UBL_OIDC_CLIENT_SECRET"

// maxSecret bounds a client's secret, in bytes.
const maxSecret = 4096

// oidcFlags say which OpenID Connect providers are trusted. Where people sign in
// at several of them, those are the section oidc of the YAML file.
type oidcFlags struct {
	OIDCIssuer           []string `name:"oidc-issuer" help:"OpenID Connect provider whose tokens are accepted; may be repeated." placeholder:"URL"`
	OIDCAudience         []string `name:"oidc-audience" help:"Audience that a provider's tokens must have: one for all, or one for each." placeholder:"AUD"`
	OIDCTrustedDomain    []string `name:"oidc-trusted-domain" help:"Mail domain for which providers need not say email_verified; may be repeated." placeholder:"DOMAIN"`
	OIDCDomain           []string `name:"oidc-domain" help:"Mail domain that providers are believed about, and no other; may be repeated. Without it, all." placeholder:"DOMAIN"`
	OIDCClientID         string   `name:"oidc-client-id" help:"What the one --oidc-issuer knows this server as: people sign in there from their browser." placeholder:"ID"`
	OIDCClientSecretFile string   `name:"oidc-client-secret-file" type:"path" help:"File with that client's secret; else it is the variable UBL_OIDC_CLIENT_SECRET, or there is none." placeholder:"FILE"`
}

// check refuses flags that don't go together.
func (f *oidcFlags) check() error {
	issuers, audiences := len(f.OIDCIssuer), len(f.OIDCAudience)
	switch {
	case f.OIDCClientID != "" && issuers != 1:
		return usagef("--oidc-client-id goes with one --oidc-issuer; several stand in the section oidc of the YAML file")
	case f.OIDCClientID == "" && f.OIDCClientSecretFile != "":
		return usagef("--oidc-client-secret-file goes with --oidc-client-id")
	case f.OIDCClientID != "" && audiences == 0: // its own
	case issuers != audiences && audiences != 1 || audiences > 0 && issuers == 0:
		return usagef("give one --oidc-audience for all issuers, or one for each --oidc-issuer")
	}
	return nil
}

// oidcProvider is one of the section oidc of the YAML file.
type oidcProvider struct {
	Issuer string `yaml:"issuer"`
	// Audience must be among those of tokens that programs send: the client id,
	// where it is empty.
	Audience       string   `yaml:"audience"`
	TrustedDomains []string `yaml:"trusted-domains"`
	// Domains are the only mail domains that the provider is believed about; empty
	// for all, but not for operators' where there are several providers.
	Domains []string `yaml:"domains"`
	// ClientID is what the provider knows this server as; without one nobody signs
	// in there from a browser. Its secret is in a file, or in an environment
	// variable, or there is none.
	ClientID       string `yaml:"client-id"`
	SecretFile     string `yaml:"client-secret-file"`
	SecretVariable string `yaml:"client-secret-variable"`
}

// providers are those of the flags, then those of the file: the first one's
// subjects keep their names as user ids.
func (f *oidcFlags) providers(p *program) []oidcProvider {
	var out []oidcProvider
	for i, u := range f.OIDCIssuer {
		o := oidcProvider{Issuer: u, TrustedDomains: f.OIDCTrustedDomain, Domains: f.OIDCDomain, ClientID: f.OIDCClientID, SecretFile: f.OIDCClientSecretFile}
		if n := len(f.OIDCAudience); n > 0 {
			o.Audience = f.OIDCAudience[min(i, n-1)]
		}
		if o.ClientID != "" && o.SecretFile == "" && p.env[secretVariable] != "" {
			o.SecretVariable = secretVariable
		}
		out = append(out, o)
	}
	return append(out, p.oidc...)
}

// issuers are the providers with their secrets.
func (f *oidcFlags) issuers(p *program) ([]auth.Issuer, error) {
	var out []auth.Issuer
	for _, o := range f.providers(p) {
		secret, err := o.secret(p.env)
		if err != nil {
			return nil, fmt.Errorf("couldn't use the client of %s: %w", o.Issuer, err)
		}
		out = append(out, auth.Issuer{
			URL: o.Issuer, Audience: cmp.Or(o.Audience, o.ClientID), TrustedDomains: o.TrustedDomains, Domains: o.Domains,
			ClientID: o.ClientID, ClientSecret: secret,
		})
	}
	return out, nil
}

// issuerURLs names them to programs that look for where to sign in.
func (f *oidcFlags) issuerURLs(p *program) []string {
	var out []string
	for _, o := range f.providers(p) {
		out = append(out, o.Issuer)
	}
	return out
}

// validate refuses what makes no sense, and names the place.
func (o *oidcProvider) validate() error {
	switch {
	case o.Issuer == "":
		return errors.New("issuer: missing")
	case o.Audience == "" && o.ClientID == "":
		return errors.New("give an audience, a client-id, or both")
	case o.ClientID == "" && o.SecretFile+o.SecretVariable != "":
		return errors.New("a secret goes with a client-id")
	case o.SecretFile != "" && o.SecretVariable != "":
		return errors.New("client-secret-file and client-secret-variable: give one of them")
	}
	return nil
}

// secret reads the client's, "" where it has none.
func (o *oidcProvider) secret(env map[string]string) (string, error) {
	if o.SecretFile == "" && o.SecretVariable == "" {
		return "", nil
	}
	return credential(env, o.SecretFile, o.SecretVariable, "the client's secret as the provider gave it, on one line")
}

// takeOIDC takes the section oidc out of the YAML file.
func takeOIDC(file map[string]any) (list []oidcProvider, err error) {
	if err := takeSection(file, "oidc", &list); err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].validate(); err != nil {
			return nil, fmt.Errorf("the YAML file's oidc[%d]: %w", i, err)
		}
	}
	return list, nil
}
