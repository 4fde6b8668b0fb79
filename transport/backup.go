package transport

import (
	"context"
	"net/http"
	"time"

	"ubl"
	"ubl/transport/envelope"
)

// backupPatience is how long a client may take for one write of a backup.
const backupPatience = time.Minute

// backup streams a copy of all tenants' data to an owner of tenant 0. One is
// made at a time, because its copies take as much space as the data.
func (s *Server) backup(w http.ResponseWriter, r *http.Request) {
	c := envelope.CallerOf(r.Context())
	if err := mayBackup(r.Context(), c); err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	if !s.backingUp.TryLock() {
		envelope.WriteError(w, r, ubl.Errorf(ubl.CodeOverloaded, "another backup is being made"))
		return
	}
	defer s.backingUp.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	out := &patientWriter{ResponseWriter: w, now: s.opts.Now}
	err := s.opts.Backup(r.Context(), out)
	switch {
	case err == nil:
	case out.began:
		s.opts.Log.Error("couldn't finish a backup", "request_id", envelope.RequestOf(r.Context()).ID, "error", err)
		panic(http.ErrAbortHandler) // it must not look whole
	default:
		s.opts.Log.Error("couldn't make a backup", "request_id", envelope.RequestOf(r.Context()).ID, "error", err)
		envelope.WriteError(w, r, err)
	}
}

func mayBackup(ctx context.Context, c *envelope.Caller) error {
	forbidden := ubl.Errorf(ubl.CodeForbidden, "a backup needs operator rights: use a token of an address that the server was started with (--operator EMAIL), restart it with yours, or stop it and back up with --data DIR")
	if c == nil || c.Identity.TenantID != ubl.CoreTenant && !c.Operates {
		return forbidden
	}
	if err := c.Confirmed(envelope.RequestOf(ctx).At); err != nil {
		return err
	}
	c.Uses(string(ubl.DidPlatformBackup), ubl.Creations)
	return c.Operator(ctx, forbidden)
}

// patientWriter gives each write a deadline of its own.
type patientWriter struct {
	http.ResponseWriter
	now   func() time.Time
	began bool
}

func (p *patientWriter) Write(b []byte) (int, error) {
	if !p.began {
		p.began = true
		p.Header().Set("Content-Type", "application/x-tar")
	}
	// A writer without deadlines is a test's.
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(p.now().Add(backupPatience))
	return p.ResponseWriter.Write(b)
}
