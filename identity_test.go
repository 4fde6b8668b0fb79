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

func TestTenantFor(t *testing.T) {
	operators := []string{"root@example.com", "kim@example.com", ""}
	personal := ubl.PersonalTenant("u:ana")
	for _, c := range []struct {
		name, email string
		want        ubl.TenantID
	}{
		{"a company's user", "ana@Example.com", "t:example.com"},
		{"the default owner", "owner@localhost", "t:localhost"},
		{"an operator", "root@example.com", ubl.CoreTenant},
		{"an operator in capitals", "ROOT@EXAMPLE.COM", ubl.CoreTenant},
		{"an operator's look-alike", "\u212Aim@example.com", "t:example.com"},
		{"a user of a public provider", "ana@gmail.com", personal},
		{"the same with a capital", "ana@GMail.com", personal},
		{"a domain that names tenant 0", "ana@ubl_core", ""},
		{"a domain that names a personal tenant", "eve@" + string(personal[2:]), ""},
		{"no address", "", ""},
		{"no domain", "ana", ""},
	} {
		if got := ubl.TenantFor("u:ana", c.email, operators); got != c.want {
			t.Errorf("%s: TenantFor(%q) = %q, want %q", c.name, c.email, got, c.want)
		}
	}
	if ubl.PersonalTenant("u:eve") == personal || !personal.Valid() {
		t.Error("two users share a personal tenant")
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
