package oauth

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"ubl"
)

// Bounds of what a person may choose.
const (
	usualDays      = 30
	maxDays        = int(ubl.MaxServiceTokenTTL / (24 * time.Hour))
	usualPerMinute = 60
	maxPerMinute   = 10_000
)

// choices are what a person lets an agent do, as the page's form has them.
type choices struct {
	Name       string
	Set        []string // names of sets
	ReadOnly   bool
	Place      []string    // ids of rooms and workspaces that it is added to
	Everywhere bool        // it may be elsewhere besides, wherever it is let in
	Confirm    ubl.Confirm // before which of its uses of tools the person is asked
	PerMinute  int
	Days       int
}

// firstChoices are those that the page comes with: it lets an agent in nowhere by itself, and only
// to read where the MCP server's path or the client's query says that.
func firstChoices(f *form, sets []Set) *choices {
	c := &choices{Name: agentName(f.Name), ReadOnly: strings.HasSuffix(f.Path, "/readonly"), Confirm: ubl.ConfirmNever, PerMinute: usualPerMinute, Days: usualDays}
	for _, set := range sets {
		if set.Chosen {
			c.Set = append(c.Set, set.Name)
		}
	}
	return c
}

// agentName is what to call an agent unless its person says otherwise.
func agentName(client string) string {
	if name := ubl.FitMemberName(client); name != "" && ubl.CheckName(name) == nil {
		return name
	}
	return "Agent"
}

// choicesOf reads a form that was sent. What is no number is 0, which mandate refuses.
func choicesOf(form url.Values) *choices {
	number := func(name string) int {
		n, err := strconv.Atoi(strings.TrimSpace(form.Get(name)))
		if err != nil {
			return 0
		}
		return n
	}
	return &choices{
		Name: strings.TrimSpace(form.Get("name")), Set: form["set"], ReadOnly: form.Get("read_only") != "",
		Everywhere: form.Get("where") == "everywhere", Place: form["place"], PerMinute: number("per_minute"), Days: number("days"),
		Confirm: ubl.Confirm(form.Get("confirm")),
	}
}

// mandate is what the choices come to; problem says what the person has to mend.
func (c *choices) mandate(sets []Set, places []place) (m ubl.Mandate, problem string) {
	if err := ubl.CheckName(c.Name); err != nil {
		return m, "The name: " + ubl.AsError(err).Message
	}
	usual := true
	for _, set := range sets {
		chosen := slices.Contains(c.Set, set.Name)
		usual = usual && chosen == set.Chosen
		if chosen {
			m.Sets = append(m.Sets, set.Name)
			m.Tools = append(m.Tools, set.Tools...)
		}
	}
	if usual { // the agent is shown what anybody is at that address
		m.Sets = nil
	}
	slices.Sort(m.Tools)
	m.Tools = slices.Compact(m.Tools)
	if !c.Everywhere {
		for _, p := range places {
			if slices.Contains(c.Place, p.ID) {
				m.Places = append(m.Places, p.ID)
			}
		}
	}
	switch {
	case len(m.Tools) == 0:
		return m, "Choose what it may do"
	case !c.Everywhere && len(m.Places) == 0:
		return m, "Choose at least one room or workspace, or let it see what any member sees"
	case len(m.Places) > ubl.MaxMandatePlaces:
		return m, "Choose " + strconv.Itoa(ubl.MaxMandatePlaces) + " rooms and workspaces at most, or let it see what any member sees"
	case !c.Confirm.Valid():
		return m, "Choose when you are asked first"
	case c.PerMinute < 1 || c.PerMinute > maxPerMinute:
		return m, "Calls a minute: 1 to " + strconv.Itoa(maxPerMinute)
	case c.Days < 1 || c.Days > maxDays:
		return m, "Days: 1 to " + strconv.Itoa(maxDays)
	}
	m.ReadOnly, m.PerMinute, m.Confirm = c.ReadOnly, c.PerMinute, c.Confirm.Kept()
	return m, ""
}

// option is something to choose, and whether it is chosen.
type option struct {
	ID, Says, Kind string
	Chosen         bool
}

func (c *choices) sets(all []Set) (out []option) {
	for _, set := range all {
		out = append(out, option{ID: set.Name, Says: set.Says, Chosen: slices.Contains(c.Set, set.Name)})
	}
	return out
}

// confirms are the answers to before which uses the person is asked.
func (c *choices) confirms() []option {
	out := []option{
		{ID: string(ubl.ConfirmNever), Says: "Never"},
		{ID: string(ubl.ConfirmDestructive), Says: "Before it replaces or deletes something"},
		{ID: string(ubl.ConfirmAlways), Says: "Every time"},
	}
	for i := range out {
		out[i].Chosen = ubl.Confirm(out[i].ID).Kept() == c.Confirm.Kept()
	}
	return out
}

func (c *choices) places(all []place) (out []option) {
	for _, p := range all {
		out = append(out, option{p.ID, p.Name, p.Kind, slices.Contains(c.Place, p.ID)})
	}
	return out
}

// place is a room or a workspace that a person is in.
type place struct {
	ID, Name, Kind string
	// invite is the tool that adds a member, and argument what names the place to it.
	invite, argument string
}

// places are the person's own, as the tools tell them.
func (s *Server) places(ctx context.Context) ([]place, error) {
	var rooms struct {
		Rooms []struct {
			ID     string `json:"room_id"`
			Name   string `json:"name"`
			Member bool   `json:"member"`
		} `json:"rooms"`
	}
	if err := s.list(ctx, "messenger.list_rooms", `{}`, &rooms); err != nil {
		return nil, err
	}
	var out []place
	for _, r := range rooms.Rooms {
		if r.Member {
			out = append(out, place{r.ID, r.Name, "room", "room.invite", "room_id"})
		}
	}
	var workspaces struct {
		Containers []struct {
			ID   string `json:"container_id"`
			Name string `json:"name"`
		} `json:"containers"`
	}
	if err := s.list(ctx, "container.list", `{"kind":"workspace"}`, &workspaces); err != nil {
		return nil, err
	}
	for _, w := range workspaces.Containers {
		out = append(out, place{w.ID, w.Name, "workspace", "container.invite", "container_id"})
	}
	return out, nil
}

// list uses a tool that lists. Where it is closed to the person there is nothing to list.
func (s *Server) list(ctx context.Context, tool, args string, out any) error {
	answer, err := s.Use(ctx, tool, json.RawMessage(args))
	if ubl.CodeOf(err) == ubl.CodeForbidden {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, out)
}
