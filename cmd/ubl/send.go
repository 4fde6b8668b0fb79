package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"ubl"
)

// sendCmd sends a message.
type sendCmd struct {
	remote
	format
	Room    string `arg:"" help:"The room, like r:general or general."`
	Text    string `arg:"" help:"The text; - reads it from standard input."`
	ReplyTo string `help:"The message that this one answers." placeholder:"m:…"`
	Key     string `help:"Idempotency key: the same key never sends twice."`
}

// Run sends it, again under the same key where the server asks for patience.
func (c *sendCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Room)
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	body, err := c.body(p)
	if err != nil {
		return err
	}
	var answer struct {
		Message json.RawMessage `json:"message"`
	}
	if err := server.call(ctx, "POST", "/api/rooms/"+string(room)+"/messages", body, &answer); err != nil {
		return inRoom(err)
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

func (c *sendCmd) body(p *program) (map[string]any, error) {
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
	body := map[string]any{"type": ubl.TypeText, "body": ubl.Body{Text: text}, "client_request_id": key}
	if c.ReplyTo != "" {
		body["reply_to"] = c.ReplyTo
	}
	return body, nil
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
	return text, ubl.CheckText(text, ubl.MaxMessageBytes)
}
