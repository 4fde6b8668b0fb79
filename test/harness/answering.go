package harness

import (
	"context"
	"sync/atomic"

	"ubl"
	"ubl/webhook"
)

// Server stands for those that webhooks tell: it answers every post with its status, and seals
// nothing.
type Server struct{ Status atomic.Int64 }

// Answering is one with a status.
func Answering(status int64) *Server {
	s := &Server{}
	s.Status.Store(status)
	return s
}

// NewSecret implements webhooks.Sender.
func (*Server) NewSecret(ubl.Name) ([]byte, error) { return []byte("whsec_AAAA"), nil }

// Reveal implements webhooks.Sender.
func (*Server) Reveal(_ ubl.Name, sealed []byte) (string, error) { return string(sealed), nil }

// Check implements webhooks.Sender.
func (*Server) Check(string) error { return nil }

// Deliver implements webhooks.Sender.
func (s *Server) Deliver(context.Context, ubl.Name, string, [][]byte, webhook.Message) (int, error) {
	return int(s.Status.Load()), nil
}
