package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/transport"
	"ubl/transport/envelope"
)

// as lets every request through as this caller.
func as(tenant ubl.TenantID, role ubl.Role) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller := &envelope.Caller{Identity: ubl.Identity{UserID: "u:ana", TenantID: tenant}}
			caller.Let(role)
			next.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
		})
	}
}

func TestBackupIsForOwnersOfTenantZero(t *testing.T) {
	for _, c := range []struct {
		tenant ubl.TenantID
		role   ubl.Role
		status int
	}{
		{ubl.CoreTenant, ubl.RoleOwner, 200},
		{ubl.CoreTenant, ubl.RoleMember, 403},
		{"t:example.com", ubl.RoleOwner, 403},
	} {
		w := newWorld(func(o *transport.Options) {
			o.Authenticate = as(c.tenant, c.role)
			o.Backup = func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, "archive")
				return err
			}
		})
		rec := w.do("POST", "/api/platform/backup", nil)
		if rec.Code != c.status || c.status == 200 && (rec.Body.String() != "archive" || rec.Header().Get("Content-Type") != "application/x-tar") {
			t.Errorf("%s of %s = %d %s", c.role, c.tenant, rec.Code, rec.Body)
		}
		if c.status == 403 && code(t, rec) != ubl.CodeForbidden {
			t.Errorf("%s of %s has code %s", c.role, c.tenant, code(t, rec))
		}
	}
}

// TestBackupOfANodeAlone: whom the node lets operate backs it up while they own their tenant.
func TestBackupOfANodeAlone(t *testing.T) {
	for role, want := range map[ubl.Role]int{ubl.RoleOwner: 200, ubl.RoleMember: 403} {
		w := newWorld(func(o *transport.Options) {
			o.Authenticate = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					caller := &envelope.Caller{Identity: ubl.Identity{UserID: "u:owner", TenantID: "t:localhost"}, Operates: true}
					caller.Let(role)
					next.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
				})
			}
			o.Backup = func(context.Context, io.Writer) error { return nil }
		})
		if rec := w.do("POST", "/api/platform/backup", nil); rec.Code != want {
			t.Errorf("%s: %d %s, want %d", role, rec.Code, rec.Body, want)
		}
	}
}

// TestBackupIsSensitive: it takes everything out, so that an operator at a browser
// must have proved lately who they are.
func TestBackupIsSensitive(t *testing.T) {
	for proved, want := range map[time.Duration]int{0: 200, envelope.FreshFor + time.Hour: 403} {
		w := newWorld(func(o *transport.Options) {
			o.Authenticate = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					caller := &envelope.Caller{Identity: ubl.Identity{UserID: "u:ana", TenantID: ubl.CoreTenant},
						Session: true, ProvedAt: envelope.RequestOf(r.Context()).At.Add(-proved)}
					caller.Let(ubl.RoleOwner)
					next.ServeHTTP(w, r.WithContext(envelope.WithCaller(r.Context(), caller)))
				})
			}
			o.Backup = func(context.Context, io.Writer) error { return nil }
		})
		rec := w.do("POST", "/api/platform/backup", nil)
		if rec.Code != want || want == 403 && code(t, rec) != ubl.CodeConfirmation {
			t.Errorf("proved %v ago, it is answered %d %s", proved, rec.Code, rec.Body)
		}
	}
}

func TestBackupFails(t *testing.T) {
	full := errors.New("no space in /secret/path")
	w := newWorld(func(o *transport.Options) {
		o.Authenticate = as(ubl.CoreTenant, ubl.RoleOwner)
		o.Backup = func(context.Context, io.Writer) error { return full }
	})
	rec := w.do("POST", "/api/platform/backup", nil)
	if rec.Code != 500 || code(t, rec) != ubl.CodeInternal || strings.Contains(rec.Body.String(), "secret") || !strings.Contains(w.log.String(), "no space") {
		t.Errorf("a backup that can't begin = %d %s", rec.Code, rec.Body)
	}
	w = newWorld(func(o *transport.Options) {
		o.Authenticate = as(ubl.CoreTenant, ubl.RoleOwner)
		o.Backup = func(_ context.Context, w io.Writer) error {
			_, _ = io.WriteString(w, "half")
			return full
		}
	})
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("half a backup was made to look whole")
		}
	}()
	w.do("POST", "/api/platform/backup", nil)
}

func TestOneBackupAtATime(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	w := newWorld(func(o *transport.Options) {
		o.Authenticate = as(ubl.CoreTenant, ubl.RoleOwner)
		o.Backup = func(_ context.Context, w io.Writer) error {
			close(began)
			<-finish
			_, err := io.WriteString(w, "archive")
			return err
		}
	})
	first := make(chan int, 1)
	go func() { first <- w.do("POST", "/api/platform/backup", nil).Code }()
	<-began
	if rec := w.do("POST", "/api/platform/backup", nil); rec.Code != 503 || code(t, rec) != ubl.CodeOverloaded {
		t.Errorf("a second backup = %d %s", rec.Code, rec.Body)
	}
	close(finish)
	if got := <-first; got != 200 {
		t.Errorf("the first backup = %d", got)
	}
}
