package preview

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/panics"
)

const acme ubl.TenantID = "t:acme.com"

// world is all hosts of the web as one server, and previews of it.
type world struct {
	*Previews
	t     *testing.T
	pages sync.Map // by host and path: http.HandlerFunc
	asked atomic.Int64
	mu    sync.Mutex
	last  *http.Request
	clock atomic.Int64 // seconds since the beginning
}

func newWorld(t *testing.T) *world {
	w := &world{t: t}
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	there := &net.Dialer{}
	way := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return there.DialContext(ctx, network, s.Listener.Addr().String())
	}}
	t.Cleanup(way.CloseIdleConnections)
	w.Previews = newPreviews(way, w.now)
	return w
}

func newPreviews(way http.RoundTripper, now func() time.Time) *Previews {
	log := slog.New(slog.DiscardHandler)
	return New(Options{Transport: way, Own: "ubl.example", Now: now, Log: log, Panics: panics.New(log)})
}

func (w *world) now() time.Time { return time.Unix(1_800_000_000+w.clock.Load(), 0) }

// pass lets time go by.
func (w *world) pass(d time.Duration) { w.clock.Add(int64(d / time.Second)) }

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.asked.Add(1)
	w.mu.Lock()
	w.last = r
	w.mu.Unlock()
	if h, ok := w.pages.Load(r.Host + r.URL.Path); ok {
		h.(http.HandlerFunc)(rw, r)
		return
	}
	http.NotFound(rw, r)
}

// at puts a page of HTML at a place, or whatever else it is with the name and value of a header.
func (w *world) at(place, page string, header ...string) {
	w.handle(place, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		for i := 0; i+1 < len(header); i += 2 {
			rw.Header().Set(header[i], header[i+1])
		}
		_, _ = rw.Write([]byte(page))
	})
}

func (w *world) handle(place string, h http.HandlerFunc) { w.pages.Store(place, h) }

// leads has a place lead to another.
func (w *world) leads(place, to string) {
	w.handle(place, func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, to, http.StatusFound) })
}

// look is the one preview of a message, nil for none.
func (w *world) look(text string) *Preview {
	w.t.Helper()
	list := w.Of(context.Background(), acme, text)
	if len(list) > 1 {
		w.t.Fatalf("%q has %d previews", text, len(list))
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// asks is how many requests fn leads to.
func (w *world) asks(fn func()) int64 {
	before := w.asked.Load()
	fn()
	return w.asked.Load() - before
}

// drawn is a picture of one colour.
func drawn(t *testing.T, width, height int, c color.Color) string {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			m.Set(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
