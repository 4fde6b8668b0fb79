package actors_test

import (
	"strings"
	"testing"

	"ubl"
	"ubl/actors/container"
	"ubl/test/harness"
)

// allPhysics are the 144 combinations, as acts tell them.
func allPhysics() (all []string) {
	for _, f := range []string{"strict", "versioned", "transient"} {
		for _, t := range []string{"values", "objects", "subjects", "links"} {
			for _, p := range []string{"sealed", "gated", "collaborative", "open"} {
				for _, e := range []string{"disabled", "sandboxed", "full"} {
					all = append(all, strings.Join([]string{f, t, p, e}, "/"))
				}
			}
		}
	}
	return all
}

// fits reports whether physics fit a pattern: "*" is anything, "!a" all but a,
// "a|b" one of both.
func fits(physics, pattern string) bool {
	axes := strings.Split(physics, "/")
	for i, want := range strings.Split(pattern, "/") {
		not := strings.HasPrefix(want, "!")
		one := want == "*"
		for w := range strings.SplitSeq(strings.TrimPrefix(want, "!"), "|") {
			one = one || w == axes[i]
		}
		if one == not {
			return false
		}
	}
	return true
}

func fitsAny(physics string, patterns ...string) bool {
	for _, p := range patterns {
		if fits(physics, p) {
			return true
		}
	}
	return false
}

// rules say which physics let an operation be.
var rules = map[ubl.Operation]string{
	ubl.OpRead:     "*/*/*/*",
	ubl.OpWrite:    "*/*/!sealed/*",
	ubl.OpCreate:   "*/*/!sealed/*",
	ubl.OpDelete:   "*/*/!sealed/*",
	ubl.OpDeposit:  "*/values/!sealed/*",
	ubl.OpWithdraw: "*/values/!sealed/*",
	ubl.OpTransfer: "strict/*/!sealed/*",
	ubl.OpCopy:     "versioned/*/!sealed/*",
	ubl.OpMove:     "!transient/*/!sealed/*",
	ubl.OpPass:     "transient/*/!sealed/*",
	ubl.OpExecute:  "*/*/*/!disabled",
}

// TestPhysics: every combination there is, asked for every operation by an owner;
// and what contradicts itself is never founded.
func TestPhysics(t *testing.T) {
	y := openYard(t, harness.Open(t, harness.Options{}))
	founded := 0
	for _, p := range allPhysics() {
		contradicts := fitsAny(p, "strict/*/collaborative|open/*", "!strict/values/*/*", "transient/subjects/*/*", "*/*/sealed/full")
		preset := fitsAny(p, "strict/subjects/open/full") // REALM_OPEN is right by definition
		if contradicts && !preset {
			c := ubl.CreateContainer{Request: y.Request(y.ana), Kind: "container", Name: p, Physics: physics(p)}
			if got := y.tell(ubl.TenantName(y.ana.TenantID), c); got != "validation_error" {
				t.Errorf("%s was founded: %s", p, got)
			}
			continue
		}
		founded++
		at := y.found("container", strings.ReplaceAll(p, "/", " "), p)
		for op, rule := range rules {
			want := "forbidden"
			if fits(p, rule) {
				want = "ok"
			}
			if got := y.tell(at, ubl.Authorize{Request: y.Request(y.ana), Op: op}); got != want {
				t.Errorf("%s, %s: %s, want %s", p, op, got, want)
			}
		}
		y.tryPhysics(p, at)
	}
	if founded != 76 {
		t.Errorf("%d of 144 combinations can be founded", founded)
	}
	if got := y.tell(ubl.ContainerName(y.ana.TenantID, ubl.GeneralWorkspace), ubl.Authorize{Request: y.Request(y.ana), Op: "burn"}); got != "validation_error" {
		t.Errorf("an unknown operation: %s", got)
	}
}

// tryPhysics puts something in: a document where documents are kept, and credits
// where credits are.
func (y *yard) tryPhysics(p string, at ubl.Name) {
	y.t.Helper()
	for _, try := range []struct {
		cmd        ubl.Command
		rule, want string
	}{
		{ubl.CreateDocument{Request: y.Request(y.ana), Title: "x"}, "!transient/!values/!sealed/*", "x v1"},
		{container.Credit{Request: y.Request(y.ana), Amount: 5}, "strict/values/!sealed/*", "5"},
	} {
		want := "forbidden"
		if fits(p, try.rule) {
			want = try.want
		}
		if got := y.tell(at, try.cmd); got != want {
			y.t.Errorf("%s, %T: %s, want %s", p, try.cmd, got, want)
		}
	}
}

// TestConversions: what may become what, for every pair of physics there is.
func TestConversions(t *testing.T) {
	for _, from := range allPhysics() {
		for _, to := range allPhysics() {
			duplicates := fits(from, "strict/*/*/*") && fits(to, "versioned/*/*/*")
			destroys := fits(from, "strict/*/*/*") && fits(to, "transient/*/*/*")
			mints := fits(from, "transient/*/*/*") && fits(to, "strict/*/*/*")
			mixes := fits(from, "*/values/*/*") != fits(to, "*/values/*/*")
			err := physics(from).Converts(*physics(to))
			if refused := err != nil; refused != (duplicates || destroys || mints || mixes) {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}
