package preview

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"image/color"
	"image/jpeg"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

const article = `<title>t</title><meta property="og:title" content="A harbour at night"><meta property="og:description" content="Lights on water.">
	<meta property="og:site_name" content="The Harbour"><meta property="og:image" content="/i.png">`

var night = color.NRGBA{10, 20, 30, 255}

// TestPreview is the way of one: the page, its picture, and how they were asked for.
func TestPreview(t *testing.T) {
	w := newWorld(t)
	w.at("a.example/x", article)
	w.at("a.example/i.png", drawn(t, 720, 400, night), "Content-Type", "text/html") // which it isn't
	got := w.look("Look: http://A.example/x#night")
	if got == nil || got.Title != "A harbour at night" || got.Description != "Lights on water." || got.SiteName != "The Harbour" || got.Host != "a.example" || got.URL != "http://A.example/x#night" {
		t.Fatalf("the preview is %+v", got)
	}
	if i := got.Image; i == nil || i.Type != "image/jpeg" || i.Width != 360 || i.Height != 200 || len(i.Hash) != 64 {
		t.Fatalf("its picture is %+v", i)
	} else if _, err := jpeg.Decode(bytes.NewReader(i.Data)); err != nil {
		t.Errorf("the picture isn't what its type says: %v", err)
	}
	for name, want := range map[string]string{"Cookie": "", "Referer": "", "Authorization": "", "User-Agent": agent} {
		if got := w.last.Header.Get(name); got != want {
			t.Errorf("%s was %q", name, got)
		}
	}
}

// TestSeveral: previews come in the order of the links, without those that have none.
func TestSeveral(t *testing.T) {
	w := newWorld(t)
	w.at("a.example/", "<title>A</title>")
	w.at("c.example/", "<title>C</title>")
	list := w.Of(context.Background(), acme, "http://c.example/ http://b.example/ http://a.example/")
	if len(list) != 2 || list[0].Title != "C" || list[1].Title != "A" {
		t.Errorf("there are %d", len(list))
	}
	if n := w.asks(func() { w.look("no link, `http://a.example/x` neither") }); n != 0 {
		t.Errorf("%d requests for no link", n)
	}
}

// TestKept: what was found is asked for again after six hours, what wasn't after ten minutes, and so
// is what a page wants kept nowhere. Tenants have theirs apart, and those who wait at once share one.
func TestKept(t *testing.T) {
	for what, test := range map[string]struct {
		header []string
		status int
		keeps  time.Duration
	}{
		"found":    {nil, http.StatusOK, fresh},
		"no-store": {[]string{"Cache-Control", "private, No-Store"}, http.StatusOK, stale},
		"gone":     {nil, http.StatusGone, stale},
	} {
		w := newWorld(t)
		w.handle("a.example/", func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			for i := 0; i+1 < len(test.header); i += 2 {
				rw.Header().Set(test.header[i], test.header[i+1])
			}
			rw.WriteHeader(test.status)
			fmt.Fprint(rw, "<title>A</title>")
		})
		look := func() {
			if got := w.look("http://a.example/"); (got != nil) != (test.status == http.StatusOK) {
				t.Errorf("%s: the preview is %+v", what, got)
			}
		}
		for _, step := range []struct {
			later time.Duration
			asks  int64
		}{{0, 1}, {0, 0}, {test.keeps - time.Second, 0}, {time.Second, 1}} {
			w.pass(step.later)
			if n := w.asks(look); n != step.asks {
				t.Errorf("%s: %d requests, not %d, after %s more", what, n, step.asks, step.later)
			}
		}
		if n := w.asks(func() { w.Of(context.Background(), "t:other.com", "http://a.example/") }); n != 1 {
			t.Errorf("%s: another tenant asks %d times", what, n)
		}
	}
	w := newWorld(t)
	asked := make(chan struct{}, 99)
	answer := make(chan struct{})
	w.handle("a.example/", func(rw http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		rw.Header().Set("Content-Type", "text/html")
		fmt.Fprint(rw, "<title>A</title>")
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if w.look("http://a.example/") == nil {
				t.Error("one of many has none")
			}
		})
	}
	<-asked
	close(answer)
	all.Wait()
	if n := w.asked.Load(); n != 1 {
		t.Errorf("20 readers at once lead to %d requests", n)
	}
}

// TestRedirects: three are followed, none from https to http, and none to what isn't fetched from.
func TestRedirects(t *testing.T) {
	w := newWorld(t)
	w.at("end.example/", "<title>End</title>")
	w.leads("r1.example/", "http://end.example/")
	w.leads("r2.example/", "http://r1.example/")
	w.leads("r3.example/", "http://r2.example/")
	w.leads("r4.example/", "http://r3.example/")
	w.leads("round.example/", "http://round.example/")
	w.leads("file.example/", "file:///etc/passwd")
	w.leads("mail.example/", "http://end.example:25/")
	w.leads("user.example/", "http://a:b@end.example/")
	for host, there := range map[string]bool{"r3": true, "r4": false, "round": false, "file": false, "mail": false, "user": false} {
		got := w.look("http://" + host + ".example/")
		if (got != nil) != there {
			t.Errorf("%s: %+v", host, got)
		}
		if got != nil && (got.Host != host+".example" || w.last.Header.Get("Referer") != "") {
			t.Errorf("%s: the host is %q, the referrer %q", host, got.Host, w.last.Header.Get("Referer"))
		}
	}
	secret := &http.Request{URL: &url.URL{Scheme: "https", Host: "a.example", Path: "/"}}
	if w.follow(&http.Request{URL: &url.URL{Scheme: "http", Host: "a.example", Path: "/"}, Header: http.Header{}}, []*http.Request{secret}) == nil {
		t.Error("a redirect from https to http is followed")
	}
}

// zipped is text as gzip.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.Copy(z, strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHostile: what pages do to those who look at them.
func TestHostile(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("<p>and on and on", 1<<20) // 16 MiB
	for what, test := range map[string]struct {
		page   string
		header []string
		want   string // the title, "" for no preview
	}{
		"huge":                    {"<title>Huge</title>" + long, nil, "Huge"},
		"the title behind 512 kB": {strings.Repeat(" ", maxPage) + "<title>Late</title>", nil, ""},
		"a gzip bomb":             {zipped(t, "<title>Bomb</title>"+long), []string{"Content-Encoding", "gzip"}, "Bomb"},
		"broken gzip":             {"<title>x</title>", []string{"Content-Encoding", "gzip"}, ""},
		"no page":                 {`{"title":"x"}`, []string{"Content-Type", "application/json"}, ""},
		"no type":                 {"<title>x</title>", []string{"Content-Type", ""}, ""},
		"a video":                 {"<title>x</title>", []string{"Content-Type", "video/mp4"}, ""},
		"empty":                   {"", nil, ""},
		"a sign-in page":          {"<title>Sign in</title><input type=password>", nil, ""},
		"another's name":          {`<title>x</title><meta property="og:site_name" content="Your Bank">`, nil, "x"},
		"its own address":         {`<title>x</title><meta property="og:url" content="https://bank.example/">`, nil, "x"},
		"only invisible words":    {"<title>\u200b\u202e\u2066</title>", nil, ""},
	} {
		w.at("a.example/"+url.PathEscape(what), test.page, test.header...)
		w.pass(time.Minute)
		got := w.look("http://a.example/" + url.PathEscape(url.PathEscape(what)))
		if title := ""; got == nil && test.want != title || got != nil && (got.Title != test.want || got.Host != "a.example") {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// TestPictures: which are shown, as what, and that one that isn't takes nothing from the page.
func TestPictures(t *testing.T) {
	w := newWorld(t)
	small, large := drawn(t, 40, 30, night), drawn(t, 720, 400, night)
	for what, test := range map[string]struct {
		content, kind string
		shown         string
	}{
		"small":              {small, "image/png", "image/jpeg 40x30"},
		"transparent":        {drawn(t, 400, 400, color.NRGBA{1, 2, 3, 9}), "image/png", "image/png 360x360"},
		"one pixel":          {drawn(t, 1, 1, night), "image/png", ""},
		"SVG":                {`<svg xmlns="http://www.w3.org/2000/svg" width="99" height="99"><script>alert(1)</script></svg>`, "image/svg+xml", ""},
		"a page":             {"<html><script>alert(1)</script>", "image/png", ""},
		"more than 2 MB":     {large + strings.Repeat("x", maxImage), "image/png", ""},
		"too many pixels":    {drawn(t, 5000, 3300, night), "image/png", ""},
		"cut off":            {large[:len(large)/2], "image/png", ""},
		"a header alone":     {large[:33], "image/png", ""},
		"an image of nobody": {"", "image/png", ""},
	} {
		name := url.PathEscape(what)
		w.at("i.example/"+what, test.content, "Content-Type", test.kind)
		w.at("a.example/"+what, `<title>x</title><meta property="og:image" content="http://i.example/`+name+`">`)
		w.pass(time.Minute)
		got := w.look("http://a.example/" + name)
		if got == nil || got.Title != "x" {
			t.Errorf("%s: the page has %+v", what, got)
			continue
		}
		shown := ""
		if got.Image != nil {
			shown = fmt.Sprintf("%s %dx%d", got.Image.Type, got.Image.Width, got.Image.Height)
		}
		if shown != test.shown {
			t.Errorf("%s is shown as %q", what, shown)
		}
	}
	for _, at := range []string{"data:image/png;base64,AAAA", "file:///etc/passwd", "http://i.example:25/", "//a:b@i.example/", "javascript:alert(1)", "http://[::1"} {
		w.pass(time.Hour * 7)
		w.at("a.example/", `<title>x</title><meta property="og:image" content="`+at+`">`)
		var got *Preview
		if n := w.asks(func() { got = w.look("http://a.example/") }); n != 1 || got == nil || got.Image != nil {
			t.Errorf("a picture at %q: %d requests, %+v", at, n, got)
		}
	}
	w.at("a.example/sea.png", large, "Content-Type", "image/png")
	if got := w.look("http://a.example/sea.png"); got == nil || got.Title != "a.example" || got.Image == nil {
		t.Errorf("a link to a picture has %+v", got)
	}
}

// TestHostLimit: one host is asked eight times at once, and then twice a second. What is refused for
// that is asked for again when it may be.
func TestHostLimit(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.at(fmt.Sprintf("a.example/%d", i), "<title>A</title>")
	}
	look := func(i int) bool { return w.look(fmt.Sprintf("http://a.example/%d", i)) != nil }
	for i := range 20 {
		if look(i) != (i < hostBurst) {
			t.Errorf("look %d", i)
		}
	}
	w.pass(time.Second)
	for i := hostBurst; i < hostBurst+3; i++ {
		if look(i) != (i < hostBurst+2) {
			t.Errorf("look %d, a second later", i)
		}
	}
}

// TestOwn: the server doesn't fetch from itself.
func TestOwn(t *testing.T) {
	w := newWorld(t)
	w.at("ubl.example/", "<title>UBL</title>")
	if n := w.asks(func() { w.look("http://UBL.example/") }); n != 0 {
		t.Errorf("it asked itself %d times", n)
	}
}

// answering is a web that answers as a function does.
type answering func(*http.Request) (*http.Response, error)

func (fn answering) RoundTrip(r *http.Request) (*http.Response, error) { return fn(r) }

// drip is a body of which a byte comes each second, until nobody waits any more.
type drip struct{ ctx context.Context }

func (d drip) Read(b []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		b[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (drip) Close() error { return nil }

// TestSlow: a page that doesn't answer, or that never ends, has five seconds; and one of many readers
// who gives up takes it from nobody.
func TestSlow(t *testing.T) {
	for what, way := range map[string]answering{
		"silent": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"dripping": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: drip{r.Context()}, Request: r}, nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPreviews(way, time.Now)
			begun := time.Now()
			if list := p.Of(t.Context(), acme, "http://a.example/"); len(list) != 0 || time.Since(begun) != patience {
				t.Errorf("%s: %d previews after %s", what, len(list), time.Since(begun))
			}
			impatient, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			begun = time.Now()
			if list := p.Of(impatient, acme, "http://b.example/"); len(list) != 0 || time.Since(begun) != time.Second {
				t.Errorf("%s: who has a second waits for %s", what, time.Since(begun))
			}
			time.Sleep(patience)
			synctest.Wait()
		})
	}
}

// TestPlaces: a tenant whose links lead to silent hosts leaves places to the others.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPreviews(answering(func(r *http.Request) (*http.Response, error) {
			if strings.HasPrefix(r.URL.Host, "silent") {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader("<title>x</title>")), Request: r}, nil
		}), time.Now)
		for i := range 50 {
			go p.Of(t.Context(), acme, fmt.Sprintf("http://silent%d.example/", i))
		}
		synctest.Wait()
		begun := time.Now()
		if list := p.Of(t.Context(), "t:other.com", "http://a.example/"); len(list) != 1 || time.Since(begun) != 0 {
			t.Errorf("another tenant has %d previews after %s", len(list), time.Since(begun))
		}
		time.Sleep(3 * patience)
		synctest.Wait()
	})
}
