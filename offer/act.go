package offer

import (
	"encoding/json"

	"ubl"
)

// Act is the form of an act that a family brings along. Each part is a JSON Schema of an object
// and may refer to the published ones ("ubl.common.v1#/$defs/seq"). The published schemas of
// atoms know the act then.
type Act struct {
	Did ubl.Did
	// Own says that people do it for themselves alone, or take away what is theirs: no terms keep
	// anybody from it. Any other act of a person stands under the terms of the TenantLicense.
	Own bool
	// This is of the action, Effect of each of its effects, whose op it fixes, and Pointers of
	// where they can be seen. Acts may share an Effect or Pointers; nil where all of them are
	// published already.
	This, Effect, Pointers json.RawMessage
}
