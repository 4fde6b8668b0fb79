package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ubl"
)

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
	im := &importing{client: server, from: from, dry: c.DryRun, merge: c.Merge, p: p, done: map[string]int{}, left: map[string]int{}, ids: map[ubl.DocumentID]string{}, attached: map[ubl.FileID]ubl.FileID{}}
	server.http.Transport.(*http.Transport).ResponseHeaderTimeout = 0 // a large file is made durable before the answer
	im.progress = p.progress("importing", "lines", c.Quiet)
	err = im.run(ctx)
	im.progress.end()
	if !im.began {
		return err
	}
	return errors.Join(im.tell(c.JSON), err)
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
	*client
	p          *program
	from       *source
	progress   *progress
	dry, merge bool
	began      bool                      // every place was looked at
	lines      int64                     // that have been read
	ids        map[ubl.DocumentID]string // of documents, there and here

	attached map[ubl.FileID]ubl.FileID // files of messages, there and here

	done    map[string]int // what was imported, by what it is
	already int            // what was there
	left    map[string]int // what can't be imported, by why
	refused []leftOut
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
	if n := len(im.refused); n > 0 {
		return fmt.Errorf("%s refused by the server; all else is there", wasRefused(n))
	}
	return nil
}

func has(list []string) string {
	if len(list) == 1 {
		return list[0] + " has"
	}
	return strings.Join(list, ", ") + " have"
}

func wasRefused(n int) string {
	if n == 1 {
		return "1 thing was"
	}
	return fmt.Sprintf("%d things were", n)
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
		f.AuthorID, f.AuthorName, f.At = prior.AuthorID, prior.AuthorName, prior.At
	}
	return f
}

// write does one thing that is imported, under a key that follows from where it comes from.
// made is false where the server has refused it, which is on the list then, and in a dry run.
func (im *importing) write(ctx context.Context, what, id, method, path string, f *ubl.ImportedFrom, body map[string]any, answer any) (made bool, err error) {
	if im.dry {
		im.done[what]++
		return false, nil
	}
	if f != nil {
		body["imported_from"], body["client_request_id"] = f, "import:"+f.CID
	} else {
		body["client_request_id"] = fmt.Sprintf("import:%x", sha256.Sum256([]byte(string(im.from.manifest.TenantID)+"\n"+id)))
	}
	err = im.call(ctx, method, path, body, answer)
	if im.refuses(id, err) {
		return false, nil
	}
	if err != nil {
		return false, thenDo(err, "run it again: what is there already is passed over")
	}
	im.done[what]++
	return true, nil
}

// refuses puts a thing on the list that the server doesn't take, whatever is tried.
func (im *importing) refuses(id string, err error) bool {
	refusal, ok := errors.AsType[*apiError](err)
	if !ok {
		return false
	}
	switch refusal.body.Error.Code {
	case ubl.CodeForbidden, ubl.CodeNotAMember, ubl.CodeNotFound, ubl.CodeValidation, ubl.CodeTooLarge, ubl.CodeConflict:
		im.refused = append(im.refused, leftOut{id, refusal.Error()})
		return true
	}
	return false
}

// read counts a line of the export.
func (im *importing) read() {
	im.lines++
	im.progress.at(im.lines, im.from.lines)
}

// kindsImported are in the order in which they are told.
var kindsImported = []string{"room", "container", "note", "message", "edit", "reaction", "pin", "document", "version", "file"}

// maxRefusedTold is how many refusals people are told of.
const maxRefusedTold = 20

// tell says what was done, or would be.
func (im *importing) tell(asJSON bool) error {
	if asJSON {
		done := map[string]int{}
		for _, kind := range kindsImported {
			done[kind+"s"] = im.done[kind]
		}
		return json.NewEncoder(im.p.out).Encode(map[string]any{
			"dry_run": im.dry, "from": im.from.manifest.TenantID, "imported": done, "already_there": im.already, "left_behind": im.left,
			"refused": append([]leftOut{}, im.refused...),
		})
	}
	for n, r := range im.refused {
		if n == maxRefusedTold {
			fmt.Fprintf(im.p.err, "refused: %d more (--json has them)\n", len(im.refused)-n)
			break
		}
		fmt.Fprintf(im.p.err, "refused: %s (%s)\n", clean(r.ID), clean(r.Why))
	}
	for _, why := range slices.Sorted(maps.Keys(im.left)) {
		fmt.Fprintf(im.p.err, "left behind: %d (%s)\n", im.left[why], why)
	}
	var parts []string
	for _, kind := range kindsImported {
		if n := im.done[kind]; n > 0 {
			parts = append(parts, plural(n, kind))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing new"}
	}
	how := "imported"
	if im.dry {
		how = "would import"
	}
	_, err := fmt.Fprintf(im.p.out, "%s from %s: %s; %d already there\n", how, clean(string(im.from.manifest.TenantID)), strings.Join(parts, ", "), im.already)
	return err
}
