package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/offer"
	"ubl/transport/envelope"
)

// trial is what a family's operations take here, and what its actor answers.
type trial struct {
	ID    string `json:"trial_id" pattern:"^x:[a-z]+$"`
	Limit int64  `json:"limit,omitempty" minimum:"1" maximum:"9"`
	All   bool   `json:"all,omitempty"`
	Word  string `json:"word,omitempty" maxLength:"5"`
}

// try is the question that they are.
type try struct {
	ubl.Request
	Input trial
	Ends  bool
}

func (try) Cost() int { return 0 }

// trials is the actor: it answers what it was asked, and nothing to an end.
type trials struct {
	ubl.Asker
	asked []try
}

func (a *trials) Ask(ctx context.Context, to ubl.Name, cmd ubl.Command) (any, error) {
	c, ok := cmd.(try)
	if !ok {
		return a.Asker.Ask(ctx, to, cmd)
	}
	a.asked = append(a.asked, c)
	if to != ubl.Name("t:acme.com|"+c.Input.ID) {
		return nil, ubl.Errorf(ubl.CodeInternal, "asked the wrong actor")
	}
	if c.Ends {
		return nil, nil
	}
	return &c.Input, nil
}

// offering is a server with a family's operations.
func offering(t *testing.T) (*server, *trials) {
	ask := func(ends bool) func(ubl.Request, trial) (ubl.Name, ubl.Command) {
		return func(req ubl.Request, in trial) (ubl.Name, ubl.Command) {
			return ubl.Name(string(req.Who.TenantID) + "|" + in.ID), try{req, in, ends}
		}
	}
	s := newServer(t,
		offer.Of[trial, trial](offer.Operation{Method: "GET", Path: "/trials/{trialId}", Tool: "trial.get", Summary: "Look at a trial"}, ask(false)),
		offer.Of[trial, struct{}](offer.Operation{Method: "POST", Path: "/trials/{trialId}/end", Tool: "trial.end", Summary: "End a trial", More: "For good.",
			Counts: ubl.Sends, Creates: true, Location: "/trials/{trialId}", Sensitive: true, Destroys: true}, ask(true)))
	a := &trials{Asker: s.api.Asker}
	s.api.Asker = a
	return s, a
}

// TestOffered: what a family's operation takes comes from the path, the query of a GET and
// the body, with its types, and is checked as it is described.
func TestOffered(t *testing.T) {
	s, a := offering(t)
	const get, end = "GET /api/trials/", "POST /api/trials/"
	for _, c := range []struct {
		request, body string
		want          trial
		key           string
	}{
		{get + "x:a", "", trial{ID: "x:a"}, "req:1234"},
		{get + "x%3Aa?limit=3&all=true&word=7", "", trial{"x:a", 3, true, "7"}, "req:1234"},
		{get + "x:a?limit=%2B03&all=1", "", trial{ID: "x:a", Limit: 3, All: true}, "req:1234"},
		{end + "x:a/end", ``, trial{ID: "x:a"}, "req:1234"},
		{end + "x:a/end", `{"limit":9,"word":"é","client_request_id":"k"}`, trial{ID: "x:a", Limit: 9, Word: "é"}, "k"},
	} {
		a.asked = nil
		method, target, _ := strings.Cut(c.request, " ")
		w := s.do(method, target, c.body)
		if len(a.asked) != 1 || a.asked[0].Input != c.want || a.asked[0].Key != c.key || a.asked[0].Who.UserID != ana.UserID {
			t.Errorf("%s %s asks %+v", c.request, c.body, a.asked)
		}
		if want := map[string]int{"GET": 200, "POST": 201}[method]; w.Code != want || !strings.Contains(w.Body.String(), `"request_id":"req:1234"`) ||
			strings.Contains(w.Body.String(), `"trial_id":"x:a"`) != (method == "GET") {
			t.Errorf("%s %s is answered %d %s", c.request, c.body, w.Code, w.Body)
		}
		if want := map[string]string{"POST": "/api/trials/x:a"}[method]; w.Header().Get("Location") != want {
			t.Errorf("%s %s: Location is %q", c.request, c.body, w.Header().Get("Location"))
		}
	}
	for request, at := range map[string]string{
		get + "X": "path.trialId", get + "x:a?limit=0": "query.limit", get + "x:a?limit=some": "query.limit", get + "x:a?all=maybe": "query.all",
		get + "x:a?word=longer": "query.word", get + "x:a?more=1": "query.more", get + "x:a?limit=1&limit=2": "query.limit",
		end + `x:a/end {"limit":"3"}`: "body.limit", end + `x:a/end {"trial_id":"x:b"}`: "body.trial_id", end + `x:a/end {"words":"a"}`: "body.words",
		end + `x:a/end {"limit":1,"limit":2}`: "body", end + "x:a/end {": "body", end + `x:a/end {"client_request_id":""}`: "body.client_request_id",
	} {
		a.asked = nil
		method, rest, _ := strings.Cut(request, " ")
		target, body, _ := strings.Cut(rest, " ")
		w := s.do(method, target, body)
		var got envelope.ErrorBody
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusBadRequest || got.Error.Details[at] == "" || len(a.asked) > 0 {
			t.Errorf("%s is answered %d %s, want %s (%v)", request, w.Code, w.Body, at, err)
		}
	}
}

// TestOfferedAsDescribed: two operations that take and answer the same type are described
// alike each time, and each by its own.
func TestOfferedAsDescribed(t *testing.T) {
	s, _ := offering(t)
	for range 5 {
		if again, _ := offering(t); string(again.api.spec()) != string(s.api.spec()) {
			t.Fatal("two servers describe themselves in two ways")
		}
	}
	var doc struct {
		Paths      map[string]map[string]struct{ Parameters []struct{ Name string } }
		Components struct {
			Schemas map[string]struct{ Required []string }
		}
	}
	if err := json.Unmarshal(s.api.spec(), &doc); err != nil {
		t.Fatal(err)
	}
	var takes []string
	for _, p := range doc.Paths["/api/trials/{trialId}"]["get"].Parameters {
		takes = append(takes, p.Name)
	}
	if want := []string{"all", "limit", "trialId", "word"}; !slices.Equal(takes, want) {
		t.Errorf("a look takes %q, want %q", takes, want)
	}
	for tool, want := range map[string][]string{"trial.get": {"trial_id", "request_id", "server_time"}, "trial.end": {"request_id", "server_time"}} {
		if got := doc.Components.Schemas[tool+".answer"].Required; !slices.Equal(got, want) {
			t.Errorf("%s answers with %q, want %q", tool, got, want)
		}
	}
}

// TestOfferedAsTools: a family's operations are tools with the same answers, and as
// sensitive as it says.
func TestOfferedAsTools(t *testing.T) {
	s, a := offering(t)
	look, end := s.act(t, "trial.get"), s.act(t, "trial.end")
	if !look.ReadOnly || end.ReadOnly || !end.Destructive || end.Description != "For good." || look.Description != "Look at a trial." {
		t.Errorf("the tools are %+v and %+v", look, end)
	}
	for args, want := range map[string]ubl.Code{
		`{"trial_id":"x:a","limit":3,"all":true,"word":"w"}`: "", `{}`: ubl.CodeValidation, `{"trial_id":"x:a","limit":10}`: ubl.CodeValidation, `{"trial_id":"x:a","limit":"3"}`: ubl.CodeValidation,
	} {
		for _, act := range []envelope.Act{look, end} {
			a.asked = nil
			out, err := act.Do(anaActs(), json.RawMessage(args))
			if ubl.CodeOf(err) != want || want == "" && (a.asked[0].Input != trial{"x:a", 3, true, "w"} || act.ReadOnly != strings.Contains(string(out), `"word":"w"`)) {
				t.Errorf("%s %s: %s, %v, and asks %+v", act.Name, args, out, err, a.asked)
			}
		}
	}
	for who, c := range people() {
		c.Identity = ana
		let(c, ubl.RoleOwner)
		_, err := end.Do(acting(c), json.RawMessage(`{"trial_id":"x:a"}`))
		if asked := who == "stale" || who == "unknown"; asked != (ubl.CodeOf(err) == ubl.CodeConfirmation) {
			t.Errorf("%s: %v", who, err)
		}
	}
}
