package ubl

import (
	"encoding/json"
	"unicode/utf8"
)

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

// What anyone reads of a knowledge commons: the published documents of a public container, by the
// names under which their source has them. The names of fields are those of the knowledge servers whose
// clients read this, and not ours.

// Bounds of what is read of a commons at once.
const (
	MaxKnowledge      = 100  // that a list has
	MaxKnowledgeBrief = 5000 // that one has without contents
	MaxKnowledgeHits  = 20   // that a search has
	// MaxKnowledgeBytes bounds the contents of a list together: what comes behind them has none.
	MaxKnowledgeBytes = 4 << 20
	// MaxFilterChars is how long a filter's value may be.
	MaxFilterChars = 200
)

type (
	// ListKnowledge lists the published documents by type and id, or with Newest those first that say
	// they are of the latest day, from the one at Offset on. Type, Group, Release and Tag are what they must
	// be of, "" for any. Brief leaves out contents, hashes and versions, for longer lists. Answers *KnowledgeList.
	ListKnowledge struct {
		Type, Group, Release, Tag string
		Offset, Limit             int
		Brief, Newest             bool
	}
	// ReadKnowledge reads the newest version of one, with Linked where it leads and what leads to it.
	// Answers *KnowledgeFound.
	ReadKnowledge struct {
		DocumentKey
		Linked bool
	}
	// SearchKnowledge finds published ones, best first. Answers *KnowledgeHits.
	SearchKnowledge struct {
		DocumentQuery
		Limit int
	}
)

// Knowledge is a published document as anyone reads it.
type Knowledge struct {
	ID          string          `json:"id"`
	ContentType string          `json:"contentType"` // the type that it was published as, such as pattern
	Path        string          `json:"path"`        // of its file in the source
	Title       string          `json:"title"`
	Metadata    json.RawMessage `json:"metadata"` // all that the file says of itself, an object
	// Content is Markdown, nil where a list has too much of it.
	Content   *string `json:"content"`
	SyncedAt  Time    `json:"syncedAt"`
	CommitSHA string  `json:"commitSha,omitempty"`
	// DocumentID, Version, Hash and Salt are those of [PublicDocument]: by them a receipt is found and held
	// against the content.
	DocumentID  DocumentID `json:"documentId"`
	Version     int64      `json:"version"`
	ContentHash string     `json:"contentHash"`
	Salt        Salt       `json:"salt,omitzero"`
}

// KnowledgeList is a part of the documents that fit, of which there are Total.
type KnowledgeList struct {
	Data   []Knowledge `json:"data"`
	Total  int         `json:"total"`
	Offset int         `json:"offset"`
	Limit  int         `json:"limit"`
	Events int64       `json:"-"` // as of [PublicContainer]
}

// KnowledgeFound is one.
type KnowledgeFound struct {
	Data Knowledge `json:"data"`
	// Links and Backlinks are to and from other published documents. A commons of very many has none.
	Links     []KnowledgeLink `json:"links,omitempty"`
	Backlinks []KnowledgeLink `json:"backlinks,omitempty"`
	Events    int64           `json:"-"`
}

// KnowledgeLink leads to a published document, or is one that leads here.
type KnowledgeLink struct {
	// Target is what is written, a name where it is a Wiki link, else a path; Field is where in the
	// metadata that stands, "" for the text. They are of links alone.
	Target      string `json:"target,omitempty"`
	Wiki        bool   `json:"wiki,omitempty"`
	Field       string `json:"field,omitempty"`
	ContentType string `json:"contentType"`
	ID          string `json:"id"`
	Title       string `json:"title"`
}

// KnowledgeHit is one that a search found.
type KnowledgeHit struct {
	ID          string `json:"id"`
	ContentType string `json:"contentType"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	// Score orders hits, best first, in thousandths; it means nothing by itself.
	Score int64 `json:"score"`
	Excerpt
}

// KnowledgeHits are what a search found.
type KnowledgeHits struct {
	Results []KnowledgeHit `json:"results"`
	// Indexing is there where the index is behind, as of [DocumentHits].
	Indexing *Indexing `json:"indexing,omitempty"`
	Events   int64     `json:"-"`
}

// Check refuses what no list has.
func (c ListKnowledge) Check() error {
	if c.Type != "" {
		if err := (DocumentKey{Type: c.Type, ID: "-"}).Check(); err != nil {
			return err
		}
	}
	for _, filter := range []string{c.Group, c.Release, c.Tag} {
		if !utf8.ValidString(filter) || utf8.RuneCountInString(filter) > MaxFilterChars {
			return Errorf(CodeValidation, "a filter has at most %d characters", MaxFilterChars)
		}
	}
	most := MaxKnowledge
	if c.Brief {
		most = MaxKnowledgeBrief
	}
	if c.Offset < 0 || c.Limit < 1 || c.Limit > most {
		return Errorf(CodeValidation, "a list begins at 0 or behind that, and has 1 to %d", most)
	}
	return nil
}

// Cost is 0: it reads.
func (ListKnowledge) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadKnowledge) Cost() int { return 0 }

// Cost is 0: it reads.
func (SearchKnowledge) Cost() int { return 0 }

// MaxKnowledgeNames bounds the groups, releases and tags that an overview names: of more those that
// most documents have.
const MaxKnowledgeNames = 500

// OverviewKnowledge counts what is published in a commons. Answers *KnowledgeOverview.
type OverviewKnowledge struct{}

// Cost is 0: it reads.
func (OverviewKnowledge) Cost() int { return 0 }

// KnowledgeOverview is what there is in a commons, each by name.
type KnowledgeOverview struct {
	Name     string           `json:"name"`
	Total    int              `json:"total"`
	Types    []KnowledgeCount `json:"types"`
	Groups   []KnowledgeCount `json:"groups"`
	Releases []KnowledgeCount `json:"releases"`
	Tags     []KnowledgeCount `json:"tags"`
	Access   KnowledgeAccess  `json:"access"`
	Events   int64            `json:"-"` // as of [PublicContainer]
}

// KnowledgeCount is how many documents say something of themselves. Spellings that differ in case
// alone are one; the name is the one that most of them have.
type KnowledgeCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// KnowledgeAccess says who may do what: the terms decide.
type KnowledgeAccess struct {
	Search  Tier `json:"search"`
	Entries Tier `json:"entries"` // to read one whole
}

// Tier is who may read of a commons.
type Tier string

// The tiers. Nobody has to sign in for what is open; what is for members needs a part in the container.
const (
	TierOpen    Tier = "open"
	TierMembers Tier = "members"
)
