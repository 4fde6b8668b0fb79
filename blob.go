package ubl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A blob is the content of a file. Files are records of their container, which its acts make
// and remove. Blobs lie beside the ledger, and are named by what they hold: so one that was
// changed or cut short is told from the one that was kept. Each tenant has its own: what one
// keeps can't be found out by another.

// BlobID is the SHA-256 of a blob, as 64 lower-case hex digits.
type BlobID string

// BlobIDOf is the id of what the sum is of.
func BlobIDOf(sum [sha256.Size]byte) BlobID { return BlobID(hex.EncodeToString(sum[:])) }

// Valid reports whether the id has its form.
func (id BlobID) Valid() bool {
	return len(id) == 2*sha256.Size && strings.Trim(string(id), "0123456789abcdef") == ""
}

// Sum is the hash that the id spells; nil for an id that isn't valid.
func (id BlobID) Sum() []byte {
	sum, err := hex.DecodeString(string(id))
	if err != nil || !id.Valid() {
		return nil
	}
	return sum
}

// Blob is a blob as a store has it.
type Blob struct {
	ID    BlobID
	Bytes int64
	// KeptAt is when it was kept for the last time.
	KeptAt Time
}

// Blobs keep contents, each tenant's apart. Implementations: blobs.Folder on one node,
// blobs.Bucket in a store that speaks S3, cluster.Blobs over the folders of all nodes. Safe for
// concurrent use.
type Blobs interface {
	// Keep takes the file at path over as a blob: the path is gone afterwards. Who asks has
	// written and synced it, and says which blob it is. The blob is durable when Keep returns;
	// in a cluster on a majority of those who vote on the tenant's partition. Keeping one that
	// is there already renews KeptAt, and needs no path. Repeat it after an error.
	Keep(ctx context.Context, t TenantID, id BlobID, path string) error
	// Open reads a blob; not_found where there is none. A read from the beginning to the end
	// fails with [ErrDamaged] before the last byte where the content isn't the blob's.
	Open(ctx context.Context, t TenantID, id BlobID) (io.ReadSeekCloser, error)
	// Remove removes a blob unless it was kept after a time, and says whether it did.
	Remove(ctx context.Context, t TenantID, id BlobID, after Time) (bool, error)
	// Each calls fn with each blob that is kept here, until it fails.
	Each(ctx context.Context, fn func(TenantID, Blob) error) error
}

// ErrNoBlob is the answer where there is no such blob.
func ErrNoBlob() *Error { return Errorf(CodeNotFound, "the content isn't kept here") }

// BlobRefSpace begins the keys by which records refer to blobs, one of its own beside each: the
// 64 digits of the blob, a zero byte, and a name that tells it from others. Families write such keys in the
// commit of the record; what none of them names is no longer needed. So the store can tell
// which blobs a partition needs without knowing any family.
const BlobRefSpace = 'B'

// BlobRef is the key by which something refers to a blob, and BlobRefs where those of one begin
// and end.
func BlobRef(id BlobID, by string) []byte {
	return append(append(append([]byte{BlobRefSpace}, id...), 0), by...)
}

// BlobRefs bounds the keys that refer to a blob.
func BlobRefs(id BlobID) (from, to []byte) {
	return BlobRef(id, ""), append(append([]byte{BlobRefSpace}, id...), 1)
}

// AllBlobRefs bounds those of all blobs.
func AllBlobRefs() (from, to []byte) { return []byte{BlobRefSpace}, []byte{BlobRefSpace + 1} }

// ReferredBlob is the blob in such a key; ok is false for any other key.
func ReferredBlob(key []byte) (id BlobID, ok bool) {
	if len(key) < 2+2*sha256.Size || key[0] != BlobRefSpace || key[1+2*sha256.Size] != 0 {
		return "", false
	}
	id = BlobID(key[1 : 1+2*sha256.Size])
	return id, id.Valid()
}

type (
	// FileID matches ^f:[A-Za-z0-9._-]{1,128}$.
	FileID string
	// UploadID matches ^up:[0-9a-f]{40}$: eight digits of the node that has it, and random ones.
	UploadID string
)

// Valid reports whether the id has its pattern.
func (id FileID) Valid() bool { return validID(string(id), "f:", 128, "") }

// Valid reports whether the id has its pattern.
func (id UploadID) Valid() bool {
	digits, ok := strings.CutPrefix(string(id), "up:")
	return ok && len(digits) == 2*uploadIDSize && strings.Trim(digits, "0123456789abcdef") == ""
}

// Node are the digits of the node that has the upload.
func (id UploadID) Node() string { return string(id)[len("up:") : len("up:")+2*uploadNodeSize] }

const (
	uploadNodeSize = 4
	uploadIDSize   = uploadNodeSize + 16
)

// UploadNode are the digits by which uploads name a node.
func UploadNode(serverID string) string { return hexHash("uploads|" + serverID)[:2*uploadNodeSize] }

// NewUploadID draws the id of an upload to a node.
func NewUploadID(node string, random io.Reader) (UploadID, error) {
	var b [uploadIDSize - uploadNodeSize]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("couldn't draw the id of an upload: %w", err)
	}
	return UploadID("up:" + node + hex.EncodeToString(b[:])), nil
}

// NewFileID makes a file's id, in order as [NewDocumentID] does.
func NewFileID(at Time, n int64, random io.Reader) (FileID, error) {
	u, err := newOrderedUUID(at, n, random)
	if err != nil {
		return "", fmt.Errorf("couldn't draw the id of a file: %w", err)
	}
	return FileID("f:" + u), nil
}

// File is a file as it is served.
type File struct {
	FileID      FileID      `json:"file_id"`
	WorkspaceID ContainerID `json:"workspace_id"`
	TenantID    TenantID    `json:"tenant_id"`
	// DocumentID is the document that holds the file, "" for none.
	DocumentID DocumentID `json:"document_id,omitempty"`
	Name       string     `json:"name,omitempty"`
	Type       string     `json:"content_type,omitempty"` // as its author says
	Bytes      int64      `json:"bytes"`
	// SHA256 names the content. No atom has it: those have ContentHash, which is Salt's
	// commitment to its 32 bytes, and NameHash, that to {"name":…}.
	SHA256      BlobID `json:"sha256,omitempty"`
	Salt        Salt   `json:"salt,omitzero"`
	ContentHash string `json:"content_hash,omitempty"`
	NameHash    string `json:"name_hash,omitempty"`
	CreatedAt   Time   `json:"created_at"`
	CreatedBy   UserID `json:"created_by"`
	// ImportedFrom says where an owner has imported the file from, nil where it was put here first.
	ImportedFrom *ImportedFrom `json:"imported_from,omitempty"`
	// Removed says that the file is gone, and with it what names it: only the answer to the
	// removal has such a file.
	Removed bool `json:"removed,omitempty"`
	// Receipt proves the act that put the file there. In the answer to a removal it proves the removal.
	Receipt Receipt `json:"receipt"`
}

// Limits of files.
const (
	MaxFileName = 255 // bytes, as file systems have it
	MaxFileType = 127
	// MaxFileBytes is the largest file, 1 TiB; quotas and limits bound more.
	MaxFileBytes = 1 << 40
	// MaxFiles is the most files of one container, MaxDocumentFiles of one document: one act
	// removes or moves them with it.
	MaxFiles, MaxDocumentFiles = 10_000, 100
)

// UnknownType is the media type of a file of which nothing better is known.
const UnknownType = "application/octet-stream"

// CheckFileName refuses what could be more than a name: a path, a part of one, or characters
// that nobody sees. It answers the name without the blanks around it.
func CheckFileName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case !utf8.ValidString(name) || name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`):
		return "", Errorf(CodeValidation, "the file's name is empty, or isn't the name of a file")
	case len(name) > MaxFileName:
		return "", Errorf(CodeTooLarge, "the file's name is longer than %d bytes", MaxFileName)
	}
	runes := []rune(name)
	for i := range runes {
		if err := checkSeen("file's name", runes, i); err != nil {
			return "", err
		}
	}
	return name, nil
}

// CheckFileType refuses what isn't a media type, and answers it as it is kept: in small
// letters, with the charset at most. Nothing at all is [UnknownType].
func CheckFileType(given string) (string, error) {
	if given == "" {
		return UnknownType, nil
	}
	kind, params, err := mime.ParseMediaType(given)
	if err != nil || len(given) > MaxFileType || strings.Count(kind, "/") != 1 {
		return "", Errorf(CodeValidation, "the content type isn't a media type")
	}
	if charset := params["charset"]; charset != "" {
		params = map[string]string{"charset": charset}
	} else {
		params = nil
	}
	kind = mime.FormatMediaType(kind, params)
	if kind == "" {
		return "", Errorf(CodeValidation, "the content type isn't a media type")
	}
	return kind, nil
}

// Commands of the Container family about files. The content comes first: see [Upload].
type (
	// PrepareFile asks whether a file may be put: name, type, document, who, and room for its
	// bytes in what the tenant may store, besides those of other uploads. Who may write. Answers nil.
	PrepareFile struct {
		Request
		Name, Type string
		DocumentID DocumentID
		Bytes      int64
		// Staged are the bytes of other uploads.
		Staged int64
	}
	// PutFile makes a file of a blob that is kept. Only who has brought the content asks, by
	// an upload of theirs. Who may write. Answers *FileResult.
	PutFile struct {
		Request
		Name, Type   string
		DocumentID   DocumentID
		Blob         BlobID
		Bytes        int64
		ImportedFrom *ImportedFrom `json:",omitempty"` // see [PostEntry]
	}
	// GetFile reads what is known of a file as an act of its own, for its content or without.
	// Who may look. Answers *FileResult.
	GetFile struct {
		Request
		FileID FileID
	}
	// ListFiles lists files by id, from after After; those of one document unless that is
	// "". Who may look. Answers *FileList.
	ListFiles struct {
		Request
		DocumentID DocumentID
		After      FileID
		Limit      int
	}
	// RemoveFile takes a file away for good. Its content goes once no other file has it. What
	// names it goes soon from all that is stored, as of [DeleteDocument]. Who may write. Answers
	// *FileResult, with what is left of the file.
	RemoveFile struct {
		Request
		FileID FileID
	}

	// CollectBlobs asks which of some blobs nothing refers to, and puts on record that a node
	// removes them. The platform, of the Tenant. Answers *Collected.
	CollectBlobs struct {
		Request
		NodeID string
		Blobs  []BlobID
		// Bytes are theirs, in the same order.
		Bytes []int64
	}
	// RefuseFile puts on record that a node refuses a content of UserID's for what a scanner found
	// in it, and removes it. The platform, of the Tenant. Answers *Receipt.
	RefuseFile struct {
		Request
		NodeID string
		UserID UserID
		Bytes  int64
		// Found is what it is called: 1 to 128 letters of ASCII without blanks.
		Found string
	}
)

// ValidFound reports whether a find's name has its form.
func ValidFound(name string) bool {
	return name != "" && len(name) <= 128 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// FileResult is a file with the receipt of the act that answered it.
type FileResult struct {
	File    *File   `json:"file"`
	Receipt Receipt `json:"receipt"`
}

// FileList is a page of files, which Next continues; "" at the end.
type FileList struct {
	Files   []*File `json:"files"`
	Next    FileID  `json:"-"`
	Receipt Receipt `json:"receipt"`
}

// Collected are blobs that nothing refers to, with the receipt of their removal; nil where
// there are none.
type Collected struct {
	Blobs   []BlobID
	Receipt *Receipt
}

// Upload is content on its way in. A session on one node has it until it is whole; then it is
// kept as a blob, and a file may be made of it. It ends at ExpiresAt, which each byte puts off.
type Upload struct {
	UploadID UploadID `json:"upload_id"`
	// WorkspaceID or RoomID is where the file is to be: the one or the other.
	WorkspaceID ContainerID `json:"workspace_id,omitempty"`
	RoomID      RoomID      `json:"room_id,omitempty"`
	DocumentID  DocumentID  `json:"document_id,omitempty"`
	Name        string      `json:"name"`
	Type        string      `json:"content_type"`
	Bytes       int64       `json:"bytes"` // of the whole
	// Offset is how many bytes are here, durably.
	Offset    int64 `json:"offset"`
	ExpiresAt Time  `json:"expires_at"`
	// Scanning says that it is whole, and that its content is being checked for malware.
	Scanning bool `json:"scanning,omitempty"`
	// SHA256 is what the content must have, where its sender has said so, and what it has
	// once it is kept; "" for not known.
	SHA256 BlobID `json:"sha256,omitempty"`
}

// Source is content that comes in.
type Source struct {
	io.Reader
	// Interrupt has a read that waits for more return at once; nil where none waits for long.
	Interrupt func()
}

// Cost is 0: it reads.
func (PrepareFile) Cost() int { return 0 }

// Cost is one act.
func (PutFile) Cost() int { return writeCost }

// Cost is one act.
func (GetFile) Cost() int { return writeCost }

// Cost is one act.
func (ListFiles) Cost() int { return writeCost }

// Cost is one act.
func (RemoveFile) Cost() int { return writeCost }

// Cost is one act, and the ids.
func (c CollectBlobs) Cost() int { return writeCost + 64*len(c.Blobs) }

// Cost is one act.
func (RefuseFile) Cost() int { return writeCost }

// A message carries files: its attachments. The content comes first, by an upload into the room,
// and is a blob before the message is sent ([Upload]). The room keeps a record of each message's
// files, and that record refers to the blobs. Whoever may read the room may read them.

// Attachment is a file that a message carries.
type Attachment struct {
	Bytes int64 `json:"bytes"`
	// Type is what the server found in the content; what its sender says doesn't count.
	Type   string `json:"content_type"`
	FileID FileID `json:"file_id"`
	// Height and Width are an image's as it is shown, in pixels; 0 where they aren't known.
	Height int    `json:"height,omitempty"`
	Name   string `json:"name"`
	// SHA256 names the content. No atom has it: the act has AttachmentsHash.
	SHA256 BlobID `json:"sha256"`
	// Thumbnail says that the server makes small pictures of it.
	Thumbnail bool `json:"thumbnail,omitempty"`
	Width     int  `json:"width,omitempty"`
}

const (
	// MaxAttachments is the most files of one message.
	MaxAttachments = 10
	// attachmentCost is about what one adds to the cost of a message, besides its name.
	attachmentCost = 600
	// MaxImageSide bounds the sides of an image, in pixels: their product is a number then.
	MaxImageSide = 1 << 20
)

// FileKind sorts files by what shows them.
type FileKind string

// Kinds of files.
const (
	FileImage FileKind = "image"
	FileAudio FileKind = "audio"
	FileVideo FileKind = "video"
	FileOther FileKind = "other"
)

// Kind is what shows the file.
func (a Attachment) Kind() FileKind {
	switch kind, _, _ := strings.Cut(a.Type, "/"); FileKind(kind) {
	case FileImage, FileAudio, FileVideo:
		return FileKind(kind)
	}
	return FileOther
}

// AttachmentID is the id of a message's n-th file, from 0 on: it says which message, and so the
// room needs no index.
func AttachmentID(m MessageID, n int) FileID {
	return FileID("f:" + strings.TrimPrefix(string(m), "m:") + "." + strconv.Itoa(n))
}

// Message is the message that an id made by [AttachmentID] is of.
func (id FileID) Message() (MessageID, bool) {
	rest, ok := strings.CutPrefix(string(id), "f:")
	at := strings.LastIndexByte(rest, '.')
	if !ok || at < 1 {
		return "", false
	}
	return MessageID("m:" + rest[:at]), true
}

// CheckAttachments refuses files that are too many or none, and answers them with their names as they
// are kept.
func CheckAttachments(list []Attachment) ([]Attachment, error) {
	if len(list) > MaxAttachments {
		return nil, Errorf(CodeValidation, "a message carries %d files at most: send the others in another one", MaxAttachments)
	}
	out := make([]Attachment, 0, len(list))
	for _, a := range list {
		var err error
		if a.Name, err = CheckFileName(a.Name); err == nil {
			a.Type, err = CheckFileType(a.Type)
		}
		if err != nil {
			return nil, err
		}
		if !a.SHA256.Valid() || a.Bytes < 0 || a.Bytes > MaxFileBytes || min(a.Width, a.Height) < 0 || max(a.Width, a.Height) > MaxImageSide {
			return nil, Errorf(CodeValidation, "an attachment has no content that is kept")
		}
		out = append(out, a)
	}
	return out, nil
}

// AttachmentsJSON are files as they are stored and hashed.
func AttachmentsJSON(list []Attachment) json.RawMessage { return canonical(list) }

// AttachmentsHash is the commitment to a message's files in the ledger.
func (s Salt) AttachmentsHash(list []Attachment) string { return s.Commit(AttachmentsJSON(list)) }

// KeptFiles are the files of a message that an edit leaves to it.
type KeptFiles struct{ Files []FileID }

// RoomFile is a file of a room, with the message that carries it.
type RoomFile struct {
	Attachment
	MsgID    MessageID `json:"msg_id"`
	RoomID   RoomID    `json:"room_id"`
	SenderID UserID    `json:"sender_id"`
	SentAt   Time      `json:"sent_at"`
	TenantID TenantID  `json:"tenant_id"`
}

// RoomFileList is a page of files, which Next continues; "" at the end.
type RoomFileList struct {
	Files []RoomFile
	Next  FileID
}

// Commands of the Room family about files. Looks leave no receipt, as those at the room's history.
type (
	// PrepareAttachment asks whether a file may be sent to the room: its name, who, and room for
	// its bytes, besides those of other uploads. Who may send. Answers nil.
	PrepareAttachment struct {
		Request
		Name  string
		Bytes int64
		// Staged are the bytes of other uploads.
		Staged int64
	}
	// ListRoomFiles lists the files of a room, the newest message's first, from behind After.
	// Kind is "" for all. Members. Answers *RoomFileList.
	ListRoomFiles struct {
		Who   Identity
		Kind  FileKind
		After FileID
		Limit int
	}
	// GetRoomFile reads what is known of a file. Members. Answers *RoomFile.
	GetRoomFile struct {
		Who    Identity
		FileID FileID
	}
)

// Cost is 0: it reads.
func (PrepareAttachment) Cost() int { return 0 }

// Cost is 0: it reads.
func (ListRoomFiles) Cost() int { return 0 }

// Cost is 0: it reads.
func (GetRoomFile) Cost() int { return 0 }

// costOf is what files add to the cost of a message.
func costOf(list []Attachment) (cost int) {
	for _, a := range list {
		cost += attachmentCost + 2*len(a.Name)
	}
	return cost
}
