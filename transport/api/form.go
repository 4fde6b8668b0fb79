package api

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"ubl/transport/envelope"
)

// form is what an operation takes as a tool: the parameters of its path and its
// query and the members of its body as one object.
type form struct {
	method, path string
	slots        map[string]slot // by the argument's name
	needsBody    bool
	fixed        map[string]string // as of the operation

	input, output []byte // JSON Schemas
}

// slot is where an argument goes.
type slot struct {
	in   string // path, query, body, header or tool
	name string // its name there
	kind string // the JSON type of a parameter
	// optional says that null is as if it were absent.
	optional bool
}

// keyArgument names the idempotency key among arguments.
const keyArgument = "client_request_id"

// request makes the HTTP request that says the same as args.
func (f *form) request(args []byte) (*http.Request, error) {
	r := &http.Request{Method: f.method, URL: &url.URL{Path: f.path}, Header: http.Header{}, Body: http.NoBody}
	var query url.Values
	body := make([]byte, 0, len(args)+2)
	lacking := maps.Clone(f.fixed)
	err := eachMember(args, func(name []byte, value jsontext.Value) error {
		s, ok := f.slots[string(name)]
		if !ok {
			return invalid(envelope.Argument(string(name)), "an unexpected member")
		}
		if s.optional && value.Kind() == 'n' {
			return nil
		}
		if s.in == "body" {
			delete(lacking, s.name)
			body = append(append(append(append(body, ",\""...), s.name...), "\":"...), value...)
			return nil
		}
		if s.kind == "array" && value.Kind() == '[' {
			list, ok := texts(value)
			if !ok {
				return invalid(string(name), "not a list of strings")
			}
			query = set(query, s.name, list...)
			return nil
		}
		text, ok := s.text(value)
		switch {
		case !ok:
			return invalid(string(name), envelope.Mistyped(value.Kind(), s.kind))
		case s.in == inTool:
		case s.in == "path":
			r.SetPathValue(s.name, text)
		case value.Kind() == 'n': // as if it were absent
		case s.in == "header":
			r.Header[s.name] = []string{text}
		default:
			query = set(query, s.name, text)
		}
		return nil
	})
	for name, value := range lacking {
		body = append(append(append(append(body, ",\""...), name...), "\":\""...), value+"\""...)
	}
	if err == nil {
		err = f.lacks(r)
	}
	if err != nil {
		return nil, err
	}
	r.URL.RawQuery = query.Encode()
	if f.needsBody || len(body) > 0 {
		f.fill(r, body)
	}
	return r, nil
}

// set gives a parameter of the query its values.
func set(query url.Values, name string, values ...string) url.Values {
	if query == nil {
		query = url.Values{}
	}
	query[name] = values
	return query
}

// texts are those of a list that has nothing else.
func texts(list jsontext.Value) (out []string, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(list))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		out = append(out, t.String())
	}
	return out, dec.PeekKind() == ']'
}

// lacks refuses a request without all that its path needs. The rest is for the operation to
// miss.
func (f *form) lacks(r *http.Request) error {
	missing := map[string]string{}
	for name, s := range f.slots {
		if s.in == "path" && r.PathValue(s.name) == "" {
			missing[name] = "is missing"
		}
	}
	if len(missing) == 0 {
		return nil
	}
	e := invalid("arguments", "")
	e.Details = missing
	return e
}

// fill gives the request a body of members, each of which follows a comma.
func (f *form) fill(r *http.Request, members []byte) {
	if len(members) == 0 {
		members = append(members, ',')
	}
	members[0] = '{'
	body := append(members, '}')
	r.Header["Content-Type"] = jsonType
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
}

// text is a parameter as it stands in a URL or a header.
func (s slot) text(value jsontext.Value) (string, bool) {
	switch value.Kind() {
	case '"':
		plain, err := jsontext.AppendUnquote(nil, value)
		return string(plain), err == nil && s.kind == "string"
	case '0':
		return string(value), s.kind == "integer"
	case 't', 'f':
		return string(value), s.kind == "boolean"
	case 'n':
		return "", s.in != "path"
	}
	return "", false
}

// eachMember goes through an object strictly: names once, in UTF-8, nothing
// behind it. No object at all is an empty one.
func eachMember(object []byte, fn func(name []byte, value jsontext.Value) error) error {
	if len(object) == 0 {
		return nil
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(object))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return notAnObject(err)
	}
	var name []byte
	for dec.PeekKind() == '"' {
		quoted, err := dec.ReadValue()
		if err != nil {
			return notAnObject(err)
		}
		if name, err = jsontext.AppendUnquote(name[:0], quoted); err != nil {
			return notAnObject(err)
		}
		value, err := dec.ReadValue()
		if err != nil {
			return notAnObject(err)
		}
		if err := fn(name, value); err != nil {
			return err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return notAnObject(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return notAnObject(err)
	}
	return nil
}

func notAnObject(cause error) error {
	return invalid("arguments", "not a JSON object with each member once").Because(cause)
}

// argument is the place in a tool's arguments of a place in a request.
func argument(place string) string {
	where, rest, deeper := strings.Cut(place, ".")
	switch {
	case where == "path" && deeper:
		return snake(rest)
	case where == "header" && rest == envelope.KeyHeader:
		return keyArgument
	case where != "body" && where != "query":
		return place
	case !deeper:
		return "arguments"
	}
	return rest
}

// snake turns roomId into room_id.
func snake(camel string) string {
	var b strings.Builder
	for _, c := range camel {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}
