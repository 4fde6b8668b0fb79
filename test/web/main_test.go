// Package web uses the app as people do: in a real Chromium, on a screen of the size
// of a phone and on one of a desktop, served by the real program.
//
// # How the tests are built up
//
// A test starts a server (server_test.go: one node, or three behind one address),
// opens browsers for its people (person_test.go: each has storage and cookies of
// their own) and then reads like what they do: press a button by its name, write
// into a field by its label, see a text. Controls are found as a screen reader finds
// them, by role and name in the accessibility tree, and pressed where they are on the
// screen, with the mouse or a finger. All waiting is asking again until a deadline.
//
// Whatever a person does, their browser is watched (watch_test.go): an exception, an
// error on the console, a violation of the Content-Security-Policy, a request to another
// host or an answer that tells of a fault fails the test at its end.
//
// # What is printed
//
// Figures (figures_test.go) are collected and printed with their goals at the end.
// Sizes that miss theirs fail; times don't, since they are the machine's as well.
// Pictures of the screens go to the folder that UBL_SCREENSHOTS names, as `make soak`
// does; those in docs/screenshots were chosen from there.
//
// `make test` visits every screen, and goes each way through the app with one size of
// screen on one node; `make soak` takes both sizes, three nodes and long rooms.
//
// UBL_BIN names a program to use instead of building one, UBL_WEB_DIR a folder with the
// app instead of the embedded one (serve reads it).
package web

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"ubl/test/built"
	"ubl/test/need"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// pictures is the folder for pictures of the screens, "" for none.
var pictures = os.Getenv("UBL_SCREENSHOTS")

// scratch is a folder for the program and the browser's profile.
var scratch = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "ubl-web-") })

// chromium is one browser process for all tests, and how to end it. Who shares it
// has a browser context of their own.
type chromium struct {
	ctx context.Context
	end context.CancelFunc
}

// flags are what the browser is started with besides chromedp's own: it may reach
// nobody but this machine.
var flags = []chromedp.ExecAllocatorOption{
	chromedp.NoSandbox, chromedp.DisableGPU,
	chromedp.Flag("disable-quic", true),
	chromedp.Flag("disable-component-update", true),
	chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"),
	chromedp.Flag("lang", "en-US"),
	chromedp.Flag("use-fake-device-for-media-stream", true), // a camera, and a microphone that beeps
}

var started = sync.OnceValues(func() (*chromium, error) {
	path, err := findChromium()
	if err != nil {
		return nil, err
	}
	dir, err := scratch()
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], flags...)
	options = append(options, chromedp.ExecPath(path), chromedp.UserDataDir(filepath.Join(dir, "profile")))
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	b := &chromium{ctx: ctx, end: func() { end(); endAllocator() }}
	return b, chromedp.Do(ctx)
})

func findChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}

// browser is the browser of all tests. A test is left out where there is none, but for
// who needs them all.
func browser(t *testing.T) *chromium {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes a while")
	}
	if _, err := findChromium(); err != nil {
		need.Missing(t, "no Chromium is installed (Debian's package is chromium)")
	}
	b, err := started()
	if err != nil {
		t.Fatalf("couldn't start the browser: %v", err)
	}
	return b
}

func TestMain(m *testing.M) {
	code := m.Run()
	printFigures()
	if pictures != "" {
		fmt.Println("the screens are pictured in " + pictures)
	}
	if _, err := findChromium(); err == nil && !testing.Short() {
		if b, err := started(); err == nil {
			b.end()
		}
	}
	if dir, err := scratch(); err == nil {
		_ = os.RemoveAll(dir)
	}
	built.Remove()
	os.Exit(code)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
