package container

import (
	"encoding/json"
	"fmt"

	"ubl"
	"ubl/actors"
	"ubl/actors/agreement"
)

// event is a stored fact of a container. The struct is the disk form: fields are
// only ever added, and a change of meaning raises version.
type event struct {
	actors.Stamp
	Kind      *ubl.Kind             `json:"kind,omitempty"`      // founding, and it alone
	Container *ubl.ContainerSummary `json:"container,omitempty"` // founding
	Tenant    ubl.TenantID          `json:"tenant,omitempty"`    // founding
	Member    *ubl.Member           `json:"member,omitempty"`    // whom a membership event is about
	// Heir owns the container after its last owner was expelled.
	Heir *ubl.Member `json:"heir,omitempty"`
	// Sealed: nobody was left, and the documents so far stay closed for good.
	Sealed bool `json:"sealed,omitempty"`
	// Expelled: the Tenant shut the member out; let in again they are welcome.
	Expelled bool `json:"expelled,omitempty"`
	// Document is the version that the act made, or the last one of a document that
	// it deleted.
	Document *document `json:"document,omitempty"`
	// Documents are what publishing has made: new versions, and the last ones of what it
	// deleted. Unchanged counts what it has passed over.
	Documents []document `json:"documents,omitempty"`
	Unchanged int64      `json:"unchanged,omitempty"`
	// File is what the act has put, or removed.
	File *file `json:"file,omitempty"`
	// Files are what a document held: gone with it, or arrived with it.
	Files []file `json:"files,omitempty"`
	// Redacted is what container.redact has taken out of what is stored.
	Redacted []leftover `json:"redacted,omitempty"`
	// Amount is that of credits.issue, Balance the one after it.
	Amount  int64 `json:"amount,omitempty"`
	Balance int64 `json:"balance,omitempty"`
	// Transfer is what leaves (container.transfer) or arrives (container.receive).
	Transfer *transfer `json:"transfer,omitempty"`
	// Action is the receipt of the intended action that this event closes: a
	// container.transfer that has one ends what the one without began.
	Action *ubl.Receipt `json:"action,omitempty"`
	// Arrived is the document's id at the target.
	Arrived ubl.DocumentID `json:"arrived,omitempty"`
	// Refused says that the target didn't take it in.
	Refused *refusal `json:"refused,omitempty"`
	// Amendment is what became of the Agreement's terms.
	Amendment *agreement.Amendment `json:"amendment,omitempty"`
	// Ended is the Agreement as it was when it ended.
	Ended *ubl.AgreementView `json:"ended,omitempty"`

	gone []file // what a new event removes, whole: those that are stored name it
}

// eventVersion 2: collaborative physics let in the entries of the Agreement. In
// version 1 they let in everyone of the tenant ([ubl.Physics.AsPromised]).
const eventVersion = 2

// change is a document that an event changed, and whether it is gone from the container since.
type change struct {
	*document
	gone bool
}

// changed are the documents that an event changed, in order.
func (e event) changed() []change {
	if len(e.Documents) > 0 {
		all := make([]change, len(e.Documents))
		for i := range e.Documents {
			all[i] = change{&e.Documents[i], e.Documents[i].Deleted}
		}
		return all
	}
	switch {
	case e.Document != nil:
		return []change{{e.Document, e.Document.Deleted}}
	case e.Did != ubl.DidTransfer || e.Transfer.Op != ubl.OpTransfer:
		return nil // the source keeps its own, or never had one
	case e.Action == nil && e.Transfer.Document != nil:
		return []change{{e.Transfer.Document, true}}
	case e.Refused != nil && e.Transfer.Document != nil:
		return []change{{e.Transfer.Document, false}}
	}
	return nil
}

// step reports whether the event is a step of the Agreement's history.
func (e event) step() bool { return e.Member != nil || e.Ended != nil || e.Amendment != nil }

// transfer is something on its way from one container to another.
type transfer struct {
	ID     ubl.TransferID  `json:"id"`
	From   ubl.ContainerID `json:"from"`
	To     ubl.ContainerID `json:"to"`
	Op     ubl.Operation   `json:"op"`
	Amount int64           `json:"amount,omitempty"`
	// Document is the version that left the source. What only passes through has no
	// id, and no title.
	Document *document `json:"document,omitempty"`
	// Files are what the document holds, oldest first.
	Files []file `json:"files,omitempty"`
	// Email, IsService and RequestID are of who carries it, for the target's act
	// after a restart.
	Email     string `json:"email,omitempty"`
	IsService bool   `json:"is_service,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// refusal is why a target didn't take something in.
type refusal struct {
	Code    ubl.Code `json:"code"`
	Message string   `json:"message"`
}

func (r *refusal) err() error { return ubl.Errorf(r.Code, "%s", r.Message) }

// told is the refusal in an act's effect.
func (r *refusal) told() *ubl.AtomError { return &ubl.AtomError{Code: r.Code, Message: r.Message} }

// document is a version of a document without its text.
type document struct {
	ID    ubl.DocumentID `json:"id,omitempty"`
	Title string         `json:"title,omitempty"`
	Hash  string         `json:"content_hash"`
	// Salt is what Hash and the title's commitment were made with. Versions from before have none.
	Salt    ubl.Salt `json:"salt,omitzero"`
	Bytes   int64    `json:"bytes"`
	Version int64    `json:"version"`
	// Text is the version that brought the content: this one or an earlier one.
	Text      int64      `json:"text,omitempty"`
	CreatedAt ubl.Time   `json:"created_at"`
	CreatedBy ubl.UserID `json:"created_by"`
	UpdatedAt ubl.Time   `json:"updated_at"`
	UpdatedBy ubl.UserID `json:"updated_by"`
	Deleted   bool       `json:"deleted,omitempty"`
	// Redacted says that title, salt and text are gone for good.
	Redacted bool `json:"redacted,omitempty"`
	// First is the number of the first event that tells of the document here, 0 where that isn't
	// known.
	First int64 `json:"first,omitempty"`
	// ImportedFrom and Published are of this version.
	ImportedFrom *ubl.ImportedFrom `json:"imported_from,omitempty"`
	Published    *ubl.PublishedAs  `json:"published,omitempty"`
}

// version is the stored form of a document's version, and of what the container knows of a
// document: how it is now, or was when it was deleted, and nothing of what has moved
// elsewhere. A version's receipt is put on when it is stored; the other has none.
type version struct {
	Form     int         `json:"v"`
	Document document    `json:"document"`
	Receipt  ubl.Receipt `json:"receipt,omitzero"`
}

// text is the stored form of a version's content, and of what is on its way
// through a transient container, which has a title too.
type text struct {
	Form    int    `json:"v"`
	Title   string `json:"title,omitempty"`
	Content string `json:"content"`
}

// recordVersion is the stored version of version and text.
const recordVersion = 1

// encode cannot fail: stored forms hold only strings, numbers and times.
func encode(stored any) []byte {
	b, err := json.Marshal(stored)
	if err != nil {
		panic(fmt.Sprintf("container: couldn't encode a record: %v", err))
	}
	return b
}
