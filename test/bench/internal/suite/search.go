package suite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"ubl/test/bench/internal/machine"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
	"ubl/test/bench/internal/searchload"
)

// indexTimeout bounds writing all documents, and the search that indexes them.
const indexTimeout = 4 * time.Minute

// indexAgain is between two looks at how far the index is: each is a search.
const indexAgain = 100 * time.Millisecond

// search measures full text over one workspace, made anew in each round.
func (s *Suite) search(ctx context.Context) {
	var sections []report.Section
	for _, callers := range report.SearchCallers() {
		sections = append(sections, report.SearchOf(callers))
	}
	s.missBinaries(sections)
	s.rounds(ctx, sections, []turn{{report.UBL, func(ctx context.Context, dir string) error {
		t, err := s.startUBL(ctx, dir, sender)
		if err != nil {
			return err
		}
		return errors.Join(s.searches(ctx, t), t.server.Stop())
	}}})
}

func (s *Suite) searches(ctx context.Context, t *target) error {
	if err := s.library(ctx, t); err != nil {
		return err
	}
	for _, callers := range report.SearchCallers() {
		err := s.generate(ctx, report.SearchOf(callers), report.UBL, t, callers, "searchload", "-documents", strconv.Itoa(s.settings().Documents))
		if err != nil {
			return err
		}
	}
	return nil
}

// library writes the documents and has them indexed.
func (s *Suite) library(ctx context.Context, t *target) error {
	n := s.settings().Documents
	begin := time.Now()
	if err := writeDocuments(ctx, t, n); err != nil {
		return err
	}
	written := time.Since(begin)
	i, err := searchFirst(t, n)
	if err != nil {
		return fmt.Errorf("the first search failed: %w", err)
	}
	s.Logf("  %d documents written in %.1f s, indexed in %.1f s with %.0f MB; the first search took %.1f s", n, written.Seconds(), i.all.Seconds(), i.own, i.first.Seconds())
	for measure, value := range map[report.Measure]float64{
		report.LoadSeconds: written.Seconds(), report.IndexSeconds: i.all.Seconds(), report.FirstSeconds: i.first.Seconds(), report.IndexOwn: i.own,
	} {
		s.Report.Add(report.Key{Section: report.SearchOf(report.SearchCallers()[0]), Subject: report.UBL, Measure: measure}, value)
	}
	return nil
}

func writeDocuments(ctx context.Context, t *target, n int) error {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	return each(ctx, t, n, http.StatusCreated, func(i int) []byte {
		title, content := searchload.Document(i)
		// Strings always have an encoding.
		body, _ := json.Marshal(map[string]string{"title": title, "content": content})
		return rawhttp.Post(t.server.Host, searchload.DocumentsPath, t.token, body)
	})
}

// indexing is how a server comes to find documents that nobody has searched.
type indexing struct {
	first, all time.Duration // until the first answer, and until it is whole
	own        float64       // the most memory of the server's own meanwhile, in MB
}

// searchFirst searches until the index has everything: before that the server says how
// far it is, or to wait.
func searchFirst(t *target, n int) (i indexing, err error) {
	conn, err := rawhttp.DialWithin(t.server.Host, indexTimeout)
	if err != nil {
		return i, err
	}
	defer conn.Close()
	query := searchload.Query(rand.New(rand.NewPCG(0, 0)), n)
	for begin := time.Now(); ; {
		status, body, err := conn.Do(searchload.Request(t.server.Host, t.token, query))
		if err != nil {
			return i, err
		}
		i.all = time.Since(begin)
		if status == http.StatusOK && i.first == 0 {
			i.first = i.all
		}
		memory, err := machine.Memory(t.server.Pid())
		if err != nil {
			return i, err
		}
		i.own = max(i.own, memory.Own)
		switch {
		case status == http.StatusOK && !bytes.Contains(body, []byte(`"indexing":`)):
			return i, nil
		case status != http.StatusOK && status != http.StatusServiceUnavailable || i.all > indexTimeout:
			return i, fmt.Errorf("%d %.300s", status, body)
		}
		time.Sleep(indexAgain)
	}
}
