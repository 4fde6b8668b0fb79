package api

import "ubl"

// Parts that requests share. Their tags are what huma checks and the OpenAPI
// document says. They are exported because huma passes over embedded types
// that are not.
type (
	// RoomPath names a room in a path.
	RoomPath struct {
		RoomID ubl.RoomID `path:"roomId" pattern:"^r:[A-Za-z0-9._-]{1,128}$" example:"r:general" doc:"%3A and : are the same."`
	}
	// UserPath names a user in a path.
	UserPath struct {
		UserID ubl.UserID `path:"userId" pattern:"^u:[A-Za-z0-9._-]{1,256}$"`
	}
	// AgreementPath names an Agreement in a path.
	AgreementPath struct {
		ID ubl.AgreementID `path:"agreementId" pattern:"^a:[A-Za-z0-9._:-]{1,256}$" example:"a:room:r:general"`
	}
	// Keyed is the idempotency key that a body may hold.
	Keyed struct {
		Key string `json:"client_request_id,omitempty" nullable:"true" minLength:"1" maxLength:"128" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$" doc:"An idempotency key; it beats those of the headers."`
	}
	// KeyInput is a body that may be absent and can hold nothing but a key.
	KeyInput struct {
		Body *KeyBody
	}
	// KeyBody is the body of an act that needs no more than its path.
	KeyBody struct{ Keyed }
)

// key is the body's, "" where there is none.
func (in KeyInput) key() string {
	if in.Body == nil {
		return ""
	}
	return in.Body.Key
}

// page cuts the part of sorted that comes after the cursor, at most limit of
// it, and says whether more follows.
func page[T ~string](sorted []T, after T, limit int) (part []T, more bool) {
	for len(sorted) > 0 && sorted[0] <= after {
		sorted = sorted[1:]
	}
	if len(sorted) <= limit {
		return sorted, false
	}
	return sorted[:limit], true
}
