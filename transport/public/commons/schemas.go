package commons

import (
	"encoding/json"
	"fmt"

	"ubl"
)

// The forms of what tools take and answer, written out: some clients follow no references.

func object(properties, required string) string {
	return `{"type":"object","additionalProperties":false,"properties":{` + properties + `},"required":[` + required + `]}`
}

const (
	typeForm    = `{"type":"string","pattern":"^[a-z][a-z0-9_-]{0,63}$","description":"The type of a document, such as pattern or tag."}`
	idForm      = `{"type":"string","minLength":1,"maxLength":64,"description":"The document's id within its type."}`
	filterForm  = `{"type":"string","maxLength":200,"description":"%s"}`
	textForm    = `{"type":"string"}`
	countForm   = `{"type":"integer","minimum":0}`
	metadataOf  = `"metadata":{"type":"object","description":"What its file says of itself."}`
	indexingOf  = `"indexing":{"type":"object","description":"The index is behind: documents that changed lately may be missing."}`
	highlightOf = `"highlights":{"type":"array","items":{"type":"object"},"description":"What was found, as characters of the snippet."}`
)

func filter(about string) string { return fmt.Sprintf(filterForm, about) }

var filtersForm = object(`"contentType":`+typeForm+`,"group":`+filter("Only documents of this group.")+`,"release":`+filter("Only documents of this release.")+
	`,"status":`+filter("Only documents with this status.")+
	`,"tags":{"type":"array","maxItems":4,"items":{"type":"string","minLength":1,"maxLength":200},"description":"Only documents with each of these tags."}`+
	fmt.Sprintf(`,"limit":{"type":"integer","minimum":1,"maximum":%d,"default":5,"description":"How many at most."}`, ubl.MaxKnowledgeHits), "")

var (
	inNothing  = json.RawMessage(object("", ""))
	inSearch   = json.RawMessage(object(fmt.Sprintf(`"query":{"type":"string","minLength":1,"maxLength":%d,"description":"A question or words, as one would ask a person."},"filters":`, ubl.MaxQueryChars)+filtersForm, `"query"`))
	inTerm     = json.RawMessage(object(`"term":{"type":"string","minLength":1,"maxLength":200,"description":"The term to define."}`, `"term"`))
	inKeyword  = json.RawMessage(object(`"keyword":{"type":"string","minLength":1,"maxLength":200,"description":"What to look for."}`, `"keyword"`))
	inDocument = json.RawMessage(object(`"contentType":`+typeForm+`,"id":`+idForm, `"contentType","id"`))
)

// documentForm is a whole document, and hitFields those of one that was found.
var (
	documentForm = object(`"id":`+textForm+`,"contentType":`+textForm+`,"path":`+textForm+`,"title":`+textForm+`,`+metadataOf+
		`,"content":{"anyOf":[{"type":"string"},{"type":"null"}],"description":"Markdown; null where the answer has too much of it."}`+
		`,"syncedAt":`+textForm+`,"commitSha":`+textForm+`,"documentId":`+textForm+`,"version":`+countForm+`,"contentHash":`+textForm+`,"salt":`+textForm,
		`"id","contentType","path","title","metadata","content","syncedAt","documentId","version","contentHash"`)
	hitFields = `"id":` + textForm + `,"contentType":` + textForm + `,"title":` + textForm + `,"description":` + textForm +
		`,"score":{"type":"integer","description":"Orders results, and means nothing by itself."},"snippet":` + textForm + `,` + highlightOf +
		`,"offset":{"type":"integer","description":"Where in the content the snippet begins, in characters."},"under":{"type":"string","description":"The heading that the snippet stands under."}`
	hitNeeds = `"id","contentType","title","score","snippet"`
	termForm = object(`"id":`+textForm+`,"title":`+textForm+`,"aliases":`+list(textForm)+`,"definition":`+textForm, `"id","title","definition"`)
)

func list(of string) string { return `{"type":"array","items":` + of + `}` }

// problemForm is what a call failed with: see problem.
var problemForm = object(`"error":{"type":"object","properties":{"code":`+textForm+`,"message":`+textForm+`,"requiredTier":`+textForm+`,"currentTier":`+textForm+
	`,"retryAfter":{"type":"integer","description":"Seconds."}},"required":["code","message"]}`, `"error"`)

// orProblem is a schema of answers with failures among them: version 1 of the official TypeScript SDK
// refuses an answer that isn't of the schema, isError or not.
func orProblem(answer string) json.RawMessage {
	return json.RawMessage(`{"type":"object","anyOf":[` + answer + `,` + problemForm + `]}`)
}

func listed(name, of, more string) json.RawMessage {
	return orProblem(object(`"`+name+`":`+list(of)+more, `"`+name+`"`))
}

var (
	outResults   = listed("results", object(hitFields, hitNeeds), ","+indexingOf)
	outDocuments = listed("results", object(hitFields+`,"document":`+documentForm, hitNeeds), ","+indexingOf)
	outTerm      = orProblem(object(`"found":{"type":"boolean"},"term":`+termForm, `"found"`))
	outTerms     = listed("results", termForm, "")
	outGroups    = listed("groups", object(`"name":`+textForm+`,"documents":`+countForm+`,"id":`+textForm+`,"title":`+textForm+`,"description":`+textForm+`,`+metadataOf, `"name","documents"`), "")
	outReleases  = listed("releases", object(`"name":`+textForm+`,"documents":`+countForm, `"name","documents"`), "")
	outDocument  = orProblem(documentForm)
)
