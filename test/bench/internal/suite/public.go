package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

// publicTenant is that of the crowd's domain.
const publicTenant = "t:" + crowdDomain

// publicContent is that of the document which is read.
const publicContent = 600

// reading is what is read in a round, at both servers.
type reading struct{ ubl, bare string }

// public measures reads without an identity, and what those who send feel of them.
func (s *Suite) public(ctx context.Context) {
	sections := []report.Section{report.Public}
	var of reading
	begin := func(ctx context.Context, dir string) (*stage, error) {
		if s.UBLMissing != "" {
			return nil, errors.New(s.UBLMissing)
		}
		return s.startPublic(ctx, dir, &of)
	}
	read := func(subject report.Subject, at func(*stage) *target, path *string) way {
		return way{subject, func(ctx context.Context, st *stage) error {
			return s.generate(ctx, report.Public, subject, at(st), s.settings().Writers, "readload", "-path", *path)
		}}
	}
	beside := func(subject report.Subject, at func(*stage) *target, path *string) way {
		return way{subject, func(ctx context.Context, st *stage) error { return s.besideReads(ctx, subject, st.ubl, at(st), *path) }}
	}
	ubl := func(st *stage) *target { return st.ubl }
	bare := func(st *stage) *target { return st.upstream }
	s.ways(ctx, sections, begin, []way{
		read(report.ReadUBL, ubl, &of.ubl), read(report.ReadBare, bare, &of.bare),
		{report.NoReads, func(ctx context.Context, st *stage) error { return s.sendBeside(ctx, report.NoReads, st.ubl) }},
		beside(report.ReadsHere, ubl, &of.ubl), beside(report.ReadsAtBare, bare, &of.bare),
	})
}

// startPublic starts UBL with a public document, and the bare server with one of its length.
func (s *Suite) startPublic(ctx context.Context, dir string, of *reading) (*stage, error) {
	t, err := s.startUBL(ctx, dir, sender, "--domain", crowdDomain)
	if err != nil {
		return nil, err
	}
	tokens, err := s.crowdTokens(ctx, dir)
	length := 0
	if err == nil {
		of.ubl, length, err = publish(t.server.Host, tokens[0])
	}
	if err == nil { // each joins the room with their first message
		err = each(ctx, t, len(tokens), http.StatusCreated, func(i int) []byte {
			return rawhttp.Post(t.server.Host, peer.MessagesPath, tokens[i], []byte(load.Body))
		})
	}
	t.token = strings.Join(tokens, ",")
	var static *proc.Server
	if err == nil {
		static, err = s.self(ctx, report.ReadBare, "static", "-frame", strconv.Itoa(length))
	}
	if err != nil {
		return nil, errors.Join(err, t.server.Stop())
	}
	of.bare = peer.StaticPath
	return &stage{ubl: t, upstream: &target{static, peerToken()}}, nil
}

// publish makes a public container with a document; it answers where anyone reads that, and
// how long the answer is.
func publish(host, token string) (path string, length int, err error) {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return "", 0, err
	}
	defer conn.Close()
	ask := func(request []byte, want int, out any) error {
		status, body, err := conn.Do(request)
		if err == nil && status != want {
			err = fmt.Errorf("answered %d %.200s", status, body)
		}
		if err != nil {
			return fmt.Errorf("couldn't publish a document: %w", err)
		}
		length = len(body)
		return json.Unmarshal(body, out)
	}
	var made struct {
		Container struct {
			ID string `json:"container_id"`
		}
		Document struct {
			ID string `json:"document_id"`
		}
	}
	const container = `{"kind":"container","name":"Handbook","physics":{"fungibility":"versioned","topology":"objects","permeability":"public","execution":"disabled"}}`
	if err := ask(rawhttp.Post(host, "/api/containers", token, []byte(container)), http.StatusCreated, &made); err != nil {
		return "", 0, err
	}
	document := fmt.Sprintf(`{"title":"Rules","content":"%s"}`, strings.Repeat("x", publicContent))
	if err := ask(rawhttp.Post(host, "/api/workspaces/"+made.Container.ID+"/documents", token, []byte(document)), http.StatusCreated, &made); err != nil {
		return "", 0, err
	}
	path = fmt.Sprintf("/public/%s/%s/documents/%s", publicTenant, made.Container.ID, made.Document.ID)
	return path, length, ask(rawhttp.Get(host, path, "", "application/json"), http.StatusOK, &struct{}{})
}

// sendBeside lets five people send, a few messages each second.
func (s *Suite) sendBeside(ctx context.Context, subject report.Subject, t *target) error {
	return s.generate(ctx, report.Public, subject, t, len(crowdMembers()), "load", "-every", neighbourEvery)
}

// besideReads does the same while a server is read. The readers have less of the processor's
// time where there is too little: real ones would be on other machines.
func (s *Suite) besideReads(ctx context.Context, subject report.Subject, t, read *target, path string) error {
	var r load.Result
	ended := make(chan error, 1)
	readers := s.settings().Writers
	every := time.Duration(readers) * time.Second / report.PublicReads
	go func() {
		err := proc.JSON(ctx, &r, nil, "nice", "-n", "10", s.Self, "readload", "-host", read.server.Host, "-path", path, "-writers", strconv.Itoa(readers),
			"-every", every.String(), "-warm", warm.String(), "-length", s.length().String())
		if err == nil {
			err = sound(r)
		}
		if err != nil {
			err = errors.Join(fmt.Errorf("reading failed: %w", err), read.server.Complaint())
		}
		ended <- err
	}()
	if err := errors.Join(s.sendBeside(ctx, subject, t), <-ended); err != nil {
		return err
	}
	s.Report.Add(report.Key{Section: report.Public, Subject: subject, Measure: report.ReadsMeanSend}, r.SendsPerSecond)
	s.Logf("  beside %.0f reads/s, their p50 %.2f ms, p99 %.2f ms", r.SendsPerSecond, r.P50us/1000, r.P99us/1000)
	return nil
}
