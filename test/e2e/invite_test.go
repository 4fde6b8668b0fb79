package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ubl/test/ports"
)

// invited is an invitation as its maker sees it.
type invited struct {
	Link       *string `json:"link"`
	Invitation struct {
		ID string `json:"id"`
	} `json:"invitation"`
}

func invite(ctx context.Context, t *testing.T, by *client, key, email string) invited {
	t.Helper()
	var made invited
	must(t, by.do(ctx, "POST", "/api/invitations", key, map[string]any{"email": email}, &made))
	return made
}

// at is the link as a node other than the one that made it is asked for it.
func (n *node) at(t *testing.T, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	must(t, err)
	_, port, err := net.SplitHostPort(n.addr)
	must(t, err)
	u.Host = net.JoinHostPort("localhost", port)
	return u.String()
}

// accept sends the form of an invitation's page, and tells how it was answered. It
// may run beside the test.
func (v visitor) accept(link, page string) int {
	v.t.Helper()
	_, rest, _ := strings.Cut(page, `name="key" value="`)
	key, _, ok := strings.Cut(rest, `"`)
	if !ok {
		v.t.Errorf("the page has no form: %s", page)
	}
	resp, err := v.PostForm(link, url.Values{"key": {key}})
	if err != nil {
		v.t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusSeeOther && resp.Header.Get("Location") != "/ui/" {
		v.t.Errorf("who accepts is led to %s", resp.Header.Get("Location"))
	}
	return resp.StatusCode
}

// say sends a message as a page would.
func (v visitor) say(link, text string) int {
	v.t.Helper()
	u, err := url.Parse(link)
	must(v.t, err)
	u.Path = "/api/rooms/r:general/messages"
	body, err := json.Marshal(textBody{Type: "text", Body: map[string]string{"text": text}})
	must(v.t, err)
	resp, err := v.Post(u.String(), "application/json", strings.NewReader(string(body)))
	must(v.t, err)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestInvitation: a person of a public mail provider is invited into a company's
// tenant, talks there, is there after a restart, and is shut out again.
func TestInvitation(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n := newNode(t)
	ana, bob := n.client(n.token("ana@invite.example")), n.client(n.token("bob@invite.example"))
	made := invite(ctx, t, ana, "first", "Eve@gmail.com")
	if again := invite(ctx, t, ana, "first", "eve@gmail.com"); again.Link != nil || again.Invitation.ID != made.Invitation.ID {
		t.Errorf("repeated, it is %+v", again)
	}
	if err := bob.do(ctx, "POST", "/api/invitations", "", map[string]any{"email": "mal@else.example"}, nil); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("a member's invitation is answered %v", err)
	}
	link := n.at(t, *made.Link)
	eve, late := newVisitor(t), newVisitor(t)
	var page string
	for range 2 { // a preview doesn't use it up
		page = eve.ask("GET", link, http.StatusOK)
	}
	if !strings.Contains(page, "eve@gmail.com is invited into <b>invite.example</b>") {
		t.Errorf("the page says %s", page)
	}
	if got := eve.accept(link, page); got != http.StatusSeeOther {
		t.Fatalf("accepting is answered %d", got)
	}
	if got := late.accept(link, `name="key" value="00"`); got != http.StatusNotFound {
		t.Errorf("accepting after that is answered %d", got)
	}
	late.ask("GET", link, http.StatusNotFound)

	n.whoIs(t, eve, link, "t:invite.example", "member", "eve@gmail.com")
	if got := eve.say(link, "hello from outside"); got != http.StatusCreated {
		t.Errorf("a message is answered %d", got)
	}
	heard, err := ana.history(ctx, "r:general")
	must(t, err)
	if last := heard[len(heard)-2:]; !strings.HasSuffix(last[0].Body.Text, " joined") || last[1].Body.Text != "hello from outside" {
		t.Errorf("ana has heard %+v", last)
	}
	var list struct {
		Invitations []json.RawMessage `json:"invitations"`
	}
	must(t, ana.do(ctx, "GET", "/api/invitations", "", nil, &list))
	if len(list.Invitations) != 1 || strings.Contains(string(list.Invitations[0]), `"accepted_at":null`) || strings.Contains(string(list.Invitations[0]), "secret") {
		t.Errorf("listed: %s", list.Invitations)
	}

	n.stop()
	n.start()
	n.whoIs(t, eve, link, "t:invite.example", "member", "eve@gmail.com")
	late.ask("GET", link, http.StatusNotFound)
	n.shutOut(ctx, t, ana, eve, link)

	secret := link[strings.LastIndexByte(link, '.')+1:]
	if log := n.log.String(); strings.Contains(log, secret) || !strings.Contains(log, "/invite/*") {
		t.Errorf("the log has the secret, or not the route: %s", log)
	}
	n.stop()
	file := filepath.Join(t.TempDir(), "ledger.ndjson")
	must(t, os.WriteFile(file, []byte(n.run("export", "--tenant", "t:invite.example", "--data", n.dir)), 0o600))
	n.run("verify", file)
}

// whoIs wants to know a visitor by their cookie.
func (n *node) whoIs(t *testing.T, v visitor, link, tenant, role, email string) {
	t.Helper()
	at, _, _ := strings.Cut(link, "/invite/")
	var who struct {
		Tenant   string `json:"tenant_id"`
		Role     string `json:"role"`
		Identity struct {
			Email string `json:"email"`
		} `json:"identity"`
	}
	must(t, json.Unmarshal([]byte(v.ask("GET", at+"/api/whoami", http.StatusOK)), &who))
	if who.Tenant != tenant || who.Role != role || who.Identity.Email != email {
		t.Errorf("the session is of %+v", who)
	}
}

// shutOut removes who was invited: their session ends with that, until they are
// invited again.
func (n *node) shutOut(ctx context.Context, t *testing.T, ana *client, eve visitor, link string) {
	t.Helper()
	var members struct {
		Members []struct {
			UserID string `json:"user_id"`
			Email  string `json:"email"`
		} `json:"members"`
	}
	must(t, ana.do(ctx, "GET", "/api/tenant/members", "", nil, &members))
	for _, m := range members.Members {
		if m.Email == "eve@gmail.com" {
			must(t, ana.do(ctx, "DELETE", "/api/tenant/members/"+m.UserID, "", nil, nil))
		}
	}
	if got := eve.say(link, "still here?"); got != http.StatusUnauthorized { // the session went along
		t.Errorf("who was shut out is answered %d", got)
	}
	again := n.at(t, *invite(ctx, t, ana, "", "eve@gmail.com").Link)
	if got := eve.accept(again, eve.ask("GET", again, http.StatusOK)); got != http.StatusSeeOther {
		t.Errorf("who was invited again is answered %d", got)
	}
	n.whoIs(t, eve, link, "t:invite.example", "member", "eve@gmail.com")
}

// TestInvitationInCluster: the link is good on any node, and of two who accept at
// once on two nodes one gets in.
func TestInvitationInCluster(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	first := newNode(t)
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte(first.run("cluster", "secret")), 0o600))
	first.stop()
	meeting := []string{ports.Free(t), ports.Free(t)}
	first.args = []string{"--node-id", "n1", "--cluster-secret-file", secret, "--cluster-listen", meeting[0]}
	first.start()
	second := newNode(t, "--node-id", "n2", "--cluster-secret-file", secret, "--cluster-listen", meeting[1], "--join", meeting[0])
	ana := first.client(first.token("ana@invite.example"))
	must(t, ana.persist(ctx, "GET", "/api/whoami", "", nil, nil))

	made := invite(ctx, t, ana, "k", "eve@else.example")
	answers := make(chan int)
	var confirm []func()
	for _, n := range []*node{first, second} {
		link, v := n.at(t, *made.Link), newVisitor(t)
		page := v.ask("GET", link, http.StatusOK)
		confirm = append(confirm, func() { answers <- v.accept(link, page) })
	}
	for _, c := range confirm {
		go c()
	}
	got := map[int]bool{<-answers: true, <-answers: true}
	if !got[http.StatusSeeOther] || !got[http.StatusNotFound] {
		t.Errorf("two who accept are answered %v", got)
	}
}
