package stdio_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ubl/portal/stdio"
	"ubl/test/leaks"
)

func TestMain(m *testing.M) {
	stdio.RunIfChild()
	if len(os.Args) > 2 && os.Args[1] == "play" {
		parts[os.Args[2]](os.Args[3:])
		return
	}
	leaks.Main(m)
}

var burnt atomic.Uint64

// parts are what this executable plays as a child.
var parts = map[string]func(args []string){
	"look": look,
	"echo": func([]string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
	"stay": stay,
	"fork": fork,
	"eat":  eat,
	"burn": func([]string) {
		say("burning")
		for n := uint64(1); n != 0; n += 2 { // is never 0
			burnt.Store(n)
		}
	},
	"deaf": func([]string) {
		fmt.Fprintln(os.Stderr, "the token is "+os.Getenv("TOKEN"))
		say("deaf")
		time.Sleep(time.Hour)
	},
	"node":    node,
	"breed":   breed,
	"fill":    fill,
	"nothing": func([]string) {},
}

func say(line any) {
	fmt.Fprintln(os.Stdout, line)
}

// sight is what a child sees.
type sight struct {
	Environment []string
	UID, GID    int
	PID         int
	Groups      []int
	Folder      string
	Processes   int
	Rights      string // of Linux, as /proc says
	NoNew       string
	Read        map[string]string // what it could read of each file, or the error
	Wrote       map[string]string
	Dialed      string
	Files       []string // open
}

func look(args []string) {
	s := sight{Environment: os.Environ(), UID: os.Getuid(), GID: os.Getgid(), PID: os.Getpid(), Read: map[string]string{}, Wrote: map[string]string{}}
	s.Groups, _ = os.Getgroups()
	s.Folder, _ = os.Getwd()
	all, _ := filepath.Glob("/proc/[0-9]*")
	s.Processes = len(all)
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			s.Rights = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "NoNewPrivs:"); ok {
			s.NoNew = strings.TrimSpace(v)
		}
	}
	for _, arg := range args {
		if address, ok := strings.CutPrefix(arg, "dial="); ok {
			c, err := net.DialTimeout("tcp", address, 5*time.Second)
			if s.Dialed = "yes"; err != nil {
				s.Dialed = "no"
			} else {
				c.Close()
			}
			continue
		}
		content, err := os.ReadFile(arg)
		if s.Read[arg] = string(content); err != nil {
			s.Read[arg] = "no"
		}
		err = os.WriteFile(filepath.Join(filepath.Dir(arg), "written"), nil, 0o600)
		if s.Wrote[arg] = "yes"; err != nil {
			s.Wrote[arg] = "no"
		}
	}
	if os.WriteFile("own", []byte("x"), 0o600) == nil {
		s.Wrote["."] = "yes"
	}
	out, _ := json.Marshal(s)
	say(string(out))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// stay ends for nobody's asking.
func stay([]string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	say("here")
	time.Sleep(time.Hour)
}

// fork starts others, in sessions of their own, and says when they run.
func fork([]string) {
	for range 3 {
		cmd := exec.Command("/proc/self/exe", "play", "stay")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			say(err)
		}
	}
	time.Sleep(time.Hour)
}

// breed starts processes until it may no more, and says how many.
func breed([]string) {
	n := 0
	for ; n < 200; n++ {
		cmd := exec.Command("/proc/self/exe", "play", "stay")
		if cmd.Start() != nil {
			break
		}
	}
	say(n)
	time.Sleep(time.Hour)
}

// eat takes memory until there is none.
func eat([]string) {
	say("eating")
	var all [][]byte
	for range 1000 {
		b := make([]byte, 16<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	say(len(all))
}

// fill writes into its folder until it may no more, and says how many MiB.
func fill([]string) {
	signal.Ignore(syscall.SIGXFSZ)
	n := 0
	for i := range 40 {
		if os.WriteFile(strconv.Itoa(i), make([]byte, 8<<20), 0o600) != nil {
			break
		}
		n += 8
	}
	say(n)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// node is one that runs a command, and says the number of its process and the folder's name.
func node(args []string) {
	var c stdio.Command
	if err := json.Unmarshal([]byte(args[0]), &c); err != nil {
		say(err)
		return
	}
	if err := c.Check(); err != nil {
		say(err)
		return
	}
	child, err := stdio.New(stdio.Options{Commands: map[string]stdio.Command{"it": c}, Hidden: args[1:]}).Start(stdio.Job{Tenant: "t:acme.com", Command: "it"})
	if err != nil {
		say(err)
		return
	}
	line, _ := bufio.NewReader(child).ReadString('\n')
	say(strings.TrimSpace(line))
	_, _ = io.Copy(io.Discard, os.Stdin)
	child.Close()
}
