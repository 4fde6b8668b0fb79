package search_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/search"
)

func (h *history) publish(id, title, content, path, metadata string) {
	h.add(ubl.DocumentChange{DocumentID: ubl.DocumentID("d:" + id), Title: title, Content: content, UpdatedAt: at("2026-05-01"), Published: &ubl.PublishedAs{
		DocumentKey: ubl.DocumentKey{Type: "pattern", ID: id}, Path: path, Metadata: json.RawMessage(metadata),
	}})
}

func at(day string) ubl.Time {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	return ubl.TimeOf(t)
}

func (h *history) ask(t testing.TB, x *search.Index, q ubl.DocumentQuery) string {
	t.Helper()
	if err := q.Check(); err != nil {
		return string(ubl.CodeOf(err))
	}
	found, err := x.Search(t.Context(), shelf, h.head(), h.tell, q, 100)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return ids(found.Matches)
}

// TestWhatAQuestionFinds: the documents that answer it come first.
func TestWhatAQuestionFinds(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	h.put("d:tls", "Renewing certificates", "How the certificate of a node is renewed: run the command a month before the old one ends.")
	h.put("d:gym", "Certificates of the gym", "The doctor signs these. We do not keep them.")
	h.put("d:how", "How we work", "How do we decide? How do we meet? We do what we say.")
	h.put("d:de", "Zertifikate erneuern", "Das Zertifikat eines Knotens wird mit dem Befehl erneuert, bevor es abläuft.")
	h.put("d:es", "Renovar", "Los certificados de los nodos se renuevan con esta orden antes de que caduquen.")
	h.put("d:ar", "الشهادات", "يتم تجديد الشهادات قبل أن تنتهي")
	h.put("d:ru", "Сертификаты", "Как обновить сертификаты на узлах.")
	for _, tt := range []struct{ question, first, why string }{
		{"How do we renew certificates?", "tls", "any of the words that tell something, in any of their forms"},
		{"renew a node's certificate", "tls", "one form or another"},
		{"Wie erneuert man Zertifikate?", "de", "stems by language"},
		{"¿Cómo se renueva un certificado?", "es", "stems by language"},
		{"تجديد الشهادة", "ar", "Arabic"},
		{"сертификаты", "ru", "other scripts by their words"},
		{"how do we", "how", "words that are common count where there are no others"},
		{`"renew certificates" nonsense`, "tls", "quotes mean nothing"},
		{"?!", "", "nothing is asked"},
		{"nonsense", "", "nothing has it"},
	} {
		got, _, _ := strings.Cut(h.ask(t, x, ubl.DocumentQuery{Query: tt.question, Any: true}), " ")
		if got != tt.first {
			t.Errorf("%q finds %q first, want %q: %s", tt.question, got, tt.first, tt.why)
		}
	}
	if got := h.ask(t, x, ubl.DocumentQuery{Query: "How do we renew certificates?"}); got != "" {
		t.Errorf("all words are in %q", got)
	}
}

// TestConditions: what documents say of themselves, and their dates, with words and with questions.
func TestConditions(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	h.publish("cells", "Cells", "word", "patterns/cells.md", `{"date":"2026-01-14","tags":["Governance","scale"],"place":{"region":"Açores"},"open":true,"version":2,"aliases":["Zellen"]}`)
	h.publish("tide", "Tide", "word", "data/tide.md", `{"date":"1998-12-31T10:00:00Z","tags":["sea"]}`)
	h.publish("moon", "Moon", "word", "data/moon.md", `{"tags":["sea","scale"],"date":"soon"}`)
	h.add(ubl.DocumentChange{DocumentID: "d:plain", Title: "Plain", Content: "word", UpdatedAt: at("2026-02-28")})
	where := func(conditions ...string) (out []ubl.Condition) {
		for _, c := range conditions {
			read, err := ubl.ReadCondition(c)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, read)
		}
		return out
	}
	for _, tt := range []struct {
		where    []ubl.Condition
		from, to string
		want     string
	}{
		{nil, "", "", "cells moon plain tide"},
		{where("tags:sea"), "", "", "moon tide"},
		{where("tags:sea", "tags:scale"), "", "", "moon"},
		{where("tags:governance"), "", "", "cells"},
		{where("TAGS: scale "), "", "", "cells moon"},
		{where("tags:govern"), "", "", ""},
		{where("tag:sea"), "", "", ""},
		{where("place.region:acores"), "", "", "cells"},
		{where("open:true", "version:2"), "", "", "cells"},
		{where("type:pattern", "id:tide"), "", "", "tide"},
		{where("path:data/moon.md"), "", "", "moon"},
		{where("date:1998-12-31T10:00:00Z"), "", "", "tide"},
		{nil, "2026-01-14", "2026-01-14", "cells"},
		{nil, "", "1998-12-31", "tide"},
		{nil, "", "1998-12-30", ""},
		{nil, "1999-01-01", "", "cells moon plain"},
		{nil, "2026-02-01", "2026-04-30", "plain"},
		{nil, "2026-02-28", "2026-05-01", "moon plain"},
		{where("tags:scale"), "2026-04-01", "", "moon"},
		{nil, "2026-02-01", "2026-01-01", "validation_error"},
		{nil, "2026-02-30", "", "validation_error"},
		{make([]ubl.Condition, 9), "", "", "too_large"},
		{make([]ubl.Condition, 1), "", "", "validation_error"},
	} {
		for _, asks := range []bool{false, true} {
			q := ubl.DocumentQuery{Query: "word", Any: asks, Where: tt.where, From: tt.from, To: tt.to}
			got := strings.Fields(h.ask(t, x, q))
			if slices.Sort(got); strings.Join(got, " ") != tt.want {
				t.Errorf("%+v finds %q, want %q", q, got, tt.want)
			}
		}
	}
}

// TestNames: documents are found by those that they go by.
func TestNames(t *testing.T) {
	h, x := &history{}, open(t, t.TempDir())
	h.publish("cell-governance", "Cells", "Who decides.", "patterns/deep/cell-governance.md", `{"aliases":["Zellen Leitung"],"permalink":"/p/zellen"}`)
	h.publish("other", "Other", "patterns", "data/other.md", `{}`)
	for _, query := range []string{"cell-governance", "cell-governance.md", "patterns/deep/cell-governance.md", "deep/cell-governance", "zellen", `"Zellen Leitung"`, "/p/zellen", "cell gov*"} {
		if got := h.ask(t, x, ubl.DocumentQuery{Query: query}); got != "cell-governance" {
			t.Errorf("%q finds %q", query, got)
		}
	}
	for _, question := range []string{"cell-governance", "what is zellen?"} {
		if got := h.ask(t, x, ubl.DocumentQuery{Query: question, Any: true}); got != "cell-governance" {
			t.Errorf("%q finds %q", question, got)
		}
	}
}

// TestPagesOfAQuestion: however many are asked for, they are in one order.
func TestPagesOfAQuestion(t *testing.T) {
	h, x := shelved(600, 500, 600), open(t, t.TempDir())
	q := ubl.DocumentQuery{Query: "w2 w3 w4 w5 w6 w7 w8 w9 w20 w70 w300", Any: true}
	look := func(limit int) []ubl.DocumentMatch {
		found, err := x.Search(t.Context(), shelf, h.head(), h.tell, q, limit)
		if err != nil {
			t.Fatal(err)
		}
		return found.Matches
	}
	all := look(400)
	if len(all) < 250 {
		t.Fatalf("%d are found", len(all))
	}
	for i, m := range all[1:] {
		if m.Score > all[i].Score {
			t.Fatalf("number %d has %d, the one before %d", i+1, m.Score, all[i].Score)
		}
	}
	for _, limit := range []int{1, 20, 199, 200, 201, len(all) - 1} {
		for i, m := range look(limit) {
			if m != all[i] {
				t.Fatalf("of %d number %d is %v, of 400 it is %v", limit, i, m, all[i])
			}
		}
	}
}

// TestAHostileQuestionTakesLittle: whatever is asked, it is over soon, or once nobody waits any more.
func TestAHostileQuestionTakesLittle(t *testing.T) {
	h, x := shelved(300, 200, 2000), open(t, t.TempDir())
	h.search(t, x, "nothing")
	var all, dates []string
	for i := range 200 {
		all = append(all, fmt.Sprintf("w%d", i))
	}
	for i := range ubl.MaxConditions {
		dates = append(dates, fmt.Sprintf("tags:w%d", i))
	}
	for name, q := range map[string]ubl.DocumentQuery{
		"the commonest words":  {Query: strings.Join(all, " ")[:ubl.MaxQueryChars]},
		"one word of many":     {Query: strings.Repeat("w1 ", 150)},
		"letters":              {Query: strings.Repeat("a b c d e f g ", 30)},
		"conditions and years": {Query: "w1 w2 w3", From: "0001-01-02", To: "9999-12-30", Where: conditionsOf(t, dates)},
		"signs":                {Query: strings.Repeat("*\" ", 160)},
	} {
		q.Any = true
		if err := q.Check(); err != nil {
			t.Fatal(name, err)
		}
		begun := processorTime(t)
		if _, err := x.Search(t.Context(), shelf, h.head(), h.tell, q, 400); err != nil {
			t.Fatal(name, err)
		}
		if took := processorTime(t) - begun; took > 5*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, shelf, h.head(), h.tell, ubl.DocumentQuery{Query: strings.Join(all[:100], " "), Any: true}, 10); err == nil {
		t.Error("a search that nobody waits for was carried out")
	}
}

func conditionsOf(t *testing.T, texts []string) (out []ubl.Condition) {
	for _, text := range texts {
		c, err := ubl.ReadCondition(text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}
