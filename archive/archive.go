// Package archive writes the data of one person as a zip file that they take home: who they are
// and what they set, the conversations that they may read, their own words wherever they said
// them, their documents and files, and the receipts of their acts.
//
// # Data
//
// The package keeps nothing but whose archives are being written on this node: [Archives.Begin]
// lets one through for each person. It reads as that person does, by the commands that the app
// asks, so what an actor refuses them isn't in the archive. What ToolAccess closes to them is left
// out too. The manifest names what was left out.
//
// # The way of an archive
//
//	Begin          one for each person on a node, else rate_limited
//	ubl.ExportOwn  the act user.export: its receipt is the first thing in the manifest
//	Write          profile, receipts, rooms, containers, index, manifest; each read page by page
//
// Everything streams: a page of entries, of atoms or of documents is in memory at a time, and one
// buffer of a file. What grows is the list of files in the manifest, about 300 bytes for each, and
// the rooms in which the person has written, about 100 bytes for each.
//
// # What fails
//
//   - A read that may be tried again is tried again for some seconds. After that, and where the
//     writer fails, Write ends with an error and the zip has no directory: no program takes it for whole.
//   - What the person may no longer read meanwhile is left out from there on, and the manifest says so.
//   - A file whose content is lost or damaged is named among what was left out.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"ubl"
)

// Format is the form of the archive. Its manifest is of the schema of the same name.
const Format = "ubl.own_archive.v1"

// Patience is how long writing one archive may take.
const Patience = 6 * time.Hour

// How long a read may take, how often it is tried, and how long to wait between tries where the
// refusal says nothing.
const (
	askPatience = 30 * time.Second
	maxTries    = 5
)

// busyFor is when it is worth asking again for an archive while another one is being written.
const busyFor = 30 * time.Second

// Blobs are the contents of files.
type Blobs interface {
	// Open reads one of a tenant's; not_found where it isn't there.
	Open(context.Context, ubl.TenantID, ubl.BlobID) (io.ReadSeekCloser, error)
}

// Options is what [New] needs; all of it must be set but Version.
type Options struct {
	// Asker reaches the actors.
	Asker ubl.Asker
	Blobs Blobs
	// Now is the clock of the files' times.
	Now func() time.Time
	// Version is the program's.
	Version string
}

// Archives writes archives, one at a time for each person. Safe for concurrent use.
type Archives struct {
	Options
	mu   sync.Mutex
	busy map[ubl.Name]bool // guarded by mu
}

// New makes it.
func New(o Options) *Archives { return &Archives{Options: o, busy: map[ubl.Name]bool{}} }

// Begin keeps a place for a person until end is called. It refuses services, which have no data of
// their own, and a second archive of the same person with rate_limited.
func (a *Archives) Begin(who ubl.Identity) (end func(), err error) {
	if who.IsService {
		return nil, ubl.Errorf(ubl.CodeForbidden, "this is for people alone: no agent or other service may use it")
	}
	name := ubl.PersonName(who.TenantID, who.UserID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy[name] {
		return nil, ubl.Errorf(ubl.CodeRateLimited, "your data is being downloaded already: wait until that has ended").Later(busyFor)
	}
	a.busy[name] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.busy, name)
	}, nil
}

// Write writes the archive of the person who asks. req is the request, under whose id reads of
// documents and files are receipted; receipt belongs to the act by which it began. After an error
// what was written is no zip file.
func (a *Archives) Write(ctx context.Context, w io.Writer, req ubl.Request, receipt ubl.Receipt) error {
	j := &job{
		Archives: a, ctx: ctx, req: req, tenant: ubl.TenantName(req.Who.TenantID), names: map[ubl.UserID]string{}, rooms: map[ubl.RoomID]bool{},
		zip: newBundle(w, a.Now().UTC()),
		manifest: Manifest{
			Format: Format, Version: a.Version, TenantID: req.Who.TenantID, UserID: req.Who.UserID, CreatedAt: ubl.TimeOf(a.Now()),
			Receipt: receipt, Files: []File{}, LeftOut: []LeftOut{},
		},
	}
	for _, part := range []func() error{j.tools, j.profile, j.receipts, j.conversations, j.ownElsewhere, j.containers, j.index} {
		if err := part(); err != nil {
			return fmt.Errorf("couldn't write the archive: %w", err)
		}
	}
	if err := j.zip.finish(&j.manifest); err != nil {
		return fmt.Errorf("couldn't end the archive: %w", err)
	}
	return nil
}

// job is one archive that is being written. One goroutine has it.
type job struct {
	*Archives
	ctx      context.Context
	req      ubl.Request
	tenant   ubl.Name
	zip      *bundle
	manifest Manifest
	// closed are the tools that the person may not use.
	closed map[string]bool
	// names is what authors are called, as far as they have been looked up.
	names map[ubl.UserID]string
	// former has the names of those who have left the tenant, nil until they are needed.
	former map[ubl.UserID]string
	// rooms are those that the person is in; shown is what the first page says of them.
	rooms map[ubl.RoomID]bool
	shown []shownRoom
	// wrote is where the person has written, as the ledger has it.
	wrote map[ubl.RoomID]span
}

// ask asks an actor, and again where the refusal may pass.
func ask[R any](j *job, to ubl.Name, cmd ubl.Command) (R, error) {
	for try := 1; ; try++ {
		ctx, cancel := context.WithTimeout(j.ctx, askPatience)
		answer, err := ubl.Ask[R](ctx, j.Asker, to, cmd)
		cancel()
		wait := 0
		if err != nil {
			wait = ubl.AsError(err).RetryAfter()
		}
		if wait == 0 || try == maxTries || j.ctx.Err() != nil {
			return answer, err
		}
		select {
		case <-j.ctx.Done():
			return answer, err
		case <-time.After(time.Duration(wait) * time.Second):
		}
	}
}

// The tools whose reads the archive makes. A tenant may close each.
const (
	toolPerson    = "person.get"
	toolScheduled = "person.scheduled.list"
	toolReceipts  = "ledger.atoms"
	toolEntries   = "messenger.entries"
	toolFile      = "messenger.file"
	toolList      = "container.list"
	toolDocuments = "office.document.list"
	toolDocument  = "office.document.get"
	toolFiles     = "office.file.list"
	toolGetFile   = "office.file.get"
)

// tools asks which of them are closed to the person: an archive is no way round ToolAccess.
func (j *job) tools() error {
	all := []string{toolPerson, toolScheduled, toolReceipts, toolEntries, toolFile, toolList, toolDocuments, toolDocument, toolFiles, toolGetFile}
	usable, err := ask[*ubl.UsableTools](j, j.tenant, ubl.FindUsable{Who: j.req.Who, Tools: all})
	if err != nil {
		return err
	}
	j.closed = map[string]bool{}
	for _, tool := range all {
		j.closed[tool] = true
	}
	for _, tool := range usable.Open {
		delete(j.closed, tool)
	}
	return nil
}

// may reports whether a part that takes some tools may be written, and names it among what was
// left out where it may not.
func (j *job) may(part string, tools ...string) bool {
	for _, tool := range tools {
		if j.closed[tool] {
			j.leave(part, "the tenant doesn't let you use "+tool)
			return false
		}
	}
	return true
}

// leave names something among what was left out, once.
func (j *job) leave(id, why string) {
	out := LeftOut{ID: id, Why: why}
	if !slices.Contains(j.manifest.LeftOut, out) {
		j.manifest.LeftOut = append(j.manifest.LeftOut, out)
	}
}

// left takes a refusal away that says that the person may not read something, and names that among
// what was left out. Any other error stays.
func (j *job) left(id string, err *error) bool {
	e, ok := errors.AsType[*ubl.Error](*err)
	if !ok {
		return false
	}
	switch e.Code {
	case ubl.CodeForbidden, ubl.CodeNotAMember, ubl.CodeNotFound:
		j.leave(id, e.Message)
		*err = nil
		return true
	}
	return false
}
