package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"ubl"
	"ubl/test/harness"
)

// yard is a tenant with people and containers, for tests of containers.
type yard struct {
	*harness.House
	t                  *testing.T
	ana, bob, cem, eve ubl.Identity // ana makes everything; eve is of another tenant
}

func openYard(t *testing.T, h *harness.House) *yard {
	y := &yard{
		House: h, t: t, ana: harness.User("ana@example.com"), bob: harness.User("bob@example.com"),
		cem: harness.User("cem@example.com"), eve: harness.User("eve@elsewhere.org"),
	}
	for _, who := range []ubl.Identity{y.ana, y.bob, y.cem, y.eve} {
		h.Enter(who)
	}
	return y
}

// physics are written as an act tells them.
func physics(text string) *ubl.Physics {
	axes := strings.Split(text, "/")
	return &ubl.Physics{
		Fungibility: ubl.Fungibility(axes[0]), Topology: ubl.Topology(axes[1]),
		Permeability: ubl.Permeability(axes[2]), Execution: ubl.Execution(axes[3]),
	}
}

// found makes a container; physics are those of the kind where the text is empty.
func (y *yard) found(kind, name, as string) ubl.Name {
	y.t.Helper()
	c := ubl.CreateContainer{Request: y.Request(y.ana), Kind: kind, Name: name}
	if as != "" {
		c.Physics = physics(as)
	}
	made := harness.Must[*ubl.ContainerMade](y.House, ubl.TenantName(y.ana.TenantID), c)
	return ubl.ContainerName(y.ana.TenantID, made.Container.ContainerID)
}

func (y *yard) add(to ubl.Name, who ubl.Identity, role ubl.Role) {
	y.t.Helper()
	m := ubl.Member{UserID: who.UserID, Email: who.Email, Role: role}
	harness.Must[*ubl.Member](y.House, to, ubl.AddMember{Request: y.Request(y.ana), Member: m})
}

func (y *yard) issue(to ubl.Name, amount int64) {
	y.t.Helper()
	c := ubl.IssueCredits{Request: y.Request(y.ana), To: id(to), Amount: amount}
	harness.Must[*ubl.Balance](y.House, ubl.TenantName(y.ana.TenantID), c)
}

// write makes a document of ana's.
func (y *yard) write(in ubl.Name, title, content string) ubl.DocumentID {
	y.t.Helper()
	c := ubl.CreateDocument{Request: y.Request(y.ana), Title: title, Content: content}
	return harness.Must[*ubl.DocumentResult](y.House, in, c).Document.DocumentID
}

// look is the configuration as its owner sees it.
func (y *yard) look(at ubl.Name) *ubl.Container {
	y.t.Helper()
	return harness.Must[*ubl.Container](y.House, at, ubl.GetContainer{Who: y.ana})
}

func id(of ubl.Name) ubl.ContainerID { return ubl.ContainerID(of.Local()) }

// tell asks, and says what was answered in a few words.
func (y *yard) tell(to ubl.Name, cmd ubl.Command) string {
	answer, err := y.Ask(context.Background(), to, cmd)
	if err != nil {
		return string(ubl.CodeOf(err))
	}
	switch a := answer.(type) {
	case *ubl.DocumentResult:
		return told(a.Document)
	case *ubl.DocumentList:
		return told(a.Documents...)
	case *ubl.DocumentHits:
		var found []*ubl.Document
		for _, hit := range a.Documents {
			found = append(found, &hit.Document)
		}
		return told(found...)
	case *ubl.Balance:
		return fmt.Sprint(a.Balance)
	}
	return "ok"
}

func told(docs ...*ubl.Document) string {
	var said []string
	for _, d := range docs {
		if d == nil {
			return "none"
		}
		s := fmt.Sprintf("%s v%d", d.Title, d.Version)
		if d.Content != "" {
			s += ": " + d.Content
		}
		if d.Deleted {
			s += " (deleted)"
		}
		said = append(said, s)
	}
	if len(said) == 0 {
		return "nothing"
	}
	return strings.Join(said, ", ")
}

// eachAtom calls fn with the atoms of ana's tenant after a seq.
func (y *yard) eachAtom(after int64, fn func(atom json.RawMessage)) {
	y.t.Helper()
	ledger := ubl.LedgerName(y.ana.TenantID)
	for head := harness.Must[ubl.LedgerHead](y.House, ledger, ubl.GetLedgerHead{}); after < head.Seq; {
		page := harness.Must[*ubl.AtomPage](y.House, ledger, ubl.ReadAtoms{From: after + 1, Limit: 500})
		for _, atom := range page.Atoms {
			fn(atom)
			after++
		}
	}
}

func (y *yard) head() int64 {
	y.t.Helper()
	return harness.Must[ubl.LedgerHead](y.House, ubl.LedgerName(y.ana.TenantID), ubl.GetLedgerHead{}).Seq
}

// checkLedger verifies the ledger as anyone could, and every atom against its
// schema.
func (y *yard) checkLedger() {
	y.t.Helper()
	y.VerifyLedger(y.ana.TenantID)
	y.eachAtom(0, func(atom json.RawMessage) {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(atom)))
		if err != nil {
			y.t.Fatal(err)
		}
		if err := harness.Forms()[doc.(map[string]any)["kind"].(string)].Validate(doc); err != nil {
			y.t.Errorf("%s\n%v", atom, err)
		}
	})
}
