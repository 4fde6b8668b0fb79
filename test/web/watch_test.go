package web

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// watch notes what shouldn't happen in a tab, whatever the test is about. Its test
// fails at its end, where it didn't say with expect that this belongs to it.
type watch struct {
	p *person

	mu         sync.Mutex
	complaints []string
	expected   []*regexp.Regexp
	requests   []string // "GET /api/rooms", in their order; of streams "… after <id>"
	loaded     map[network.RequestID]*loading
}

// loading is one file on its way, and its size as it was transferred.
type loading struct {
	kind network.ResourceType
	path string
	size float64
}

func newWatch(p *person) *watch {
	p.t.Helper()
	w := &watch{p: p, loaded: map[network.RequestID]*loading{}}
	must(p.t, chromedp.Listen(p.ctx, w.take))
	call(p, log.Enable, cdp.Empty{})
	call(p, audits.Enable, cdp.Empty{})
	p.t.Cleanup(w.settle)
	return w
}

// expect says that complaints of a form belong to the test.
func (w *watch) expect(form string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expected = append(w.expected, regexp.MustCompile(form))
}

func (w *watch) settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, complaint := range w.complaints {
		if !w.isExpected(complaint) {
			w.p.t.Errorf("in the browser of %s: %s", w.p.name, complaint)
		}
	}
}

func (w *watch) isExpected(complaint string) bool {
	for _, form := range w.expected {
		if form.MatchString(complaint) {
			return true
		}
	}
	return false
}

func (w *watch) complain(format string, args ...any) {
	w.complaints = append(w.complaints, fmt.Sprintf(format, args...))
}

// asked is every request of the tab so far.
func (w *watch) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.requests...)
}

// transferred is how many bytes came of files of the kinds.
func (w *watch) transferred(kinds ...network.ResourceType) (sum float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range w.loaded {
		for _, kind := range kinds {
			if l.kind == kind {
				sum += l.size
			}
		}
	}
	return sum
}

// take is called for each event of the tab, one after another.
func (w *watch) take(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *inspector.EventTargetCrashed:
		w.complain("the tab crashed, and nothing in it answers any more")
	case *runtime.EventExceptionThrown:
		w.complain("an exception: %s", exception(e.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			w.complain("an error on the console: %s", words(e.Args))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			w.complain("an error of the browser: %s", e.Entry.Text)
		}
	case *audits.EventIssueAdded:
		if csp := e.Issue.Details.ContentSecurityPolicyIssueDetails; csp != nil {
			w.complain("the Content-Security-Policy is violated: %s %s", csp.ViolatedDirective, csp.BlockedURL)
		}
	case *network.EventRequestWillBeSent:
		w.request(e)
	case *network.EventResponseReceived:
		w.response(e)
	case *network.EventLoadingFinished:
		if l := w.loaded[e.RequestID]; l != nil {
			l.size = e.EncodedDataLength
		}
	}
}

func (w *watch) request(e *network.EventRequestWillBeSent) {
	at, err := url.Parse(e.Request.URL)
	if err != nil || at.Scheme == "data" || at.Scheme == "blob" || at.Scheme == "chrome-error" {
		return
	}
	if home := strings.TrimPrefix(w.p.server.url, "http://"); at.Host != home {
		w.complain("a request to another host: %s", e.Request.URL)
	}
	request := e.Request.Method + " " + at.RequestURI()
	if after := e.Request.Headers["Last-Event-ID"]; after != nil {
		request += fmt.Sprintf(" after %v", after)
	}
	w.requests = append(w.requests, request)
	w.loaded[e.RequestID] = &loading{kind: e.Type, path: at.Path}
}

// response complains of answers that tell of a fault. 401 is how the server says that
// nobody is signed in.
func (w *watch) response(e *network.EventResponseReceived) {
	if status := e.Response.Status; status >= 400 && status != 401 {
		w.complain("%s is answered %d", w.loadedPath(e), status)
	}
}

func (w *watch) loadedPath(e *network.EventResponseReceived) string {
	if l := w.loaded[e.RequestID]; l != nil {
		return l.path
	}
	return e.Response.URL
}

func exception(d *runtime.ExceptionDetails) string {
	if d.Exception != nil && d.Exception.Description != "" {
		return d.Exception.Description
	}
	return d.Text
}

func words(args []*runtime.RemoteObject) string {
	var all []string
	for _, arg := range args {
		if arg.Description != "" {
			all = append(all, arg.Description)
		} else {
			all = append(all, string(arg.Value))
		}
	}
	return strings.Join(all, " ")
}
