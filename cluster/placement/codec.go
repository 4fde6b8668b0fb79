package placement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

var (
	// ErrNewer is a table that a newer version of the program wrote.
	ErrNewer = errors.New("the placement table has a newer format than this program knows")
	// ErrDamaged is a table that Encode didn't write.
	ErrDamaged = errors.New("the placement table is damaged")
)

// record is the stored form, format 1. A change of meaning raises the format;
// Decode then still reads the older ones.
type record struct {
	Format     int          `json:"format"`
	ClusterID  string       `json:"cluster_id"`
	Version    int64        `json:"version"`
	Partitions int          `json:"partitions"`
	Nodes      []nodeRecord `json:"nodes"`
	Voters     [][]string   `json:"voters"`
	Gone       []string     `json:"gone"`
}

type nodeRecord struct {
	ID      string `json:"id"`
	Server  string `json:"server"`
	Addr    string `json:"addr"`
	Leaving bool   `json:"leaving"`
}

// Encode is the stored form. The same table always gives the same bytes.
func (t *Table) Encode() []byte {
	r := record{Format, t.ClusterID, t.Version, t.Partitions, []nodeRecord{}, [][]string{}, append([]string{}, t.Gone...)}
	for _, n := range t.Nodes {
		r.Nodes = append(r.Nodes, nodeRecord(n))
	}
	for _, voters := range t.Voters {
		r.Voters = append(r.Voters, append([]string{}, voters...))
	}
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings and numbers always have a JSON form
	}
	return text
}

// Decode reads what Encode wrote, byte for byte: whatever else looks like a
// table was not written by a leader, and isn't believed.
func Decode(text []byte) (*Table, error) {
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if version.Format > Format {
		return nil, fmt.Errorf("%w: %d", ErrNewer, version.Format)
	}
	return decodeV1(text)
}

func decodeV1(text []byte) (*Table, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	t := &Table{ClusterID: r.ClusterID, Version: r.Version, Partitions: r.Partitions, Voters: r.Voters, Gone: r.Gone}
	for _, n := range r.Nodes {
		t.Nodes = append(t.Nodes, Node(n))
	}
	if err := t.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !bytes.Equal(t.Encode(), text) {
		return nil, fmt.Errorf("%w: it isn't in the form it is written in", ErrDamaged)
	}
	return t, nil
}
