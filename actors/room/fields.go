package room

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ubl"
)

// The rules of forms: what a form may ask, and what its fields take for an answer.

// field is one of a form's.
type field ubl.FormField

// checkForm refuses a form that nobody could answer.
func checkForm(b *ubl.FormBody) error {
	switch {
	case !isText(b.Text, ubl.MaxFormText):
		return ubl.Errorf(ubl.CodeValidation, "text is not 1 to %d characters that can be seen", ubl.MaxFormText)
	case len(b.Fields) == 0 || len(b.Fields) > ubl.MaxFormFields:
		return ubl.Errorf(ubl.CodeValidation, "fields are not 1 to %d", ubl.MaxFormFields)
	case len(b.Answerers) > ubl.MaxAnswerers:
		return ubl.Errorf(ubl.CodeValidation, "answerers are more than %d", ubl.MaxAnswerers)
	}
	for i, user := range b.Answerers {
		if !user.Valid() || slices.Contains(b.Answerers[:i], user) {
			return ubl.Errorf(ubl.CodeValidation, "answerers are not ids of people, each once")
		}
	}
	for i := range b.Fields {
		if err := (*field)(&b.Fields[i]).check(); err != nil {
			return err
		}
		if slices.ContainsFunc(b.Fields[:i], func(f ubl.FormField) bool { return f.Name == b.Fields[i].Name }) {
			return ubl.Errorf(ubl.CodeValidation, "two fields are called %s", b.Fields[i].Name)
		}
	}
	return nil
}

// isText reports whether a text can be seen and has at most so many characters.
func isText(text string, most int) bool {
	return utf8.RuneCountInString(text) <= most && ubl.CheckText(text, ubl.MaxMessageBytes) == nil
}

func isLine(text string) bool {
	return isText(text, ubl.MaxFieldLabel) && !strings.ContainsAny(text, "\r\n")
}

const maxFieldName = 40

func isFieldName(name string) bool {
	return name != "" && len(name) <= maxFieldName && name[0] >= 'a' && name[0] <= 'z' && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// chooses reports whether the field has options.
func (f *field) chooses() bool {
	return f.Type == ubl.FieldButton || f.Type == ubl.FieldOne || f.Type == ubl.FieldSeveral
}

// counts reports whether the field's bounds count something.
func (f *field) counts() bool {
	return f.Type == ubl.FieldLine || f.Type == ubl.FieldText || f.Type == ubl.FieldSeveral
}

// check refuses a field that can't be filled in.
func (f *field) check() error {
	if !isFieldName(f.Name) {
		return ubl.Errorf(ubl.CodeValidation, "a field's name is not 1 to %d of a-z, 0-9 and _, with a letter first", maxFieldName)
	}
	bad := func(format string, args ...any) error {
		return ubl.Errorf(ubl.CodeValidation, "field "+f.Name+": "+format, args...)
	}
	known := []ubl.FieldType{ubl.FieldButton, ubl.FieldLine, ubl.FieldText, ubl.FieldNumber, ubl.FieldDate, ubl.FieldYesNo, ubl.FieldOne, ubl.FieldSeveral}
	switch bounded := f.Min != nil || f.Max != nil; {
	case !slices.Contains(known, f.Type):
		return bad("type is none of button, line, text, number, date, yes_no, one and several")
	case !isLine(f.Label):
		return bad("label is not a line of 1 to %d characters that can be seen", ubl.MaxFieldLabel)
	case f.chooses() != (len(f.Options) > 0) || len(f.Options) > ubl.MaxFormOptions:
		return bad("options are 1 to %d for button, one and several, and none for any other type", ubl.MaxFormOptions)
	case bounded && f.Type != ubl.FieldNumber && !f.counts():
		return bad("min and max are for line, text, number and several")
	case f.counts() && (!isCount(f.Min) || !isCount(f.Max)):
		return bad("min and max are not whole numbers from 0 to %d", ubl.MaxFieldText)
	case f.Min != nil && f.Max != nil && *f.Min > *f.Max:
		return bad("min is above max")
	case f.Type == ubl.FieldSeveral && f.Min != nil && int(*f.Min) > len(f.Options):
		return bad("min is more than there are options")
	case (f.From != "" || f.Until != "") && f.Type != ubl.FieldDate:
		return bad("from and until are for date")
	case f.From != "" && !isDate(f.From) || f.Until != "" && !isDate(f.Until):
		return bad("from and until are not dates like 2026-01-31")
	case f.From != "" && f.Until != "" && f.From > f.Until:
		return bad("from is behind until")
	}
	for i, o := range f.Options {
		if !isLine(o) {
			return bad("an option is not a line of 1 to %d characters that can be seen", ubl.MaxFieldLabel)
		}
		if slices.Contains(f.Options[:i], o) {
			return bad("two options are the same")
		}
	}
	return nil
}

func isCount(n *float64) bool {
	return n == nil || *n >= 0 && *n <= ubl.MaxFieldText && *n == float64(int(*n))
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// checkAnswer refuses an answer that the form doesn't take, and says which field asks for what.
func checkAnswer(b *ubl.FormBody, a ubl.AnswerBody) error {
	for i := range b.Fields {
		f := (*field)(&b.Fields[i])
		value, given := a.Values[f.Name]
		if !given && f.Required {
			return ubl.Errorf(ubl.CodeValidation, "values.%s is missing: it has to be %s", f.Name, f.wants())
		}
		if given && !f.takes(value) {
			return ubl.Errorf(ubl.CodeValidation, "values.%s is not %s", f.Name, f.wants())
		}
	}
	for name := range a.Values {
		if !slices.ContainsFunc(b.Fields, func(f ubl.FormField) bool { return f.Name == name }) {
			var names []string
			for i := range b.Fields {
				names = append(names, b.Fields[i].Name)
			}
			return ubl.Errorf(ubl.CodeValidation, "values have a name that is no field of the form: its fields are %s", strings.Join(names, ", "))
		}
	}
	return nil
}

// takes reports whether a value is one that the field asks for.
func (f *field) takes(value json.RawMessage) bool {
	switch f.Type {
	case ubl.FieldYesNo:
		return string(value) == "true" || string(value) == "false"
	case ubl.FieldNumber:
		var n *float64
		return json.Unmarshal(value, &n) == nil && n != nil && f.holds(*n)
	case ubl.FieldSeveral:
		var list []string
		if json.Unmarshal(value, &list) != nil || list == nil || f.Required && len(list) == 0 || !f.holds(float64(len(list))) {
			return false
		}
		for i, o := range list {
			if !slices.Contains(f.Options, o) || slices.Contains(list[:i], o) {
				return false
			}
		}
		return true
	}
	var text *string
	if json.Unmarshal(value, &text) != nil || text == nil {
		return false
	}
	switch f.Type {
	case ubl.FieldLine:
		return isLine(*text) && f.holds(float64(utf8.RuneCountInString(*text)))
	case ubl.FieldText:
		return isText(*text, ubl.MaxFieldText) && f.holds(float64(utf8.RuneCountInString(*text)))
	case ubl.FieldDate:
		return isDate(*text) && (f.From == "" || *text >= f.From) && (f.Until == "" || *text <= f.Until)
	}
	return slices.Contains(f.Options, *text)
}

func (f *field) holds(n float64) bool {
	return (f.Min == nil || n >= *f.Min) && (f.Max == nil || n <= *f.Max)
}

// wants says in words what the field asks for.
func (f *field) wants() string {
	switch f.Type {
	case ubl.FieldYesNo:
		return "true or false"
	case ubl.FieldNumber:
		return "a number" + f.span("")
	case ubl.FieldDate:
		said := "a date like 2026-01-31"
		if f.From != "" {
			said += " from " + f.From + " on"
		}
		if f.Until != "" {
			said += " until " + f.Until
		}
		return said
	case ubl.FieldLine:
		return fmt.Sprintf("a line of text, up to %d characters", ubl.MaxFieldLabel) + f.span(" characters")
	case ubl.FieldText:
		return fmt.Sprintf("a text of up to %d characters", ubl.MaxFieldText) + f.span(" characters")
	}
	options, _ := json.Marshal(f.Options) // texts, which were checked
	if f.Type == ubl.FieldSeveral {
		return "a list of different ones of " + string(options) + f.span(" of them")
	}
	return "one of " + string(options)
}

// span says the bounds of what is counted.
func (f *field) span(what string) string {
	switch {
	case f.Min != nil && f.Max != nil:
		return fmt.Sprintf(", from %v to %v%s", *f.Min, *f.Max, what)
	case f.Min != nil:
		return fmt.Sprintf(", at least %v%s", *f.Min, what)
	case f.Max != nil:
		return fmt.Sprintf(", at most %v%s", *f.Max, what)
	}
	return ""
}
