package actors_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ubl"
	"ubl/test/harness"
)

// trip is a form with a field of each type.
func trip() ubl.FormBody {
	one, nine, two := 1.0, 9.0, 2.0
	return ubl.FormBody{Text: "Are you coming along?", Fields: []ubl.FormField{
		{Name: "coming", Label: "Coming?", Type: ubl.FieldButton, Options: []string{"Yes", "No"}, Required: true},
		{Name: "name", Label: "Name", Type: ubl.FieldLine, Min: &two},
		{Name: "wishes", Label: "Wishes", Type: ubl.FieldText},
		{Name: "guests", Label: "Guests", Type: ubl.FieldNumber, Min: &one, Max: &nine},
		{Name: "day", Label: "Day", Type: ubl.FieldDate, From: "2026-01-01", Until: "2026-01-31"},
		{Name: "car", Label: "By car", Type: ubl.FieldYesNo},
		{Name: "meal", Label: "Meal", Type: ubl.FieldOne, Options: []string{"Soup", "Salad"}},
		{Name: "tools", Label: "Tools", Type: ubl.FieldSeveral, Options: []string{"Rope", "Axe"}, Max: &two},
	}}
}

func approval() ubl.FormBody {
	return ubl.FormBody{Text: "May I deploy?", Fields: []ubl.FormField{{Name: "answer", Label: "Deploy", Type: ubl.FieldButton, Options: []string{"Approve", "Reject"}, Required: true}}}
}

func says(values string) ubl.TypedBody { return ubl.AnswerContent(json.RawMessage(values)) }

// form posts a form.
func (x *talk) form(who ubl.Identity, b ubl.FormBody) *ubl.Entry {
	x.t.Helper()
	return x.enter(who, ubl.EntryMessage, "", ubl.FormContent(b))
}

func (x *talk) answer(who ubl.Identity, form *ubl.Entry, values string) *ubl.Entry {
	x.t.Helper()
	return x.enter(who, ubl.EntryAnswer, form.ID, says(values))
}

// answers are what somebody reads of a form, a line each.
func (x *talk) answers(who ubl.Identity, form *ubl.Entry) string {
	x.t.Helper()
	page := harness.Must[*ubl.AnswerPage](x.House, x.room, ubl.ReadAnswers{Who: who, Form: form.ID, Limit: 200})
	var lines []string
	for _, a := range page.Answers {
		lines = append(lines, fmt.Sprintf("%s %s", a.AuthorID, a.Values))
	}
	state, said := x.decode(page.Form).Form, "nobody"
	if state != nil {
		said = fmt.Sprintf("%d %v", state.Answered, state.By)
		if state.Mine != nil {
			said += " mine " + string(state.Mine.Values)
		}
	}
	return strings.Join(append(lines, said), "\n")
}

func (x *talk) answered(who ubl.Identity, form *ubl.Entry, want ...string) {
	x.t.Helper()
	if got := x.answers(who, form); got != strings.Join(want, "\n") {
		x.t.Errorf("%s reads of the form:\n%s\nwant:\n%s", who.UserID, got, strings.Join(want, "\n"))
	}
}

// kept counts the records of the room's answers.
func (x *talk) kept() (n int) {
	x.t.Helper()
	err := x.Engine.View(x.t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("O"), []byte("Q"), func(_, _ []byte) bool { n++; return true })
	})
	if err != nil {
		x.t.Fatal(err)
	}
	return n
}

// TestForm: each member's newest answer stands, and is read beside the form with the salt that opens
// the ledger's commitment. No entry has it.
func TestForm(t *testing.T) {
	x := openTalk(t)
	form := x.form(x.bob, trip())
	if !x.committed(form) {
		t.Error("the form isn't what the ledger has a commitment to")
	}
	x.answered(x.ana, form, "nobody")
	ana, bob := string(x.ana.UserID), string(x.bob.UserID)
	first := x.answer(x.ana, form, `{"coming":"No"}`)
	if string(first.Body.JSON) != "{}" || !first.Salt.IsZero() {
		t.Errorf("the entry tells %s, salt %s", first.Body.JSON, first.Salt)
	}
	full := `{"car":false,"coming":"Yes","day":"2026-01-31","guests":2.5,"meal":"Soup","name":"Bö","tools":["Axe"],"wishes":"none\nat all"}`
	x.answer(x.bob, form, full)
	x.answered(x.ana, form, ana+` {"coming":"No"}`, bob+" "+full, "2 ["+ana+" "+bob+`] mine {"coming":"No"}`)
	x.Restart()
	x.answer(x.ana, form, `{"coming":"Yes"}`)
	x.answered(x.bob, form, bob+" "+full, ana+` {"coming":"Yes"}`, "2 ["+bob+" "+ana+"] mine "+full)
	page := harness.Must[*ubl.AnswerPage](x.House, x.room, ubl.ReadAnswers{Who: x.bob, Form: form.ID, Limit: 1})
	if page.NextCursor == nil || len(page.Answers) != 1 {
		t.Fatalf("the first page is %+v", page)
	}
	for i, a := range append(page.Answers, harness.Must[*ubl.AnswerPage](x.House, x.room, ubl.ReadAnswers{Who: x.bob, Form: form.ID, After: *page.NextCursor, Limit: 1}).Answers...) {
		body := says(string(a.Values))
		of := *first
		of.Body, of.Salt, of.Receipt = &body, a.Salt, a.Receipt
		if !x.committed(&of) {
			t.Errorf("answer %d isn't what the ledger has a commitment to", i)
		}
	}
	if n := x.kept(); n != 4 {
		t.Errorf("%d records are stored, want two of each answer that stands", n)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestPrivateForm: who asks reads all answers, who answers their own, and nobody else any.
func TestPrivateForm(t *testing.T) {
	x := openTalk(t)
	harness.Must[*ubl.Member](x.House, x.room, ubl.AddMember{Request: x.Request(x.ana), Member: ubl.Member{UserID: x.cyd.UserID, Role: ubl.RoleMember}})
	b := approval()
	b.Private = true
	form := x.form(x.bob, b)
	x.answer(x.ana, form, `{"answer":"Approve"}`)
	ana := string(x.ana.UserID)
	x.answered(x.bob, form, ana+` {"answer":"Approve"}`, "1 ["+ana+"]")
	x.answered(x.ana, form, ana+` {"answer":"Approve"}`, "1 ["+ana+`] mine {"answer":"Approve"}`)
	x.answered(x.cyd, form, "1 ["+ana+"]")
	for _, e := range x.entries() {
		if e.Body != nil && bytes.Contains(e.Body.JSON, []byte(`"values"`)) {
			t.Errorf("an entry tells %s", e.Body.JSON)
		}
	}
}

// TestBadForms are refused, and so are answers that a form doesn't take: neither changes anything.
func TestBadForms(t *testing.T) {
	x := openTalk(t)
	now := ubl.TimeOf(x.Clock.Now())
	hour := approval()
	hour.EndsAt = now.Add(time.Hour)
	once, others := approval(), approval()
	once.Once, others.Answerers = true, []ubl.UserID{x.bob.UserID}
	form, over, single, named, said := x.form(x.ana, trip()), x.form(x.ana, hour), x.form(x.ana, once), x.form(x.ana, others), x.say(x.ana, "hello")
	x.answer(x.bob, single, `{"answer":"Reject"}`)
	gone := x.form(x.ana, approval())
	x.enter(x.ana, ubl.EntryRedaction, gone.ID, ubl.RedactionContent(""))
	x.Clock.Add(time.Hour)
	with := func(change func(*ubl.FormBody)) ubl.PostEntry {
		b := trip()
		change(&b)
		return x.post(x.bob, ubl.EntryMessage, "", ubl.FormContent(b))
	}
	field := func(i int, change func(*ubl.FormField)) ubl.PostEntry {
		return with(func(b *ubl.FormBody) { change(&b.Fields[i]) })
	}
	n := func(v float64) *float64 { return &v }
	answer := func(values string) ubl.PostEntry { return x.post(x.bob, ubl.EntryAnswer, form.ID, says(values)) }
	before := len(x.entries())
	for name, c := range map[string]struct {
		cmd  ubl.PostEntry
		code ubl.Code
		tell string
	}{
		"no text":                {with(func(b *ubl.FormBody) { b.Text = " " }), ubl.CodeValidation, "text"},
		"no fields":              {with(func(b *ubl.FormBody) { b.Fields = nil }), ubl.CodeValidation, "fields"},
		"eleven fields":          {with(func(b *ubl.FormBody) { b.Fields = append(b.Fields, b.Fields[:3]...) }), ubl.CodeValidation, "1 to 10"},
		"a name twice":           {field(1, func(f *ubl.FormField) { f.Name = "coming" }), ubl.CodeValidation, "coming"},
		"a bad name":             {field(1, func(f *ubl.FormField) { f.Name = "Your name" }), ubl.CodeValidation, "name"},
		"an unknown type":        {field(1, func(f *ubl.FormField) { f.Type = "colour" }), ubl.CodeValidation, "type"},
		"no label":               {field(1, func(f *ubl.FormField) { f.Label = "" }), ubl.CodeValidation, "label"},
		"a choice of nothing":    {field(0, func(f *ubl.FormField) { f.Options = nil }), ubl.CodeValidation, "options"},
		"options of a line":      {field(1, func(f *ubl.FormField) { f.Options = []string{"a"} }), ubl.CodeValidation, "options"},
		"an option twice":        {field(0, func(f *ubl.FormField) { f.Options = []string{"a", "a"} }), ubl.CodeValidation, "same"},
		"bounds of a date":       {field(4, func(f *ubl.FormField) { f.Min = n(1) }), ubl.CodeValidation, "min"},
		"min above max":          {field(3, func(f *ubl.FormField) { f.Min = n(10) }), ubl.CodeValidation, "min"},
		"half a character":       {field(1, func(f *ubl.FormField) { f.Min = n(0.5) }), ubl.CodeValidation, "whole"},
		"no date":                {field(4, func(f *ubl.FormField) { f.From = "2026-02-30" }), ubl.CodeValidation, "dates"},
		"more than all":          {field(7, func(f *ubl.FormField) { f.Min, f.Max = n(3), nil }), ubl.CodeValidation, "options"},
		"an end that is over":    {with(func(b *ubl.FormBody) { b.EndsAt = now }), ubl.CodeValidation, "ends_at"},
		"a stranger asked":       {with(func(b *ubl.FormBody) { b.Answerers = []ubl.UserID{x.cyd.UserID} }), ubl.CodeValidation, "answerers"},
		"somebody asked twice":   {with(func(b *ubl.FormBody) { b.Answerers = []ubl.UserID{x.bob.UserID, x.bob.UserID} }), ubl.CodeValidation, "answerers"},
		"nothing required":       {answer(`{}`), ubl.CodeValidation, `values.coming is missing: it has to be one of ["Yes","No"]`},
		"no values":              {x.post(x.bob, ubl.EntryAnswer, form.ID, ubl.KeptAnswerContent()), ubl.CodeValidation, "values are missing"},
		"no such option":         {answer(`{"coming":"Perhaps"}`), ubl.CodeValidation, `values.coming is not one of ["Yes","No"]`},
		"a short line":           {answer(`{"coming":"No","name":"B"}`), ubl.CodeValidation, "values.name is not a line of text, up to 300 characters, at least 2 characters"},
		"two lines":              {answer(`{"coming":"No","name":"B\nC"}`), ubl.CodeValidation, "values.name"},
		"a long text":            {answer(`{"coming":"No","wishes":"` + strings.Repeat("a", 4001) + `"}`), ubl.CodeValidation, "values.wishes is not a text of up to 4000 characters"},
		"too many":               {answer(`{"coming":"No","guests":10}`), ubl.CodeValidation, "values.guests is not a number, from 1 to 9"},
		"a number in words":      {answer(`{"coming":"No","guests":"2"}`), ubl.CodeValidation, "values.guests"},
		"too late a day":         {answer(`{"coming":"No","day":"2026-02-01"}`), ubl.CodeValidation, "values.day is not a date like 2026-01-31 from 2026-01-01 on until 2026-01-31"},
		"neither yes nor no":     {answer(`{"coming":"No","car":null}`), ubl.CodeValidation, "values.car is not true or false"},
		"an option twice chosen": {answer(`{"coming":"No","tools":["Axe","Axe"]}`), ubl.CodeValidation, "values.tools is not a list"},
		"no field":               {answer(`{"coming":"No","shoe":1}`), ubl.CodeValidation, "its fields are coming, name"},
		"no object":              {answer(`[1]`), ubl.CodeValidation, "form of its content_type"},
		"an answer to a message": {x.post(x.bob, ubl.EntryAnswer, said.ID, says(`{}`)), ubl.CodeConflict, "not a form"},
		"a second one":           {x.post(x.bob, ubl.EntryAnswer, single.ID, says(`{"answer":"Approve"}`)), ubl.CodeConflict, "one answer of each"},
		"behind the end":         {x.post(x.bob, ubl.EntryAnswer, over.ID, says(`{"answer":"Approve"}`)), ubl.CodeConflict, "until"},
		"who isn't asked":        {x.post(x.ana, ubl.EntryAnswer, named.ID, says(`{"answer":"Approve"}`)), ubl.CodeForbidden, "others"},
		"what is gone":           {x.post(x.bob, ubl.EntryAnswer, gone.ID, says(`{"answer":"Approve"}`)), ubl.CodeConflict, "redacted"},
		"an edit":                {x.post(x.ana, ubl.EntryEdit, form.ID, ubl.TextContent("else")), ubl.CodeConflict, "edited"},
		"a stranger's answer":    {x.post(x.cyd, ubl.EntryAnswer, form.ID, says(`{"coming":"No"}`)), ubl.CodeNotAMember, ""},
	} {
		if _, err := x.Ask(t.Context(), x.room, c.cmd); ubl.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.tell) {
			t.Errorf("%s: %v, want %s and %q", name, err, c.code, c.tell)
		}
	}
	if n := len(x.entries()); n != before {
		t.Errorf("%d entries came of that", n-before)
	}
	if _, err := x.Ask(t.Context(), x.room, ubl.ReadAnswers{Who: x.bob, Form: said.ID}); ubl.CodeOf(err) != ubl.CodeNotFound {
		t.Errorf("answers to a message: %v", err)
	}
	if _, err := x.Ask(t.Context(), x.room, ubl.ReadAnswers{Who: x.cyd, Form: form.ID}); ubl.CodeOf(err) != ubl.CodeNotAMember {
		t.Errorf("answers for a stranger: %v", err)
	}
}

// TestFormAsksByName: it is for those whom it names as if it mentioned them.
func TestFormAsksByName(t *testing.T) {
	x := openTalk(t)
	b := approval()
	b.Answerers = []ubl.UserID{x.bob.UserID}
	form := x.form(x.ana, b)
	x.answer(x.bob, form, `{"answer":"Approve"}`)
	x.answered(x.ana, form, string(x.bob.UserID)+` {"answer":"Approve"}`, "1 ["+string(x.bob.UserID)+"]")
}

// TestRedactedForm: a redaction takes the form and all answers.
func TestRedactedForm(t *testing.T) {
	x := openTalk(t)
	form := x.form(x.bob, approval())
	x.answer(x.ana, form, `{"answer":"Approve"}`)
	x.answer(x.bob, form, `{"answer":"Reject"}`)
	x.enter(x.bob, ubl.EntryRedaction, form.ID, ubl.RedactionContent(""))
	if n := x.kept(); n != 0 {
		t.Errorf("%d records of answers are left", n)
	}
	page := harness.Must[*ubl.HistoryPage](x.House, x.room, ubl.ReadHistory{Who: x.bob, Limit: 200, Entries: true, Now: true})
	for _, raw := range page.Entries {
		if bytes.Contains(raw, []byte("deploy")) || bytes.Contains(raw, []byte("Approve")) {
			t.Errorf("left of the form: %s", raw)
		}
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestFormGrowsOld: retention takes a form with its answers.
func TestFormGrowsOld(t *testing.T) {
	x := openAging(t, harness.Options{})
	posted := harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryMessage, Body: ubl.FormContent(approval())})
	var form ubl.Entry
	if err := json.Unmarshal(posted.Entry, &form); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{"Approve", "Reject"} {
		harness.Must[*ubl.Posted](x.House, x.room, ubl.PostEntry{Request: x.Request(x.ana), Type: ubl.EntryAnswer, Target: form.ID, Body: ubl.AnswerContent(json.RawMessage(`{"answer":"` + says + `"}`))})
	}
	x.keep(1)
	x.pass(25 * time.Hour)
	x.pass(2 * time.Hour)
	err := x.Engine.View(t.Context(), x.room.Group(), func(snap ubl.Snapshot) error {
		return snap.Ascend([]byte("O"), []byte("Q"), func(k, _ []byte) bool { t.Errorf("retention leaves %q", k); return true })
	})
	if err != nil {
		t.Error(err)
	}
	x.VerifyLedger(x.ana.TenantID)
}

// TestFormAnswers: for random histories the answers are each person's newest that the form took,
// after a restart too.
func TestFormAnswers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := openTalk(t)
		b := approval()
		b.Once, b.Private = rapid.Bool().Draw(rt, "once"), rapid.Bool().Draw(rt, "private")
		form := x.form(x.ana, b)
		var people []ubl.UserID
		newest := map[ubl.UserID]string{}
		for range rapid.IntRange(0, 8).Draw(rt, "steps") {
			who := rapid.SampledFrom([]ubl.Identity{x.ana, x.bob, x.cyd}).Draw(rt, "who")
			values := rapid.SampledFrom([]string{`{"answer":"Approve"}`, `{"answer":"Reject"}`, `{"answer":"Perhaps"}`, `{}`}).Draw(rt, "values")
			if _, err := x.Ask(t.Context(), x.room, x.post(who, ubl.EntryAnswer, form.ID, says(values))); err == nil {
				people = append(slices.DeleteFunc(people, func(u ubl.UserID) bool { return u == who.UserID }), who.UserID)
				newest[who.UserID] = values
			}
		}
		if rapid.Bool().Draw(rt, "restart") {
			x.Restart()
		}
		var want []string
		for _, user := range people {
			want = append(want, fmt.Sprintf("%s %s", user, newest[user]))
		}
		last := "nobody"
		if len(people) > 0 {
			last = fmt.Sprintf("%d %v", len(people), people)
			if mine := newest[x.ana.UserID]; mine != "" {
				last += " mine " + mine
			}
		}
		if got := x.answers(x.ana, form); got != strings.Join(append(want, last), "\n") {
			rt.Errorf("ana reads:\n%s\nwant:\n%s\n%s", got, strings.Join(want, "\n"), last)
		}
		if n := x.kept(); n != 2*len(people) {
			rt.Errorf("%d records are kept", n)
		}
	})
}

// TestAnswerCrash: the node is gone at the commit of an answer that replaces another, before and after
// it is durable. After a restart one of both stands, whole.
func TestAnswerCrash(t *testing.T) {
	for _, durable := range []bool{false, true} {
		t.Run(fmt.Sprint("durable ", durable), func(t *testing.T) {
			d := newDying(1, durable)
			x := openTalkIn(t, harness.Options{Wrap: d.wrap})
			form := x.form(x.ana, approval())
			x.answer(x.bob, form, `{"answer":"Approve"}`)
			cmd := x.post(x.bob, ubl.EntryAnswer, form.ID, says(`{"answer":"Reject"}`))
			d.dies(t, x.House, func() { _, _ = x.Ask(t.Context(), x.room, cmd) })
			want := "Approve"
			if durable {
				want = "Reject"
			}
			bob := string(x.bob.UserID)
			x.answered(x.ana, form, bob+` {"answer":"`+want+`"}`, "1 ["+bob+"]")
			harness.Must[*ubl.Posted](x.House, x.room, cmd)
			x.answered(x.ana, form, bob+` {"answer":"Reject"}`, "1 ["+bob+"]")
			x.VerifyLedger(x.ana.TenantID)
		})
	}
}
