package ubl_test

import (
	"strings"
	"testing"
	"time"

	"ubl"
)

func TestEmailDomain(t *testing.T) {
	for email, want := range map[string]string{
		"ana@Example.COM":                 "example.com",
		"owner@localhost":                 "localhost",
		`"a@b"@example.com`:               "example.com",
		"":                                "",
		"example.com":                     "",
		"@example.com":                    "",
		"ana@":                            "",
		"ana@exa mple.com":                "",
		"ana@exämple.com":                 "",
		"ana@\u212Aim.example":            "", // the Kelvin sign lower-cases to k
		"ana@example.com.":                "", // else gmail.com. would not be gmail.com
		"ana@.example.com":                "",
		"ana@example..com":                "",
		"ana@example.com|r:x":             "",
		"ana@xn--exmple-cua.de":           "xn--exmple-cua.de",
		"ana@" + strings.Repeat("a", 129): "",
	} {
		if got := ubl.EmailDomain(email); got != want {
			t.Errorf("EmailDomain(%q) = %q, want %q", email, got, want)
		}
	}
}

// TestDomainTenant: no domain names tenant 0 or somebody's own tenant.
func TestDomainTenant(t *testing.T) {
	personal := ubl.PersonalTenant("u:ana")
	for domain, want := range map[string]ubl.TenantID{
		"example.com": "t:example.com", "localhost": "t:localhost", "gmail.com": "t:gmail.com",
		"ubl_core": "", string(personal[2:]): "", "": "", "Example.com": "", "example..com": "",
	} {
		if got := ubl.DomainTenant(domain); got != want {
			t.Errorf("DomainTenant(%q) = %q, want %q", domain, got, want)
		}
	}
	if ubl.PersonalTenant("u:eve") == personal || !personal.Valid() {
		t.Error("two users share a personal tenant")
	}
}

func TestParseDomain(t *testing.T) {
	for given, want := range map[string][2]string{
		"example.com": {"example.com", "t:example.com"}, "Example.COM": {"example.com", "t:example.com"},
		"example.org=t:acme": {"example.org", "t:acme"}, "localhost": {"localhost", "t:localhost"},
	} {
		domain, tenant, err := ubl.ParseDomain(given)
		if domain != want[0] || string(tenant) != want[1] || err != nil {
			t.Errorf("ParseDomain(%q) = %q, %q, %v", given, domain, tenant, err)
		}
	}
	for _, bad := range []string{"", "=t:acme", "ana@example.com", "example.com=", "example.com=acme", "example.com=t:ubl_core",
		"ubl_core", "u.0123456789abcdef", "example..com", "exämple.com", "example.com=t:a=b"} {
		if domain, tenant, err := ubl.ParseDomain(bad); ubl.CodeOf(err) != ubl.CodeValidation {
			t.Errorf("ParseDomain(%q) = %q, %q, %v", bad, domain, tenant, err)
		}
	}
}

func TestTimes(t *testing.T) {
	at := ubl.TimeOf(time.Date(2026, 1, 7, 12, 34, 56, 789_999_999, time.FixedZone("", 3600)))
	const want = "2026-01-07T11:34:56.789Z"
	if at.String() != want {
		t.Errorf("time = %s, want %s", at, want)
	}
	var back ubl.Time
	if err := back.UnmarshalText([]byte(want)); err != nil || back != at {
		t.Errorf("read back %s, %v", back, err)
	}
	if got := at.Add(1500 * time.Millisecond).String(); got != "2026-01-07T11:34:58.289Z" {
		t.Errorf("1.5 s later = %s", got)
	}
	for _, bad := range []string{
		"", "2026-01-07", "2026-01-07T11:34:56Z", "2026-01-07T11:34:56.7890Z", "2026-01-07T11:34:56,789Z",
		"2026-01-07T9:34:56.789Z", "2026-01-07T11:34:56.789+00:00", "2026-02-30T11:34:56.789Z", " " + want,
	} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, back)
		}
	}
}
