package promtext

import (
	"maps"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	page, err := Parse(strings.NewReader(`# HELP ubl_partition_leader 1 on the leader
ubl_partition_leader{node="n1",partition="3"} 1
ubl_partition_leader{node="n1",partition="4"} 0

go_goroutines 12
took_bucket{le="+Inf"} 1.5e+03 1700000000
took_sum{why="\\"} 1
`), "ubl_")
	if err != nil {
		t.Fatal(err)
	}
	leaders := page["ubl_partition_leader"]
	if len(leaders) != 2 || leaders[0].Value != 1 || leaders[1].Value != 0 ||
		!maps.Equal(leaders[0].Labels, map[string]string{"node": "n1", "partition": "3"}) {
		t.Errorf("leaders are %+v", leaders)
	}
	if len(page) != 1 {
		t.Errorf("page is %+v", page)
	}
}

func TestParseForms(t *testing.T) {
	page, err := Parse(strings.NewReader("a 12\na{le=\"+Inf\",route=\"/{id}\"} 1.5e+03 1700000000\n"), "a")
	if err != nil || len(page["a"]) != 2 || page["a"][0].Value != 12 || page["a"][1].Value != 1500 || page["a"][1].Labels["route"] != "/{id}" {
		t.Errorf("page is %+v, %v", page, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []string{"alone", `a{b} 1`, `a{b="c} 1`, `a{b="\n"} 1`, "a b"} {
		if page, err := Parse(strings.NewReader(bad), "a"); err == nil {
			t.Errorf("%q gave %v", bad, page)
		}
	}
}
