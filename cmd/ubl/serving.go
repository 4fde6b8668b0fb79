package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"ubl/durable"
	"ubl/transport/auth"
	"ubl/transport/envelope"
)

// servingFormat is the form of the file in which a server says where it is.
const servingFormat = "ubl.serving.v1"

// serving is a running server, as serving.json of its data directory says it to commands on
// the same machine. The file is gone once the server stops; where the process was killed it
// stays, and anybody may listen there since. So nothing is sent there before the server has
// proved that it holds the key of the directory: see [program.prove].
type serving struct {
	Format string `json:"format"`
	// URL is where this machine reaches it.
	URL string `json:"url"`
	// At is where browsers reach it, Owner its first owner. Both are from its proof.
	At    string `json:"-"`
	Owner string `json:"-"`

	dir    string
	proved bool
}

func servingPath(dir string) string { return filepath.Join(dir, "serving.json") }

// sayWhere writes where the server is, until the returned function is called.
func (c *serveCmd) sayWhere(d *doors) (forget func(), err error) {
	s := serving{Format: servingFormat, URL: openable(d.main.Addr())}
	data, err := json.Marshal(s)
	if err == nil {
		err = durable.Replace(servingPath(c.Data), append(data, '\n'))
	}
	forget = func() { _ = os.Remove(servingPath(c.Data)) }
	if err != nil {
		forget() // what is there is of a server before
	}
	return forget, err
}

// running is the server that is believed to run over a data directory, and answers; nil where
// there is none.
func running(dir string) (*serving, error) {
	here, err := believed(dir)
	if here == nil || err != nil || !here.answers() {
		return nil, err
	}
	return here, nil
}

// believed is the server that runs over a data directory, nil where none says so. Only an
// address of this machine counts. A directory or file that others may write is an error: a
// folder that somebody else made can't lead commands elsewhere.
func believed(dir string) (*serving, error) {
	if _, err := os.Lstat(servingPath(dir)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	err := ownDir(dir)
	var data []byte
	if err == nil {
		data, err = readOwn(servingPath(dir), othersWrite)
	}
	if err != nil {
		return nil, thenDo(err, "run this as the user of the server, over a directory that nobody else may write; or name the server with --url")
	}
	s := serving{dir: dir}
	if json.Unmarshal(data, &s) != nil || s.Format != servingFormat || !onLoopback(s.URL) {
		return nil, nil
	}
	return &s, nil
}

// ownKey is the key beside the file; nil where there is none.
func (s *serving) ownKey() (*auth.Key, error) {
	data, err := readOwn(keyPath(s.dir), othersMay)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return auth.ParseKey(data)
}

// proofTime bounds how long a proof takes.
const proofTime = 5 * time.Second

// prove has the server prove that it holds the key, and learns from that who owns it and where
// browsers reach it. Whoever sends it anything secret calls this before. Of what the command
// knows only a nonce is sent.
func (p *program) prove(ctx context.Context, here *serving, key *auth.Key) error {
	if here.proved {
		return nil
	}
	nonce, err := auth.DrawText(p.random)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	server := p.client(&target{url: here.URL})
	server.tries = 1
	var answer auth.ProofAnswer
	err = server.call(ctx, "POST", auth.ProofPath, map[string]string{"nonce": nonce}, &answer)
	var said *auth.Statement
	if err == nil {
		said, err = key.Proven(answer, nonce)
	}
	if err == nil && !envelope.SameOrigin(here.URL, "http://"+said.Address) {
		err = fmt.Errorf("the proof is that of the server at %s", clean(said.Address))
	}
	if err != nil {
		return thenDo(fmt.Errorf("the server at %s isn't the one of this directory, %s: %w", here.URL, here.dir, err), "start it, or remove %s", quoted(servingPath(here.dir)))
	}
	here.proved, here.At, here.Owner = true, said.URL, said.Owner
	return nil
}

// serving is the server that runs over the data directory that a command would take by
// itself; nil where there is none.
func (p *program) serving() *serving {
	here, _ := running(p.dataDir()) // who is to be believed is asked before anything secret is sent
	return here
}

// dataDir is the data directory that a command takes by itself.
func (p *program) dataDir() string { return cmp.Or(p.env["UBL_DATA"], "./ubl-data") }

// answers reports whether somebody listens where the server says it is.
func (s *serving) answers() bool {
	u, err := url.Parse(s.URL)
	if err != nil {
		return false
	}
	conn, err := net.DialTimeout("tcp", u.Host, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// onLoopback reports whether an address is one of this machine alone.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && checkURL(address) == nil && envelope.Loopback(u.Hostname())
}

// offline is the data directory that a command reads itself, "" where a server runs over one
// that the command line doesn't name, as in the container, where UBL_DATA is set: it is asked.
func (p *program) offline(dir string) string {
	if dir == "" || p.given("data") {
		return dir
	}
	if here, _ := running(dir); here != nil {
		return ""
	}
	return dir
}
