package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
	"ubl/test/leaks"
	"ubl/transport/mcp/script"
)

func TestMain(m *testing.M) {
	script.RunIfChild()
	leaks.Main(m)
}

const tenant = ubl.TenantID("t:acme.com")

var began = time.Date(2026, 1, 7, 12, 0, 0, 0, time.UTC)

// job is a program with usual bounds.
func job(program string) script.Job {
	return script.Job{Program: program, Arguments: json.RawMessage(`{"room":"r:general"}`), MaxCalls: 20, Timeout: 20 * time.Second, Now: began, Seed: 7}
}

// echo answers a call with what it was; tools that fail do so.
func echo(_ context.Context, c script.Call) (json.RawMessage, *script.Problem) {
	switch c.Tool {
	case "closed":
		return nil, &script.Problem{Code: "forbidden", Message: "you may not use this tool", Details: map[string]string{"tool": "closed"}}
	case "large":
		return json.RawMessage(`"` + strings.Repeat("x", script.MaxAnswer) + `"`), nil
	}
	return json.RawMessage(fmt.Sprintf(`{"n":%d,"tool":%q,"args":%s}`, c.N, c.Tool, c.Arguments)), nil
}

func run(t *testing.T, j script.Job, do script.Do) *script.Outcome {
	t.Helper()
	out, err := script.New(script.Options{}).Run(t.Context(), tenant, j, do)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestPrograms: what programs return, or how they fail.
func TestPrograms(t *testing.T) {
	for _, c := range []struct{ name, program, want string }{
		{"nothing", ``, `null`},
		{"a value", `return {a: [1, "zwei"], b: undefined}`, `{"a":[1,"zwei"]}`},
		{"its arguments", `return args.room`, `"r:general"`},
		{"a call by path", `return (await tools.messenger.list_rooms({limit: 2})).args.limit`, `2`},
		{"a call by name in brackets", `return (await tools["git.commit"]({})).tool`, `"git.commit"`},
		{"a call by name", `return (await tool("a.b")).args`, `{}`},
		{"calls after one another", `return (await Promise.all([1, 2, 3].map(i => tools.a({i})))).map(r => [r.n, r.args.i])`, `[[1,1],[2,2],[3,3]]`},
		{"a call that nobody awaits", `tools.a({}); return "ended"`, `"ended"`},
		{"a refusal that is caught", `try { await tool("closed") } catch (e) { return [e.name, e.code, e.message, e.details.tool, e instanceof Error] }`,
			`["ToolError","forbidden","you may not use this tool","closed",true]`},
		{"tools are no promise", `return typeof (await tools.messenger)`, `"function"`},
		{"the clock stands still", `return [new Date().toISOString(), Date.now() - new Date()]`, `["2026-01-07T12:00:00.000Z",0]`},
		{"the zone is UTC", `return new Date(2026, 0, 1).toISOString()`, `"2026-01-01T00:00:00.000Z"`},
		{"no powers beside", `return [typeof require, typeof process, typeof fetch, typeof setTimeout, typeof module, typeof XMLHttpRequest]`,
			`["undefined","undefined","undefined","undefined","undefined","undefined"]`},
		{"no file by a source map", "return eval('1\\n//# sourceMappingURL=/etc/passwd')", `1`},
		{"text beyond ASCII", `return (await tools.a({t: "grüße 🚪"})).args.t`, `"grüße 🚪"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := run(t, job(c.program), echo)
			if out.Failure != nil || out.Stopped != "" || string(out.Result) != c.want {
				t.Errorf("returned %s, failure %+v, stopped %q; want %s", out.Result, out.Failure, out.Stopped, c.want)
			}
		})
	}
}

// TestFailures: a program that fails is told where and why, so that it can be mended.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, program string
		want          script.Failure
	}{
		{"no JavaScript", "const a = 1\nreturn a +* 2", script.Failure{Name: "SyntaxError", Message: "Unexpected token *", Line: 2, Column: 11}},
		{"an unknown name", "\n\nreturn nothing.at.all", script.Failure{Name: "ReferenceError", Message: "nothing is not defined", Line: 3, Column: 8}},
		{"thrown", "throw new RangeError(\"too far\")", script.Failure{Name: "RangeError", Message: "too far", Line: 1, Column: 7}},
		{"thrown text", "throw 'up'", script.Failure{Name: "Error", Message: "the program threw up"}},
		{"a refusal", "await tools.a({})\nawait tool(\"closed\")", script.Failure{Name: "ToolError", Message: "you may not use this tool", Line: 2, Column: 11, Code: "forbidden", Details: map[string]string{"tool": "closed"}}},
		{"arguments that are none", "await tools.a(5)", script.Failure{Name: "TypeError", Message: "a tool takes one object with its arguments", Line: 1, Column: 14}},
		{"waits for nothing", "await new Promise(() => {})", script.Failure{Name: "Error", Message: "the program waits for something that never comes: no call is open"}},
		{"returns too much", "return 'x'.repeat(300000)", script.Failure{Name: "RangeError", Message: "the program returns more than 256 KiB: have it return less"}},
		{"returns half a character", "return '\\ud800'", script.Failure{Name: "TypeError", Message: "a string holds half of a character: a surrogate without its other"}},
		{"gets too much", "await tool('large')", script.Failure{Name: "ToolError", Message: "the call was made, and its answer is too large for a program: ask for less", Line: 1, Column: 11, Code: "too_large"}},
		{"too deep", "function f() { return f() + 1 }\nreturn f()", script.Failure{Name: "RangeError", Message: "the program's functions call each other too deeply", Line: 1, Column: 24}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := run(t, job(c.program), echo)
			if out.Failure == nil {
				t.Fatalf("returned %s, stopped %q", out.Result, out.Stopped)
			}
			if got := *out.Failure; fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("failed as %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestLog: what a program logs is bounded, and a note says that something is missing.
func TestLog(t *testing.T) {
	out := run(t, job(`log("a", {b: 1}, [2]); console.error("c"); for (let i = 0; i < 50; i++) log("x".repeat(1 << 20))`), echo)
	if want := []string{`a {"b":1} [2]`, "c", "[what was logged after this is left out]"}; !slices.Equal(out.Log, want) {
		t.Errorf("the log is %.200q", out.Log)
	}
	if out = run(t, job(`for (let i = 0; i < 1e5; i++) log("")`), echo); len(out.Log) != 1000 || !strings.Contains(out.Log[999], "left out") {
		t.Errorf("of many lines there are %d", len(out.Log))
	}
}

// TestTheSameWay: a job that is run again draws the same numbers.
func TestTheSameWay(t *testing.T) {
	const program = `return [Math.random(), Math.random()]`
	first, again := run(t, job(program), echo), run(t, job(program), echo)
	j := job(program)
	if j.Seed++; string(first.Result) != string(again.Result) || string(run(t, j, echo).Result) == string(first.Result) {
		t.Errorf("first %s, again %s", first.Result, again.Result)
	}
}

// TestHostile: a hostile program is stopped, the server's memory stays flat, and the child is gone.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name, program string
		want          []script.Reason
	}{
		{"turns round", `for (;;) {}`, []script.Reason{script.StoppedCPU}},
		{"a regular expression", `return /^(a+)+\1$/.test("a".repeat(40) + "b")`, []script.Reason{script.StoppedCPU, script.StoppedMemory}},
		{"promises", `for (;;) await null`, []script.Reason{script.StoppedCPU}},
		{"promises without end", `const all = []; for (;;) all.push(new Promise(() => {}))`, []script.Reason{script.StoppedMemory, script.StoppedCPU}},
		{"a text", `let all = []; for (;;) all.push("x".repeat(2 ** 29))`, []script.Reason{script.StoppedMemory}},
		{"a text that doubles", `let s = "x"; for (;;) s += s + "y"`, []script.Reason{script.StoppedMemory}},
		{"an array", `return new Array(1e9).fill(7).length`, []script.Reason{script.StoppedMemory, script.StoppedCPU}},
		{"bytes", `const all = []; for (;;) all.push(new Uint8Array(1 << 28).fill(1))`, []script.Reason{script.StoppedMemory}},
		{"deep JSON", `return JSON.parse("[".repeat(1e7))`, []script.Reason{script.StoppedMemory, script.StoppedStack}},
		{"calls", `for (let i = 0; i < 10000; i++) await tools.a({i})`, []script.Reason{script.StoppedCalls}},
		{"calls at once", `await Promise.all(Array.from({length: 10000}, (_, i) => tools.a({i, text: "x".repeat(100000)})))`, []script.Reason{script.StoppedCalls, script.StoppedMemory}},
		{"calls caught", `for (;;) try { await tool("closed") } catch {}`, []script.Reason{script.StoppedCalls}},
		{"waits for a call", `await tool("slow")`, []script.Reason{script.StoppedTime}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && slices.Contains(c.want, script.StoppedCPU) {
				t.Skip("the kernel's limit is Linux's")
			}
			if script.Raced() && (slices.Contains(c.want, script.StoppedMemory) || slices.Contains(c.want, script.StoppedStack)) {
				t.Skip("the race detector takes more memory")
			}
			r := script.New(script.Options{CPU: time.Second})
			j := job(c.program)
			j.Timeout = 5 * time.Minute // a busy machine leaves a child little of its processors
			if slices.Contains(c.want, script.StoppedTime) {
				j.Timeout = time.Second
			}
			calls := 0
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			out, err := r.Run(t.Context(), tenant, j, func(ctx context.Context, call script.Call) (json.RawMessage, *script.Problem) {
				if calls++; call.Tool == "slow" {
					<-ctx.Done()
				}
				return echo(ctx, call)
			})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			t.Logf("stopped %q after %v, %d calls; the server allocated %d KiB, its heap grew by %d KiB; failure %+v", out.Stopped, time.Since(start).Round(time.Millisecond), calls,
				(after.TotalAlloc-before.TotalAlloc)>>10, (int64(after.HeapSys)-int64(before.HeapSys))>>10, out.Failure)
			if !slices.Contains(c.want, out.Stopped) {
				t.Errorf("stopped by %q, failure %+v, result %.100s", out.Stopped, out.Failure, out.Result)
			}
			if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 32<<20 {
				t.Errorf("the server allocated %d bytes over it", grown)
			}
			if calls > j.MaxCalls {
				t.Errorf("%d calls were made", calls)
			}
		})
	}
}

// TestPlaces: runs of one tenant leave places to others, and one that finds none says when to come back.
func TestPlaces(t *testing.T) {
	r := script.New(script.Options{AtOnce: 2, PerTenant: 1, Patience: time.Millisecond})
	inside, over := make(chan bool), make(chan bool)
	ended := make(chan error)
	go func() {
		_, err := r.Run(t.Context(), tenant, job(`await tools.a({})`), func(ctx context.Context, c script.Call) (json.RawMessage, *script.Problem) {
			inside <- true
			<-over
			return echo(ctx, c)
		})
		ended <- err
	}()
	select {
	case <-inside:
	case err := <-ended:
		t.Fatal(err)
	}
	_, err := r.Run(t.Context(), tenant, job(``), echo)
	if ubl.CodeOf(err) != ubl.CodeOverloaded || ubl.AsError(err).RetryAfter() == 0 {
		t.Errorf("a run too many: %v", err)
	}
	if _, err := r.Run(t.Context(), "t:other.org", job(``), echo); err != nil {
		t.Errorf("another tenant's run: %v", err)
	}
	if n := r.Open(); n != 1 {
		t.Errorf("%d runs are under way", n)
	}
	close(over)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := r.Ended(); got["done"] != 2 || got["refused"] != 1 || r.Open() != 0 {
		t.Errorf("they ended by %v, and %d are open", got, r.Open())
	}
}

// TestEnded: each run counts once, by how it ended. A place too few is refused as its owner says.
func TestEnded(t *testing.T) {
	full := errors.New("full")
	r := script.New(script.Options{AtOnce: -1, PerTenant: -1})
	for _, program := range []string{`return 1`, `throw new Error("no")`, `await tools.a({}); await tools.a({}); await tools.a({})`} {
		j := job(program)
		j.MaxCalls = 2
		if _, err := r.Run(t.Context(), tenant, j, echo); err != nil {
			t.Fatal(err)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = r.Run(gone, tenant, job(``), echo)
	for how, n := range r.Ended() {
		want := map[string]int64{"done": 1, "threw": 1, "calls": 1, "gone": 1}[how]
		if n != want {
			t.Errorf("%s ended %d, want %d", how, n, want)
		}
	}
	r = script.New(script.Options{AtOnce: 1, PerTenant: 1, Patience: 50 * time.Millisecond, Full: func() error { return full }})
	_, err := r.Run(t.Context(), tenant, job(`await tools.a({})`), func(ctx context.Context, c script.Call) (json.RawMessage, *script.Problem) {
		if _, err := r.Run(ctx, tenant, job(``), echo); !errors.Is(err, full) {
			t.Errorf("a run too many: %v", err)
		}
		return echo(ctx, c)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAPanicLeavesNoChild: a call that panics ends the run's child before the panic goes on.
func TestAPanicLeavesNoChild(t *testing.T) {
	r := script.New(script.Options{AtOnce: 1, PerTenant: 1})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is lost")
			}
		}()
		_, _ = r.Run(t.Context(), tenant, job(`await tools.a({}); for (;;) {}`), func(context.Context, script.Call) (json.RawMessage, *script.Problem) { panic("a fault") })
	}()
	if out, err := r.Run(t.Context(), tenant, job(`return 1`), echo); err != nil || string(out.Result) != "1" {
		t.Errorf("the next run: %+v, %v", out, err)
	}
}

// TestCancelled: who goes away ends the program.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := script.New(script.Options{}).Run(ctx, tenant, job(`await tools.a({}); for (;;) {}`), func(ctx context.Context, c script.Call) (json.RawMessage, *script.Problem) {
		cancel()
		return echo(ctx, c)
	})
	if err != context.Canceled {
		t.Errorf("a run that was given up: %v", err)
	}
}

// BenchmarkRun is a run that does nothing: what a process takes.
func BenchmarkRun(b *testing.B) {
	r := script.New(script.Options{})
	for b.Loop() {
		if out, err := r.Run(b.Context(), tenant, job(`return 1`), echo); err != nil || string(out.Result) != "1" {
			b.Fatal(out, err)
		}
	}
}
