package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ubl/actors/families"
	"ubl/schemas"
	"ubl/test/hashes"
	"ubl/test/poll"
)

// walk says of each commitment in a ledger whether it is opened, by the act that has it, how that
// ended, and the member. One that the reader can't open every time is shut.
func (w *committing) walk(export string) map[string]string {
	w.t.Helper()
	type line struct {
		Atom struct {
			CID, Did, Kind, Status string
			Ref                    string `json:"ref_action_cid"`
			This                   object
			Effects                []object
			Error                  struct{ Code string }
		}
	}
	var lines []line
	did, code := map[string]string{}, map[string]string{}
	scanner := bufio.NewScanner(strings.NewReader(export))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var l line
		must(w.t, json.Unmarshal(scanner.Bytes(), &l))
		lines = append(lines, l)
		did[l.Atom.CID] = l.Atom.Did
		if l.Atom.Error.Code != "" {
			code[l.Atom.Ref] = " " + l.Atom.Error.Code
		}
	}
	rows := map[string]string{}
	for _, l := range lines {
		act := l.Atom.CID
		if l.Atom.Ref != "" {
			act = l.Atom.Ref
		}
		for _, o := range append(l.Atom.Effects, l.Atom.This) {
			for name, value := range o {
				if !hashes.IsSalted(did[act], name) {
					continue
				}
				row := did[act] + " " + name + code[act]
				if is := w.known[text1(value)]; !is || rows[row] == "shut" {
					rows[row] = "shut"
				} else {
					rows[row] = "opened"
				}
			}
		}
	}
	return rows
}

// unhashed are the acts in a ledger that name an Agreement without its hash, whoever keeps it. The
// act that makes the tenant names the record that it makes: there was none to read.
func unhashed(t *testing.T, export string) (acts []string) {
	t.Helper()
	scanner := bufio.NewScanner(strings.NewReader(export))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var l struct {
			Atom struct {
				Did, Kind string
				Agreement string `json:"agreement_id"`
				Hash      string `json:"agreement_hash"`
			}
		}
		must(t, json.Unmarshal(scanner.Bytes(), &l))
		if act := l.Atom.Did + " under " + l.Atom.Agreement; l.Atom.Kind == "action.v2" && l.Atom.Hash == "" && l.Atom.Did != "tenant.create" && !slices.Contains(acts, act) {
			acts = append(acts, act)
		}
	}
	return acts
}

// TestActsNameTheRecordInACluster: whichever node is asked and whichever leads, an act has the hash of
// the record that another actor keeps.
func TestActsNameTheRecordInACluster(t *testing.T) {
	nodes := newCluster(t, "--owner", "ana@link.example")
	token := nodes[0].token("ana@link.example")
	for i, n := range nodes {
		body := fmt.Sprintf(`{"tokens_per_day":%d,"requests_per_minute":10}`, 1000+i)
		poll.Until(t, "the budget is set", func() bool {
			status, _ := n.bearer("ana", token).ask("PATCH", "/api/portal/budget", body)
			return status == http.StatusOK
		})
	}
	export := nodes[0].exported(t, token)
	if acts := unhashed(t, export); len(acts) > 0 || strings.Count(export, `"did":"portal.budget.update"`) < len(nodes) {
		t.Errorf("these acts don't have the hash of the record that they name: %q, in\n%s", acts, export)
	}
}

// committed are all acts with their commitments, as the schemas have them: an act that is
// executed, and what it says of itself.
func committed(t *testing.T) (all []string) {
	t.Helper()
	raw, ok := schemas.Read("ubl.ledger.act.v1")
	if !ok {
		t.Fatal("there is no schema of acts")
	}
	var schema struct {
		AllOf []struct {
			If struct {
				Properties struct {
					Did struct {
						Const string
						Enum  []string
					}
				}
			}
			Then struct {
				Properties struct {
					This struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
		Defs map[string]struct{ Properties object } `json:"$defs"`
	}
	must(t, json.Unmarshal(raw, &schema))
	for _, rule := range schema.AllOf {
		dids := rule.If.Properties.Did.Enum
		if one := rule.If.Properties.Did.Const; one != "" {
			dids = append(dids, one)
		}
		for name := range schema.Defs[strings.TrimPrefix(rule.Then.Properties.This.Ref, "#/$defs/")].Properties {
			for _, did := range dids {
				if hashes.IsSalted(did, name) {
					all = append(all, did+" "+name)
				}
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("the schema has these alone: %s", all)
	}
	return append(all, committedByFamilies(t)...)
}

// committedByFamilies are the commitments of acts that families name themselves. Only the required
// ones count: the others stand in ledgers of versions before.
func committedByFamilies(t *testing.T) (all []string) {
	t.Helper()
	for _, act := range families.All.Acts() {
		var this struct{ Required []string }
		must(t, json.Unmarshal(act.This, &this))
		for _, name := range this.Required {
			if hashes.IsSalted(string(act.Did), name) {
				all = append(all, string(act.Did)+" "+name)
			}
		}
	}
	if len(all) == 0 {
		t.Fatal("no family has an act with a commitment")
	}
	return all
}
