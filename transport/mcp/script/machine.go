package script

import (
	_ "embed" // the prelude
	"errors"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// prelude is all that a program finds besides what the language has, and what answers go through.
//
//go:embed prelude.js
var prelude string

const (
	fileName = "program"
	// before and after make an async function of a program, whose first line is then the second.
	before = "(async function (args, tools, tool, log, console) {\n"
	after  = "\n})"
	// maxDepth bounds how deep functions of a program call each other.
	maxDepth = 2000
	// maxLogLines bounds how often a program logs.
	maxLogLines = 1000
	maxMessage  = 2 << 10 // bytes of an error's
	cutNote     = "[what was logged after this is left out]"
)

// machine is a program in goja. It belongs to one goroutine.
type machine struct {
	vm     *goja.Runtime
	say    func(note)
	open   int // calls that wait for their answers
	ended  *end
	logged int
	lines  int
}

// runJob runs a job to its end, which it says last.
func runJob(job start, answers <-chan answer, say func(note)) {
	m := &machine{vm: goja.New(), say: say}
	m.vm.SetMaxCallStackSize(maxDepth)
	m.vm.SetParserOptions(parser.WithDisableSourceMaps) // they would be read from files
	m.vm.SetTimeSource(func() time.Time { return time.UnixMilli(job.Now).UTC() })
	m.vm.SetRandSource(rand.New(rand.NewPCG(job.Seed, job.Seed)).Float64)
	deliver, failure := m.load(job)
	for failure == nil && m.open > 0 {
		a := <-answers
		m.open--
		failure = deliver(a)
	}
	switch {
	case failure != nil:
		m.ended = &end{Failure: failure}
	case m.ended == nil:
		m.ended = &end{Failure: &Failure{Name: "Error", Message: "the program waits for something that never comes: no call is open"}}
	}
	say(note{End: m.ended})
}

// load begins the program, and answers what takes answers to its calls.
func (m *machine) load(job start) (deliver func(answer) *Failure, failed *Failure) {
	main, failed := m.compile(job.Program)
	if failed != nil {
		return nil, failed
	}
	setup, err := m.vm.RunScript("prelude", prelude)
	if err != nil {
		return nil, uncaught(err)
	}
	made, err := call(setup, m.vm.ToValue(m.send), m.vm.ToValue(m.log), m.vm.ToValue(m.end))
	if err != nil {
		return nil, uncaught(err)
	}
	parts := made.ToObject(m.vm)
	if _, err := call(parts.Get("begin"), main, m.vm.ToValue(string(job.Arguments))); err != nil {
		return nil, uncaught(err)
	}
	taker := parts.Get("answer")
	return func(a answer) *Failure {
		value, problem := goja.Undefined(), goja.Undefined()
		if a.Problem == nil {
			value = m.vm.ToValue(string(a.Value))
		} else if text, err := json.Marshal(a.Problem); err == nil {
			problem = m.vm.ToValue(string(text))
		}
		_, err := call(taker, m.vm.ToValue(a.N), value, problem)
		return uncaught(err)
	}, nil
}

func call(f goja.Value, args ...goja.Value) (goja.Value, error) {
	callable, ok := goja.AssertFunction(f)
	if !ok {
		return nil, errors.New("the prelude is broken")
	}
	return callable(goja.Undefined(), args...)
}

// compile makes a function of the program.
func (m *machine) compile(program string) (goja.Value, *Failure) {
	tree, err := parser.ParseFile(nil, fileName, before+program+after, 0, parser.WithDisableSourceMaps)
	if list, ok := errors.AsType[parser.ErrorList](err); ok && len(list) > 0 {
		return nil, syntaxError(list[0].Message, list[0].Position)
	}
	if err != nil {
		return nil, syntaxError(err.Error(), file.Position{})
	}
	code, err := goja.CompileAST(tree, true)
	if at, ok := errors.AsType[*goja.CompilerSyntaxError](err); ok && at.File != nil {
		return nil, syntaxError(at.Message, at.File.Position(at.Offset))
	}
	if err != nil {
		return nil, syntaxError(err.Error(), file.Position{})
	}
	main, err := m.vm.RunProgram(code)
	return main, uncaught(err)
}

// send is a call of the program.
func (m *machine) send(n int, tool, args string) {
	if len(args) > MaxArguments || len(tool) > maxMessage {
		panic(m.vm.NewTypeError("the arguments of a call are too large"))
	}
	if !jsontext.Value(args).IsValid() {
		panic(m.vm.NewTypeError(halves))
	}
	m.open++
	m.say(note{Call: &asked{N: n, Tool: whole(tool), Arguments: jsontext.Value(args)}})
}

// log is a line of the program's. What is too much is left out, and a note says so once.
func (m *machine) log(text string) {
	if m.logged > MaxLog || m.lines >= maxLogLines {
		return
	}
	m.lines++
	if m.logged += len(text) + 1; m.logged > MaxLog || m.lines == maxLogLines {
		m.logged, text = MaxLog+1, cutNote
	}
	text = whole(text)
	m.say(note{Log: &text})
}

// end takes what the program returned, or threw: as JSON.
func (m *machine) end(result, thrown string) {
	if thrown == "" {
		m.ended = returned(result)
		return
	}
	var told struct {
		Name, Message, Stack, Code string
		Details                    map[string]string
	}
	_ = json.Unmarshal([]byte(thrown), &told, json.MatchCaseInsensitiveNames(true), jsontext.AllowInvalidUTF8(true)) // what doesn't fit is left out
	f := &Failure{Name: cut(told.Name, 64), Message: cut(told.Message, maxMessage), Code: cut(told.Code, 64)}
	if size(told.Details) <= maxMessage {
		f.Details = told.Details
	}
	f.Line, f.Column = position(told.Stack)
	m.ended = &end{Failure: f}
}

// returned is the end of a program with a result.
func returned(result string) *end {
	switch value := jsontext.Value(result); {
	case len(value) > MaxResult:
		return &end{Failure: &Failure{Name: "RangeError", Message: "the program returns more than 256 KiB: have it return less"}}
	case !value.IsValid():
		return &end{Failure: &Failure{Name: "TypeError", Message: halves}}
	default:
		return &end{Result: value}
	}
}

func size(details map[string]string) (n int) {
	for k, v := range details {
		n += len(k) + len(v)
	}
	return n
}

// uncaught is what goja itself ended a program for; nil for no error.
func uncaught(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Name: "Error", Message: cut(err.Error(), maxMessage)}
	if _, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		f.Name, f.Message = "RangeError", "the program's functions call each other too deeply"
	}
	f.Line, f.Column = position(err.Error())
	return f
}

func syntaxError(message string, at file.Position) *Failure {
	f := &Failure{Name: "SyntaxError", Message: cut(strings.TrimPrefix(message, "SyntaxError: "), maxMessage)}
	if at.Line > 1 {
		f.Line, f.Column = at.Line-1, at.Column
	}
	return f
}

// places are where a stack is in the program.
var places = regexp.MustCompile(`\b` + fileName + `:(\d{1,7}):(\d{1,7})`)

// position is the innermost place of a stack in the program, 0 for none.
func position(stack string) (line, column int) {
	found := places.FindStringSubmatch(stack)
	if found == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(found[1])
	column, _ = strconv.Atoi(found[2])
	if line < 2 {
		return 0, 0
	}
	return line - 1, column
}

// cut is a text's beginning, as valid UTF-8.
func cut(s string, most int) string { return whole(s[:min(len(s), most)]) }

// halves is what is wrong with strings as "\ud800", which JSON can't carry.
const halves = "a string holds half of a character: a surrogate without its other"

// whole is s without what no text can have: a program's strings may hold halves of characters.
func whole(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
