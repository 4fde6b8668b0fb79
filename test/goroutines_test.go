package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// unguarded are the functions that start goroutines or timers by themselves, and
// why a panic there is not for [panics.Catcher] to catch. What isn't listed here
// has to go through it: a panic in a bare goroutine ends the process.
var unguarded = map[string]string{
	"panics/panics.go Go": "it is the guard",

	"bridge/irc/bridge.go run":      "a program of its own, which a supervisor starts again from its file",
	"bridge/irc/session.go connect": "as run",
	"bridge/irc/session.go dialer":  "as run",
	"bridge/irc/session.go later":   "as run",
	"bridge/irc/session.go say":     "closes a channel",

	"blobs/append.go checkpoint": "syncs a file and writes its record",

	"durable/mark.go OpenMark":           "the timer syncs a file",
	"storage/engine.go sideBySide":       "opens and closes partitions, before and after everything else",
	"storage/partition.go openPartition": "a writer that panicked doesn't know what it has written: the process recovers from its log",
	"storage/settler.go settle":          "calls back as the partition's settler does, whose callbacks catch their own",
	"actors/dispatcher.go Schedule":      "protoactor's mailboxes recover, and commands run under recoverTurn",
	"actors/followers.go lookIn":         "the timer starts guarded work",
	"actors/load.go watchLoad":           "the timer cancels, and so does the goroutine",

	"cluster/mesh/accept.go receive":          "the timer closes a connection",
	"cluster/mesh/conn.go Close":              "the timer closes a connection",
	"cluster/mesh/conn.go closeAll":           "closes connections",
	"cluster/mesh/dial.go dial":               "the timers cancel and close",
	"cluster/answer.go serveAsk":              "Node.answer catches what its question panics with",
	"gateway/provider.go ask":                 "the timer cancels",
	"scan/scan.go ask":                        "ends the waiting for a connection",
	"mail/mail.go dial":                       "closes a connection",
	"limits/listen.go part":                   "reads what nobody looks at, and closes the connection",
	"office/replay.go join":                   "the timer counts one reader less",
	"portal/program.go start":                 "the timer ends a program",
	"portal/session.go watch":                 "the timer closes a session",
	"portal/session.go close":                 "the timer cancels",
	"portal/flight.go Begin":                  "the timer cancels",
	"portal/flight.go ask":                    "the timer cancels",
	"portal/flight.go startWatch":             "the timer cancels",
	"portal/guard.go RoundTrip":               "the timers cancel",
	"portal/guard.go send":                    "the timers cancel",
	"portal/sync.go syncSoon":                 "the timer starts guarded work",
	"resolver/resolver.go exchange":           "closes a connection",
	"transport/envelope/patient.go Patiently": "the timer writes a comment",
	"transport/mcp/sdk.go middleware":         "the timer cancels",
	"transport/mcp/script/child.go child":     "in a process of its own, which ends with the one program that it runs",

	"transport/mcp/script/confine_linux.go endAtLimit": "in the same process, and ends it",

	"cmd/ubl/main.go main":        "restores signals",
	"cmd/ubl/log.go newLogWriter": "the timer flushes the log",
	"cmd/ubl/waiting.go wait":     "net/http recovers",
	"cmd/ubl/serve.go serve":      "net/http recovers",
	"cmd/ubl/bench.go measure":    "no server",
	"cmd/ubl/benchprepare.go all": "no server",
}

// TestGoroutinesAreGuarded finds every go statement, WaitGroup.Go and AfterFunc of
// the product.
func TestGoroutinesAreGuarded(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		if d.IsDir() && (name == "test" || name == "node_modules" || name == "storetest" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		return bareStarts(path, func(fn string, at token.Position) {
			key := strings.TrimPrefix(filepath.ToSlash(path), "../") + " " + fn
			found[key] = true
			if unguarded[key] == "" {
				t.Errorf("%s starts a goroutine or timer by itself: use panics.Catcher, or say in unguarded why not (line %d)", key, at.Line)
			}
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for key := range unguarded {
		if !found[key] {
			t.Errorf("%s starts nothing any more: take it off the list", key)
		}
	}
}

// bareStarts tells the functions of a file that start something unguarded.
func bareStarts(path string, tell func(fn string, at token.Position)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if startsBare(n) {
				tell(fn.Name.Name, files.Position(n.Pos()))
			}
			return true
		})
	}
	return nil
}

func startsBare(n ast.Node) bool {
	if _, ok := n.(*ast.GoStmt); ok {
		return true
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	// The Go of a WaitGroup takes the function alone.
	return ok && (s.Sel.Name == "AfterFunc" || s.Sel.Name == "Go" && len(call.Args) == 1)
}
