package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"ubl"
	"ubl/migrate"
	"ubl/portal"
)

// chatCmd takes what another product has exported into the tenant of the token. Each thing
// becomes an act of the importer's, whose record names the product and who wrote it there.
type chatCmd struct {
	remote
	format
	From    string   `arg:"" type:"existingfile,existingdir" help:"The export: its zip file, or the folder of one."`
	People  string   `type:"existingfile" help:"Who people are here: a CSV file whose lines have an id, name or address of theirs there, and an address or user id here." placeholder:"FILE" config:"-"`
	Only    []string `help:"Take these channels alone, by their names there." placeholder:"NAME" config:"-"`
	Direct  bool     `help:"Take direct messages too, those that you took part in, each into a private room." config:"-"`
	Members bool     `default:"true" negatable:"" help:"Add people to their channels who are members of your tenant." config:"-"`
	Merge   bool     `help:"Write into rooms that have something of their own, too." config:"-"`
	DryRun  bool     `help:"Look at what is there, and say what would be done." config:"-"`
	Quiet   bool     `help:"Tell no progress."`
}

// One command a product, with the same flags.
type (
	slackCmd      struct{ chatCmd }
	mattermostCmd struct{ chatCmd }
	matrixCmd     struct{ chatCmd }
)

// Run imports it.
func (c *slackCmd) Run(ctx context.Context, p *program) error { return c.take(ctx, p, ubl.Slack) }

// Run imports it.
func (c *mattermostCmd) Run(ctx context.Context, p *program) error {
	return c.take(ctx, p, ubl.Mattermost)
}

// Run imports it.
func (c *matrixCmd) Run(ctx context.Context, p *program) error { return c.take(ctx, p, ubl.Matrix) }

// slackToken is the variable with a token that Slack gives files for.
const slackToken = "SLACK_TOKEN"

// fetchTimeout is how long one file of Slack's may take.
const fetchTimeout = 10 * time.Minute

func (c *chatCmd) take(ctx context.Context, p *program, product ubl.Product) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	from, err := migrate.Open(product, c.From, migrate.Limits{})
	if err != nil {
		return thenDo(fmt.Errorf("couldn't read the export: %s", clean(err.Error())), "name what %s has exported, as \"ubl import %s --help\" says", product.Title(), product)
	}
	defer from.Close()
	server.patient = true
	server.http.Transport.(*http.Transport).ResponseHeaderTimeout = 0
	m := &moving{tally: newTally(server, p, c.DryRun), cmd: c, from: from, here: map[string]*ubl.Member{}, token: p.env[slackToken]}
	m.fetch = &http.Client{Transport: portal.GuardedTransport(nil, slog.New(slog.DiscardHandler)), CheckRedirect: stay, Timeout: fetchTimeout}
	m.progress = p.progress("importing", "messages", c.Quiet)
	err = m.run(ctx)
	m.progress.end()
	if !m.began {
		return err
	}
	maps.Copy(m.left, from.Left)
	return errors.Join(m.tell(c.JSON, m.origin(), map[string]any{"product": product, "people": m.met()}), err)
}

// moving is an import of another product's export under way.
type moving struct {
	tally
	cmd      *chatCmd
	from     *migrate.Export
	progress *progress
	began    bool  // every room was looked at
	read     int64 // messages
	me       myself
	here     map[string]*ubl.Member // who people of there are, by their ids there
	fetch    *http.Client
	token    string
}

// origin names the export for people.
func (m *moving) origin() string {
	return strings.TrimSpace(m.from.Product.Title() + " " + m.from.Workspace)
}

// run looks at every room before it writes anything.
func (m *moving) run(ctx context.Context) error {
	if err := m.meet(ctx); err != nil {
		return err
	}
	rooms, err := m.rooms(ctx)
	if err != nil {
		return err
	}
	m.began = true
	for _, at := range rooms {
		if err := m.room(ctx, at); err != nil {
			return err
		}
	}
	return m.end()
}

// meet finds out who people are here: whom the file of people names, and else the member whose
// address was verified and is theirs there. Agents are nobody of there.
func (m *moving) meet(ctx context.Context) error {
	if err := m.call(ctx, "GET", "/api/whoami", nil, &m.me); err != nil {
		return err
	}
	list, _, err := m.members(ctx)
	if err != nil {
		return err
	}
	byAddress, byID := map[string]*ubl.Member{}, map[ubl.UserID]*ubl.Member{}
	for _, raw := range list {
		one, err := formed[ubl.Member]("a member", raw)
		if err != nil {
			return err
		}
		if byID[one.UserID] = &one; !one.Unproven && !one.IsService && one.Email != "" {
			byAddress[strings.ToLower(one.Email)] = &one
		}
	}
	for id, person := range m.from.People {
		if at := byAddress[person.Email]; person.Email != "" && at != nil && !person.Bot {
			m.here[id] = at
		}
	}
	return m.meetListed(byAddress, byID)
}

// maxPeople is how many bytes of a file of people are read.
const maxPeople = 64 << 20

// meetListed reads the file of people, which counts before addresses.
func (m *moving) meetListed(byAddress map[string]*ubl.Member, byID map[ubl.UserID]*ubl.Member) error {
	if m.cmd.People == "" {
		return nil
	}
	f, err := os.Open(m.cmd.People)
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(io.LimitReader(f, maxPeople))
	r.FieldsPerRecord, r.Comment, r.TrimLeadingSpace = 2, '#', true
	lines, err := r.ReadAll()
	if err != nil {
		return usagef("--people is not a CSV file of two columns: %v", err)
	}
	for n, line := range lines {
		at := cmp.Or(byAddress[strings.ToLower(line[1])], byID[ubl.UserID(line[1])])
		if at == nil {
			return thenDo(usagef("line %d of --people names nobody who is a member here with a verified address", n+1), "invite them first (ubl invite EMAIL), or give their user id, as \"ubl members\" shows it")
		}
		for id, person := range m.from.People {
			if line[0] == id || strings.EqualFold(line[0], person.Email) || line[0] == person.Name {
				m.here[id] = at
			}
		}
		if m.from.People[line[0]] == nil && !slices.ContainsFunc(slices.Collect(maps.Values(m.from.People)), func(p *migrate.Person) bool {
			return strings.EqualFold(line[0], p.Email) || line[0] == p.Name
		}) {
			return usagef("line %d of --people names nobody who is in the export", n+1)
		}
	}
	return nil
}

// met tells how many people were found here, and who wasn't.
func (m *moving) met() map[string]any {
	unknown := []string{}
	for id, person := range m.from.People {
		if m.here[id] == nil && !person.Bot {
			unknown = append(unknown, strings.TrimSpace(cmp.Or(person.Name, id)+" "+person.Email))
		}
	}
	slices.Sort(unknown)
	return map[string]any{"known": len(m.here), "unknown": unknown}
}

// source is where something of the export is from: id tells it from all else of its room.
func (m *moving) source(at *migrate.Room, id, author, name string, when, edited ubl.Time) *ubl.ImportedFrom {
	f := &ubl.ImportedFrom{
		AuthorID: m.from.Product.Author(author), AuthorName: ubl.FitMemberName(name), At: when, TenantID: m.from.Product.Workspace(cmp.Or(m.from.Workspace, "export")),
		Source: &ubl.ImportedSource{EditedAt: edited, ID: m.sourceID(at, id), Product: m.from.Product},
	}
	if person := m.from.People[author]; f.AuthorName == "" && person != nil {
		f.AuthorName = ubl.FitMemberName(person.Name)
	}
	if known := m.here[author]; known != nil {
		f.Source.MemberID = known.UserID
	}
	return f
}

// sourceID is stable: the same thing of the same export has it in every run.
func (m *moving) sourceID(at *migrate.Room, id string) string {
	id = m.from.Workspace + "/" + at.ID + "/" + id
	if len(id) > ubl.MaxSourceID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(id)))
	}
	return id
}
