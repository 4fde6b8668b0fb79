package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"slices"
	"unicode/utf8"

	strict "github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl"
	"ubl/transport/envelope"
)

// ToolReadFile reads what is in a file. The Tenant takes it for a part of office.file.get: who may not
// use that can't read, and the receipt is of that act.
const ToolReadFile = "office.file.read"

// Limits of a read, in bytes.
const (
	defaultRead, maxRead = 16 << 10, 64 << 10 // of text
	maxImage             = 1 << 20
)

// images are the types of pictures that models look at.
var images = []string{"image/gif", "image/jpeg", "image/png", "image/webp"}

// readActs are the act of the tool, where the server has contents of files.
func (s *Server) readActs() []envelope.Act {
	if s.opts.Blobs == nil {
		return nil
	}
	return []envelope.Act{{
		Name: ToolReadFile, Title: "Read or download a file or attachment",
		Description: "Reads the content of a file that is stored in a workspace or attached to a document, as if you opened or downloaded it: text as text, piece by piece, and a picture as an image. " +
			"Use it when you know the file_id, which office.file.list tells. Of other types, such as PDF, it answers type, size and a link. " +
			"For notes and reports that are documents use office.document.get. next_offset reads on, and is null at the end.",
		Input: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["workspace_id","file_id"],"properties":{` +
			`"workspace_id":{"type":"string","pattern":"^[wk]:[A-Za-z0-9._-]{1,128}$","description":"A workspace, or another container of objects.","examples":["w:general"]},` +
			`"file_id":{"type":"string","pattern":"^f:[A-Za-z0-9._-]{1,128}$","description":"The file, by its id.","examples":["f:0199a1b2"]},` +
			`"offset":{"anyOf":[{"type":"integer","minimum":0,"maximum":9007199254740991},{"type":"null"}],"default":0,"description":"Where in a text to begin, in bytes: next_offset of the piece before."},` +
			`"limit":{"anyOf":[{"type":"integer","minimum":4,"maximum":65536},{"type":"null"}],"default":16384,"description":"How many bytes of a text to answer at most."}}}`),
		Output: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["file_id","name","content_type","bytes","receipt"],"properties":{` +
			`"file_id":{"type":"string"},"name":{"type":"string"},"content_type":{"type":"string","description":"As its author says."},` +
			`"document_id":{"type":"string","description":"The document that holds it."},"bytes":{"type":"integer","description":"Of the whole file."},` +
			`"text":{"type":"string","description":"A piece of it, where it is text."},"offset":{"type":"integer","description":"Where the piece begins."},` +
			`"next_offset":{"anyOf":[{"type":"integer"},{"type":"null"}],"description":"Where the next piece begins; null at the end."},` +
			`"uri":{"type":"string","description":"Where it is neither text nor shown: the resource."},` +
			`"receipt":{"type":"object","additionalProperties":false,"required":["seq"],"properties":{"seq":{"type":"integer"}},"description":"Of this read."}}}`),
		ReadOnly: true, Idempotent: true, Show: s.readFile,
		Do: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			told, _, err := s.readFile(ctx, args)
			return told, err
		},
	}}
}

type readFileArgs struct {
	Workspace ubl.ContainerID `json:"workspace_id"`
	File      ubl.FileID      `json:"file_id"`
	Offset    int64           `json:"offset"`
	Limit     int             `json:"limit"`
}

func readReadArgs(args json.RawMessage) (in readFileArgs, err error) {
	in.Limit = defaultRead
	if err := readArguments(args, &in); err != nil {
		return in, err
	}
	switch {
	case !in.Workspace.Valid():
		return in, invalid("workspace_id", "not the id of a container, like w:general")
	case !in.File.Valid():
		return in, invalid("file_id", "not the id of a file, like f:0199a1b2")
	case in.Offset < 0:
		return in, invalid("offset", "expected an integer from 0")
	case in.Limit < utf8.UTFMax || in.Limit > maxRead:
		return in, invalid("limit", "expected an integer from 4 to 65536")
	}
	return in, nil
}

// readFile puts the read on record and reads the file, or a piece of it. What it shows beside is a picture,
// or the link to what is neither that nor text.
func (s *Server) readFile(ctx context.Context, args json.RawMessage) (answer, shown json.RawMessage, err error) {
	in, err := readReadArgs(args)
	if err != nil {
		return nil, nil, err
	}
	ctx = reading(ctx, ToolReadFile)
	who := envelope.CallerOf(ctx).Identity
	found, err := ubl.Ask[*ubl.FileResult](ctx, s.opts.Asker, ubl.ContainerName(who.TenantID, in.Workspace),
		ubl.GetFile{Request: envelope.Command(ctx, ""), FileID: in.File})
	if err != nil {
		return nil, nil, err
	}
	f := found.File
	content, err := s.openBlob(ctx, who.TenantID, f)
	if err != nil {
		return nil, nil, err
	}
	defer content.Close()
	told := toldFile{FileID: f.FileID, Name: f.Name, Type: f.Type, DocumentID: f.DocumentID, Bytes: f.Bytes, Receipt: seqOnly{found.Receipt.Seq}}
	item, err := told.fill(content, f, in)
	if err == nil && item != nil {
		shown, err = item.MarshalJSON()
	}
	if err != nil {
		return nil, nil, err
	}
	answer, err = strict.Marshal(told)
	return answer, shown, err
}

// toldFile is the structured answer.
type toldFile struct {
	FileID     ubl.FileID     `json:"file_id"`
	Name       string         `json:"name"`
	Type       string         `json:"content_type"`
	DocumentID ubl.DocumentID `json:"document_id,omitempty"`
	Bytes      int64          `json:"bytes"`
	*Piece
	URI     string  `json:"uri,omitempty"`
	Receipt seqOnly `json:"receipt"`
}

// Piece is a part of a text. It is exported for the encoder alone.
type Piece struct {
	Text   string `json:"text"`
	Offset int64  `json:"offset"`
	Next   *int64 `json:"next_offset"`
}

type seqOnly struct {
	Seq int64 `json:"seq"`
}

// fill reads what the answer is to hold, and answers what is shown beside it.
func (t *toldFile) fill(content io.ReadSeeker, f *ubl.File, in readFileArgs) (sdk.Content, error) {
	kind, _, _ := mime.ParseMediaType(f.Type)
	if slices.Contains(images, kind) && f.Bytes <= maxImage {
		data, err := io.ReadAll(io.LimitReader(content, maxImage+1))
		if err != nil {
			return nil, fmt.Errorf("couldn't read a file: %w", err)
		}
		return &sdk.ImageContent{Data: data, MIMEType: kind}, nil
	}
	if in.Offset > f.Bytes {
		return nil, invalid("offset", "behind the end of the file")
	}
	p, isText, err := readPiece(content, f.Bytes, in)
	switch {
	case err != nil:
		return nil, err
	case isText && !slices.Contains(images, kind):
		t.Piece = p
		return nil, nil
	}
	t.URI = fileURI + string(in.Workspace) + "/" + string(f.FileID)
	return &sdk.ResourceLink{
		URI: t.URI, Name: string(f.FileID), Title: f.Name, MIMEType: cmp.Or(f.Type, ubl.UnknownType), Size: &f.Bytes,
		Description: "A file that isn't text: read the resource, or give the person who needs it its name.",
	}, nil
}

// readPiece reads a piece of a text, which begins and ends with whole characters. It is false for what is no text:
// where there are characters that aren't UTF-8, or null ones.
func readPiece(content io.ReadSeeker, size int64, in readFileArgs) (*Piece, bool, error) {
	if _, err := content.Seek(in.Offset, io.SeekStart); err != nil {
		return nil, false, fmt.Errorf("couldn't read a file: %w", err)
	}
	data := make([]byte, min(int64(in.Limit), size-in.Offset))
	if _, err := io.ReadFull(content, data); err != nil {
		return nil, false, fmt.Errorf("couldn't read a file: %w", err)
	}
	at := in.Offset
	for i := 0; i < utf8.UTFMax-1 && at > 0 && len(data) > 0 && !utf8.RuneStart(data[0]); i++ { // amid a character
		data, at = data[1:], at+1
	}
	end := at + int64(len(data))
	if end < size {
		data = wholeRunes(data)
		end = at + int64(len(data))
	}
	p := &Piece{Text: string(data), Offset: at}
	if end < size {
		p.Next = &end
	}
	return p, utf8.Valid(data) && !bytes.ContainsRune(data, 0), nil
}

// wholeRunes cuts a character off that only begins at the end.
func wholeRunes(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if last := data[len(data)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}
