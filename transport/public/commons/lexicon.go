package commons

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"ubl"
)

// lexicon is the type of documents that define terms.
const lexicon = "tag"

// term is one of the lexicon.
type term struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Aliases    []string `json:"aliases,omitempty"`
	Definition string   `json:"definition"`
}

// says is what a document's metadata says as a text, "" for nothing.
func says(k *ubl.Knowledge, name string) string {
	text, _ := fields(k)[name].(string)
	return text
}

// aliases are the other names of a document.
func aliases(k *ubl.Knowledge) (all []string) {
	switch v := fields(k)["aliases"].(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}

func fields(k *ubl.Knowledge) (all map[string]any) {
	_ = json.Unmarshal(k.Metadata, &all) // it was checked when it came
	return all
}

// named reports whether a document has a name, as id, title or alias, whatever the case.
func named(k *ubl.Knowledge, name string) bool {
	return strings.EqualFold(k.ID, slug(name)) || slices.ContainsFunc(append(aliases(k), k.ID, k.Title), func(one string) bool { return strings.EqualFold(one, name) })
}

// termOf is a document as a term: it is defined by its description, else by what it says.
func termOf(k *ubl.Knowledge) term {
	t := term{ID: k.ID, Title: k.Title, Aliases: aliases(k), Definition: says(k, "description")}
	if k.Content != nil {
		t.Definition = cmp.Or(t.Definition, strings.TrimSpace(*k.Content))
	}
	return t
}

// maxTerm bounds a term and a keyword, in characters.
const maxTerm = 200

func checkTerm(name, text string) (string, error) {
	text = strings.TrimSpace(text)
	if n := len([]rune(text)); n < 1 || n > maxTerm {
		return "", ubl.Errorf(ubl.CodeValidation, "%s has 1 to %d characters", name, maxTerm)
	}
	return text, nil
}

// defineTerm looks a term up by its id, and else by its title and aliases, which the index knows.
func defineTerm(ctx context.Context, v *Visit, args termArgs) (any, error) {
	asked, err := checkTerm("term", args.Term)
	if err != nil {
		return nil, err
	}
	found, err := lookUp(ctx, v, asked)
	if err != nil {
		return nil, err
	}
	out := struct {
		Found bool  `json:"found"`
		Term  *term `json:"term,omitempty"`
	}{}
	if found == nil {
		return answer{out, "Term " + strconv.Quote(asked) + " not found in lexicon."}, nil
	}
	t := termOf(found)
	out.Found, out.Term = true, &t
	return answer{out, t.Definition}, nil
}

// lookUp finds a term's document, nil for none.
func lookUp(ctx context.Context, v *Visit, name string) (*ubl.Knowledge, error) {
	of := documentArgs{lexicon, slug(name)}
	if (ubl.DocumentKey{Type: of.ContentType, ID: of.ID}).Check() == nil {
		k, err := getDocument(ctx, v, of)
		if ubl.CodeOf(err) != ubl.CodeNotFound {
			return k, err
		}
	}
	hits, err := searchTerms(ctx, v, name, 5)
	if err != nil {
		return nil, err
	}
	for _, k := range hits {
		if named(k, name) {
			return k, nil
		}
	}
	return nil, nil
}

func searchLexicon(ctx context.Context, v *Visit, args keywordArgs) (any, error) {
	asked, err := checkTerm("keyword", args.Keyword)
	if err != nil {
		return nil, err
	}
	hits, err := searchTerms(ctx, v, asked, ubl.MaxKnowledgeHits)
	if err != nil {
		return nil, err
	}
	out := struct {
		Results []term `json:"results"`
	}{[]term{}}
	left := maxWithDocuments
	for _, k := range hits {
		t := termOf(k)
		if left -= len(t.Definition); left < 0 {
			break
		}
		out.Results = append(out.Results, t)
	}
	return out, nil
}

// searchTerms finds documents of the lexicon.
func searchTerms(ctx context.Context, v *Visit, words string, most int) (all []*ubl.Knowledge, err error) {
	if err := needs(v.Overview.Access.Entries); err != nil {
		return nil, err
	}
	found, err := search(ctx, v, searchArgs{Query: words, Filters: filters{ContentType: lexicon, Limit: &most}})
	if err != nil {
		return nil, err
	}
	for _, one := range found.Results {
		k, err := documentOf(ctx, v, one)
		if err != nil {
			return nil, err
		}
		if k != nil {
			all = append(all, k)
		}
	}
	return all, nil
}
