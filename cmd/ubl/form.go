package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"ubl"
)

// formCmd asks with buttons and fields.
type formCmd struct {
	Send   formSendCmd   `cmd:"" help:"Send a message with buttons or fields."`
	Show   formShowCmd   `cmd:"" help:"Show a form with its answers."`
	Answer formAnswerCmd `cmd:"" help:"Answer a form, or change your answer."`
}

type formSendCmd struct {
	remote
	format
	Place   string       `arg:"" name:"room" complete:"rooms" help:"The room, like general."`
	Text    string       `arg:"" help:"What the message says."`
	Button  []string     `help:"A button; may be given several times. Answers name the one that was pressed \"choice\"." sep:"none" config:"-"`
	Fields  string       `help:"A JSON file with the list of fields, as the REST API takes them." type:"existingfile" config:"-"`
	For     []ubl.UserID `help:"Somebody who may answer, if not everybody; may be given several times." config:"-"`
	Once    bool         `help:"Let nobody change their answer." config:"-"`
	Private bool         `help:"Show an answer to you and who gives it alone." config:"-"`
}

// Run sends the form.
func (c *formSendCmd) Run(ctx context.Context, p *program) error {
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	fields, err := c.fields()
	if err != nil {
		return err
	}
	body := map[string]any{"text": c.Text, "fields": fields, "once": c.Once, "private": c.Private}
	if len(c.For) > 0 {
		body["answerers"] = c.For
	}
	return entered(ctx, p, &c.remote, c.format, room, "/forms", body, func(e *ubl.Entry) string {
		return fmt.Sprintf("Asked in %s: %s", e.RoomID, e.ID)
	})
}

// fields reads the fields from the file, or makes one field of the buttons.
func (c *formSendCmd) fields() (fields []ubl.FormField, err error) {
	if len(c.Button) > 0 == (c.Fields != "") {
		return nil, fmt.Errorf("give either --button or --fields")
	}
	if c.Fields == "" {
		return []ubl.FormField{{Name: "choice", Label: "Choice", Options: c.Button, Required: true, Type: ubl.FieldButton}}, nil
	}
	data, err := os.ReadFile(c.Fields)
	if err == nil && json.Unmarshal(data, &fields) != nil {
		err = fmt.Errorf("%s is not a JSON list of fields", c.Fields)
	}
	return fields, err
}

// onForm names a form.
type onForm struct {
	Place string        `arg:"" name:"room" complete:"rooms" help:"The room, like general."`
	Form  ubl.MessageID `arg:"" help:"The form's id (m:…)."`
}

// filled is a form with a page of its answers.
type filled struct {
	Entry      json.RawMessage  `json:"entry"`
	Answers    []ubl.FormAnswer `json:"answers"`
	NextCursor *int64           `json:"next_cursor"`
}

// read asks for the form with all of its answers.
func (f *onForm) read(ctx context.Context, server *client) (all filled, form *ubl.FormBody, err error) {
	room, err := roomID(f.Place)
	if err != nil {
		return all, nil, err
	}
	path := "/api/rooms/" + url.PathEscape(string(room)) + "/forms/" + url.PathEscape(string(f.Form)) + "?limit=200"
	for cursor := ""; ; {
		var page filled
		if err := server.call(ctx, "GET", path+cursor, nil, &page); err != nil {
			return all, nil, err
		}
		all.Entry, all.Answers = page.Entry, append(all.Answers, page.Answers...)
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + strconv.FormatInt(*page.NextCursor, 10)
	}
	e, err := formed[ubl.Entry]("a form", all.Entry)
	if err != nil {
		return all, nil, err
	}
	if form = e.Body.Form(); form == nil {
		err = fmt.Errorf("the form was deleted, or the server answers with something else")
	}
	return all, form, err
}

type formAnswerCmd struct {
	remote
	format
	onForm
	Values []string `arg:"" help:"NAME=VALUE for each field, by the names that \"ubl form show\" has; several options of one field are given one by one."`
}

// Run answers the form.
func (c *formAnswerCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	_, form, err := c.read(ctx, server)
	if err != nil {
		return err
	}
	values, err := valuesOf(form, c.Values)
	if err != nil {
		return err
	}
	room, err := roomID(c.Place)
	if err != nil {
		return err
	}
	return entered(ctx, p, &c.remote, c.format, room, "/forms/"+url.PathEscape(string(c.Form))+"/answers", map[string]any{"values": values}, func(*ubl.Entry) string {
		return "You have answered."
	})
}

// valuesOf reads NAME=VALUE as the types of the fields say. What is no value of its type is left to
// the server, which says what would be.
func valuesOf(form *ubl.FormBody, said []string) (map[string]any, error) {
	values := make(map[string]any)
	for _, one := range said {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			return nil, fmt.Errorf("a value is not NAME=VALUE")
		}
		values[name] = value
		i := slices.IndexFunc(form.Fields, func(f ubl.FormField) bool { return f.Name == name })
		if i < 0 {
			continue
		}
		switch form.Fields[i].Type {
		case ubl.FieldNumber:
			if n, err := strconv.ParseFloat(value, 64); err == nil {
				values[name] = n
			}
		case ubl.FieldYesNo:
			if yes, known := map[string]bool{"yes": true, "true": true, "no": false, "false": false}[value]; known {
				values[name] = yes
			}
		case ubl.FieldSeveral:
			values[name] = several(said, name)
		}
	}
	return values, nil
}

// several are all values of one name.
func several(said []string, name string) []string {
	list := []string{}
	for _, one := range said {
		if value, ok := strings.CutPrefix(one, name+"="); ok && value != "" {
			list = append(list, value)
		}
	}
	return list
}

type formShowCmd struct {
	remote
	format
	onForm
}

// Run shows the form.
func (c *formShowCmd) Run(ctx context.Context, p *program) error {
	server, err := c.client(p)
	if err != nil {
		return err
	}
	all, form, err := c.read(ctx, server)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(p.out).Encode(all)
	}
	fmt.Fprintln(p.out, clean(form.Text))
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	for _, f := range form.Fields {
		fmt.Fprintln(table, cells(f.Name, string(f.Type), f.Label, strings.Join(f.Options, ", ")))
	}
	for _, a := range all.Answers {
		fmt.Fprintln(table, cells(a.AuthorID, local(a.SentAt), string(a.Values)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, formLine(form, len(all.Answers)))
	return err
}

// formLine says how far a form is.
func formLine(form *ubl.FormBody, answers int) string {
	said := []string{plural(answers, "answer")}
	if form.Private {
		said = append(said, "private")
	}
	if form.EndsAt != 0 {
		said = append(said, "until "+local(form.EndsAt))
	}
	return strings.Join(said, ", ")
}

// formText is a form in a line of a timeline.
func formText(form *ubl.FormBody, s *ubl.FormState) string {
	var fields []string
	for _, f := range form.Fields {
		fields = append(fields, fmt.Sprintf("(%s) %s", f.Name, strings.Join(append([]string{f.Label}, f.Options...), " / ")))
	}
	answers := 0
	if s != nil {
		answers = int(s.Answered)
	}
	return fmt.Sprintf("* asks: %s %s [%s]", form.Text, strings.Join(fields, " "), formLine(form, answers))
}
