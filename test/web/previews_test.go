package web

import (
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

// TestLinkPreview: a message's link says below it what its page is about; the server fetched that,
// and its author may take it away.
func TestLinkPreview(t *testing.T) {
	needAxe(t)
	var asked []string
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("User-Agent"))
		if r.URL.Path == "/i.png" {
			_ = png.Encode(w, image.NewGray(image.Rect(0, 0, 400, 300)))
			return
		}
		fmt.Fprint(w, `<!doctype html><title>x</title><meta property="og:title" content="Tides of the harbour"><meta property="og:description" content="When the sea comes and goes."><meta property="og:image" content="/i.png">`)
	}))
	s := oneNode(t, "--link-previews", "--preview-allow", "127.0.0.0/8")
	ana := newcomer(t, s, phone)
	ana.enter("general")
	link := page.URL + "/tides"
	ana.say("general", "Look at "+link)
	ana.sees("Tides of the harbour", "When the sea comes and goes.")
	ana.until("the picture is shown", func() bool {
		return eval[bool](ana, `(() => { const i = document.querySelector('.preview img'); return i !== null && i.complete && i.naturalWidth === 360 && new URL(i.src).origin === location.origin })()`)
	})
	ana.examine("talk-preview")
	ana.press("button", "Remove the preview of …")
	ana.misses("When the sea comes and goes.")
	ana.sees(link)
	page.Close() // so that nothing is asked any more
	if want := []string{"/tides UBL-LinkPreview/1.0", "/i.png UBL-LinkPreview/1.0"}; !slices.Equal(asked, want) {
		t.Errorf("the page was asked %q, want %q", asked, want)
	}
}
