package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"ubl"
)

// fileCmd puts files into workspaces, and gets them.
type fileCmd struct {
	Put    filePutCmd    `cmd:"" help:"Put a file into a workspace. A broken connection is taken up again."`
	Get    fileGetCmd    `cmd:"" help:"Get a file's content, from where an earlier try broke off."`
	List   fileListCmd   `cmd:"" help:"List the files of a workspace."`
	Remove fileRemoveCmd `cmd:"" help:"Remove a file for good."`
}

// inWorkspace says where the files are.
type inWorkspace struct {
	Workspace string `complete:"workspaces" default:"w:general" help:"The workspace, like w:plans or plans." placeholder:"WORKSPACE"`
}

// path is below which the workspace's files are.
func (w inWorkspace) path() (string, error) {
	id := w.Workspace
	if !strings.Contains(id, ":") {
		id = "w:" + id
	}
	if !ubl.ContainerID(id).Valid() {
		return "", usagef("--workspace is not the id of a workspace, like w:general or general")
	}
	return "/api/workspaces/" + id, nil
}

// file is the path of one of them.
func (w inWorkspace) file(id string) (string, error) {
	if !ubl.FileID(id).Valid() {
		return "", usagef("FILE is not the id of a file, like f:…; \"ubl file list\" lists them")
	}
	path, err := w.path()
	return path + "/files/" + id, err
}

type fileListCmd struct {
	remote
	format
	inWorkspace
	Document string `help:"Only those that this document holds." placeholder:"d:…" config:"-"`
}

// Run lists them, with --json one a line.
func (c *fileListCmd) Run(ctx context.Context, p *program) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	path += "/files?limit=100"
	if c.Document != "" {
		path += "&document_id=" + url.QueryEscape(c.Document)
	}
	return showList(ctx, p, &c.remote, c.format, path, "files", "a file", "FILE\tNAME\tBYTES\tPUT\tBY", func(f *ubl.File) string {
		return cells(f.FileID, f.Name, f.Bytes, local(f.CreatedAt), string(f.CreatedBy)+wasOf(f.ImportedFrom))
	})
}

type fileRemoveCmd struct {
	remote
	format
	inWorkspace
	File string `arg:"" complete:"files" help:"The file's id, as \"ubl file list\" has it."`
}

// Run removes it.
func (c *fileRemoveCmd) Run(ctx context.Context, p *program) error {
	path, err := c.file(c.File)
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	return server.tellFile(ctx, p, "DELETE", path, nil, c.format, "removed")
}

// tellFile does something with a file, and says so.
func (c *client) tellFile(ctx context.Context, p *program, method, path string, body any, f format, done string) error {
	var answer struct {
		File    json.RawMessage `json:"file"`
		Receipt ubl.Receipt     `json:"receipt"`
	}
	if err := c.call(ctx, method, path, body, &answer); err != nil {
		return err
	}
	file, err := formed[ubl.File]("a file", answer.File)
	if err != nil {
		return err
	}
	return f.say(p.out, answer.File, "%s %s (%s, %d bytes), receipt %d %s", done, file.FileID, file.Name, file.Bytes, answer.Receipt.Seq, answer.Receipt.HeadHash)
}
