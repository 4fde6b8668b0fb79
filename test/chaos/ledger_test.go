//go:build linux

package chaos

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ubl"
)

// atom is what the checks look at in a line of an export.
type atom struct {
	Seq  int64 `json:"seq"`
	Atom struct {
		CID          string `json:"cid"`
		Kind         string `json:"kind"`
		Did          string `json:"did"`
		Status       string `json:"status"`
		This         matter `json:"this"`
		Outcome      string `json:"outcome"`
		RefActionCID string `json:"ref_action_cid"`
		Session      string `json:"session"` // as agents name each of their calls

		Effects []countChange `json:"effects"`
	} `json:"atom"`
}

// countChange is one of an effect, of a counter.
type countChange struct {
	Op        string `json:"op"`
	CounterID string `json:"counter_id"`
	Value     int64  `json:"value"`
}

// matter is what an act is about.
type matter struct {
	Amount      int64  `json:"amount"`
	ContainerID string `json:"container_id"`
	From        string `json:"from"`
	To          string `json:"to"`
	TransferID  string `json:"transfer_id"`
	CounterID   string `json:"counter_id"`
	Value       int64  `json:"value"`
}

// ledger exports the tenant of a token, checks the export as anyone could, and
// reads it.
func (w *world) ledger(ctx context.Context, token string) ([]atom, error) {
	n := w.members()[0]
	export, err := w.ubl(ctx, n, nil, []string{"UBL_TOKEN=" + token}, "export", "--quiet", "--url", "http://"+n.addresses().api)
	if err == nil {
		_, err = w.ubl(ctx, n, strings.NewReader(export), nil, "verify", "-")
	}
	if err != nil {
		return nil, err
	}
	_, lines, _ := strings.Cut(export, "\n") // behind the header
	var atoms []atom
	for line := range strings.Lines(lines) {
		var a atom
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			return nil, fmt.Errorf("couldn't read a line of the export: %w", err)
		}
		atoms = append(atoms, a)
	}
	return atoms, nil
}

// checkEffects wants every action to have exactly one effect, behind it.
func checkEffects(atoms []atom) (wrong []string) {
	open := make(map[string]atom)
	for _, a := range atoms {
		if ubl.IsAction(a.Atom.Kind) {
			open[a.Atom.CID] = a
		} else if _, there := open[a.Atom.RefActionCID]; !there {
			wrong = append(wrong, fmt.Sprintf("the effect %d has no action, or not the only one", a.Seq))
		} else {
			delete(open, a.Atom.RefActionCID)
		}
	}
	for _, a := range open {
		wrong = append(wrong, fmt.Sprintf("%s at %d, %s, has no effect", a.Atom.Did, a.Seq, a.Atom.Status))
	}
	return first(wrong)
}
