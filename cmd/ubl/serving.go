package main

import (
	"cmp"
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"ubl/durable"
)

// servingFormat is the form of the file in which a server says where it is.
const servingFormat = "ubl.serving.v1"

// serving is what a running server says of itself, in serving.json of its data directory,
// to commands on the same machine that may read that: those may read its key, too. It is
// gone once the server stops; where the process was killed it stays, and nobody answers.
type serving struct {
	Format string `json:"format"`
	// URL is where this machine reaches it, At where browsers do.
	URL   string `json:"url"`
	At    string `json:"at"`
	Owner string `json:"owner"`

	dir string
}

func servingPath(dir string) string { return filepath.Join(dir, "serving.json") }

// sayWhere writes where the server is, until the returned function is called.
func (c *serveCmd) sayWhere(d *doors) (forget func(), err error) {
	s := serving{Format: servingFormat, URL: openable(d.main.Addr()), At: c.reached(d), Owner: c.Owner}
	data, err := json.Marshal(s)
	if err == nil {
		err = durable.Replace(servingPath(c.Data), append(data, '\n'))
	}
	return func() { _ = os.Remove(servingPath(c.Data)) }, err
}

// servingOver is the server that runs over a data directory; nil where none says so. Only an
// address of this machine counts, and only the key beside it ever signs for it: a folder
// that somebody else made can't lead commands, or what another key signs, elsewhere.
func servingOver(dir string) *serving {
	data, err := os.ReadFile(servingPath(dir))
	if err != nil {
		return nil
	}
	s := serving{dir: dir}
	if json.Unmarshal(data, &s) != nil || s.Format != servingFormat || !onLoopback(s.URL) {
		return nil
	}
	return &s
}

// serving is the server that runs over the data directory that a command would take by
// itself; nil where there is none.
func (p *program) serving() *serving {
	here := servingOver(cmp.Or(p.env["UBL_DATA"], "./ubl-data"))
	if here == nil || !here.answers() {
		return nil
	}
	return here
}

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
	return err == nil && checkURL(address) == nil && loopback(net.JoinHostPort(u.Hostname(), "0"))
}

// offline is the data directory that a command reads itself, "" where a server runs over one
// that the command line doesn't name, as in the container, where UBL_DATA is set: it is asked.
func (p *program) offline(dir string) string {
	if dir == "" || p.given("data") {
		return dir
	}
	if here := servingOver(dir); here != nil && here.answers() {
		return ""
	}
	return dir
}
