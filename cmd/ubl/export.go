package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"ubl"
	"ubl/storage"
)

// exportPage is how many atoms are read in one short transaction.
const exportPage = 1000

// exportCmd writes a ledger. A running server exports the tenant of the token;
// a data directory any tenant.
type exportCmd struct {
	remote
	Tenant string `help:"The tenant, like t:example.com; needed with --data." placeholder:"T"`
	Data   string `type:"path" help:"Read a stopped server's data directory, instead of asking --url." placeholder:"DIR"`
	Quiet  bool   `help:"Tell no progress."`
}

// Run writes the export to standard output.
func (c *exportCmd) Run(ctx context.Context, p *program) error {
	tenant := ubl.TenantID(c.Tenant)
	if tenant != "" && !tenant.Valid() {
		return usagef("--tenant is not the id of a tenant, like t:example.com")
	}
	if c.Data != "" && tenant == "" {
		return usagef("--data holds many tenants; say with --tenant which one")
	}
	g := p.progress("exporting", "atoms", c.Quiet)
	defer g.end()
	out := bufio.NewWriterSize(p.out, 64<<10)
	var err error
	if c.Data != "" {
		err = c.offline(ctx, p, out, tenant, g)
	} else {
		err = c.online(ctx, p, out, tenant, g)
	}
	if err != nil {
		return fmt.Errorf("couldn't export: %w", err)
	}
	return out.Flush()
}

// online copies what the server exports, line by line.
func (c *exportCmd) online(ctx context.Context, p *program, out *bufio.Writer, tenant ubl.TenantID, g *progress) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	resp, err := server.open(ctx, "GET", "/api/export", http.NoBody)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errorOf(resp)
	}
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	last, err := copyHeader(out, lines, tenant)
	if err != nil {
		return err
	}
	for done := int64(0); ; {
		part, err := lines.ReadSlice('\n')
		if _, err := out.Write(part); err != nil {
			return err
		}
		switch {
		case err == nil:
			done++
			g.at(done, last)
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && done == last && len(part) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("the server's export ends after %d of %d atoms", done, last)
		default:
			return fmt.Errorf("the connection broke after %d of %d atoms: %w", done, last, err)
		}
	}
}

// copyHeader copies the first line and checks that the export is of the tenant
// that was asked for.
func copyHeader(out io.Writer, lines *bufio.Reader, tenant ubl.TenantID) (last int64, err error) {
	line, err := lines.ReadSlice('\n')
	var header struct {
		TenantID ubl.TenantID `json:"tenant_id"`
		LastSeq  int64        `json:"last_seq"`
	}
	if err != nil || json.Unmarshal(bytes.TrimSpace(line), &header) != nil {
		return 0, errors.New("the server's answer is no export")
	}
	if tenant != "" && header.TenantID != tenant {
		return 0, fmt.Errorf("the token belongs to %s, which is not the tenant asked for", clean(string(header.TenantID)))
	}
	_, err = out.Write(line)
	return header.LastSeq, err
}

// offline reads the store itself. The actors stay asleep: nothing is changed.
func (c *exportCmd) offline(ctx context.Context, p *program, out io.Writer, tenant ubl.TenantID, g *progress) (err error) {
	store, err := openExisting(c.Data, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	group := ubl.TenantName(tenant).Group()
	var head ubl.LedgerHead
	err = store.View(ctx, group, func(s ubl.Snapshot) (err error) {
		head, err = s.Head()
		return err
	})
	if err != nil {
		return err
	}
	if head.Seq == 0 {
		return errors.New("there is no such tenant in this data directory")
	}
	e, err := ubl.NewExporter(out, tenant, head)
	for err == nil && e.Next() <= head.Seq {
		err = exportSome(ctx, store, group, e, min(e.Next()+exportPage-1, head.Seq))
		g.at(e.Next()-1, head.Seq)
	}
	if err != nil {
		return err
	}
	return e.Close()
}

// exportSome writes the atoms up to a seq.
func exportSome(ctx context.Context, store ubl.Reader, group ubl.Group, e *ubl.Exporter, last int64) error {
	return store.View(ctx, group, func(s ubl.Snapshot) error {
		for e.Next() <= last {
			atom, err := s.Atom(e.Next())
			if err != nil {
				return err
			}
			if err := e.Append(atom); err != nil {
				return err
			}
		}
		return nil
	})
}

// openExisting opens a data directory that must be there: a mistyped one is not
// to be made.
func openExisting(dir string, p *program) (*storage.Engine, error) {
	if err := mustHoldData(dir); err != nil {
		return nil, err
	}
	store, err := storage.Open(dir, &storage.Options{Random: p.random, Now: p.now})
	if err != nil {
		return nil, openHint(dir, err)
	}
	return store, nil
}
