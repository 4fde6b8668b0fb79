package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/rogpeppe/go-internal/testscript"

	"ubl"
	"ubl/portal/stdio"
	"ubl/test/built"
	"ubl/test/nameserver"
	"ubl/transport/mcp/script"
)

func TestMain(m *testing.M) {
	script.RunIfChild()
	stdio.RunIfChild()
	// In this process, too, the program is found as ubl: what it tells people to type says so.
	testscript.Main(built.Tests{M: m}, map[string]func(){"ubl": main})
}

// The transcripts in testdata/script run the real program, each in a directory
// of its own.
func TestScripts(t *testing.T) {
	bin := t.TempDir()
	if err := os.Symlink(built.Path(t), filepath.Join(bin, "ubl")); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("TZ", "UTC") // people are told times by their own clock
			e.Values[resolverKey{}] = new(*nameserver.Server)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"listening": listening,
			"token":     token,
			"streaming": streaming,
			"truncate":  truncate,
			"hole":      hole,
			"agekey":    ageKey,
			"dns":       answerDNS,
			"publish":   publish, "publishfile": publishFile,
		},
	})
}

// exits CODE PROGRAM ARGS… runs a program that must end with the code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if exit, ok := errors.AsType[*exec.ExitError](ts.Exec(args[1], args[2:]...)); ok {
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// listening FILE waits until a server says in the file where it is, and sets
// UBL_URL.
func listening(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, "no server listens", func() bool {
		data, _ := os.ReadFile(ts.MkAbs(args[0]))
		_, rest, ok := strings.Cut(string(data), "listening on ")
		url, _, whole := strings.Cut(rest, "\n")
		ts.Setenv("UBL_URL", url)
		return ok && whole
	})
}

// agekey FILE writes an age identity, as age-keygen does, and sets AGE_RECIPIENT.
func ageKey(ts *testscript.TestScript, _ bool, args []string) {
	identity, err := age.GenerateX25519Identity()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(identity.String()+"\n"), 0o600))
	ts.Setenv("AGE_RECIPIENT", identity.Recipient().String())
}

// resolverKey is where a script keeps its resolver.
type resolverKey struct{}

// dns starts a DNS resolver with nothing in it, and sets UBL_DNS_SERVER.
func answerDNS(ts *testscript.TestScript, _ bool, _ []string) {
	s, err := nameserver.Start(nil)
	ts.Check(err)
	ts.Defer(s.Close)
	ts.Setenv("UBL_DNS_SERVER", s.Addr)
	*ts.Value(resolverKey{}).(**nameserver.Server) = s
}

// publish NAME RECORD… has the resolver answer with records.
func publish(ts *testscript.TestScript, _ bool, args []string) {
	s := *ts.Value(resolverKey{}).(**nameserver.Server)
	if s == nil {
		ts.Fatalf("there is no resolver: start one with dns")
	}
	ts.Check(s.Set(args[0], args[1:]...))
}

// publishfile NAME FILE has it answer with the record in a file.
func publishFile(ts *testscript.TestScript, neg bool, args []string) {
	publish(ts, neg, []string{args[0], ts.ReadFile(args[1])})
}

// token EMAIL sets UBL_TOKEN.
func token(ts *testscript.TestScript, _ bool, args []string) {
	var out, errs bytes.Buffer
	if code := Run(context.Background(), []string{"token", args[0], "--data", ts.MkAbs("ubl-data")}, nil, &out, &errs, nil); code != 0 {
		ts.Fatalf("no token: %s", errs.String())
	}
	ts.Setenv("UBL_TOKEN", strings.TrimSpace(out.String()))
}

// streaming N waits until the server has N live streams.
func streaming(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, "no stream", func() bool {
		resp, err := http.Get(ts.Getenv("UBL_URL") + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return bytes.Contains(text, []byte("ubl_streams_subscribers "+args[0]+"\n"))
	})
}

// truncate EXPORT N FILE writes an export's first N atoms under a header that
// fits them, and sets HEAD to the head of the whole and CUT to that of the file.
func truncate(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var header struct {
		HeadHash string       `json:"head_hash"`
		TenantID ubl.TenantID `json:"tenant_id"`
	}
	ts.Check(json.Unmarshal([]byte(lines[0]), &header))
	ts.Setenv("HEAD", header.HeadHash)
	var last struct {
		HeadHash string `json:"head_hash"`
	}
	ts.Check(json.Unmarshal([]byte(lines[n]), &last))
	ts.Setenv("CUT", last.HeadHash)
	var out bytes.Buffer
	_, err = ubl.NewExporter(&out, header.TenantID, ubl.LedgerHead{Seq: int64(n), HeadHash: last.HeadHash})
	ts.Check(err)
	out.WriteString(strings.Join(lines[1:n+1], ""))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), out.Bytes(), 0o600))
}

// hole EXPORT N M FILE writes an export that says that its atoms N to M are missing.
func hole(ts *testscript.TestScript, _ bool, args []string) {
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")
	from, err := strconv.Atoi(args[1])
	ts.Check(err)
	to, err := strconv.Atoi(args[2])
	ts.Check(err)
	said := fmt.Sprintf(`{"format":%q,"from_seq":%d,"ledger_shard":"0","reason":"a page is damaged","tenant_id":"t:localhost","to_seq":%d}`+"\n", ubl.HoleFormat, from, to)
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.Join(slices.Replace(lines, from, to+1, said), "")), 0o600))
}

// eventually polls for a minute at most.
func eventually(ts *testscript.TestScript, what string, ok func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			ts.Fatalf("%s", what)
		}
	}
}
