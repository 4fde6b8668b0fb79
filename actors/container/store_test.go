package container

import (
	"testing"

	"ubl"
)

// TestNewerFormsAreRefused: a record that a newer program wrote is not guessed at.
func TestNewerFormsAreRefused(t *testing.T) {
	c := &Container{}
	for form, known := range map[int]bool{recordVersion: true, recordVersion + 1: false} {
		if _, err := decodeText(encode(text{Form: form, Content: "x"})); (err == nil) != known {
			t.Errorf("a text of form %d: %v", form, err)
		}
		if _, _, err := c.decodeVersion(encode(version{Form: form})); (err == nil) != known {
			t.Errorf("a version of form %d: %v", form, err)
		}
	}
	for _, bad := range []string{"", "{", `{"v":"x"}`} {
		if _, err := decodeText([]byte(bad)); ubl.CodeOf(err) != ubl.CodeInternal {
			t.Errorf("%q was read as a text: %v", bad, err)
		}
	}
}
