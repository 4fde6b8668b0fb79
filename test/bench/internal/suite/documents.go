package suite

import (
	"context"
	"errors"
	"net/http"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
	"ubl/test/bench/internal/searchload"
)

// documents holds creating documents against sending messages. Each has servers of its
// own: the index over documents is made while nobody writes, which would be the others' time.
func (s *Suite) documents(ctx context.Context) {
	of := func(subject report.Subject, path, body string, more ...string) turn {
		if s.UBLMissing != "" {
			s.miss(report.Documents, subject, s.UBLMissing)
		}
		return turn{subject, func(ctx context.Context, dir string) error {
			t, err := s.startUBL(ctx, dir, sender)
			if err != nil {
				return err
			}
			// The first joins the workspace or the room, which is an act, too.
			err = each(ctx, t, 1, http.StatusCreated, func(int) []byte {
				return rawhttp.Post(t.server.Host, path, t.token, []byte(body))
			})
			if err == nil {
				err = s.generate(ctx, report.Documents, subject, t, s.settings().Writers, "load", more...)
			}
			return errors.Join(err, t.server.Stop())
		}}
	}
	s.rounds(ctx, []report.Section{report.Documents}, []turn{
		of(report.Messages, peer.MessagesPath, load.Body),
		of(report.NewDocuments, searchload.DocumentsPath, load.Document, "-document"),
	})
}
