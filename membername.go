package ubl

import (
	"cmp"
	"strings"
)

// Called is what clients call a member: their name, else the local part of their
// address, else their id.
func (m Member) Called() string {
	local := m.Email[:max(0, strings.LastIndexByte(m.Email, '@'))]
	return cmp.Or(m.Name, local, string(m.UserID))
}
