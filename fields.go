package ubl

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Fields travel inside commands: their values are unexported, so they bring
// their own form.
var (
	_ encoding.BinaryMarshaler   = Fields(nil)
	_ encoding.BinaryUnmarshaler = (*Fields)(nil)
)

// MarshalBinary writes the object as it stands in an atom: canonical JSON. It
// fails where it would be none, as with two members of one name.
func (f Fields) MarshalBinary() ([]byte, error) {
	data := f.append(nil)
	if err := checkCanonical(data); err != nil {
		return nil, fmt.Errorf("couldn't encode fields: %w", err)
	}
	return data, nil
}

// UnmarshalBinary reads what MarshalBinary wrote, and nothing else: the values
// go into atoms as they are. The members come in canonical order.
func (f *Fields) UnmarshalBinary(data []byte) error {
	if err := checkCanonical(data); err != nil {
		return fmt.Errorf("couldn't decode fields: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || members == nil {
		return errors.New("couldn't decode fields: not an object")
	}
	out := make(Fields, 0, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		out = append(out, Field{Name: name, value: members[name]})
	}
	*f = out
	return nil
}

func checkCanonical(data []byte) error {
	canonical, err := Canonical(data)
	if err != nil {
		return err
	}
	if !bytes.Equal(canonical, data) {
		return errors.New("not canonical JSON")
	}
	return nil
}
