package mcp

import (
	"hash/maphash"
	"sync"

	"ubl"
	"ubl/transport/mcp/find"
)

// maxIndexes is how many catalogues of other servers' tools a node keeps the index of.
const maxIndexes = 32

// indexes keeps the index of each catalogue that was searched lately: members of a tenant who
// may use the same tools share one. It is safe for concurrent use.
type indexes struct {
	mu    sync.Mutex
	known map[uint64]*indexed
	turn  int64
}

type indexed struct {
	make func() *find.Index
	used int64
}

var indexSeed = maphash.MakeSeed()

// index finds tools of ours and those of others.
func (s *Server) index(others []*ubl.PortalTool) *find.Index {
	var h maphash.Hash
	h.SetSeed(indexSeed)
	for _, t := range others {
		_, _ = h.WriteString(t.Tool)
		_ = h.WriteByte(0)
		if t.Hash != "" {
			_, _ = h.WriteString(t.Hash)
		} else {
			_, _ = h.Write(t.Definition)
		}
		_ = h.WriteByte(0)
	}
	return s.indexes.get(h.Sum64(), func() *find.Index { return find.New(s.catalogue(others)) })
}

// get answers an index by its key, and makes it where it isn't there: once, for all who want it.
func (x *indexes) get(key uint64, make_ func() *find.Index) *find.Index {
	x.mu.Lock()
	if x.known == nil {
		x.known = map[uint64]*indexed{}
	}
	one := x.known[key]
	if one == nil {
		if len(x.known) == maxIndexes {
			x.forget()
		}
		one = &indexed{make: sync.OnceValue(make_)}
		x.known[key] = one
	}
	x.turn++
	one.used = x.turn
	x.mu.Unlock()
	return one.make()
}

// forget lets go of the one that was used longest ago.
func (x *indexes) forget() {
	var oldest uint64
	first := true
	for key, one := range x.known {
		if first || one.used < x.known[oldest].used {
			oldest, first = key, false
		}
	}
	delete(x.known, oldest)
}
