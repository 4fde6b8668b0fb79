package container

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"ubl"
	"ubl/actors"
)

// What is read from the store. Views are short: a container may have a hundred
// thousand events, and contents of megabytes.

// eventPage is the most events of one view.
const eventPage = actors.EventPage

// ended is the number of the event with which a transfer ended here, 0 for none.
func (c *Container) ended(ctx context.Context, id ubl.TransferID) (n int64, err error) {
	err = c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		v, err := snap.Get(endKey(c.id, id))
		if err == nil && v != nil {
			if len(v) != 8 {
				return errors.New("the end of a transfer is stored in an unknown form")
			}
			n = int64(binary.BigEndian.Uint64(v))
		}
		return err
	})
	return n, err
}

// readVersion is a version as it is served, without its content, and which record
// has that; nil for none, and for one that is redacted.
func (c *Container) readVersion(snap ubl.Snapshot, id ubl.DocumentID, n int64) (*ubl.Document, int64, error) {
	v, err := snap.Get(versionKey(c.id, id, n))
	if err != nil || v == nil {
		return nil, 0, err
	}
	return c.decodeVersion(v)
}

func (c *Container) decodeVersion(v []byte) (*ubl.Document, int64, error) {
	stored, err := decodeVersion(v)
	if err != nil || stored.Document.Redacted {
		return nil, 0, err
	}
	d := c.document(stored.Document)
	d.Receipt = stored.Receipt
	return d, stored.Document.Text, nil
}

func decodeVersion(v []byte) (stored version, err error) {
	err = decode(v, &stored)
	if err == nil && stored.Form > recordVersion {
		err = errForm(stored.Form)
	}
	return stored, err
}

// isDeleted reports whether a document was deleted here.
func (c *Container) isDeleted(snap ubl.Snapshot, id ubl.DocumentID) (bool, error) {
	v, err := snap.Get(newestKey(c.id, id))
	if err != nil || v == nil {
		return false, err
	}
	stored, err := decodeVersion(v)
	return stored.Document.Deleted, err
}

func (c *Container) document(d document) *ubl.Document { return served(c.tenant, c.id, d) }

// served is a version as it is served, without content and receipt.
func served(tenant ubl.TenantID, id ubl.ContainerID, d document) *ubl.Document {
	return &ubl.Document{
		DocumentID: d.ID, WorkspaceID: id, TenantID: tenant, Title: d.Title,
		ContentHash: d.Hash, Salt: d.Salt, Bytes: d.Bytes, Version: d.Version, Deleted: d.Deleted,
		CreatedAt: d.CreatedAt, CreatedBy: d.CreatedBy, UpdatedAt: d.UpdatedAt, UpdatedBy: d.UpdatedBy, ImportedFrom: d.ImportedFrom, Published: d.Published,
	}
}

// readText copies the record of a version's text, or of a transfer's with n 0, for
// [decodeText] outside the view.
func (c *Container) readText(snap ubl.Snapshot, id string, n int64) ([]byte, error) {
	v, err := snap.Get(textKey(c.id, id, n))
	if err == nil && v == nil {
		err = ubl.Errorf(ubl.CodeInternal, "a text is missing")
	}
	return slices.Clone(v), err
}

func decodeText(v []byte) (text, error) {
	var stored text
	err := decode(v, &stored)
	if err == nil && stored.Form > recordVersion {
		err = errForm(stored.Form)
	}
	return stored, err
}

// readDocument is a version with its content, nil for none.
func (c *Container) readDocument(ctx context.Context, id ubl.DocumentID, n int64) (*ubl.Document, error) {
	var d *ubl.Document
	var v []byte
	err := c.Read.View(ctx, c.group, func(snap ubl.Snapshot) error {
		var at int64
		var err error
		if d, at, err = c.readVersion(snap, id, n); err != nil || d == nil {
			return err
		}
		v, err = c.readText(snap, string(id), at)
		return err
	})
	if err != nil || d == nil {
		return nil, err
	}
	stored, err := decodeText(v)
	d.Content = stored.Content
	return d, err
}

func decode(v []byte, stored any) error {
	if err := json.Unmarshal(v, stored); err != nil {
		return fmt.Errorf("couldn't read a record: %w", err)
	}
	return nil
}

func errForm(form int) error {
	return fmt.Errorf("a record is of version %d, this program knows %d", form, recordVersion)
}
