package schemas

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl"
	"ubl/archive"
)

// shapes are the records that answers have, by their place in the schemas.
var shapes = map[string]any{
	"ubl.agreement.v1": ubl.AgreementView{}, "ubl.agreement.v1#change": ubl.Change{},
	"ubl.call.v1": ubl.Call{}, "ubl.call.v1#usage": ubl.Usage{},
	"ubl.cluster.status.v1": ubl.ClusterStatus{}, "ubl.cluster.status.v1#node": ubl.ClusterNode{}, "ubl.cluster.status.v1#partition": ubl.ClusterPartition{},
	"ubl.cluster.status.v1#replica": ubl.ClusterReplica{}, "ubl.cluster.status.v1#scrub": ubl.ClusterScrub{},
	"ubl.common.v1#physics":    ubl.Physics{},
	"ubl.container.v1#summary": ubl.ContainerSummary{}, "ubl.container.v1#config": ubl.Container{},
	"ubl.dead_letter.v1":      ubl.DeadLetter{},
	"ubl.document.v1#version": ubl.Document{}, "ubl.document.v1#hit": ubl.DocumentHit{},
	"ubl.attachment.v1": ubl.Attachment{}, "ubl.room_file.v1": ubl.RoomFile{},
	"ubl.file.v1":             ubl.File{},
	"ubl.invitation.v1":       ubl.Invitation{},
	"ubl.kind.v1":             ubl.Kind{},
	"ubl.member.v1":           ubl.Member{},
	"ubl.message.v1":          ubl.Message{},
	"ubl.entry.v2":            ubl.Entry{},
	"ubl.own_archive.v1":      archive.Manifest{},
	"ubl.passkey.v1":          ubl.Passkey{},
	"ubl.portal_tool.v1#tool": ubl.PortalTool{}, "ubl.portal_tool.v1#listing": ubl.ToolListing{},
	"ubl.public.container.v1": ubl.PublicContainer{}, "ubl.public.document.v1": ubl.PublicDocument{}, "ubl.public.documents.v1": ubl.PublicDocuments{},
	"ubl.public.file.v1": ubl.PublicFile{}, "ubl.public.files.v1": ubl.PublicFiles{}, "ubl.public.hits.v1": ubl.PublicHits{},
	"ubl.public.knowledge.v1": ubl.Knowledge{}, "ubl.public.knowledge_list.v1": ubl.KnowledgeList{}, "ubl.public.knowledge_found.v1": ubl.KnowledgeFound{},
	"ubl.public.knowledge_hits.v1": ubl.KnowledgeHits{}, "ubl.public.knowledge_hits.v1#hit": ubl.KnowledgeHit{},
	"ubl.typing.v1": ubl.Typing{}, "ubl.room_call.v1": ubl.RoomCall{}, "ubl.in_call.v1": ubl.InCall{}, "ubl.presence.v1": ubl.Presence{},
	"ubl.read.v1": ubl.ReadState{}, "ubl.read.v1#mark": ubl.ReadMark{},
	"ubl.receipt.v1":      ubl.Receipt{},
	"ubl.room.v1#summary": ubl.RoomSummary{}, "ubl.room.v1#policy": ubl.RoomPolicy{}, "ubl.room.v1#config": ubl.Room{},
	"ubl.server.v1":        ubl.Server{},
	"ubl.service_token.v1": ubl.ServiceToken{}, "ubl.mandate.v1": ubl.Mandate{},
	"ubl.terms.v1#terms": ubl.Terms{}, "ubl.terms.v1#permit": ubl.Permit{}, "ubl.terms.v1#limit": ubl.Limit{}, "ubl.terms.v1#proposal": ubl.Proposal{},
	"ubl.tool_access.v1": ubl.ToolAccess{},
	"ubl.upload.v1":      ubl.Upload{},
}

// shownOtherwise are records that transport/api shows by types of its own.
var shownOtherwise = []string{"ubl.domain.v1", "ubl.platform_token.v1"}

// TestShapes: the schema of a record has the fields of its type, no fewer and no more, and
// each schema of one is on the list.
func TestShapes(t *testing.T) {
	listed := slices.Clone(shownOtherwise)
	for place, record := range shapes {
		id, def, _ := strings.Cut(place, "#")
		listed = append(listed, id)
		text, ok := Read(id)
		var schema struct {
			Properties map[string]any
			Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
		}
		if err := json.Unmarshal(text, &schema); err != nil || !ok {
			t.Fatalf("%s: %v", id, err)
		}
		properties := schema.Properties
		if def != "" {
			properties = schema.Defs[def].Properties
		}
		fields := fieldsOf(reflect.TypeOf(record))
		if described := slices.Sorted(maps.Keys(properties)); !slices.Equal(described, fields) {
			t.Errorf("%s describes\n%v, a %T has\n%v", place, described, record, fields)
		}
	}
	others := regexp.MustCompile(`^ubl\.(api|sse|ledger|export)\.|^ubl\.public\.error\.`)
	for _, id := range List() {
		if !others.MatchString(id) && !slices.Contains(listed, id) {
			t.Errorf("%s: say in shapes which type it describes", id)
		}
	}
}

// fieldsOf lists the JSON names of a struct's fields, sorted.
func fieldsOf(of reflect.Type) (names []string) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			names = append(names, fieldsOf(f.Type)...)
		default:
			names = append(names, cmp.Or(name, f.Name))
		}
	}
	slices.Sort(names)
	return names
}
