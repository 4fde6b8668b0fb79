package mesh

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/hashicorp/memberlist"
)

// metaVersion is raised when what is there changes its meaning; a later version
// of the program may add fields under the same one.
const metaVersion = 1

var errMeta = errors.New("the gossiped metadata isn't a node's")

// meta is what a node tells of itself by gossip, as JSON of at most 512 bytes.
type meta struct {
	Version int    `json:"v"`
	Server  string `json:"s"`
	Node    string `json:"n"`
	Addr    string `json:"a"`           // HOST:PORT to dial
	Cluster string `json:"c,omitempty"` // empty before it belongs to one
	Expect  int    `json:"e,omitempty"` // with how many nodes it wants to found a cluster
	Leaving bool   `json:"l,omitempty"` // memberlist doesn't tell a leaver from a dead one
	Beats   bool   `json:"b,omitempty"` // it takes heartbeats of all groups together (BeatLayer)
	Keys    string `json:"k,omitempty"` // another where it has other keys; empty where that doesn't fit
}

// encode fails where memberlist would panic.
func (m meta) encode() ([]byte, error) {
	b, err := json.Marshal(m)
	if err == nil && len(b) > memberlist.MetaMaxSize {
		err = errors.New("ids and address are too long together")
	}
	if err != nil {
		return nil, fmt.Errorf("couldn't tell others about this node: %w", err)
	}
	return b, nil
}

func decodeMeta(b []byte) (meta, error) {
	var m meta
	if len(b) > memberlist.MetaMaxSize || json.Unmarshal(b, &m) != nil {
		return meta{}, errMeta
	}
	if m.Version != metaVersion {
		return meta{}, fmt.Errorf("%w of this version, but of version %d", errMeta, m.Version)
	}
	if !validID(m.Server) || !validID(m.Node) || m.Cluster != "" && !validID(m.Cluster) || m.Keys != "" && !validID(m.Keys) || m.Expect < 0 || !dialable(m.Addr) {
		return meta{}, errMeta
	}
	return m, nil
}

func dialable(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || !validID(host) {
		return false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
