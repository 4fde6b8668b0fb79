package placement_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"ubl/cluster/placement"
)

const stored = `{"format":1,"cluster_id":"home","version":5,"partitions":2,` +
	`"nodes":[{"id":"n1","server":"n1@3f2a91c0","addr":"10.0.0.1:7000","leaving":false},` +
	`{"id":"n2","server":"n2@b","addr":"[::1]:7000","leaving":true}],` +
	`"voters":[["n1@3f2a91c0","n2@b"],[]],"gone":["n2@a"]}`

// TestStoredForm holds the form to what earlier versions have written.
func TestStoredForm(t *testing.T) {
	table, err := placement.Decode([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	n, ok := table.Server("n2@b")
	if !ok || !n.Leaving || n.Addr != "[::1]:7000" || table.Version != 5 || table.Partitions != 2 || len(table.Voters[0]) != 2 {
		t.Errorf("%+v", table)
	}
	if got := string(table.Encode()); got != stored {
		t.Errorf("%s\nwant\n%s", got, stored)
	}
}

// TestDecodeRefuses what no leader has written.
func TestDecodeRefuses(t *testing.T) {
	if _, err := placement.Decode([]byte(`{"format":2,"anything":[]}`)); !errors.Is(err, placement.ErrNewer) {
		t.Errorf("a newer format: %v", err)
	}
	for name, change := range map[string][2]string{
		"no format":                 {`"format":1,`, ``},
		"format 0":                  {`"format":1`, `"format":0`},
		"cut off":                   {`"gone":["n2@a"]}`, `"gone":["n2`},
		"no object":                 {stored, `[]`},
		"something behind":          {`["n2@a"]}`, `["n2@a"]} `},
		"an unknown field":          {`"gone":`, `"more":1,"gone":`},
		"a field twice":             {`"version":5`, `"version":4,"version":5`},
		"another case":              {`"version"`, `"Version"`},
		"spaces":                    {`,"version"`, `, "version"`},
		"no cluster id":             {`"home"`, `""`},
		"version 0":                 {`"version":5`, `"version":0`},
		"no partitions":             {`"partitions":2`, `"partitions":0`},
		"too many partitions":       {`"partitions":2`, `"partitions":100000`},
		"voters of fewer":           {`"partitions":2`, `"partitions":3`},
		"no list of voters":         {`,[]]`, `,null]`},
		"no list of gone":           {`["n2@a"]`, `null`},
		"no nodes":                  {stored[strings.Index(stored, `"nodes"`):strings.Index(stored, `,"gone"`)], `"nodes":[],"voters":[[],[]]`},
		"nodes out of order":        {`"id":"n1","server":"n1@3f2a91c0"`, `"id":"n3","server":"n3@1"`},
		"a node twice":              {`"id":"n1","server":"n1@3f2a91c0"`, `"id":"n2","server":"n2@c"`},
		"another node's server":     {`"id":"n1"`, `"id":"n0"`},
		"no incarnation":            {`"server":"n2@b"`, `"server":"n2@"`},
		"two incarnations":          {`n2@b`, `n2@b@c`},
		"a name that is none":       {`"id":"n2","server":"n2@b"`, `"id":"n/2","server":"n/2@b"`},
		"no port":                   {`10.0.0.1:7000`, `10.0.0.1`},
		"no host":                   {`10.0.0.1:7000`, `:7000`},
		"a host with a space":       {`10.0.0.1:7000`, `10.0 .0.1:7000`},
		"voters out of order":       {`["n1@3f2a91c0","n2@b"]`, `["n2@b","n1@3f2a91c0"]`},
		"a voter twice":             {`["n1@3f2a91c0","n2@b"]`, `["n2@b","n2@b"]`},
		"a voter that is no member": {`["n1@3f2a91c0","n2@b"]`, `["n2@a"]`},
		"a member that is gone":     {`["n2@a"]`, `["n2@b"]`},
		"gone twice":                {`["n2@a"]`, `["n2@a","n2@a"]`},
		"gone, but no server id":    {`["n2@a"]`, `["n2"]`},
	} {
		text := strings.Replace(stored, change[0], change[1], 1)
		if text == stored {
			t.Fatalf("%s: nothing changed", name)
		}
		if _, err := placement.Decode([]byte(text)); !errors.Is(err, placement.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNewRefuses what couldn't be read again.
func TestNewRefuses(t *testing.T) {
	if _, err := placement.New("no name", 8, node("n1@1")); err == nil {
		t.Error("a cluster id with a space")
	}
	if _, err := placement.New("home", 0, node("n1@1")); err == nil {
		t.Error("no partitions")
	}
	if _, err := placement.New("home", 1<<40, node("n1@1")); err == nil {
		t.Error("too many partitions")
	}
	if _, err := placement.New("home", 8, placement.Node{ID: "n1"}); err == nil {
		t.Error("no server id")
	}
}

// FuzzDecode: what is accepted is exactly what Encode writes, and every
// decision copes with it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(stored))
	f.Add([]byte(`{"format":2}`))
	f.Add([]byte(`{"format":1,"cluster_id":"c","version":1,"partitions":1,"nodes":[{"id":"a","server":"a@1","addr":"a:1","leaving":true}],"voters":[[]],"gone":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		table, err := placement.Decode(text)
		if err != nil {
			if table != nil || (!errors.Is(err, placement.ErrDamaged) && !errors.Is(err, placement.ErrNewer)) {
				t.Fatalf("%v, %v", table, err)
			}
			return
		}
		if !bytes.Equal(table.Encode(), text) {
			t.Fatalf("%s became %s", text, table.Encode())
		}
		v := steady(table)
		next := placement.Assign(table, v)
		if _, err := placement.Decode(next.Encode()); err != nil {
			t.Fatalf("%s: %v", next.Encode(), err)
		}
		placement.Plan(next, v)
		placement.Leaders(next, v)
	})
}
