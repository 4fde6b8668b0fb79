// Command progress runs `go test` and prints one plain line for each package, each long
// test and each minute without one, and everything that failed.
//
//	go run ./test/progress -race ./test/web        # arguments are those of go test
//	go run ./test/progress -results -race ./...    # keeps results, too
//
// Twice as many packages run at a time as there are processors, unless -p says otherwise:
// those with clusters and browsers wait for most of their time.
// With -results test/soak/results/SOAK.md gets a section for each package as soon as it has
// ended. Those of other packages stay, so the file can be made part by part. It ends as
// `go test` does.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	args := os.Args[1:]
	keep := len(args) > 0 && args[0] == "-results"
	if keep {
		args = args[1:]
	}
	if err := run(args, keep); err != nil {
		fmt.Fprintln(os.Stderr, "progress:", err)
		os.Exit(1)
	}
}

func run(args []string, keep bool) error {
	began := time.Now()
	// What compiles and links lives for seconds: a third of its time would go to collecting garbage.
	cmd := exec.Command("go", append([]string{"test", "-json", "-toolexec", "env GOGC=400", "-p", strconv.Itoa(2 * runtime.NumCPU())}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("couldn't start go test: %w", err)
	}
	r := newReport(os.Stdout)
	if keep {
		r.kept = &results{root: ".", args: args, commit: commit()}
	}
	read := r.follow(out)
	failed := cmd.Wait()
	r.slowest(10)
	fmt.Printf("%d packages in %s; go test and what it waited for took %s of the processors\n", len(r.packages),
		time.Since(began).Round(time.Second), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(time.Second))
	return errors.Join(read, failed, r.failed)
}

// commit names what is tested. What earlier runs have left in results changes nothing of it.
func commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(out))
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", ".", ":!test/*/results").Run() != nil {
		name += ", changed"
	}
	return name
}

// event is what `go test -json` prints (go doc test2json).
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64 // seconds
	Output  string
	// ImportPath stands in place of Package in the events of a build.
	ImportPath string
}

// follow takes in events until they end. A line that is no event is passed on.
func (r *report) follow(events io.Reader) error {
	var mu sync.Mutex
	stop := make(chan struct{})
	var watch sync.WaitGroup
	defer watch.Wait()
	defer close(stop)
	watch.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case now := <-tick.C:
				mu.Lock()
				r.still(now)
				mu.Unlock()
			}
		}
	})
	for in := json.NewDecoder(events); ; {
		var e event
		if err := in.Decode(&e); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			_, _ = io.Copy(r.out, io.MultiReader(in.Buffered(), events))
			return fmt.Errorf("go test printed something else than events: %w", err)
		}
		mu.Lock()
		r.take(e)
		mu.Unlock()
	}
}
