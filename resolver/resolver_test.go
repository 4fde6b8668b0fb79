package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"ubl"
	"ubl/test/nameserver"
)

func start(t *testing.T, spoil func(*dns.Msg, bool)) (*nameserver.Server, *Resolver) {
	t.Helper()
	s, err := nameserver.Start(spoil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	r := New(s.Addr)
	r.timeout = patience
	return s, r
}

// patience is how long a question may take in tests that aren't about that.
const patience = time.Minute

func set(t *testing.T, s *nameserver.Server, name string, records ...string) {
	t.Helper()
	if err := s.Set(name, records...); err != nil {
		t.Fatal(err)
	}
}

// TestTXT reads what stands at the very name: in one piece, however long, and nothing
// from an alias, a name below or a name above.
func TestTXT(t *testing.T) {
	s, r := start(t, nil)
	long := strings.Repeat("x", 200)
	set(t, s, "_c.corp.example", `TXT "one"`, `TXT "in two" " pieces"`, `A 127.0.0.1`)
	set(t, s, "empty.corp.example", `A 127.0.0.1`)
	many := make([]string, 60)
	for i := range many {
		many[i] = fmt.Sprintf(`TXT "%02d%s"`, i, long)
	}
	set(t, s, "many.corp.example", many...)
	for name, want := range map[string][]string{
		"_c.corp.example": {"one", "in two pieces"}, "_C.Corp.Example": {"one", "in two pieces"}, "_c.corp.example.": {"one", "in two pieces"},
		"corp.example": nil, "sub._c.corp.example": nil, "empty.corp.example": nil,
	} {
		got, err := r.TXT(t.Context(), name)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if got, err := r.TXT(t.Context(), "many.corp.example"); err != nil || len(got) != 60 {
		t.Errorf("a large answer has %d records, %v", len(got), err)
	}
	set(t, s, "alias.corp.example", "CNAME _c.corp.example.")
	set(t, s, "dangling.corp.example", "CNAME nowhere.example.")
	for _, name := range []string{"alias.corp.example", "dangling.corp.example"} {
		if got, err := r.TXT(t.Context(), name); ubl.CodeOf(err) != ubl.CodeConflict || len(got) > 0 {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
}

// TestHostileAnswers: what is no answer to the question, or none at all, is none.
func TestHostileAnswers(t *testing.T) {
	foreign, err := dns.NewRR(`other.example. 60 IN TXT "one"`)
	if err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		spoil func(a *dns.Msg, tcp bool)
		code  ubl.Code
		texts int
	}{
		"another question":        {func(a *dns.Msg, _ bool) { a.Question[0].Name = "other.example." }, ubl.CodeUnavailable, 0},
		"another type":            {func(a *dns.Msg, _ bool) { a.Question[0].Qtype = dns.TypeA }, ubl.CodeUnavailable, 0},
		"a question, no answer":   {func(a *dns.Msg, _ bool) { a.Response = false }, ubl.CodeUnavailable, 0},
		"a failure":               {func(a *dns.Msg, _ bool) { a.Rcode = dns.RcodeServerFailure }, ubl.CodeUnavailable, 0},
		"always cut":              {func(a *dns.Msg, _ bool) { a.Truncated = true }, ubl.CodeUnavailable, 0},
		"another's record":        {func(a *dns.Msg, _ bool) { a.Answer = []dns.RR{foreign} }, "", 0},
		"another's record beside": {func(a *dns.Msg, _ bool) { a.Answer = append(a.Answer, foreign) }, "", 1},
		"a record elsewhere":      {func(a *dns.Msg, _ bool) { a.Extra, a.Ns, a.Answer = a.Answer, a.Answer, nil }, "", 0},
		"cut, and whole over TCP": {func(a *dns.Msg, tcp bool) {
			if a.Truncated = !tcp; a.Truncated {
				a.Answer = nil
			}
		}, "", 1},
	} {
		t.Run(what, func(t *testing.T) {
			s, r := start(t, test.spoil)
			set(t, s, "_c.corp.example", `TXT "one"`)
			got, err := r.TXT(t.Context(), "_c.corp.example")
			if ubl.CodeOf(err) != test.code || len(got) != test.texts {
				t.Errorf("it reads %q, %v", got, err)
			}
		})
	}
}

// TestSilence: a resolver that says nothing costs no more than the caller's time, and
// many who wait for it are not added to without end.
func TestSilence(t *testing.T) {
	asked := make(chan struct{}, Together)
	_, r := start(t, func(a *dns.Msg, _ bool) {
		a.Question, a.Rcode = nil, dns.RcodeRefused
		asked <- struct{}{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, Together)
	for range Together {
		go func() {
			_, err := r.TXT(ctx, "_c.corp.example")
			done <- err
		}()
	}
	for range Together {
		<-asked
	}
	if _, err := r.TXT(t.Context(), "_c.corp.example"); ubl.CodeOf(err) != ubl.CodeOverloaded {
		t.Errorf("one more is answered %v", err)
	}
	cancel()
	for range Together {
		select {
		case err := <-done:
			if ubl.CodeOf(err) != ubl.CodeUnavailable {
				t.Errorf("silence is %v", err)
			}
		case <-time.After(patience / 2): // less than a question has
			t.Fatal("a question doesn't end with its caller")
		}
	}
}

// TestNoResolver: nobody to ask is told as that.
func TestNoResolver(t *testing.T) {
	s, r := start(t, nil)
	s.Close()
	if _, err := r.TXT(t.Context(), "_c.corp.example"); ubl.CodeOf(err) != ubl.CodeUnavailable {
		t.Errorf("nobody answers %v", err)
	}
}
