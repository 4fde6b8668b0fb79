package ubl_test

import (
	"reflect"
	"slices"
	"testing"

	"ubl"
)

// TestBased: a command that acts is asked under the records that others have decided by, the newest
// word of each; one that reads, or has no request, stays as it is. The asker's own stays, too.
func TestBased(t *testing.T) {
	on := []ubl.RecordHash{{Agreement: "a:tenant:t:acme.com", Hash: "g:new"}}
	had := []ubl.RecordHash{{Agreement: "a:tenant:t:acme.com", Hash: "g:old"}, {Agreement: "a:workspace:w:general", Hash: "g:work"}}
	asked := ubl.SetBudget{Request: ubl.Request{Key: "k", Under: had}, TokensPerDay: 7}
	for _, test := range []struct {
		name string
		cmd  ubl.Command
		want []ubl.RecordHash
	}{
		{"an act", ubl.SetBudget{Request: ubl.Request{Key: "k"}}, on},
		{"an act that knows some", asked, []ubl.RecordHash{on[0], had[1]}},
		{"an act that ends another", ubl.EndCall{N: 7}, nil}, // an effect names no record
		{"a look", ubl.ListServers{}, nil},
	} {
		got := ubl.Based(test.cmd, on)
		based, ok := got.(interface{ Asked() ubl.Request })
		if !ok {
			if test.want != nil || !reflect.DeepEqual(got, test.cmd) {
				t.Errorf("%s became %+v", test.name, got)
			}
			continue
		}
		if under := based.Asked().Under; !slices.Equal(under, test.want) {
			t.Errorf("%s is asked under %v, want %v", test.name, under, test.want)
		}
	}
	if b := ubl.Based(asked, on).(ubl.SetBudget); b.Key != "k" || b.TokensPerDay != 7 || asked.Under[0].Hash != "g:old" {
		t.Errorf("the rest became %+v, and what was asked %+v", b, asked)
	}
}

// BenchmarkBased: each act of a caller whom their tenant lets in takes it.
func BenchmarkBased(b *testing.B) {
	on := []ubl.RecordHash{{Agreement: "a:tenant:t:acme.com", Hash: "g:new"}}
	cmd := ubl.Command(ubl.SendMessage{Text: "hello"})
	for b.Loop() {
		ubl.Based(cmd, on)
	}
}
