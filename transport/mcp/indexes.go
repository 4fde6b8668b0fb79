package mcp

import (
	"hash/maphash"
	"sync"

	"ubl"
	"ubl/transport/mcp/find"
)

// maxIndexed bounds the tools of all catalogues that a node keeps the index of: one of 2,000 tools
// takes some megabytes.
const maxIndexed = 40_000

// indexes keeps the index of each catalogue that was searched lately: members of a tenant who
// may use the same tools share one. It is safe for concurrent use.
type indexes struct {
	mu    sync.Mutex
	known map[catalogueKey]*indexed
	tools int // of all
	turn  int64
}

// catalogueKey tells catalogues apart, by a hash of what is in them.
type catalogueKey struct {
	hash  uint64
	tools int
}

type indexed struct {
	index func() *find.Index
	used  int64
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
	key := catalogueKey{h.Sum64(), len(s.tools.own) + len(others)}
	return s.indexes.get(key, func() *find.Index { return find.New(s.catalogue(others)) })
}

// get answers an index by its key, and builds it where it isn't there: once, for all who want it.
func (x *indexes) get(key catalogueKey, build func() *find.Index) *find.Index {
	x.mu.Lock()
	if x.known == nil {
		x.known = map[catalogueKey]*indexed{}
	}
	one := x.known[key]
	if one == nil {
		for len(x.known) > 0 && x.tools+key.tools > maxIndexed {
			x.forget()
		}
		one = &indexed{index: sync.OnceValue(build)}
		x.known[key] = one
		x.tools += key.tools
	}
	x.turn++
	one.used = x.turn
	x.mu.Unlock()
	return one.index()
}

// forget lets go of the one that was used longest ago.
func (x *indexes) forget() {
	var oldest catalogueKey
	first := true
	for key, one := range x.known {
		if first || one.used < x.known[oldest].used {
			oldest, first = key, false
		}
	}
	delete(x.known, oldest)
	x.tools -= oldest.tools
}
