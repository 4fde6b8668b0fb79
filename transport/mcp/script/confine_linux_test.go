package script

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ubl/confine"
)

// begin starts a child with a program, whose first call is handed to look.
func begin(t *testing.T, program string, look func(pid int)) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	r := New(Options{})
	c, err := r.spawn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.converse(ctx, r.first(Job{Program: program, MaxCalls: 1, Now: time.Now()}), 1, func(context.Context, Call) (json.RawMessage, *Problem) {
		look(c.cmd.Process.Pid)
		return json.RawMessage("null"), nil
	})
	if err != nil {
		t.Logf("the program didn't end by itself: %v", err)
	}
	return c
}

// TestAChildHasNothing: no environment, no files but its three pipes and what the runtime itself
// reads, a low priority, and limits that it can't lift.
func TestAChildHasNothing(t *testing.T) {
	t.Setenv("UBL_TEST_SECRET", "secret")
	inherited, err := os.Open("/etc/hosts")
	if err != nil {
		t.Fatal(err)
	}
	defer inherited.Close()
	if _, _, failed := syscall.Syscall(syscall.SYS_FCNTL, inherited.Fd(), syscall.F_SETFD, 0); failed != 0 {
		t.Fatal(failed)
	}
	looked := false
	c := begin(t, `await tool("look")`, func(pid int) {
		looked = true
		at := func(name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
		environment, err := os.ReadFile(at("environ"))
		if err != nil || len(environment) > 0 {
			t.Errorf("its environment is %q, %v", environment, err)
		}
		limits, err := os.ReadFile(at("limits"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(limits)) {
			for name, want := range map[string]string{"Max open files": "0 0", "Max file size": "0 0", "Max core file size": "0 0", "Max cpu time": "10 11"} {
				if rest, ok := strings.CutPrefix(line, name); ok && strings.Join(strings.Fields(rest)[:2], " ") != want {
					t.Errorf("it has %q, want %s", line, want)
				}
			}
			if strings.HasPrefix(line, "Max address space") && strings.Contains(line, "unlimited") {
				t.Errorf("it has %q", line)
			}
		}
		files, err := filepath.Glob(at("fd/*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			to, _ := os.Readlink(file)
			if !strings.HasPrefix(to, "pipe:") && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/sys/fs/cgroup/") {
				t.Errorf("it has %s open", to)
			}
		}
		tasks, _ := filepath.Glob(at("task/*"))
		for _, task := range tasks {
			stat, err := os.ReadFile(task + "/stat")
			if err != nil {
				t.Fatal(err)
			}
			_, fields, _ := strings.Cut(string(stat), ") ")
			if nice := strings.Fields(fields)[16]; nice != strconv.Itoa(confine.Niceness) {
				t.Errorf("a thread has the priority %s", nice)
			}
		}
		if group, err := syscall.Getpgid(pid); err != nil || group != pid {
			t.Errorf("its process group is %d, %v", group, err)
		}
	})
	if err := c.cmd.Wait(); err != nil || !looked {
		t.Errorf("the child ended with %v, looked at: %v", err, looked)
	}
}

// TestAChildEndsWithItsServer: one that nobody listens to any more ends, whatever its program does.
func TestAChildEndsWithItsServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := New(Options{CPU: time.Minute})
	c, err := r.spawn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeLine(c.in, r.first(Job{Program: `tool("begun"); for (;;) {}`, MaxCalls: 1})); err != nil {
		t.Fatal(err)
	}
	var n note
	if err := readLine(c.out, maxNote, &n); err != nil || n.Call == nil {
		t.Fatalf("said %+v, %v", n, err)
	}
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestAChildsMemoryIsBounded by the kernel: what a program takes, what the runtime maps beyond
// it, and what a child has to begin with.
func TestAChildsMemoryIsBounded(t *testing.T) {
	if Raced() {
		t.Skip("the race detector takes more")
	}
	for _, program := range []string{
		`let all = []; for (;;) all.push("x".repeat(2 ** 29))`,
		`let all = []; for (;;) all.push("x".repeat(1e7) + Math.random())`,
		`return new Array(1e9).fill(7).length`,
		`const all = []; for (;;) all.push({a: [1, 2, 3]})`,
	} {
		c := begin(t, program, func(int) {})
		_ = c.cmd.Wait() // it was ended
		rusage, ok := c.cmd.ProcessState.SysUsage().(*syscall.Rusage)
		if !ok || rusage.Maxrss > 320<<10 {
			t.Errorf("%s took %d KiB", program, rusage.Maxrss)
		}
		t.Logf("%s took %d MiB and ended with %v: %s", program, rusage.Maxrss>>10, c.cmd.ProcessState, c.autopsy(10*time.Second))
	}
}
