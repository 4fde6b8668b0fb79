package public

import (
	"net/http"
	"net/netip"
	"testing"

	"ubl"
)

const planPath = handbook + "/files/" + plan + "/content"

// TestContents: a file's bytes, or some of them, which no browser runs.
func TestContents(t *testing.T) {
	house := newHouse()
	h := New(Options{Asker: house, Feed: house, Blobs: house})
	defer h.Close()
	tag := `"` + string(house.shown["t:acme|k:handbook"].files[plan].SHA256) + `"`
	for _, test := range []struct {
		what, method string
		header       []string
		status       int
		body         string
	}{
		{"all of it", "GET", nil, 200, planContent},
		{"a part", "GET", []string{"Range", "bytes=1-6"}, 206, planContent[1:7]},
		{"its end", "GET", []string{"Range", "bytes=-3"}, 206, planContent[len(planContent)-3:]},
		{"several parts come as one", "GET", []string{"Range", "bytes=0-1,3-4"}, 200, planContent},
		{"behind the end", "GET", []string{"Range", "bytes=1000-"}, 416, "invalid range: failed to overlap\n"},
		{"a part of another content", "GET", []string{"Range", "bytes=1-6", "If-Range", `"other"`}, 200, planContent},
		{"what the client has", "GET", []string{"If-None-Match", tag}, 304, ""},
		{"the head", "HEAD", nil, 200, ""},
	} {
		w := do(h, test.method, planPath, append(test.header, "Origin", "https://evil.example", "Cookie", "ubl=s3cr3t")...)
		if w.Code != test.status || w.Body.String() != test.body {
			t.Errorf("%s: answered %d %q, want %d %q", test.what, w.Code, w.Body, test.status, test.body)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Access-Control-Allow-Origin": "*", "Set-Cookie": "", "Vary": "",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", test.what, name, got, want)
			}
		}
		if test.status/100 != 2 {
			continue
		}
		for name, want := range map[string]string{
			"Content-Type": "application/octet-stream", "Content-Disposition": `attachment; filename="plan <1>.html"`, "Etag": tag, "Accept-Ranges": "bytes",
			"Cache-Control": kept[0],
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", test.what, name, got, want)
			}
		}
	}
}

// TestContentsAreCounted: each counts as one that no copy answers, and is refused with the rest.
func TestContentsAreCounted(t *testing.T) {
	house := newHouse()
	asks := 0
	h := New(Options{Asker: house, Feed: house, Blobs: house, Count: func(*http.Request) (func() error, error) {
		return func() error {
			if asks++; asks > 3 {
				return ubl.Errorf(ubl.CodeRateLimited, "too often")
			}
			return nil
		}, nil
	}})
	defer h.Close()
	for n, want := range []int{200, 200, 200, 429} {
		if w := get(h, planPath); w.Code != want {
			t.Errorf("content %d is answered %d, want %d", n, w.Code, want)
		}
	}
}

// TestContentGone: of a file that is no longer public nothing is sent, and of one whose content
// is missing neither.
func TestContentGone(t *testing.T) {
	house := newHouse()
	h := New(Options{Asker: house, Feed: house, Blobs: house})
	defer h.Close()
	for range 2 {
		if w := get(h, planPath); w.Code != http.StatusOK {
			t.Fatalf("answered %d", w.Code)
		}
	}
	house.change("t:acme|k:handbook", true, func(s *shown) {
		f := s.files[plan]
		f.SHA256 = "00" + f.SHA256[2:]
		s.files["f:lost"] = f
		delete(s.files, plan)
	})
	if w := get(h, planPath); w.Code != http.StatusNotFound {
		t.Errorf("what was removed is answered %d", w.Code)
	}
	if w := get(h, handbook+"/files/f:lost/content"); w.Code != http.StatusInternalServerError || w.Header().Get("Etag") != "" {
		t.Errorf("what is missing is answered %d %v", w.Code, w.Header())
	}
}

// TestSending: so many go to one network at a time, and so many in all.
func TestSending(t *testing.T) {
	var s sending
	var ends []func()
	begin := func(a string) ubl.Code {
		end, err := s.begin(netip.MustParseAddr(a))
		if err == nil {
			ends = append(ends, end)
		}
		return ubl.CodeOf(err)
	}
	for range maxSendingTo {
		begin("2001:db8::1")
	}
	if got := begin("2001:db8::2"); got != ubl.CodeRateLimited {
		t.Errorf("a neighbour gets %q", got)
	}
	if got := begin("2001:db8:0:1::1"); got != "" {
		t.Errorf("another network gets %q", got)
	}
	for i := len(ends); i < maxSending; i++ {
		begin(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}).String())
	}
	if got := begin("198.51.100.1"); got != ubl.CodeOverloaded {
		t.Errorf("beyond the node's places one gets %q", got)
	}
	for _, end := range ends {
		end()
	}
	if s.all != 0 || len(s.to) != 0 {
		t.Errorf("in the end %d are on their way, to %d", s.all, len(s.to))
	}
}
