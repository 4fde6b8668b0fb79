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
	MaxKnowledge     = 100 // that a list has
	MaxKnowledgeHits = 20  // that a search has
	// MaxKnowledgeBytes bounds the contents of a list together: what comes behind them has none.
	MaxKnowledgeBytes = 4 << 20
	// MaxFilterChars is how long a filter's value may be.
	MaxFilterChars = 200
)

type (
	// ListKnowledge lists the published documents by type and id, from the one at Offset on. Type,
	// Group and Release are what they must be of, "" for any. Answers *KnowledgeList.
	ListKnowledge struct {
		Type, Group, Release string
		Offset, Limit        int
	}
	// ReadKnowledge reads the newest version of one. Answers *KnowledgeFound.
	ReadKnowledge struct{ DocumentKey }
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
	Data   Knowledge `json:"data"`
	Events int64     `json:"-"`
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
	for _, filter := range []string{c.Group, c.Release} {
		if !utf8.ValidString(filter) || utf8.RuneCountInString(filter) > MaxFilterChars {
			return Errorf(CodeValidation, "a filter has at most %d characters", MaxFilterChars)
		}
	}
	if c.Offset < 0 || c.Limit < 1 || c.Limit > MaxKnowledge {
		return Errorf(CodeValidation, "a list begins at 0 or behind that, and has 1 to %d", MaxKnowledge)
	}
	return nil
}

// Cost is 0: it reads.
func (ListKnowledge) Cost() int { return 0 }

// Cost is 0: it reads.
func (ReadKnowledge) Cost() int { return 0 }

// Cost is 0: it reads.
func (SearchKnowledge) Cost() int { return 0 }
