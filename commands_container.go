package ubl

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
	// IssueCredits makes credits out of nothing, the only act that does. Asked of
	// the Tenant. Owners of the tenant. Answers *Balance.
	IssueCredits struct {
		Request
		To     ContainerID
		Amount int64
	}

	// GetContainer reads the configuration, as it is or was. Who may look. Answers
	// *Container.
	GetContainer struct {
		Who  Identity
		AsOf AsOf
	}
	// Authorize asks whether the caller may do an operation in the container, for
	// acts whose effect lies outside. Answers AgreementID, that of the record under
	// which the caller may.
	Authorize struct {
		Request
		Op Operation
	}
	// CreateDocument makes a document. Who may write. Answers *DocumentResult.
	CreateDocument struct {
		Request
		Title, Content string
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
		DocumentID     DocumentID
		Title, Content *string
		IfVersion      int64
	}
	// DeleteDocument takes a document out of lists and search; its versions stay.
	// Who may write. Answers *DocumentResult without the content.
	DeleteDocument struct {
		Request
		DocumentID DocumentID
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
	// SearchDocuments finds documents by their text. Who may look. Answers
	// *DocumentHits.
	SearchDocuments struct {
		Request
		Query string
		Limit int
	}

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

// DocumentHit is a document that a search found.
type DocumentHit struct {
	Document
	// Score orders hits, best first, in thousandths; it means nothing by itself.
	Score int64 `json:"score"`
	// Snippet is a part of the content around the match, as plain text.
	Snippet string `json:"snippet"`
}

// DocumentHits is the answer to a search.
type DocumentHits struct {
	Documents []*DocumentHit `json:"documents"`
	// Indexing is there while the index has changes to take in.
	Indexing *Indexing `json:"indexing,omitempty"`
	Receipt  Receipt   `json:"receipt"`
}

// Indexing says how far an index is that has many changes to take in.
type Indexing struct {
	// CompleteUpTo is when the last change was made that it has taken in; documents
	// changed later may be missing. Nil where that may be so for all of them.
	CompleteUpTo *Time `json:"complete_up_to"`
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

// Cost is one act.
func (ListDocuments) Cost() int { return writeCost }

// Cost is one act.
func (ListVersions) Cost() int { return writeCost }

// Cost is one act.
func (SearchDocuments) Cost() int { return writeCost }

// Cost is that of the act and of what leaves.
func (c Transfer) Cost() int { return 2*writeCost + 2*len(c.Content) }
