package ubl

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A message carries files: its attachments. The content comes first, by an upload into the room,
// and is a blob before the message is sent ([Upload]). The room keeps a record of each message's
// files, and that record refers to the blobs. Whoever may read the room may read them.

// Attachment is a file that a message carries.
type Attachment struct {
	Bytes int64 `json:"bytes"`
	// Type is what the server found in the content; what its sender says doesn't count.
	Type   string `json:"content_type"`
	FileID FileID `json:"file_id"`
	// Height and Width are those of an image as it is shown, in pixels; 0 for not known.
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
	// maxSide bounds the sides of an image, in pixels.
	maxSide = 1 << 20
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
		if !a.SHA256.Valid() || a.Bytes < 0 || a.Bytes > MaxFileBytes || min(a.Width, a.Height) < 0 || max(a.Width, a.Height) > maxSide {
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
