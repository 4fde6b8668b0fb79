package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"ubl"
	"ubl/blobs/bucket"
	"ubl/gateway"
	"ubl/mail"
	"ubl/storage"
	"ubl/transport/api"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
	// exitFull says that the disk is full: free some space, then try again. It is
	// EX_TEMPFAIL of sysexits.h, which systemd shows by name.
	exitFull = 75
	// exitIncomplete says that an export lacks atoms, and holds but for them. It is
	// EX_DATAERR of sysexits.h.
	exitIncomplete = 65
)

// program is what every command runs with.
type program struct {
	// name is what to type to run the program again; empty is ubl.
	name     string
	in       io.Reader
	out, err io.Writer
	env      map[string]string
	// flags are those that the command line itself has.
	flags  map[string]bool
	now    func() time.Time
	random io.Reader
	// gateway is the section of the YAML file that says which models there are.
	gateway gateway.Config
	// quota is what tenants may have in all on the node that is opened; nil for everything.
	quota ubl.Quota
	// reach is how the node that is opened finds push services; nil for one that pushes nothing.
	reach *reach
	// mail is the operator's mail server for the node that is opened; nil for none.
	mail *mail.Options
	// calls are the servers by which browsers in a call reach each other.
	calls api.CallServers
	// scan says which daemon looks into files for the node that is opened.
	scan scanFlags
	// limits are changes to the table of limits, from the file's section.
	limits map[string]int64
	// kinds is the one that says which kinds of containers there are besides the product's.
	kinds []ubl.Kind
	// oidc is the one that says where people may sign in.
	oidc []oidcProvider
	// bucket keeps the contents of files; nil where the data directory does.
	bucket *bucket.Options
	// portal is the one that says where servers of tools may be.
	portal portalSection
	// configFile is the YAML file, "" for none.
	configFile string
}

// Run runs one command line and returns its exit code. Environment entries are
// KEY=value. It ends early when ctx does.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, environ []string) int {
	p := &program{in: stdin, out: stdout, err: stderr, env: map[string]string{}, random: rand.Reader}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			p.env[name] = value
		}
	}
	if executable, err := os.Executable(); err == nil {
		p.name = programName(os.Args[0], executable)
	}
	p.now = systemClock(p.env)
	command, code := p.parse(args)
	if command == nil {
		return code
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return p.report(command.Run(p))
}

// exited carries an exit code out of kong after --help.
type exited int

// parse turns arguments into a command; nil with an exit code where there is
// nothing to run.
func (p *program) parse(args []string) (command *kong.Context, code int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exited:
			command, code = nil, int(r)
		default:
			panic(r)
		}
	}()
	parser, err := newParser(&cli{}, p, func(code int) { panic(exited(code)) })
	if err != nil {
		return nil, p.report(err)
	}
	if slices.ContainsFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }) { // kong would change it
		return nil, p.report(usagef("an argument is not valid UTF-8"))
	}
	if len(args) == 0 {
		args = []string{"help"}
	}
	if args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	command, err = parser.Parse(args)
	if err != nil {
		return nil, p.usage(parser, err)
	}
	p.flags = map[string]bool{}
	for _, step := range command.Path {
		if step.Flag != nil && !step.Resolved {
			p.flags[step.Flag.Name] = true
		}
	}
	return command, exitOK
}

// usage tells what is wrong with the command line.
func (p *program) usage(parser *kong.Kong, err error) int {
	name := parser.Model.Name
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil && parse.Context.Selected() != nil {
		name += " " + parse.Context.Selected().Path()
	}
	step := nextStep(err)
	if step == "" {
		step = `run "` + name + ` --help"`
	}
	p.tell(err.Error(), step)
	return exitUsage
}

// usageError is a command line that parses and still makes no sense.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// tell writes what is wrong and, below it, what to do about it, "" for nothing. Both may quote what
// others wrote.
func (p *program) tell(wrong, step string) {
	fmt.Fprintln(p.err, "ubl:", clean(p.copyable(wrong)))
	if step != "" {
		fmt.Fprintln(p.err, "next:", clean(p.copyable(step)))
	}
}

// report tells a command's error and maps it to an exit code.
func (p *program) report(err error) int {
	if err == nil {
		return exitOK
	}
	p.tell(plain(err), nextStep(err))
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	if errors.Is(err, storage.ErrFull) {
		return exitFull
	}
	if _, ok := errors.AsType[*ubl.IncompleteError](err); ok {
		return exitIncomplete
	}
	return exitFailed
}

// plain is an error's text without the wire's code in front.
func plain(err error) string {
	if step, ok := err.(*stepError); ok {
		return plain(step.error)
	}
	if e, ok := err.(*ubl.Error); ok && e.Cause == nil {
		return e.Message
	}
	return err.Error()
}
