package ubl

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ImportedFrom names what was done elsewhere first, by whoever imports it: an act in another
// ledger, or a message in a product that keeps none ([ImportedSource]). It is the importer's
// word, and its record is the importer's: nobody else is ever its author here. Who has the
// export can check it.
type ImportedFrom struct {
	AuthorID   UserID `json:"author_id"`
	AuthorName string `json:"author_name,omitempty"`
	At         Time   `json:"at"`
	// CID and Seq are those of the act's atom in the ledger of TenantID; zero for what is known
	// by its Source alone, whose TenantID names the product and the workspace there.
	CID      string          `json:"cid,omitempty"`
	Seq      int64           `json:"seq,omitempty"`
	Source   *ImportedSource `json:"source,omitempty"`
	TenantID TenantID        `json:"tenant_id"`
}

// ImportedSource names something in another product's export.
type ImportedSource struct {
	// EditedAt is when its author last changed it there, 0 for never: such exports have the
	// newest text alone.
	EditedAt Time `json:"edited_at,omitempty"`
	// ID tells it from everything else of that product, so that it is imported once.
	ID string `json:"id"`
	// MemberID is who the author is here, as the importer has it; "" for nobody.
	MemberID UserID  `json:"member_id,omitempty"`
	Product  Product `json:"product"`
}

// Product is what other people's messages are imported from.
type Product string

// Products whose exports are read.
const (
	Slack      Product = "slack"
	Mattermost Product = "mattermost"
	Matrix     Product = "matrix"
)

// Title is what a product calls itself.
func (p Product) Title() string {
	return map[Product]string{Slack: "Slack", Mattermost: "Mattermost", Matrix: "Matrix"}[p]
}

// Author is the id of one of the product's people. No member of a tenant has such an id.
func (p Product) Author(there string) UserID { return UserID("u:" + string(p) + "." + idPart(there)) }

// Workspace is the id of what the product calls a workspace, server or homeserver.
func (p Product) Workspace(there string) TenantID {
	return TenantID("t:" + string(p) + "." + idPart(there))
}

// idPart has what ids of ours may have, and any other byte as = would have it in a URL: _40 for @.
func idPart(there string) string {
	var b strings.Builder
	for _, c := range []byte(there) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
			b.WriteByte(c)
		} else {
			b.WriteString("_" + strconv.FormatUint(uint64(c)+0x100, 16)[1:])
		}
	}
	return b.String()
}

const (
	// maxSeq is the largest number that JSON has exactly.
	maxSeq = 1<<53 - 1
	// importedAhead is how far the clocks of two servers may differ.
	importedAhead = time.Minute
	// MaxSourceID is how long an [ImportedSource]'s ID may be, in bytes.
	MaxSourceID = 512
)

// MayImport refuses a claim that can't be true, and people who may not make one: only owners of
// the place may, and no agent with a mandate. A nil claim is none.
func (f *ImportedFrom) MayImport(who Identity, role Role, now Time) error {
	switch {
	case f == nil:
		return nil
	case role != RoleOwner || who.Mandate != nil:
		return Errorf(CodeForbidden, "only an owner of the place imports into it, and no agent with a mandate")
	case !f.TenantID.Valid() || !f.AuthorID.Valid() || f.At <= 0:
		return Errorf(CodeValidation, "imported_from doesn't name an author, a time and a tenant")
	case f.At > now.Add(importedAhead):
		return Errorf(CodeValidation, "imported_from tells of what hasn't happened yet: at is in the future")
	case f.AuthorName != "" && CheckMemberName(f.AuthorName) != nil:
		return Errorf(CodeValidation, "author_name is not the name of a person")
	case f.Source != nil:
		if err := f.Source.check(f.AuthorID, now); err != nil {
			return err
		}
		if f.CID == "" && f.Seq == 0 {
			if !strings.HasPrefix(string(f.TenantID), "t:"+string(f.Source.Product)+".") {
				return Errorf(CodeValidation, "tenant_id doesn't begin with the product of the source")
			}
			return nil
		}
	}
	if !ValidHash("c:", f.CID) || f.Seq < 1 || f.Seq > maxSeq {
		return Errorf(CodeValidation, "imported_from names neither an act of a ledger nor a source")
	}
	return nil
}

// check refuses a source that names nothing, and an author who could be taken for a member.
func (s *ImportedSource) check(author UserID, now Time) error {
	switch {
	case s.Product.Title() == "":
		return Errorf(CodeValidation, "source.product is none of slack, mattermost and matrix")
	case s.ID == "" || len(s.ID) > MaxSourceID || !utf8.ValidString(s.ID) || hasControl(s.ID):
		return Errorf(CodeValidation, "source.id is not 1 to %d bytes of text on one line", MaxSourceID)
	case !strings.HasPrefix(string(author), "u:"+string(s.Product)+"."):
		return Errorf(CodeValidation, "author_id doesn't begin with the product of the source")
	case s.MemberID != "" && !s.MemberID.Valid():
		return Errorf(CodeValidation, "source.member_id is not the id of a person")
	case s.EditedAt < 0 || s.EditedAt > now.Add(importedAhead):
		return Errorf(CodeValidation, "source.edited_at hasn't happened yet")
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}

// In is what the act of an import says of it, committed to with the salt of the record.
func (f *ImportedFrom) In(this Fields, salt Salt) Fields {
	if f == nil {
		return this
	}
	if f.CID != "" {
		this = append(this, Str("imported_from", f.CID))
	}
	this = append(this, Str("imported_hash", f.Hash(salt)))
	if f.Source != nil {
		this = append(this, Str("imported_product", f.Source.Product))
	}
	return this
}

// Hash is the commitment to it in the ledger, "" for what isn't imported.
func (f *ImportedFrom) Hash(salt Salt) string {
	if f == nil {
		return ""
	}
	return salt.Commit(canonical(f))
}

// Content tells one import from another under the same key; an act that is none has nothing to tell.
func (f *ImportedFrom) Content(content []string) []string {
	if f == nil {
		return content
	}
	content = append(content, string(f.TenantID), strconv.FormatInt(f.Seq, 10), f.CID, string(f.AuthorID), f.AuthorName, f.At.String())
	if s := f.Source; s != nil {
		content = append(content, string(s.Product), s.ID, string(s.MemberID), s.EditedAt.String())
	}
	return content
}

// Forgotten is what a redaction leaves: where it is from, and no name.
func (f *ImportedFrom) Forgotten() *ImportedFrom {
	if f == nil {
		return nil
	}
	left := *f
	left.AuthorName = ""
	if f.Source != nil {
		left.Source = &ImportedSource{ID: f.Source.ID, Product: f.Source.Product}
	}
	return &left
}
