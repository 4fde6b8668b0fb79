package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ubl"
)

// Make is the request that asks for an operation at a base URL. The arguments are an object that
// fits the input schema, or not: errors are validation and name the argument.
func (r *Request) Make(ctx context.Context, base string, args []byte) (*http.Request, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the base URL: %w", err)
	}
	given, err := decoded(args)
	if err != nil {
		return nil, err
	}
	path, query, header := r.Path, at.Query(), http.Header{}
	for _, p := range r.Parameters {
		value, ok := given[p.Argument]
		if !ok || value == nil {
			if p.In == "path" {
				return nil, missing(p.Argument)
			}
			continue
		}
		switch p.In {
		case "path":
			text, ok := joined(value)
			if !ok || text == "" || text == "." || text == ".." {
				return nil, ubl.Errorf(ubl.CodeValidation, "arguments.%s: must be something that can stand in a path", p.Argument)
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", escaped(text))
		case "query":
			p.ask(query, value)
		case "header":
			text, ok := joined(value)
			if !ok || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
				return nil, ubl.Errorf(ubl.CodeValidation, "arguments.%s: must be visible ASCII", p.Argument)
			}
			header.Set(p.Name, text)
		}
	}
	where := at.Scheme + "://" + at.Host + strings.TrimRight(at.EscapedPath(), "/") + path
	if len(query) > 0 {
		where += "?" + query.Encode()
	}
	var body io.Reader
	if value, ok := given[BodyArgument]; ok && r.Body {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("couldn't write the body: %w", err)
		}
		body = bytes.NewReader(raw)
		header.Set("Content-Type", "application/json")
	}
	header.Set("Accept", "application/json, text/*;q=0.9, */*;q=0.5")
	req, err := http.NewRequestWithContext(ctx, r.Method, where, body)
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "arguments: the request can't be made with them").Because(err)
	}
	req.Header = header
	return req, nil
}

// escaped is a text as one part of a path: a dot that stands alone is refused before.
func escaped(text string) string {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, ",")
}

// decoded reads the arguments, with numbers as they are written.
func decoded(args []byte) (given map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		return nil, ubl.Errorf(ubl.CodeValidation, "arguments: not an object")
	}
	return given, nil
}

func missing(argument string) error {
	return ubl.Errorf(ubl.CodeValidation, "arguments.%s: is missing", argument)
}

// ask adds a value to a query.
func (p *Parameter) ask(query url.Values, value any) {
	switch v := value.(type) {
	case []any:
		if text, ok := joined(v); p.Joined && ok {
			query.Set(p.Name, text)
			return
		}
		for _, each := range v {
			query.Add(p.Name, text(each))
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			if p.Deep {
				query.Add(p.Name+"["+member+"]", text(v[member]))
			} else {
				query.Add(member, text(v[member]))
			}
		}
	default:
		query.Set(p.Name, text(v))
	}
}

// joined is a value as one text; false for an object.
func joined(value any) (string, bool) {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, each := range v {
			parts[i] = text(each)
		}
		return strings.Join(parts, ","), true
	case map[string]any:
		return "", false
	}
	return text(value), true
}

// text writes a value as it stands in an address: texts as they are, all else as JSON.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(raw)
}
