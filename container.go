package ubl

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

type (
	// ContainerID matches ^[wk]:[A-Za-z0-9._-]{1,128}$: w: for a workspace, k: for
	// every other container.
	ContainerID string
	// DocumentID matches ^d:[A-Za-z0-9._-]{1,128}$.
	DocumentID string
	// TransferID matches ^x:[A-Za-z0-9._-]{1,128}$.
	TransferID string
)

// GeneralWorkspace exists in every tenant, under a:workspace:w:general.
const GeneralWorkspace ContainerID = "w:general"

// Valid reports whether the id has its pattern.
func (id ContainerID) Valid() bool {
	return validID(string(id), "w:", 128, "") || validID(string(id), "k:", 128, "")
}

// Valid reports whether the id has its pattern.
func (id DocumentID) Valid() bool { return validID(string(id), "d:", 128, "") }

// Valid reports whether the id has its pattern.
func (id TransferID) Valid() bool { return validID(string(id), "x:", 128, "") }

// NewDocumentID makes a document id, "d:" and a UUID of version 7 (RFC 9562): ids of one
// container rise with time and, within a millisecond, with n, which counts its events. So
// documents are stored and listed one behind the other.
func NewDocumentID(at Time, n int64, random io.Reader) (DocumentID, error) {
	u, err := newOrderedUUID(at, n, random)
	if err != nil {
		return "", fmt.Errorf("couldn't draw a document id: %w", err)
	}
	return DocumentID("d:" + u), nil
}

// NewTransferID draws a transfer id, "x:" and a random UUID.
func NewTransferID(random io.Reader) (TransferID, error) {
	u, err := newUUID(random)
	if err != nil {
		return "", fmt.Errorf("couldn't draw a transfer id: %w", err)
	}
	return TransferID("x:" + u), nil
}

// ContainerName addresses a Container actor.
func ContainerName(t TenantID, c ContainerID) Name { return Name(string(t) + "|" + string(c)) }

// Kind is a configuration of containers: a name, what ids and Agreements look
// like, the physics, and what else an operator or an owner says of them. A new kind needs
// nothing else.
type Kind struct {
	// Name is what callers ask for and what stands in the Agreement's id:
	// a:<name>:<container id>. Lower-case letters, digits and _.
	Name string `json:"name"`
	// Agreement is the type of the governing Agreement.
	Agreement string `json:"agreement"`
	// Physics holds for containers of the kind unless others are asked for.
	Physics Physics `json:"physics"`
	// Did is the act of making one.
	Did Did `json:"did"`
	// IDs stands before what is made of the name in ids: k:<ids><name>.
	IDs string `json:"ids,omitempty"`
	// Terms of the containers' Agreements; nil for the usual ones of their physics.
	Terms *Terms `json:"terms,omitempty"`
	// Content is what documents and files may be, of [ContentTypes]; empty for any text and any file.
	Content []string `json:"content,omitempty"`
	// Tools are those that a model may use for its callers inside; empty for all.
	Tools []string `json:"tools,omitempty"`
	// Own says, in lists, that the tenant has made it. It is never stored.
	Own bool `json:"own,omitempty"`
}

// ContentTypes are what a [Kind] can say that documents and files are. All of them are text.
func ContentTypes() []string { return []string{"text/plain", "text/markdown", "application/json"} }

// WorkspaceKind holds documents with their versions.
func WorkspaceKind() Kind {
	return Kind{Name: "workspace", Agreement: WorkspaceAgreementType, Physics: presets["WORKSPACE"], Did: DidWorkspaceCreate}
}

// WalletKind holds credits.
func WalletKind() Kind {
	return Kind{Name: "wallet", Agreement: WalletAgreementType, Physics: presets["WALLET_GATED"], Did: DidContainerCreate}
}

// ContainerKind is any other configuration: its physics come with the command.
func ContainerKind() Kind {
	return Kind{Name: "container", Agreement: ContainerGovernance, Did: DidContainerCreate}
}

// The kinds of what answers as a container and has actors of its own.
const (
	RoomKind   = "room"
	TenantKind = "tenant"
)

// Kinds are those that every tenant has.
func Kinds() []Kind { return []Kind{WorkspaceKind(), WalletKind(), ContainerKind()} }

// Prefix is that of ids of the kind.
func (k Kind) Prefix() string {
	if k.Name == WorkspaceKind().Name {
		return "w:"
	}
	return "k:"
}

// GovernedBy names the Agreement of a container of the kind.
func (k Kind) GovernedBy(id ContainerID) AgreementID {
	return AgreementID("a:" + k.Name + ":" + string(id))
}

// ContainerOf is the container that an Agreement id quotes, "" for an Agreement
// of something else.
func ContainerOf(id AgreementID) ContainerID {
	rest, ok := strings.CutPrefix(string(id), "a:")
	if !ok {
		return ""
	}
	_, quoted, _ := strings.Cut(rest, ":")
	if c := ContainerID(quoted); c.Valid() {
		return c
	}
	return ""
}

// ContainerSlug makes the id of a name as [RoomSlug] does.
func ContainerSlug(k Kind, name string) ContainerID {
	return ContainerID(k.Prefix() + k.IDs + strings.TrimPrefix(string(RoomSlug(name)), "r:"))
}

// NoContainer is what somebody is told of a container that isn't there, or not for them.
const NoContainer = "there is no such container"

// ContainerSummary is an entry of a tenant's directory.
type ContainerSummary struct {
	ContainerID ContainerID `json:"container_id"`
	Kind        string      `json:"kind"`
	Name        string      `json:"name"`
	Physics     Physics     `json:"physics"`
	CreatedAt   Time        `json:"created_at"`
	// Alike, in lists, says that the name looks like another's of the list.
	Alike bool `json:"alike,omitempty"`
}

// Container is a container as it is served.
type Container struct {
	ContainerSummary
	TenantID    TenantID    `json:"tenant_id"`
	AgreementID AgreementID `json:"agreement_id"`
	Heir        UserID      `json:"heir,omitempty"` // see [Agreement.NamedHeir]
	// Balance is the credits inside, 0 where the topology is not values.
	Balance int64 `json:"balance"`
	// InTransit is the credits that have left, and of whose arrival the container
	// hasn't heard yet.
	InTransit int64 `json:"in_transit"`
	// Documents counts those that are not deleted.
	Documents int64 `json:"documents"`
	// Messages counts the entries of a room that are kept, Members the entries of a tenant. Both
	// answer as containers, too, by their own ids.
	Messages int64 `json:"messages,omitempty"`
	Members  int64 `json:"members,omitempty"`
	// Content and Tools are the kind's, as of [Kind].
	Content []string `json:"content,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	// Member is whether the caller is an entry of the Agreement.
	Member bool `json:"member"`
	// AsOf is the receipt of the newest act on the container that this shows, where its
	// past was asked for.
	AsOf *Receipt `json:"as_of,omitempty"`
}

// Limits of documents and credits.
const (
	MaxTitleChars   = 256
	MaxContentChars = 1_000_000
	// Of what is published: at once, and all its texts together; and of one.
	MaxPublished      = 100
	MaxPublishedBytes = 4 << 20
	MaxMetadataBytes  = 8 << 10
	MaxPathBytes      = 1024
	MaxKeyBytes       = 64 // of an id
	// MaxCredits is the most credits of one container and of one act; sums of few
	// of them stay exact in JSON.
	MaxCredits = 1 << 50
)

// Document is one version of a document.
type Document struct {
	DocumentID  DocumentID  `json:"document_id"`
	WorkspaceID ContainerID `json:"workspace_id"`
	TenantID    TenantID    `json:"tenant_id"`
	Title       string      `json:"title"`
	// Content is empty in lists and search results, which tell its hash and size.
	Content     string `json:"content,omitempty"`
	ContentHash string `json:"content_hash"` // the commitment to {"content":…}, as in the ledger
	// Salt is what it was made with, and title_hash in the ledger, of {"title":…}. Versions
	// from before have none: theirs are the bare hashes.
	Salt      Salt   `json:"salt,omitzero"`
	Bytes     int64  `json:"bytes"`
	Version   int64  `json:"version"` // from 1
	CreatedAt Time   `json:"created_at"`
	CreatedBy UserID `json:"created_by"`
	UpdatedAt Time   `json:"updated_at"`
	UpdatedBy UserID `json:"updated_by"`
	// Published says what the version was published as, nil where it was written here.
	Published *PublishedAs `json:"published,omitempty"`
	// Deleted documents are gone with their versions: only the answer to a deletion has one, with
	// an empty title and no salt.
	Deleted bool `json:"deleted,omitempty"`
	// ImportedFrom says where an owner has imported the version from, nil where it was written here.
	ImportedFrom *ImportedFrom `json:"imported_from,omitempty"`
	// Files are those that the document holds now, whatever the version, oldest first; in the answer to a deletion,
	// those that went with it, without their names and types. Only answers that are about one document have them.
	Files []HeldFile `json:"files,omitempty"`
	// Receipt proves the act that made this version. In the answer to a deletion it proves the deletion.
	Receipt Receipt `json:"receipt"`
}

// DocumentKey names a published document by what its source calls it: its type, and its id
// among those of that type. No two documents of a container have the same key.
type DocumentKey struct {
	Type string `json:"type"` // ^[a-z][a-z0-9_-]{0,63}$, such as pattern
	ID   string `json:"id"`   // 1–64 bytes, without / and \, such as cell-governance
}

// PublishedAs is what a document was published as. It is changed at its source, and here by
// publishing it again.
type PublishedAs struct {
	DocumentKey
	Path     string          `json:"path"`             // of its file in the source: relative, with slashes
	Metadata json.RawMessage `json:"metadata"`         // an object, canonical
	Commit   string          `json:"commit,omitempty"` // of the source, in hex
}

// Hash is the commitment to all that the publication says, as canonical JSON.
func (p *PublishedAs) Hash(salt Salt) (string, error) {
	b, err := json.Marshal(p)
	if err == nil {
		b, err = Canonical(b)
	}
	if err != nil {
		return "", Errorf(CodeValidation, "a publication is no canonical JSON: %v", err)
	}
	return salt.Commit(b), nil
}

// Check refuses what no publication says. Metadata is made canonical.
func (p *PublishedAs) Check() (err error) {
	if err := p.DocumentKey.Check(); err != nil {
		return err
	}
	if err := CheckCommit(p.Commit); err != nil {
		return err
	}
	switch {
	case !ValidSourcePath(p.Path):
		return Errorf(CodeValidation, "the path is not that of a file in a source, of at most %d bytes", MaxPathBytes)
	case len(p.Metadata) > 2*MaxMetadataBytes: // which only blanks can make so long
		return errMetadata()
	case len(p.Metadata) == 0:
		p.Metadata = json.RawMessage(`{}`)
	}
	if p.Metadata, err = Canonical(p.Metadata); err != nil || p.Metadata[0] != '{' {
		return Errorf(CodeValidation, "the metadata is not an object of JSON")
	}
	if len(p.Metadata) > MaxMetadataBytes {
		return errMetadata()
	}
	return nil
}

func errMetadata() error {
	return Errorf(CodeTooLarge, "the metadata is longer than %d bytes", MaxMetadataBytes)
}

// Check refuses what no document has for a key.
func (k DocumentKey) Check() error {
	if !documentType.MatchString(k.Type) {
		return Errorf(CodeValidation, "the type is not a word of lower-case letters, digits, _ and -")
	}
	if k.ID == "" || len(k.ID) > MaxKeyBytes || strings.ContainsAny(k.ID, `/\`) || strings.Contains(k.ID, "..") || !isName(k.ID) {
		return Errorf(CodeValidation, "the id is not the name of a file: 1 to %d bytes, without slashes and two dots in a row", MaxKeyBytes)
	}
	return nil
}

var documentType = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// String is the key in one word, such as pattern/cell-governance.
func (k DocumentKey) String() string { return k.Type + "/" + k.ID }

// ValidSourcePath reports whether a path may be that of a file in a source: relative, with
// slashes, and without characters that can't be seen.
func ValidSourcePath(path string) bool {
	return path != "." && len(path) <= MaxPathBytes && fs.ValidPath(path) && isName(path)
}

// isName reports whether a name of a file is UTF-8, and every character of it can be seen.
func isName(s string) bool { return utf8.ValidString(s) && CheckTitle(s) == nil }

// CheckCommit refuses what is not the name of a commit: a SHA-1 or SHA-256 in hex. A source may have none.
func CheckCommit(name string) error {
	if name == "" || (len(name) == 40 || len(name) == 64) && strings.Trim(name, hexDigits) == "" {
		return nil
	}
	return Errorf(CodeValidation, "the commit is not the name of one: 40 or 64 hex digits")
}

// HeldFile is a file as its document names it.
type HeldFile struct {
	FileID FileID `json:"file_id"`
	Name   string `json:"name,omitempty"`
	Type   string `json:"content_type,omitempty"`
	Bytes  int64  `json:"bytes"`
}

// Commands of the Container family, and those by which a Tenant makes
// containers. Documents are the objects inside a container; every act on one is
// receipted, reading included.
type (
	// CreateContainer makes a container; its creator owns it. Asked of the Tenant.
	// Members. Physics is required for [ContainerKind] and else may differ from the
	// kind's. Answers *ContainerMade.
	CreateContainer struct {
		Request
		Kind    string
		Name    string
		Physics *Physics
	}
	// ListContainers lists the containers that the caller may look into, all or
	// those of a kind. Asked of the Tenant. Receipted says whether the look is an
	// act of its own (office.workspace.list). Answers *ContainerList.
	ListContainers struct {
		Request
		Kind      string // "" for all
		Receipted bool
	}
	// SetKind writes a kind of containers that the tenant has of its own. Asked of the
	// Tenant. Its owners. Answers *Kind.
	SetKind struct {
		Request
		Kind Kind
	}
	// RemoveKind forgets one; its containers stay. Asked of the Tenant. Its owners. Answers
	// *Kind as it was.
	RemoveKind struct {
		Request
		Name string
	}
	// ListKinds lists the kinds of containers that the tenant knows. Asked of the Tenant.
	// Members. Answers []*Kind.
	ListKinds struct{ Who Identity }
	// IssueCredits makes credits out of nothing, the only act that does. Asked of
	// the Tenant. Owners of the tenant. Answers *Balance.
	IssueCredits struct {
		Request
		To     ContainerID
		Amount int64
	}

	// GetContainer reads the configuration, as it is or was. Who may look. Answers
	// *Container. Rooms and Tenants answer it too.
	GetContainer struct {
		Who  Identity
		AsOf AsOf
	}
	// Authorize asks whether the caller may do an operation in the container, for
	// acts whose effect lies outside, and use the tools there. Answers AgreementID, that of
	// the record under which the caller may.
	Authorize struct {
		Request
		Op    Operation
		Tools []string
	}
	// CreateDocument makes a document. Who may write. Answers *DocumentResult.
	CreateDocument struct {
		Request
		Title, Content string
		ImportedFrom   *ImportedFrom `json:",omitempty"` // see [PostEntry]
	}
	// GetDocument reads a document as an act of its own; Version 0 is the newest.
	// Who may look. Answers *DocumentResult, with a nil Document where there is none.
	GetDocument struct {
		Request
		DocumentID DocumentID
		Version    int64
	}
	// UpdateDocument makes the next version with what is set. IfVersion, unless 0,
	// must be the newest version, else conflict. Who may write. Answers
	// *DocumentResult.
	UpdateDocument struct {
		Request
		Expects
		DocumentID     DocumentID
		Title, Content *string
		IfVersion      int64
		ImportedFrom   *ImportedFrom `json:",omitempty"` // see [PostEntry]
	}
	// DeleteDocument deletes a document with all its versions and files: nobody is served them
	// any more, and soon nothing that is stored has their titles, texts and salts. Who may
	// write. Answers *DocumentResult without title, content and salt.
	DeleteDocument struct {
		Request
		Expects
		DocumentID DocumentID
	}
	// PublishDocuments brings documents up to what their source has now, in one act: those of
	// Put get a version each where they have changed, those of Remove are deleted with their
	// versions and files. What is here already, or was never, is passed over. Published
	// documents are changed in no other way. Who may write. Answers *DocumentsPublished.
	PublishDocuments struct {
		Request
		Commit string // of the source; "" for none
		Put    []DocumentToPublish
		Remove []DocumentKey
		// RemoveMost says that Remove is meant, though it is more than half of what is published.
		// Without it that is refused: a source that is suddenly empty is mostly a mistake.
		RemoveMost bool
	}
	// ListDocuments lists documents by id, from after After, as they are or were. Who
	// may look. Answers *DocumentList without contents.
	ListDocuments struct {
		Request
		After DocumentID
		Limit int
		AsOf  AsOf
	}
	// ListVersions lists a document's versions, oldest first, from after version
	// After. Who may look. Answers *DocumentList without contents.
	ListVersions struct {
		Request
		DocumentID DocumentID
		After      int64
		Limit      int
	}
	// SearchDocuments finds documents, from the one after After of the best on, down
	// to [MaxHits]. Who may look. Answers *DocumentHits.
	SearchDocuments struct {
		Request
		DocumentQuery
		After int
		Limit int
	}

	// LookPublic reads what anyone may know of a container, without an identity and so without
	// a receipt. Where its terms don't show it to anyone, or no longer do, that is not_found, as
	// for one that never was. Answers *PublicContainer.
	LookPublic struct{}
	// ReadPublic reads a document in that way; Version 0 is the newest. One that was deleted is
	// not_found with all its versions. Answers *PublicDocument.
	ReadPublic struct {
		DocumentID DocumentID
		Version    int64
	}
	// ListPublic lists documents in that way: a page of [PublicPage] by id, from after After.
	// Answers *PublicDocuments.
	ListPublic struct{ After DocumentID }
	// ListPublicFiles lists files in that way: a page of [PublicPage] by id, from after After.
	// Answers *PublicFiles.
	ListPublicFiles struct{ After FileID }
	// ReadPublicFile reads what is known of a file in that way. Answers *PublicFile.
	ReadPublicFile struct{ FileID FileID }
	// SearchPublic finds documents in that way, [PublicHitsPage] at most. Answers *PublicHits.
	SearchPublic struct{ DocumentQuery }

	// Transfer lets an amount (values) or a document (everything else) leave for
	// another container of the tenant. What happens to the source follows from its
	// physics. Who may carry things out of the source and into the target. Passing
	// through a transient container takes Title and Content instead of a document:
	// there is none inside. Answers *TransferResult.
	Transfer struct {
		Request
		To             ContainerID
		Amount         int64
		DocumentID     DocumentID
		Title, Content string
	}
)

// ActCost is the cost of one act without its content, for the commands that
// actors of a tenant keep among themselves.
const ActCost = writeCost

// ContainerMade is the answer to making a container.
type ContainerMade struct {
	Container ContainerSummary `json:"container"`
	Receipt   Receipt          `json:"receipt"`
}

// ContainerList is a list of containers by id; Receipt is nil where the look was
// not receipted.
type ContainerList struct {
	Containers []ContainerSummary `json:"containers"`
	Receipt    *Receipt           `json:"receipt,omitempty"`
}

// Balance is how many credits a container holds after an act.
type Balance struct {
	ContainerID ContainerID `json:"container_id"`
	Amount      int64       `json:"amount"` // of the act
	Balance     int64       `json:"balance"`
	Receipt     Receipt     `json:"receipt"`
}

// DocumentResult is a document with the receipt of the act that answered it.
type DocumentResult struct {
	Document *Document `json:"document"`
	Receipt  Receipt   `json:"receipt"`
}

// DocumentToPublish is a document as its source has it.
type DocumentToPublish struct {
	DocumentKey
	Path, Title, Content string
	Metadata             json.RawMessage
}

// DocumentsPublished tells what publishing has changed: a new version each, or the last one of
// what was removed, in the order in which they were named.
type DocumentsPublished struct {
	Changed []PublishedVersion `json:"changed"`
	// Unchanged counts what was here already.
	Unchanged int64   `json:"unchanged"`
	Receipt   Receipt `json:"receipt"`
}

// PublishedVersion is what publishing made of a document.
type PublishedVersion struct {
	DocumentID DocumentID `json:"document_id"`
	Version    int64      `json:"version"`
	Removed    bool       `json:"removed,omitempty"`
}

// DocumentList is a page of documents, which Next continues, or of versions of
// one, which NextVersion does; "" and 0 at the end.
type DocumentList struct {
	Documents   []*Document `json:"documents"`
	Next        DocumentID  `json:"-"`
	NextVersion int64       `json:"-"`
	Receipt     Receipt     `json:"receipt"`
	// AsOf is the receipt of the newest act on the container that this shows, where its
	// past was asked for.
	AsOf *Receipt `json:"-"`
}

// PublicPage is how many documents a page has for anyone. All get the same pages, so that one
// copy serves all.
const PublicPage = 100

// PublicContainer is what anyone is told of a public container. Nobody's id is in it. What was
// read at the same count of Events is still right, which lets a copy be checked.
type PublicContainer struct {
	ContainerID ContainerID `json:"container_id"`
	TenantID    TenantID    `json:"tenant_id"`
	Kind        string      `json:"kind"`
	Name        string      `json:"name"`
	Content     []string    `json:"content,omitempty"` // as of [Kind]
	Documents   int64       `json:"documents"`         // those that are not deleted
	CreatedAt   Time        `json:"created_at"`
	Events      int64       `json:"-"`
}

// PublicDocument is what anyone is told of a version of a document; lists leave the content
// out. Hash and salt are those of [Document]: they show that an atom of the ledger means
// this content.
type PublicDocument struct {
	DocumentID  DocumentID  `json:"document_id"`
	ContainerID ContainerID `json:"container_id"`
	TenantID    TenantID    `json:"tenant_id"`
	Title       string      `json:"title"`
	Content     string      `json:"content,omitempty"`
	ContentHash string      `json:"content_hash"`
	Salt        Salt        `json:"salt,omitzero"`
	Bytes       int64       `json:"bytes"`
	Version     int64       `json:"version"`
	CreatedAt   Time        `json:"created_at"`
	UpdatedAt   Time        `json:"updated_at"`
	Events      int64       `json:"-"` // of the container, as of [PublicContainer]
}

// PublicDocuments is a page of documents without their contents, which Next continues, nil at
// the end. Listed says that it began at the beginning or behind a document that is there: of
// these pages there are few, and of others any number.
type PublicDocuments struct {
	Documents []PublicDocument `json:"documents"`
	Next      *DocumentID      `json:"next_cursor"`
	Listed    bool             `json:"-"`
	Events    int64            `json:"-"`
}

// PublicFile is what anyone is told of a file. SHA256 names its content; hashes and salt are
// those of [File].
type PublicFile struct {
	FileID      FileID      `json:"file_id"`
	ContainerID ContainerID `json:"container_id"`
	TenantID    TenantID    `json:"tenant_id"`
	DocumentID  DocumentID  `json:"document_id,omitempty"` // which holds it
	Name        string      `json:"name"`
	Type        string      `json:"content_type"`
	Bytes       int64       `json:"bytes"`
	SHA256      BlobID      `json:"sha256"`
	Salt        Salt        `json:"salt"`
	ContentHash string      `json:"content_hash"`
	NameHash    string      `json:"name_hash"`
	CreatedAt   Time        `json:"created_at"`
	Events      int64       `json:"-"` // of the container, as of [PublicContainer]
}

// PublicFiles is a page of files, as of [PublicDocuments].
type PublicFiles struct {
	Files  []PublicFile `json:"files"`
	Next   *FileID      `json:"next_cursor"`
	Listed bool         `json:"-"`
	Events int64        `json:"-"`
}

// TransferResult is how a transfer ended.
type TransferResult struct {
	TransferID TransferID  `json:"transfer_id"`
	From       ContainerID `json:"from"`
	To         ContainerID `json:"to"`
	// Op is what happened to the source: transfer, copy or pass.
	Op     Operation `json:"op"`
	Amount int64     `json:"amount,omitempty"`
	// DocumentID is the document's at the target.
	DocumentID DocumentID `json:"document_id,omitempty"`
	// Receipt is that of the act at the source.
	Receipt Receipt `json:"receipt"`
	// Salt is what the commitment to the content was made with, of what passes through: the source
	// keeps none of it.
	Salt Salt `json:"salt,omitzero"`
}

// Cost is that of the container, its Agreement and its directory entry.
func (CreateContainer) Cost() int { return 3 * writeCost }

// Cost is that of the act, where it is one.
func (c ListContainers) Cost() int {
	if c.Receipted {
		return writeCost
	}
	return 0
}

// Cost is that of the record.
func (c SetKind) Cost() int {
	n := writeCost + 64*len(c.Kind.Tools)
	if c.Kind.Terms != nil {
		n += 2 * c.Kind.Terms.size()
	}
	return n
}

// Cost is one act.
func (RemoveKind) Cost() int { return writeCost }

// Cost is 0: it reads.
func (ListKinds) Cost() int { return 0 }

// Cost is 0: the container's act behind it is admitted on its own.
func (IssueCredits) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetContainer) Cost() int { return 0 }

// Cost is 0: it reads.
func (Authorize) Cost() int { return 0 }

// Cost is that of the text and the act.
func (c CreateDocument) Cost() int { return writeCost + 2*(len(c.Title)+len(c.Content)) }

// Cost is one act.
func (GetDocument) Cost() int { return writeCost }

// Cost is that of the text and the act.
func (c UpdateDocument) Cost() int {
	n := writeCost
	if c.Content != nil {
		n += 2 * len(*c.Content)
	}
	return n
}

// Cost is one act.
func (DeleteDocument) Cost() int { return writeCost }

// Cost counts the texts, and one write more for each document that the act names.
func (c PublishDocuments) Cost() int {
	n := writeCost * (1 + len(c.Remove))
	for _, d := range c.Put {
		n += writeCost + 2*(len(d.Title)+len(d.Content)+len(d.Metadata))
	}
	return n
}

// Cost is one act.
func (ListDocuments) Cost() int { return writeCost }

// Cost is one act.
func (ListVersions) Cost() int { return writeCost }

// Cost is one act.
func (SearchDocuments) Cost() int { return writeCost }

// Cost is 0: it reads.
func (LookPublic) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadPublic) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListPublic) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListPublicFiles) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadPublicFile) Cost() int { return 0 }

// Cost is 0: it reads.
func (SearchPublic) Cost() int { return 0 }

// Cost is that of the act and of what leaves.
func (c Transfer) Cost() int { return 2*writeCost + 2*len(c.Content) }

// What containers tell. These are internal: they steer streams and are not shown to clients.
const (
	// EventDocumentChanged tells of a new version of a document, of its end, and of its coming
	// and going; its payload is [DocumentPayload].
	EventDocumentChanged = "document.changed"
	// EventContainerChanged tells of anything that changed a container which anyone may look
	// into, or could; its payload is [ContainerPayload].
	EventContainerChanged = "container.changed"
)

// DocumentPayload is the payload of document.changed: which document, and its
// newest version.
func DocumentPayload(c ContainerID, d DocumentID, version int64) json.RawMessage {
	b := append([]byte(nil), `{"document_id":"`...)
	b = append(b, d...)
	b = append(b, `","version":`...)
	b = strconv.AppendInt(b, version, 10)
	b = append(b, `,"workspace_id":"`...)
	b = append(b, c...)
	return append(b, `"}`...)
}

// ContainerPayload is the payload of container.changed: which container, "" for all of the
// tenant's.
func ContainerPayload(c ContainerID) json.RawMessage {
	return json.RawMessage(`{"container_id":"` + string(c) + `"}`)
}
