package mesh

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"
)

func someMeta() meta {
	return meta{Version: metaVersion, Server: "n1@a", Node: "n1", Addr: "127.0.0.1:7000", Cluster: "c1", Expect: 3, Keys: "0123456789abcdef"}
}

func TestMetadataIsReadAsWritten(t *testing.T) {
	b, err := someMeta().encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeMeta(b); err != nil || got != someMeta() {
		t.Fatalf("read %v, %v", got, err)
	}
}

// TestLongMetadataIsAnError: memberlist would panic.
func TestLongMetadataIsAnError(t *testing.T) {
	m := someMeta()
	m.Server, m.Node, m.Cluster = strings.Repeat("s", 128), strings.Repeat("n", 128), strings.Repeat("c", 128)
	m.Addr = strings.Repeat("h", 100) + ":7000"
	if b, err := m.encode(); err == nil {
		t.Fatalf("%d bytes were accepted", len(b))
	}
	s, d := newSecret(t), &directory{}
	x, _ := listen(t, s, d, m.Server, func(o *Options) {
		o.NodeID, o.Advertise = m.Node, m.Addr
		o.ClusterID = func() string { return m.Cluster }
	})
	if _, err := x.StartGossip(GossipOptions{}); err == nil {
		t.Fatal("gossip started")
	}
}

// TestKeysGiveWay: ids and an address that just fit go without.
func TestKeysGiveWay(t *testing.T) {
	own := someMeta()
	members := &members{}
	if err := members.setOwn(func(m *meta) { *m = own }); err != nil || members.own.Keys != own.Keys {
		t.Fatalf("it tells %+v, %v", members.own, err)
	}
	for own.Keys = ""; ; own.Addr = "h" + own.Addr {
		longer := own
		longer.Addr = "h" + own.Addr
		if _, err := longer.encode(); err != nil {
			break
		}
	}
	with := own
	with.Keys = someMeta().Keys
	if err := members.setOwn(func(m *meta) { *m = with }); err != nil || members.own != own {
		t.Errorf("it tells %+v, %v", members.own, err)
	}
}

func TestBadMetadata(t *testing.T) {
	for name, change := range map[string]func(*meta){
		"another version": func(m *meta) { m.Version = 2 },
		"no server":       func(m *meta) { m.Server = "" },
		"a bad node":      func(m *meta) { m.Node = "n\n1" },
		"a bad cluster":   func(m *meta) { m.Cluster = "c 1" },
		"bad keys":        func(m *meta) { m.Keys = "a b" },
		"no port":         func(m *meta) { m.Addr = "127.0.0.1" },
		"port 0":          func(m *meta) { m.Addr = "127.0.0.1:0" },
		"no host":         func(m *meta) { m.Addr = ":7000" },
		"negative":        func(m *meta) { m.Expect = -1 },
	} {
		m := someMeta()
		change(&m)
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := decodeMeta(b); err == nil {
			t.Errorf("%s: read %v", name, got)
		}
	}
	for _, text := range []string{"", "null", "[]", "{}", `{"v":1}`, "\xff", strings.Repeat(" ", 513)} {
		if got, err := decodeMeta([]byte(text)); err == nil {
			t.Errorf("%q: read %v", text, got)
		}
	}
}

// TestNewerMetadataMayHaveMore: fields are added without a new version.
func TestNewerMetadataMayHaveMore(t *testing.T) {
	got, err := decodeMeta([]byte(`{"v":1,"s":"n1@a","n":"n1","a":"h:1","zone":"north"}`))
	if err != nil || got.Server != "n1@a" {
		t.Fatalf("read %v, %v", got, err)
	}
}

func FuzzMetadata(f *testing.F) {
	b, _ := someMeta().encode()
	f.Add(b)
	f.Add([]byte(`{"v":1,"s":"n1@a","n":"n1","a":"[::1]:1","l":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMeta(b)
		if err != nil {
			return
		}
		again, err := m.encode()
		if err != nil {
			if len(b) <= memberlist.MetaMaxSize/6 { // escapes make it longer, at most so much
				t.Fatalf("read %+v, can't write it: %v", m, err)
			}
			return
		}
		if got, err := decodeMeta(again); err != nil || got != m {
			t.Fatalf("read %+v, wrote %s, read %+v, %v", m, again, got, err)
		}
	})
}
