package deploy

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"ubl/test/built"
	"ubl/test/need"

	"ubl"
)

// operator is who runs the installation, owner who talks in it.
const (
	operator = "root@compose.example"
	owner    = "ana@compose.example"
)

// installation is compose.yaml, carried out: its nodes and its load balancer.
type installation struct {
	t     *testing.T
	at    *place
	nodes map[string]*process
	lb    *process
	check []string // arguments of the nodes' health check
}

// newInstallation prepares what the README says, and starts nothing.
func newInstallation(t *testing.T) *installation {
	t.Helper()
	haproxy := need.Tool(t, "haproxy")
	compose, image := readCompose(t), readImage(t)
	at := newPlace(t)
	i := &installation{t: t, at: at, nodes: map[string]*process{}}
	writeFile(t, at.secret(), run(t, nil, "cluster", "secret"), 0o400)
	for _, name := range nodes {
		i.nodes[name] = newProcess(t, name, i.args(image, compose.Services[name], name), i.env(image, compose.Services[name], name))
	}
	i.check = compose.Services["n1"].Healthcheck.Test
	config := filepath.Join(at.dir, "haproxy.cfg")
	writeFile(t, config, at.in("lb").Replace(readFile(t, "haproxy.cfg")), 0o600)
	args := append([]string{haproxy}, compose.Services["lb"].Command[1:]...)
	args[len(args)-1] = config
	i.lb = newProcess(t, "lb", args, os.Environ())
	return i
}

// args is a node's command line; the program is ours.
func (i *installation) args(image *image, s service, name string) []string {
	args, _ := image.command(s)
	args[0] = built.Path(i.t)
	for n := range args {
		args[n] = i.at.in(name).Replace(args[n])
	}
	return args
}

// env is a node's environment, and the operator that the README has one name.
func (i *installation) env(image *image, s service, name string) []string {
	_, env := image.command(s)
	for n := range env {
		env[n] = i.at.in(name).Replace(env[n])
	}
	slices.Sort(env)
	return append(slices.DeleteFunc(env, func(e string) bool { return e == "UBL_OPERATOR=" }), "UBL_OPERATOR="+operator)
}

// start brings everything up and waits until it is ready.
func (i *installation) start() {
	i.t.Helper()
	for _, name := range nodes {
		i.nodes[name].start()
	}
	for _, name := range nodes {
		i.ready(name)
	}
	i.lb.start()
	i.ready("lb")
}

// stopNodes stops all nodes at the same time, as "docker compose stop" does:
// those that are last to go have no quorum any more, and end cleanly too.
func (i *installation) stopNodes() {
	i.t.Helper()
	var all sync.WaitGroup
	for _, p := range i.nodes {
		all.Go(p.stop)
	}
	all.Wait()
}

// ready waits until the health check of compose.yaml is content, asked at the
// address that the container has here.
func (i *installation) ready(who string) {
	i.t.Helper()
	args := append(slices.Clone(i.check[2:]), "--wait", "60s")
	if out := run(i.t, []string{"UBL_URL=" + i.at.url(who)}, args...); out != "ready\n" {
		i.t.Fatalf("%s says %q", who, out)
	}
}

// token is made with the key that a node holds.
func (i *installation) token(email, node string) string {
	i.t.Helper()
	return strings.TrimSpace(run(i.t, nil, "token", email, "--data", i.at.data(node)))
}

// verifyExport takes the ledger from an address and checks it as anyone could.
func (i *installation) verifyExport(who, token string) *ubl.Verified {
	i.t.Helper()
	export := run(i.t, []string{"UBL_TOKEN=" + token}, "export", "--quiet", "--url", i.at.url(who))
	v, err := ubl.Verify(strings.NewReader(export), ubl.VerifyOptions{})
	if err != nil {
		i.t.Fatalf("the ledger from %s doesn't verify: %v", who, err)
	}
	return v
}

// allLed waits until each of the eight partitions is led by one node, as the
// nodes' figures say; a leadership may just be on its way to another.
func (i *installation) allLed(ctx context.Context) {
	i.t.Helper()
	led := 0
	for ; ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		led = 0
		for _, name := range nodes {
			led += i.leads(name)
		}
		if led == 8 {
			return
		}
	}
	i.t.Errorf("the nodes lead %d partitions together, want 8", led)
}

// leads counts the partitions that a node says it leads.
func (i *installation) leads(name string) (n int) {
	i.t.Helper()
	status, _, figures := get(i.t, "http://"+i.at.address(name)+":9090/metrics")
	if status != http.StatusOK {
		i.t.Fatalf("%s shows no figures on its admin address: %d", name, status)
	}
	for line := range strings.Lines(figures) {
		if strings.HasPrefix(line, "ubl_partition_leader{") && strings.HasSuffix(line, " 1\n") {
			n++
		}
	}
	return n
}

// refusal wants that the load balancer refuses as a node would.
func (i *installation) refusal(ctx context.Context, c *client) {
	i.t.Helper()
	for ctx.Err() == nil {
		status, header, body := get(i.t, c.base+"/api/whoami")
		var e struct {
			Error struct {
				Code string `json:"code"`
			} `json:"error"`
			RequestID  string    `json:"request_id"`
			ServerTime time.Time `json:"server_time"`
		}
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			i.t.Fatalf("the load balancer's error is %q: %v", body, err)
		}
		if status != http.StatusServiceUnavailable || e.Error.Code != "unavailable" || header.Get("Retry-After") != "1" {
			i.t.Fatalf("with all nodes down the load balancer answers %d %v %s", status, header, body)
		}
		if strings.Contains(body, "no node is ready") {
			return
		}
		pause(ctx, 100*time.Millisecond) // the health checks haven't noticed yet
	}
	i.t.Fatal("the load balancer doesn't notice that all nodes are down")
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
