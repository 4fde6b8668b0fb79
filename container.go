package ubl

import (
	"fmt"
	"io"
	"strings"
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
// like, and the physics. A new kind needs nothing else.
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
}

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
	return ContainerID(k.Prefix() + strings.TrimPrefix(string(RoomSlug(name)), "r:"))
}

// ContainerSummary is an entry of a tenant's directory.
type ContainerSummary struct {
	ContainerID ContainerID `json:"container_id"`
	Kind        string      `json:"kind"`
	Name        string      `json:"name"`
	Physics     Physics     `json:"physics"`
	CreatedAt   Time        `json:"created_at"`
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
	MaxQueryChars   = 500
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
	ContentHash string `json:"content_hash"` // b: + hash of {"content":…}
	Bytes       int64  `json:"bytes"`
	Version     int64  `json:"version"` // from 1
	CreatedAt   Time   `json:"created_at"`
	CreatedBy   UserID `json:"created_by"`
	UpdatedAt   Time   `json:"updated_at"`
	UpdatedBy   UserID `json:"updated_by"`
	// Deleted documents are listed nowhere; their versions stay readable.
	Deleted bool `json:"deleted,omitempty"`
	// Receipt is that of the act that made this version.
	Receipt Receipt `json:"receipt"`
}
