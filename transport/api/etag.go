package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"ubl"
)

// An ETag says which version of something an answer shows. It has two parts, "version.answer":
// what is changed by whoever changes it, and a hash of the whole answer, in which there may be
// more: the ETag of a room names its policy, and changes with each message too. If-None-Match
// asks for the whole answer, If-Match for the version alone. So a policy can be changed by what
// GET of its room said, however many messages have come since. What has one version for all
// that it shows, as a document, has no second part.

// versioned is what the API knows of an operation on something that has versions.
type versioned struct {
	// of is the version that an answer shows, "" for none; nil for an answer that shows none.
	of func(answer any) string
	// whole says that nothing but the request's own receipt changes while the version stays.
	whole bool
	// conditional says that the operation takes If-Match.
	conditional bool
	// begins says that there may be nothing yet: with If-None-Match: * the operation makes the first.
	begins bool
}

// versions are those operations, by their ids.
var versions = map[string]versioned{
	"get-tenant":      {of: defaultsVersion},
	"set-defaults":    {of: defaultsVersion, conditional: true},
	"get-room":        {of: policyVersion},
	"set-room-policy": {of: policyVersion, conditional: true},
	"get-container":   {of: func(answer any) string { return ubl.VersionOf(answer.(containerAnswer).Container) }, whole: true},
	"get-agreement":   {of: func(answer any) string { return recordVersion(answer.(agreementPage).Agreement) }},
	"propose-terms":   {of: termsVersion, conditional: true},
	"accept-terms":    {of: termsVersion, conditional: true},
	"withdraw-terms":  {of: termsVersion, conditional: true},
	"end-agreement":   {of: termsVersion, conditional: true},
	"set-heir":        {conditional: true},               // by the ETag of the Agreement
	"set-tool-access": {conditional: true, begins: true}, // by that of the Agreement a:tool:…, which the first makes
	"get-budget":      {of: budgetVersion},
	"set-budget":      {of: budgetVersion, conditional: true},
	"get-document":    {of: documentVersion, whole: true},
	"create-document": {of: documentVersion, whole: true},
	"update-document": {of: documentVersion, whole: true, conditional: true},
	"delete-document": {of: documentVersion, whole: true, conditional: true},
}

func defaultsVersion(answer any) string { return ubl.VersionOf(answer.(tenantAnswer).Tenant.Defaults) }
func policyVersion(answer any) string   { return ubl.VersionOf(answer.(roomAnswer).Room.Policy) }
func termsVersion(answer any) string    { return recordVersion(answer.(agreementAnswer).Agreement) }
func budgetVersion(answer any) string   { return answer.(budgetAnswer).Budget.Version() }

// recordVersion is "" for a record from a node that doesn't tell its hash yet.
func recordVersion(a *ubl.AgreementView) string {
	if a.Hash == "" {
		return ""
	}
	return ubl.RecordVersion(a.Hash, a.Proposal)
}

// documentVersion is "" where there is no document.
func documentVersion(answer any) string {
	d := answer.(*ubl.DocumentResult).Document
	if d == nil {
		return ""
	}
	return strconv.FormatInt(d.Version, 10)
}

// tag is the ETag of an answer, whose bytes are without request_id and server_time.
func (v versioned) tag(answer any, body []byte) string {
	if v.of == nil {
		return ""
	}
	version := v.of(answer)
	switch {
	case version == "":
		return ""
	case v.whole:
		return `"` + version + `"`
	}
	sum := sha256.Sum256(body)
	return `"` + version + "." + hex.EncodeToString(sum[:8]) + `"`
}

// matchHeader names the versions one of which must still be the newest.
const matchHeader = "If-Match"

// noneHeader says with * that there must be none yet, whose version is noVersion.
const (
	noneHeader = "If-None-Match"
	noVersion  = ""
)

type matchKey struct{}

// conditioned puts the versions of If-Match into a request's context. An operation without
// versions refuses the header: to pass over it could overwrite what the caller hasn't seen.
func (o operation) conditioned(r *http.Request) (*http.Request, *ubl.Error) {
	given := r.Header[matchHeader]
	if len(given) == 0 && versions[o.id].begins && r.Header.Get(noneHeader) == "*" {
		return r.WithContext(context.WithValue(r.Context(), matchKey{}, []string{noVersion})), nil
	}
	if len(given) == 0 || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return r, nil
	}
	if !versions[o.id].conditional {
		return r, invalid("header.If-Match", "what this changes has no ETag")
	}
	var known []string
	for tag := range strings.SplitSeq(strings.Join(given, ","), ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			return r, nil // it must be there, as it must without the header
		}
		if len(tag) > 1 && tag[0] == '"' && tag[len(tag)-1] == '"' { // a weak one stands for no version
			version, _, _ := strings.Cut(tag[1:len(tag)-1], ".")
			known = append(known, version)
		}
	}
	if len(known) == 0 {
		return r, ubl.Errorf(ubl.CodePrecondition, "none of the tags in If-Match is the ETag of an answer")
	}
	return r.WithContext(context.WithValue(r.Context(), matchKey{}, known)), nil
}

// expects is the condition of a request, for the command that it leads to.
func expects(ctx context.Context) ubl.Expects {
	known, _ := ctx.Value(matchKey{}).([]string)
	return ubl.Expects{IfMatch: known}
}
