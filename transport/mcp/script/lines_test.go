package script

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"ubl"
)

// TestWhatAChildMaySay: the runner ends with the first line that is none of the protocol's.
func TestWhatAChildMaySay(t *testing.T) {
	const call = `{"call":{"n":1,"tool":"a","arguments":{}}}` + "\n"
	for _, c := range []struct {
		name, said string
		want       error
	}{
		{"a result", `{"end":{"result":null}}` + "\n", nil},
		{"a failure", `{"log":""}` + "\n" + `{"end":{"failure":{"name":"Error","message":"m"}}}` + "\n", nil},
		{"a call and a result", call + `{"end":{"result":{}}}` + "\n", nil},
		{"nothing", ``, io.EOF},
		{"half a line", `{"end":{"result":null}}`, io.EOF},
		{"no JSON", "panic\n", errLine},
		{"nothing in it", "{}\n", errLine},
		{"two in one", `{"log":"a","end":{"result":1}}` + "\n", errLine},
		{"neither result nor failure", `{"end":{}}` + "\n", errLine},
		{"both", `{"end":{"result":1,"failure":{"name":"","message":""}}}` + "\n", errLine},
		{"a member too many", `{"log":"a","more":1}` + "\n", errLine},
		{"a member twice", `{"end":{"result":{"a":1,"a":2}}}` + "\n", errLine},
		{"broken UTF-8", "{\"log\":\"\xff\"}\n", errLine},
		{"arguments that are none", `{"call":{"n":1,"tool":"a","arguments":[]}}` + "\n", errLine},
		{"calls out of order", strings.Replace(call, `"n":1`, `"n":2`, 1), errLine},
		{"a call twice", call + call, errLine},
		{"a line too long", `{"log":"` + strings.Repeat("x", maxNote) + `"}` + "\n", errLine},
		{"a line that never ends", strings.Repeat("x", 2*maxNote), errLine},
		{"a log too long", `{"log":"` + strings.Repeat("x", MaxLog+100) + `"}` + "\n", errLine},
		{"a log without end", strings.Repeat(`{"log":""}`+"\n", 2*maxLogLines), errLine},
		{"calls too many", call + strings.ReplaceAll(call, `"n":1`, `"n":2`) + strings.ReplaceAll(call, `"n":1`, `"n":3`), errCalls},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, calls := new(Outcome), 0
			err := follow(t.Context(), bufio.NewReader(strings.NewReader(c.said)), io.Discard, out, 2, func(context.Context, Call) (json.RawMessage, *Problem) {
				calls++
				return json.RawMessage(`1`), nil
			})
			if !errors.Is(err, c.want) || calls > 2 {
				t.Errorf("%v after %d calls, want %v", err, calls, c.want)
			}
		})
	}
}

// TestWithoutLimitsNothingRuns: a child that can't be confined says so, and runs no program.
func TestWithoutLimitsNothingRuns(t *testing.T) {
	r := New(Options{})
	r.o.Memory = 0
	_, err := r.Run(t.Context(), "t:acme.com", Job{Program: `return 1`, Timeout: time.Minute}, nil)
	if ubl.CodeOf(err) != ubl.CodeInternal || !strings.Contains(err.Error(), "no bounds") {
		t.Errorf("answered %v", err)
	}
}

// FuzzChild: whatever a child writes, the runner makes no more calls than it may, answers each with
// one line, and keeps what is bounded and valid.
func FuzzChild(f *testing.F) {
	f.Add([]byte(`{"call":{"n":1,"tool":"a","arguments":{"b":[1]}}}` + "\n" + `{"log":"x"}` + "\n" + `{"end":{"result":[1,"2"]}}` + "\n"))
	f.Add([]byte(`{"end":{"failure":{"name":"E","message":"m","line":3,"details":{"a":"b"}}}}` + "\n"))
	f.Add([]byte("{\"log\":\"\xff\"}\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		var answers bytes.Buffer
		out, calls := &Outcome{}, 0
		err := follow(t.Context(), bufio.NewReader(bytes.NewReader(said)), &answers, out, 3, func(_ context.Context, c Call) (json.RawMessage, *Problem) {
			if calls++; c.N != calls || !json.Valid(c.Arguments) || c.Arguments[0] != '{' {
				t.Errorf("call %d is %+v", calls, c)
			}
			return c.Arguments, nil
		})
		if calls > 3 || bytes.Count(answers.Bytes(), []byte("\n")) != calls {
			t.Errorf("%d calls, answered %q", calls, answers.Bytes())
		}
		if err == nil && (out.Failure == nil) != json.Valid(out.Result) {
			t.Errorf("ended with result %q, failure %+v", out.Result, out.Failure)
		}
		logged := 0
		for _, line := range out.Log {
			logged += len(line)
		}
		if logged > MaxLog+len(cutNote) || len(out.Log) > maxLogLines+1 {
			t.Errorf("%d lines of %d bytes were kept", len(out.Log), logged)
		}
	})
}

// FuzzProgram: whatever a program is, a machine ends it with one end that the runner takes.
func FuzzProgram(f *testing.F) {
	for _, program := range []string{``, `return 1`, `throw {}`, `return await tool("a", args)`, `log(tools.a, args)`, `}); (async function () {`, `return "\ud800"`, `throw {get message() { throw 1 }}`} {
		f.Add(program, `{"n":1,"value":{"a":1}}`)
	}
	f.Add(`try { await tool("a") } catch (e) { return e }`, `{"n":1,"problem":{"code":"c","message":"m"}}`)
	f.Fuzz(func(t *testing.T, program, answered string) {
		if len(program) > 200 || strings.Contains(program, "for") || strings.Contains(program, "while") || strings.Contains(program, "repeat") || strings.Contains(program, "do") {
			t.Skip("what bounds a loop is the process")
		}
		var a answer
		if readLine(bufio.NewReader(strings.NewReader(answered+"\n")), maxLine, &a) != nil || a.Problem == nil && !a.Value.IsValid() {
			t.Skip("no answer")
		}
		answers, ends := make(chan answer, 16), 0
		runJob(start{Program: program, Arguments: []byte(`{}`)}, answers, func(n note) {
			var line bytes.Buffer
			var read note
			if err := writeLine(&line, n); err != nil {
				t.Fatal(err)
			}
			if err := readLine(bufio.NewReader(&line), maxNote, &read); err != nil || !read.valid() {
				t.Fatalf("%v for a note of %q", err, program)
			}
			switch {
			case n.End != nil:
				ends++
			case n.Call != nil:
				a.N = n.Call.N
				answers <- a
			}
		})
		if ends != 1 {
			t.Errorf("%d ends", ends)
		}
	})
}
