package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ubl"
)

// importsCmd takes into a tenant what another one, or another product, has exported.
type importsCmd struct {
	Archive    importCmd     `cmd:"" default:"withargs" help:"Take an exported tenant's rooms, documents and files into yours: ubl import DIR."`
	Slack      slackCmd      `cmd:"" help:"Take a Slack workspace's channels into your tenant, from the zip file of its export."`
	Mattermost mattermostCmd `cmd:"" help:"Take a Mattermost server's channels into your tenant, from the zip file of \"mmctl export\"."`
	Matrix     matrixCmd     `cmd:"" help:"Take a Matrix room into your tenant, from what Element exports as JSON."`
}

// importCmd takes what "ubl export --all" has written into the tenant of the token. Each
// thing becomes a new act that names the one it comes from (docs/export.md).
type importCmd struct {
	remote
	format
	From    string  `arg:"" help:"The folder that \"ubl export --all\" has written, or a zip file of it."`
	Verify  bool    `default:"true" negatable:"" help:"Check the export against its own ledger before anything is written." config:"-"`
	Earlier *string `help:"A head hash noted earlier, which the export's ledger must have come by." placeholder:"h:…" config:"-"`
	Merge   bool    `help:"Write into rooms and containers that have something of their own, too." config:"-"`
	DryRun  bool    `help:"Check, look at what is there, and say what would be done." config:"-"`
	Quiet   bool    `help:"Tell no progress."`
}

// Run checks the export, looks at what is there, and writes what isn't.
func (c *importCmd) Run(ctx context.Context, p *program) error {
	earlier, err := headOf("--earlier", c.Earlier)
	if err != nil {
		return err
	}
	if earlier != "" && !c.Verify {
		return usagef("--earlier checks the ledger, and --no-verify doesn't")
	}
	from, err := openSource(c.From)
	if err != nil {
		return err
	}
	defer from.close()
	if err := c.check(ctx, p, from, earlier); err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	server.patient = true // who imports much meets the limit of what one person may send, again and again
	im := &importing{tally: newTally(server, p, c.DryRun), from: from, merge: c.Merge, ids: map[ubl.DocumentID]string{}, attached: map[ubl.FileID]ubl.FileID{}}
	server.http.Transport.(*http.Transport).ResponseHeaderTimeout = 0 // a large file is made durable before the answer
	im.progress = p.progress("importing", "lines", c.Quiet)
	err = im.run(ctx)
	im.progress.end()
	if !im.began {
		return err
	}
	return errors.Join(im.tell(c.JSON, string(from.manifest.TenantID), nil), err)
}

// check reads the export once, and holds it against its own ledger unless that isn't wanted.
func (c *importCmd) check(ctx context.Context, p *program, from *source, earlier string) error {
	if !c.Verify {
		return from.readHead()
	}
	g := p.progress("verifying", "bytes", c.Quiet)
	defer g.end()
	if err := from.verify(ctx, g, earlier); err != nil {
		return thenDo(fmt.Errorf("the export doesn't hold, nothing was imported: %w", err), "export it again, or ask whoever made it; --no-verify imports it as it is")
	}
	return nil
}

// importing is an import under way.
type importing struct {
	tally
	from     *source
	progress *progress
	merge    bool
	began    bool                      // every place was looked at
	lines    int64                     // that have been read
	ids      map[ubl.DocumentID]string // of documents, there and here

	attached map[ubl.FileID]ubl.FileID // files of messages, there and here
}

// run looks at every place before it writes anything.
func (im *importing) run(ctx context.Context) error {
	rooms, err := im.roomsHere(ctx)
	if err != nil {
		return err
	}
	containers, err := im.containersHere(ctx)
	if err != nil {
		return err
	}
	var own []string
	for _, at := range slices.Concat(rooms, containers) {
		if at.own > 0 && len(at.known) == 0 && !im.merge {
			own = append(own, at.id)
		}
	}
	if len(own) > 0 {
		return thenDo(fmt.Errorf("%s already something of its own here, and perhaps other members: nothing was imported", clean(has(own))),
			"--merge writes there too; or import into an empty tenant")
	}
	im.began = true
	for _, at := range rooms {
		if err := im.room(ctx, at); err != nil {
			return err
		}
	}
	for _, at := range containers {
		if err := im.container(ctx, at); err != nil {
			return err
		}
	}
	if err := im.documents(ctx, containers); err != nil {
		return err
	}
	if err := im.files(ctx, containers); err != nil {
		return err
	}
	return im.end()
}

func has(list []string) string {
	if len(list) == 1 {
		return list[0] + " has"
	}
	return strings.Join(list, ", ") + " have"
}

// landing is a room or container: as the export has it, and where it is here.
type landing struct {
	was, id string            // ids there and here; id is "" for one that isn't here yet
	known   map[string]string // ids of what is here already, by the cids of its acts there
	// files are those of messages that are here already, by the ids of these here.
	files map[string][]ubl.Attachment
	own   int // what is here that wasn't imported from there

	room      archivedRoom
	container archivedContainer
}

// knows notes what is here already, if it comes from this export's tenant. A tenant of the same
// name on another server has the same numbers, and other cids.
func (im *importing) knows(at *landing, f *ubl.ImportedFrom, id string) {
	if f != nil && f.TenantID == im.from.manifest.TenantID {
		at.known[f.CID] = id
	} else {
		at.own++
	}
}

// origin says where something comes from. What had been imported there keeps its first author.
func (im *importing) origin(by ubl.UserID, at ubl.Time, receipt ubl.Receipt, prior *ubl.ImportedFrom) *ubl.ImportedFrom {
	f := &ubl.ImportedFrom{
		AuthorID: by, AuthorName: im.from.names[by], At: at, CID: receipt.CID, Seq: receipt.Seq, TenantID: im.from.manifest.TenantID,
	}
	if prior != nil {
		f.AuthorID, f.AuthorName, f.At, f.Source = prior.AuthorID, prior.AuthorName, prior.At, prior.Source
		if f.Source != nil { // whose members are others
			f.Source = &ubl.ImportedSource{EditedAt: prior.Source.EditedAt, ID: prior.Source.ID, Product: prior.Source.Product}
		}
	}
	return f
}

// write does one thing that is imported, under a key that follows from where it comes from; see
// [tally.put].
func (im *importing) write(ctx context.Context, what, id, method, path string, f *ubl.ImportedFrom, body map[string]any, answer any) (made bool, err error) {
	key := ""
	if f != nil {
		body["imported_from"], key = f, f.CID
	} else {
		key = fmt.Sprintf("%x", sha256.Sum256([]byte(string(im.from.manifest.TenantID)+"\n"+id)))
	}
	return im.put(ctx, what, id, method, path, key, body, answer)
}

// read counts a line of the export.
func (im *importing) read() {
	im.lines++
	im.progress.at(im.lines, im.from.lines)
}
