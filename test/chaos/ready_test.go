//go:build linux

package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// poll calls check until it has nothing to say, or says its last words.
func poll(ctx context.Context, every time.Duration, check func(context.Context) error) error {
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(every):
		}
	}
}

// get reads a page that needs no token.
func (w *world) get(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return "", err
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", url, resp.StatusCode, body)
	}
	return string(body), err
}

// ready says why a node doesn't serve; nil when it does.
func (n *node) ready(ctx context.Context) error {
	if n.running() == nil {
		return fmt.Errorf("%s doesn't run", n)
	}
	_, err := n.world.get(ctx, "http://"+n.addresses().api+"/readyz")
	return err
}

// start starts nodes and lets clients use them.
func (w *world) start(nodes ...*node) error {
	for _, n := range nodes {
		if err := n.start(); err != nil {
			return err
		}
		w.admit(true, n)
	}
	return nil
}

// up starts all nodes and waits until they are one server.
func (w *world) up() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.life, healTime)
	defer cancel()
	all := w.all()
	if all[0].founder { // whom the others join
		err := w.start(all[0])
		if err == nil {
			err = poll(ctx, 20*time.Millisecond, all[0].ready)
		}
		if err != nil {
			w.t.Fatalf("the first node doesn't begin: %v\n%s", err, all[0].logTail())
		}
		all = all[1:]
	}
	if err := w.start(all...); err != nil {
		w.t.Fatal(err)
	}
	if err := w.whole(ctx, underLoad); err != nil {
		w.t.Fatalf("the nodes don't become one server: %v", err)
	}
}

// healTime is how long a world may take to be whole after the last fault.
const healTime = 90 * time.Second

// rest is whether clients write meanwhile.
type rest bool

const (
	underLoad rest = false
	atRest    rest = true
)

// whole waits until every member is ready and every replica has what the newest
// one had: when the waiting began, or, when nobody writes, has at all.
func (w *world) whole(ctx context.Context, r rest) error {
	var goal map[int]uint64
	return poll(ctx, 50*time.Millisecond, func(ctx context.Context) error {
		var errs []error
		for _, n := range w.members() {
			errs = append(errs, n.ready(ctx))
		}
		if err := errors.Join(errs...); err != nil || w.alone {
			return err
		}
		all, err := w.settled(ctx)
		if err != nil {
			return err
		}
		if goal == nil || r == atRest {
			goal = all.newest()
		}
		return all.behind(goal)
	})
}

// ubl runs another command of the program beside node n and returns its output.
func (w *world) ubl(ctx context.Context, n *node, stdin io.Reader, env []string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = stdin, &stdout, &stderr, n.env(env...)
	if err := w.net.start(0, cmd); err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("ubl %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// token makes a bearer token of yesterday, so that a node whose clock is moved
// back doesn't find it to be of the future.
func (w *world) token(email string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.life, deadline)
	defer cancel()
	n := w.node(1)
	past := n.clockPath() + "-of-tokens"
	if err := os.WriteFile(past, []byte(fmt.Sprint(int64(-24*time.Hour))), 0o600); err != nil {
		w.t.Fatal(err)
	}
	out, err := w.ubl(ctx, n, nil, []string{"UBL_CHAOS_CLOCK=" + past}, "token", email, "--ttl", "720h", "--data", n.data())
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimSpace(out)
}
