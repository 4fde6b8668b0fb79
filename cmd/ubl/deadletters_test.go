package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDeadLetters lists, redrives and discards those of the caller's tenant, and as an operator
// those of others.
func TestDeadLetters(t *testing.T) {
	const letter = `{"tenant_id":"t:acme.com","kind":"alarm","subject":"r:general","key":"retention","attempts":20,"code":"internal","since":"2026-11-21T09:00:00.000Z"}`
	asked := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked += fmt.Sprintln(r.Method, r.URL, string(body))
		if r.URL.Query().Has("pending") {
			fmt.Fprintf(w, `{"dead_letters":[%s]}`, strings.Replace(letter, `"attempts":20`, `"next":"2026-11-21T09:08:32.000Z","attempts":3`, 1))
		} else if r.Method == "GET" {
			fmt.Fprintf(w, `{"dead_letters":[%s]}`, letter)
		} else {
			fmt.Fprint(w, `{"redriven":true}`)
		}
	}))
	defer s.Close()
	for _, test := range []struct {
		args []string
		out  string
	}{
		{[]string{"list"}, "KIND   KEY        SUBJECT    TENANT      ATTEMPTS  LAST ERROR  SINCE\n" +
			"alarm  retention  r:general  t:acme.com  20        internal    2026-11-21 09:00 UTC\n"},
		{[]string{"list", "--all", "--json"}, letter + "\n"},
		{[]string{"redrive", "retention", "r:general"}, "retention of r:general is tried again.\n"},
		{[]string{"redrive", "retention", "r:general", "t:far.com", "--json"}, `{"redriven":true}` + "\n"},
		{[]string{"list", "--pending", "--tenant", "t:acme.com"}, "KIND   KEY        SUBJECT    TENANT      ATTEMPTS  LAST ERROR  SINCE                 NEXT TRY\n" +
			"alarm  retention  r:general  t:acme.com  3         internal    2026-11-21 09:00 UTC  2026-11-21 09:08 UTC\n"},
		{[]string{"discard", "retention", "r:general"}, "retention of r:general is given up.\n"},
	} {
		if code, out, errs := run(t, s.URL, "", append([]string{"deadletters"}, test.args...)...); code != 0 || out != test.out {
			t.Errorf("%q: exit code %d, %s\n%s", test.args, code, errs, out)
		}
	}
	const want = "GET /api/dead-letters \nGET /api/dead-letters?all=true \n" +
		`POST /api/dead-letters/redrive {"key":"retention","subject":"r:general"}` + "\n" +
		`POST /api/dead-letters/redrive {"key":"retention","subject":"r:general","tenant_id":"t:far.com"}` + "\n" +
		"GET /api/dead-letters?pending=true&tenant_id=t%3Aacme.com \n" +
		`POST /api/dead-letters/discard {"key":"retention","subject":"r:general"}` + "\n"
	if asked != want {
		t.Errorf("asked was\n%s", asked)
	}
}
