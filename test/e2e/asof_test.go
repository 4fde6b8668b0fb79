package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/harness"
	"ubl/test/poll"
	"ubl/test/ports"
)

// ways ask the same of a node: over REST, over MCP and at the command line.
type ways struct {
	*agent
	n     *node
	token string // in a file
}

func newWays(t *testing.T, n *node, email string) *ways {
	token := n.token(email)
	file := filepath.Join(t.TempDir(), "token")
	must(t, os.WriteFile(file, []byte(token), 0o600))
	w := &ways{n.bearer(email, token), n, file}
	w.opensMCP()
	return w
}

// ubl runs a command of the program as the person.
func (w *ways) ubl(args ...string) string {
	return w.n.run(append(args, "--url", "http://"+w.n.addr, "--token-file", w.token)...)
}

// rest asks over REST, and wants an answer.
func (w *ways) rest(method, path, body string) string {
	w.t.Helper()
	status, answer := w.ask(method, path, body)
	if status >= http.StatusMultipleChoices {
		w.t.Fatalf("%s %s is answered %d %s", method, path, status, answer)
	}
	return answer
}

// uses uses a tool over MCP, and wants an answer.
func (w *ways) uses(tool, args string) string {
	w.t.Helper()
	status, answer := w.tool(tool, args)
	if failed(status, answer) {
		w.t.Fatalf("%s %s is answered %d %s", tool, args, status, answer)
	}
	return answer
}

// moment is where the ledger is, and the time by the node's clock: what comes next is later by both.
func (w *ways) moment() (seq, at string) {
	w.t.Helper()
	var head struct {
		Seq  int64  `json:"seq"`
		Time string `json:"server_time"`
	}
	must(w.t, json.Unmarshal([]byte(w.rest("GET", "/api/ledger/head", "")), &head))
	poll.Until(w.t, "the clock goes on", func() bool { return !strings.Contains(w.rest("GET", "/api/ledger/head", ""), head.Time) })
	return fmt.Sprint(head.Seq), head.Time
}

// TestTheSamePastEveryWay: a room, a container and an Agreement as they were, after an atom of the
// ledger and at a time, are the same over REST, over MCP and at the command line.
func TestTheSamePastEveryWay(t *testing.T) {
	n := newNode(t)
	ana, bob := newWays(t, n, "ana@ours.example"), newWays(t, n, "bob@ours.example")
	bob.rest("GET", "/api/rooms", "") // who asks joins
	ana.rest("POST", "/api/rooms", `{"name":"plans"}`)
	ana.rest("PATCH", "/api/rooms/r:plans/about", `{"topic":"the first"}`)
	ana.rest("POST", "/api/containers", `{"kind":"workspace","name":"shelf"}`)
	seq, at := ana.moment()
	ana.rest("PATCH", "/api/rooms/r:plans/about", `{"topic":"the second"}`)
	ana.rest("POST", "/api/workspaces/w:shelf/documents", `{"title":"Plan","content":"A"}`)
	ana.rest("POST", "/api/rooms/r:plans/members", `{"email":"bob@ours.example"}`)
	for _, of := range []struct{ path, tool, id, is, was string }{
		{"/api/rooms/", "room_get", "r:plans", `"topic":"the second"`, `"topic":"the first"`},
		{"/api/containers/", "container_get", "w:shelf", `"documents":1`, `"documents":0`},
		{"/api/agreements/", "agreement_get", "a:room:r:plans", `"email":"bob@ours.example"`, `"email":"ana@ours.example"`},
	} {
		arg := map[string]string{"/api/rooms/": "room_id", "/api/containers/": "container_id", "/api/agreements/": "agreement_id"}[of.path]
		looks := map[string]func(asOf string) string{
			"REST": func(asOf string) string {
				return ana.rest("GET", of.path+of.id+"?as_of="+url.QueryEscape(asOf), "")
			},
			"MCP": func(asOf string) string {
				return ana.uses(of.tool, fmt.Sprintf(`{%q:%q,"as_of":%q}`, arg, of.id, asOf))
			},
			"ubl": func(asOf string) string { return ana.ubl("show", of.id, "--json", "--as-of", asOf) },
		}
		for way, look := range looks {
			for _, asOf := range []string{seq, at} {
				if got := look(asOf); !strings.Contains(got, of.was) || strings.Contains(got, of.is) {
					t.Errorf("%s as of %s over %s is %s", of.id, asOf, way, got)
				}
			}
			now, _ := ana.moment()
			if got := look(now); !strings.Contains(got, of.is) {
				t.Errorf("%s as of now over %s is %s", of.id, way, got)
			}
		}
	}
}

// TestDeadLettersEveryWay: a dead letter that an earlier version has left is listed, and redriven or
// discarded, over REST, over MCP and at the command line; then it is no dead letter any more, and the
// act is in the ledger.
func TestDeadLettersEveryWay(t *testing.T) {
	path := withCounters(t)
	const subject, about, tenant = "n:dead", `"subject":"n:dead"`, "t:waiting.example"
	body := func(key string) string {
		return fmt.Sprintf(`{"subject":%q,"key":%q,"tenant_id":%q}`, subject, key, tenant)
	}
	for way, mend := range map[string]struct {
		list func(*ways) string
		do   func(w *ways, what, key string)
	}{
		"REST": {
			func(w *ways) string { return w.rest("GET", "/api/dead-letters?tenant_id="+tenant, "") },
			func(w *ways, what, key string) { w.rest("POST", "/api/dead-letters/"+what, body(key)) },
		},
		"MCP": {
			func(w *ways) string { return w.uses("deadletter_list", `{"tenant_id":"`+tenant+`"}`) },
			func(w *ways, what, key string) { w.uses("deadletter_"+what, body(key)) },
		},
		"ubl": {
			func(w *ways) string { return w.ubl("deadletters", "list", "--json", "--tenant", tenant) },
			func(w *ways, what, key string) { w.ubl("deadletters", what, key, subject, tenant) },
		},
	} {
		for _, what := range []string{"redrive", "discard"} {
			t.Run(way+" "+what, func(t *testing.T) {
				n := &node{t: t, path: path, dir: harness.Restore(t, "../upgrade/testdata/waiting/data.tar.gz"), addr: ports.Free(t), log: &tail{}, args: []string{"--operator", "ops@localhost"}}
				n.start()
				defer func() {
					if n.proc != nil {
						n.kill()
					}
				}()
				ops := newWays(t, n, "ops@localhost") // those who were owners then came by another issuer
				listed := mend.list(ops)
				_, rest, found := strings.Cut(listed, `"key":"`)
				key, _, _ := strings.Cut(rest, `"`)
				if !found || !strings.Contains(listed, about) {
					t.Fatalf("listed is %s", listed)
				}
				mend.do(ops, what, key)
				if left := mend.list(ops); strings.Contains(left, about) {
					t.Errorf("after a %s there is %s", what, left)
				}
				n.stop()
				if atoms := n.run("export", "--data", n.dir, "--tenant", tenant); strings.Count(atoms, `"did":"deadletter.`+what+`"`) != 1 {
					t.Errorf("the ledger has no %s, or several", what)
				}
			})
		}
	}
}
