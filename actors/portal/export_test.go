package portal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"ubl"
	"ubl/actors"
)

// Open loads a Portal for tests that compare it with a live one. It has many snapshots.
func Open(ctx context.Context, read ubl.Reader, env actors.Env) (*Portal, error) {
	often := kind()
	often.Snapshot.Every, often.Snapshot.Each = 2, -1
	return load(ctx, often, read, nil, env)
}

// Replay loads a Portal from all events.
func Replay(ctx context.Context, read ubl.Reader, env actors.Env) (*Portal, error) {
	all := kind()
	all.Snapshot = nil
	return load(ctx, all, read, nil, env)
}

// SnapshotFields are the types whose fields a snapshot has to account for, and the names of fields
// that are kept beside it.
func SnapshotFields() (state, stored reflect.Type, beside []string) {
	return reflect.TypeFor[State](), reflect.TypeFor[snapshot](), besides
}

// Snapshot is everything a Portal knows, as text; only while nothing is in flight.
func (x *Portal) Snapshot() string {
	s := x.State
	servers, tools, calls, kept := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	for id, v := range s.Servers {
		servers[id] = []any{v.config, v.n, v.receipt, v.sync, s.view(v)}
	}
	for name, t := range s.Tools {
		tools[name] = t
	}
	for n, o := range s.Open {
		calls[fmt.Sprint(n)] = []any{o.Call, o.Attempt, o.Agreement, o.Deadline, o.Tokens, o.KeepMS, o.receipt}
	}
	for n, k := range s.Kept {
		kept[fmt.Sprint(n)] = k
	}
	grants := slices.SortedFunc(maps.Keys(s.Grants), func(a, b grant) int {
		return slices.Compare([]string{a.server, string(a.user)}, []string{b.server, string(b.user)})
	})
	text, err := json.MarshalIndent(map[string]any{
		"tenant": s.Tenant, "servers": servers, "tools": tools, "open": calls, "kept": kept, "grants": fmt.Sprint(grants), "budget": s.Budget, "usage": s.Usage,
		"reserved": s.Reserved, "rows": []int64{s.Low, s.High}, "keys": fmt.Sprint(x.Keys.Known()),
	}, "", " ")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Merge is what becomes of tools when their server lists others.
func Merge(known map[string]*ubl.PortalTool, id string, listed []ubl.ToolDefinition) (map[string]*ubl.PortalTool, int) {
	s := newState("t:x")
	s.Servers[id] = &server{}
	maps.Copy(s.Tools, known)
	changed, left := s.merge(id, listed)
	s.take(&syncing{ServerID: id}, changed)
	return s.Tools, left
}

// Changing is how many commands are in the family's table.
func Changing() int { return len(kind().Rules) }
