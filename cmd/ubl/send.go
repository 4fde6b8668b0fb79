package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ubl"
)

// sendCmd sends a message.
type sendCmd struct {
	remote
	format
	oneRoom
	Text    string   `arg:"" optional:"" help:"The text; - reads it from standard input."`
	ReplyTo string   `help:"The message that this one answers." placeholder:"m:…"`
	Thread  string   `help:"The message that began the thread that this one belongs to." placeholder:"m:…"`
	Mention []string `help:"The id of somebody whom it is for in particular, or @room for everybody. May be given again." placeholder:"u:…"`
	File    []string `help:"A file that the message carries, up to ten. May be given again." type:"existingfile" placeholder:"FILE" config:"-"`
	Forward string   `help:"A message to forward, as ROOM/MESSAGE; the text is then what you say of it, and may be left out." placeholder:"r:…/m:…" config:"-"`
	Key     string   `help:"Idempotency key: the same key never sends twice. Where the outcome is unknown, the command says which it used."`
}

// Run sends it, again under the same key where the server asks for patience.
func (c *sendCmd) Run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	return c.send(ctx, p, server)
}

// check tells the room and the text apart: with --room, what stands alone is the text.
func (c *sendCmd) check() error {
	if c.Flag != "" && c.Text == "" {
		c.Text, c.Place = c.Place, ""
	}
	if _, err := c.id(); err != nil {
		return err
	}
	if c.Forward != "" && len(c.File) > 0 {
		return usagef("--forward takes the message's own files along, and no --file")
	}
	if c.Text == "" && len(c.File) == 0 && c.Forward == "" {
		return thenDo(usagef(`expected "<text>", and not an empty one`), `"ubl send general -" sends what comes from standard input`)
	}
	return nil
}

func (c *sendCmd) send(ctx context.Context, p *program, server *client) error {
	room, err := c.id()
	if err != nil {
		return err
	}
	body, err := c.body(p)
	if err != nil {
		return err
	}
	for _, path := range c.File {
		id, err := server.attach(ctx, p, room, path)
		if err != nil {
			return inRoom(err)
		}
		body.Files = append(body.Files, id)
	}
	var answer struct {
		Message json.RawMessage `json:"message"`
	}
	if err := server.call(ctx, "POST", "/api/rooms/"+string(room)+"/messages", body, &answer); err != nil {
		return c.orAgain(inRoom(server.archived(ctx, room, err)), room, body.Key)
	}
	if c.JSON {
		return c.printMessages(ctx, p.out, nil, answer.Message)
	}
	m, err := formed[ubl.Message]("a message", answer.Message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "sent as %d in %s, receipt %d %s\n", m.RoomSeq, m.RoomID, m.Receipt.Seq, clean(m.Receipt.HeadHash))
	return err
}

// archived is the error of a room that takes nothing any more, in the words of who ended it;
// any other error stays as it is.
func (c *client) archived(ctx context.Context, room ubl.RoomID, err error) error {
	refusal, ok := errors.AsType[*apiError](err)
	if !ok || refusal.body.Error.Code != ubl.CodeForbidden {
		return err
	}
	var answer struct {
		Room ubl.RoomSummary `json:"room"`
	}
	if c.call(ctx, "GET", "/api/rooms/"+string(room), nil, &answer) != nil || answer.Room.Status != ubl.AgreementEnded {
		return err
	}
	return fmt.Errorf("%s was archived: members read it, and nobody writes any more", room)
}

// orAgain adds to an error how to try again where the message may have been sent.
func (c *sendCmd) orAgain(err error, room ubl.RoomID, key string) error {
	if _, ok := errors.AsType[*unsureError](err); !ok {
		return err
	}
	text := "TEXT" // a log of what commands say isn't the place for messages
	if c.Text == "-" {
		text = "-"
	}
	again := fmt.Sprintf("ubl send %s %s --key %s", room, text, quoted(key))
	if c.ReplyTo != "" {
		again += " --reply-to " + quoted(c.ReplyTo)
	}
	if c.Thread != "" {
		again += " --thread " + quoted(c.Thread)
	}
	for _, path := range c.File {
		again += " --file " + quoted(path)
	}
	if c.Forward != "" {
		again += " --forward " + quoted(c.Forward)
	}
	for _, m := range c.Mention {
		again += " --mention " + quoted(m)
	}
	return fmt.Errorf("%w; it may have been sent; to try again without sending it twice: %s", err, again)
}

// sendBody is the request.
type sendBody struct {
	Type    string   `json:"type"`
	Body    ubl.Body `json:"body"`
	Key     string   `json:"client_request_id"`
	ReplyTo string   `json:"reply_to,omitempty"`
	Thread  string   `json:"thread,omitempty"`
	Forward string   `json:"forward,omitempty"`

	Files []ubl.UploadID `json:"attachments,omitempty"`
}

// attach uploads a file into a room. A connection that breaks is made anew.
func (c *client) attach(ctx context.Context, p *program, room ubl.RoomID, path string) (ubl.UploadID, error) {
	// A pipe or a device has no length, and would be waited for.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", usagef("--file is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("couldn't read the file: %w", err)
	}
	defer f.Close()
	s := &sending{client: c, file: f}
	if err := s.beginInRoom(ctx, room, filepath.Base(path)); err != nil {
		return "", err
	}
	g := p.progress("sending", "bytes", false)
	defer g.end()
	return s.upload.UploadID, s.send(ctx, g)
}

func (c *sendCmd) body(p *program) (*sendBody, error) {
	text, err := c.text(p)
	if err != nil {
		return nil, err
	}
	key := c.Key
	if key == "" {
		if key, err = ubl.NewRequestID(p.random); err != nil {
			return nil, err
		}
	}
	forward := c.Forward
	if forward != "" && !strings.HasPrefix(forward, "r:") {
		forward = "r:" + forward
	}
	body := ubl.Body{Text: text}
	for _, m := range c.Mention {
		body.Mentions = append(body.Mentions, ubl.Mention(m))
	}
	return &sendBody{Type: ubl.TypeText, Body: body, Key: key, ReplyTo: c.ReplyTo, Thread: c.Thread, Forward: forward}, nil
}

// text is checked here too: a refusal before the request says the same.
func (c *sendCmd) text(p *program) (string, error) {
	text := c.Text
	if text == "-" {
		data, err := io.ReadAll(io.LimitReader(p.in, ubl.MaxMessageBytes+2))
		if err != nil {
			return "", fmt.Errorf("couldn't read standard input: %w", err)
		}
		text = strings.TrimSuffix(string(data), "\n")
	}
	beside := len(c.File)
	if c.Forward != "" {
		beside++
	}
	return text, ubl.Body{Text: text}.CheckBeside(beside, ubl.MaxMessageBytes)
}
