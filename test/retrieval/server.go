package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"ubl"
)

// server is the one that is measured.
type server struct{ url, token, workspace string }

// publish brings the documents into the workspace, a hundred an act. Those that are there already stay.
func (s *server) publish(ctx context.Context, documents []document) error {
	for len(documents) > 0 {
		page := documents[:min(len(documents), ubl.MaxPublished)]
		documents = documents[len(page):]
		var put []map[string]any
		for _, d := range page {
			title := []rune(d.title)
			if len(title) == 0 {
				title = []rune("Document " + d.id)
			}
			put = append(put, map[string]any{
				"type": "file", "id": d.id, "path": d.id + ".md", "title": string(title[:min(len(title), ubl.MaxTitleChars)]), "content": d.text,
			})
		}
		body, err := json.Marshal(map[string]any{"documents": put})
		if err != nil {
			return err
		}
		if err := s.call(ctx, "POST", "/publish", body, nil); err != nil {
			return fmt.Errorf("couldn't publish the collection: %w", err)
		}
	}
	return nil
}

// ask is what a question finds, best first.
func (s *server) ask(ctx context.Context, text, match string) ([]string, error) {
	runes := []rune(text)
	q := url.Values{"query": {string(runes[:min(len(runes), ubl.MaxQueryChars)])}, "match": {match}, "limit": {strconv.Itoa(recallOf)}}
	var answer struct {
		Documents []ubl.DocumentHit `json:"documents"`
		Indexing  *ubl.Indexing     `json:"indexing"`
	}
	for {
		if err := s.call(ctx, "GET", "/search?"+q.Encode(), nil, &answer); err != nil {
			return nil, err
		}
		if answer.Indexing == nil {
			break
		}
		answer.Indexing = nil // the index takes it in; the search waited for it already
	}
	var ids []string
	for _, hit := range answer.Documents {
		if hit.Published != nil {
			ids = append(ids, hit.Published.ID)
		}
	}
	return ids, nil
}

// call asks the server, and once more where it asks to wait.
func (s *server) call(ctx context.Context, method, path string, body []byte, answer any) error {
	for {
		r, err := http.NewRequestWithContext(ctx, method, s.url+"/api/workspaces/"+url.PathEscape(s.workspace)+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+s.token)
		r.Header.Set("Content-Type", "application/json")
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(got.Body)
		got.Body.Close()
		switch {
		case err != nil:
			return err
		case got.StatusCode == http.StatusTooManyRequests:
			wait, _ := strconv.Atoi(got.Header.Get("Retry-After"))
			select {
			case <-time.After(time.Duration(max(wait, 1)) * time.Second):
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		case got.StatusCode >= 300:
			return fmt.Errorf("the server answers %s: %.300s", got.Status, data)
		case answer == nil:
			return nil
		}
		return json.Unmarshal(data, answer)
	}
}
