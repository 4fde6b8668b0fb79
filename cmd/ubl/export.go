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
	"ubl/cluster"
	"ubl/storage"
)

// exportCmd writes a ledger or, with --all, everything. A running server exports the tenant
// of the token; a data directory any tenant.
type exportCmd struct {
	remote
	Tenant string `help:"The tenant, like t:example.com; needed with --data." placeholder:"T"`
	Data   string `type:"path" help:"Read a stopped server's data directory, instead of asking --url." placeholder:"DIR"`
	All    string `help:"Write messages, documents and files too, into this new folder (docs/export.md)." type:"path" placeholder:"DIR" config:"-"`
	Quiet  bool   `help:"Tell no progress."`
}

// Run writes the export to standard output.
func (c *exportCmd) Run(ctx context.Context, p *program) error {
	tenant := ubl.TenantID(c.Tenant)
	if tenant != "" && !tenant.Valid() {
		return usagef("--tenant is not the id of a tenant, like t:example.com")
	}
	c.Data = p.offline(c.Data)
	if c.All != "" && p.given("data") {
		return thenDo(usagef("--all asks a running server"), "start one over the directory, and leave out --data")
	}
	if c.All != "" {
		g := p.progress("exporting", "files", c.Quiet)
		defer g.end()
		if err := c.archive(ctx, p, g); err != nil {
			return fmt.Errorf("couldn't export: %w", err)
		}
		return nil
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
	err = errors.Join(err, out.Flush()) // what could be read is written all the same
	if lacks, ok := errors.AsType[*ubl.IncompleteError](err); ok && len(lacks.Holes) > 0 {
		return fmt.Errorf("the export is not whole, a line of %s stands for each of %d holes: %w", ubl.HoleFormat, len(lacks.Holes), err)
	} else if ok {
		return fmt.Errorf("the export may not be whole, its last line, of %s, says so: %w", ubl.LostFormat, err)
	}
	if err != nil {
		return fmt.Errorf("couldn't export: %w", err)
	}
	return nil
}

// online copies what the server exports, line by line.
func (c *exportCmd) online(ctx context.Context, p *program, out io.Writer, tenant ubl.TenantID, g *progress) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	return server.ledger(ctx, out, tenant, g)
}

// ledger copies the server's ledger, which has to be the tenant's, "" for any.
func (c *client) ledger(ctx context.Context, out io.Writer, tenant ubl.TenantID, g *progress) error {
	resp, err := c.open(ctx, "GET", "/api/export", http.NoBody)
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
		if why, broken := ubl.BrokenExport(part); broken {
			_, errWrite := out.Write(part)
			return errors.Join(fmt.Errorf("the export ends at damage, after %d of %d atoms: %s", done, last, clean(why)), errWrite)
		}
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

// offline reads the ledger itself and changes nothing. It passes over what it can't read.
func (c *exportCmd) offline(ctx context.Context, p *program, out io.Writer, tenant ubl.TenantID, g *progress) (err error) {
	if err := mustHoldData(c.Data); err != nil {
		return err
	}
	ledger, err := storage.OpenLedger(c.Data, ubl.TenantName(tenant).Group(), &storage.Options{Random: p.random, Now: p.now})
	if errors.Is(err, storage.ErrDamaged) { // openHint would name this very command
		return fmt.Errorf("%w. Tenants of other partitions are exported all the same. To list the damaged places: ubl scrub --data %s. What to do then is in the runbook (UBLDamage)", err, c.Data)
	}
	if err != nil {
		return openHint(c.Data, err)
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	behind, logErr := c.fromLog(ledger)
	head := ledger.Head()
	switch lost := ledger.Lost(); {
	case head.Seq == 0 && lost != nil:
		return fmt.Errorf("nothing of such a tenant can be read: %w", lost)
	case head.Seq == 0:
		return errors.New("there is no such tenant in this data directory")
	}
	e, err := ubl.NewExporter(out, tenant, head)
	if err != nil {
		return err
	}
	found := func(seq int64, atom []byte) error {
		g.at(seq, head.Seq)
		return e.Append(atom)
	}
	missing := func(_, to int64, why error) error { return e.Skip(to, why) }
	if err := ledger.Atoms(ctx, found, missing); err != nil {
		return err
	}
	if lost := errors.Join(ledger.Lost(), logErr); lost != nil {
		if err := e.Lose(errors.New(oneLine(lost.Error()))); err != nil {
			return err
		}
	}
	if behind > 0 {
		fmt.Fprintf(p.err, "The newest %s come from the node's Raft log, since it didn't stop cleanly. Only the other nodes know whether they were acknowledged.\n", plural(int(behind), "atom"))
	}
	return e.Close()
}

// fromLog adds what only the Raft log of a cluster's node has, and says how many atoms.
func (c *exportCmd) fromLog(ledger *storage.Ledger) (atoms int64, err error) {
	if !errors.Is(cluster.CheckAlone(c.Data), cluster.ErrMember) {
		return 0, nil
	}
	stored := ledger.Head().Seq
	partition, applied := ledger.Applied()
	err = cluster.EntriesAfter(c.Data, partition, applied, ledger.Replay)
	return ledger.Head().Seq - stored, err
}
