package suite

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"ubl/test/bench/internal/floodload"
	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

// neighbourEvery is how often each of the neighbours sends: together they stay far below
// every limit.
const neighbourEvery = "25ms"

// floods are the servers of one round, with the limits that they have by default.
type floods struct {
	ubl, other *target           // neighbours send to the first only
	flooders   map[string]string // tokens by server's host and kind of flooder
}

// flood measures what a tenant feels of another one's flood. As a control the same flood
// goes to another server on the machine: what that costs is the machine's to answer for.
func (s *Suite) flood(ctx context.Context) {
	sections := []report.Section{report.Flood}
	var of *floods // this round
	begin := func(ctx context.Context, dir string) (st *stage, err error) {
		if of, err = s.startFloods(ctx, dir); err != nil {
			return nil, err
		}
		return &stage{ubl: of.ubl, upstream: of.other}, nil
	}
	ways := []way{{report.Quiet, func(ctx context.Context, st *stage) error { return s.neighbours(ctx, report.Quiet, st.ubl) }}}
	for _, rude := range []bool{false, true} {
		ways = append(ways,
			way{report.FloodHere(rude), func(ctx context.Context, _ *stage) error {
				return s.flooded(ctx, report.FloodHere(rude), of, of.ubl, rude)
			}},
			way{report.FloodElsewhere(rude), func(ctx context.Context, _ *stage) error {
				return s.flooded(ctx, report.FloodElsewhere(rude), of, of.other, rude)
			}})
	}
	if s.UBLMissing != "" {
		for _, w := range ways {
			s.miss(report.Flood, w.subject, s.UBLMissing)
		}
		return
	}
	s.ways(ctx, sections, begin, ways)
}

// flooder names a kind of flooder; each has a tenant of their own.
func flooder(rude bool) string {
	if rude {
		return "rude@flood.example"
	}
	return "patient@flood.example"
}

func (s *Suite) startFloods(ctx context.Context, dir string) (*floods, error) {
	of := &floods{flooders: map[string]string{}}
	for i, at := range []**target{&of.ubl, &of.other} {
		t, err := s.startFlooded(ctx, filepath.Join(dir, strconv.Itoa(i)), of.flooders)
		if err != nil {
			if of.ubl != nil {
				err = errors.Join(err, of.ubl.server.Stop())
			}
			return nil, err
		}
		*at = t
	}
	return of, nil
}

// startFlooded starts a server with neighbours, whose tokens its target has, and flooders.
func (s *Suite) startFlooded(ctx context.Context, dir string, flooders map[string]string) (*target, error) {
	t, err := s.startLimited(ctx, dir, sender, "--domain", crowdDomain)
	if err != nil {
		return nil, err
	}
	tokens, err := s.crowdTokens(ctx, dir)
	t.token = strings.Join(tokens, ",")
	if err == nil { // each joins the room with their first message
		err = each(ctx, t, len(tokens), http.StatusCreated, func(i int) []byte {
			return rawhttp.Post(t.server.Host, peer.MessagesPath, tokens[i], []byte(load.Body))
		})
	}
	for _, rude := range []bool{false, true} {
		token := ""
		if err == nil {
			token, err = s.token(ctx, dir, flooder(rude))
		}
		if err == nil {
			err = touch(t.server.Host, token, roomsPath)
		}
		flooders[t.server.Host+flooder(rude)] = token
	}
	if err != nil {
		return nil, errors.Join(err, t.server.Stop())
	}
	return t, nil
}

// neighbours lets the neighbours send, a few messages each second.
func (s *Suite) neighbours(ctx context.Context, subject report.Subject, t *target) error {
	return s.generate(ctx, report.Flood, subject, t, len(crowdMembers()), "load", "-every", neighbourEvery)
}

// flooded does the same while somebody floods a server. The flood has less of the
// processor's time where there is too little: a real one would be on another machine.
func (s *Suite) flooded(ctx context.Context, subject report.Subject, of *floods, at *target, rude bool) error {
	var r floodload.Result
	ended := make(chan error, 1)
	go func() {
		err := proc.JSON(ctx, &r, nil, "nice", "-n", "10", s.Self, "flood", "-host", at.server.Host, "-token", of.flooders[at.server.Host+flooder(rude)],
			"-rude="+strconv.FormatBool(rude), "-warm", warm.String(), "-length", s.length().String())
		if err != nil {
			err = errors.Join(fmt.Errorf("the flood failed: %w", err), at.server.Complaint())
		}
		ended <- err
	}()
	if err := errors.Join(s.neighbours(ctx, subject, of.ubl), <-ended); err != nil {
		return err
	}
	for m, n := range map[report.Measure]int{report.FloodMessages: r.Messages, report.FloodRooms: r.Rooms, report.FloodStreams: r.Streams, report.FloodRefused: r.Refused} {
		s.Report.Add(report.Key{Section: report.Flood, Subject: subject, Measure: m}, float64(n))
	}
	s.Logf("  the flood got %d messages, %d rooms, %d streams, and %d refusals", r.Messages, r.Rooms, r.Streams, r.Refused)
	return nil
}
