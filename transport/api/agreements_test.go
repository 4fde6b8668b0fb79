package api

import (
	"net/http"
	"strings"
	"testing"
)

// TestListsReadNoHistories: a page of Agreements reads none, and asks for the names of
// tools alone; a page of tools reads the records of its own tools.
func TestListsReadNoHistories(t *testing.T) {
	s := newServer(t)
	for path, check := range map[string]func(asked string) bool{
		"/api/agreements": func(asked string) bool {
			reads := strings.Contains(asked, " GetAgreement{") || strings.Contains(asked, " ListToolAccess{")
			return !reads || strings.Contains(asked, "Brief:true")
		},
		"/api/portal/tools?limit=1": func(asked string) bool {
			return !strings.Contains(asked, " ListToolAccess{") || strings.Contains(asked, `Only:["agreement.accept"]`)
		},
	} {
		if w := s.do("GET", path, ""); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		asked := s.takeAsked()
		if len(asked) == 0 {
			t.Errorf("%s asks nobody", path)
		}
		for _, a := range asked {
			if !check(a) {
				t.Errorf("%s asks %s", path, a)
			}
		}
	}
}

// TestMandatesAreAgreements: the Tenant is asked for the mandate of an agent, as for any other of its
// Agreements. Nobody was, and so no mandate could be read.
func TestMandatesAreAgreements(t *testing.T) {
	s := newServer(t)
	s.do("GET", "/api/agreements/a:agent:0a1b", "")
	if asked := s.takeAsked(); len(asked) != 1 || !strings.HasPrefix(asked[0], "t:acme.com GetAgreement{") || !strings.Contains(asked[0], `"a:agent:0a1b"`) {
		t.Errorf("asked: %q", asked)
	}
}
