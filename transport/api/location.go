package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// locations say where what an operation has made is, below /api. Names like roomId are of the
// operation's path, all others members of its answer. Each operation that answers 201 is here, but
// begin-upload, begin-room-upload and those of families, which bring their own.
var locations = map[string]string{
	"create-room":          "/rooms/{room_id}",
	"open-direct":          "/rooms/{room_id}",
	"invite-member":        "/rooms/{roomId}/members/{member.user_id}",
	"join-room":            "/rooms/{roomId}/members/{member.user_id}",
	"send-message":         "/rooms/{roomId}/entries/{message.msg_id}",
	"post-entry":           "/rooms/{roomId}/entries/{entry.entry_id}",
	"edit-message":         "/rooms/{roomId}/entries/{entry.entry_id}",
	"react-to-message":     "/rooms/{roomId}/entries/{entry.entry_id}",
	"redact-entry":         "/rooms/{roomId}/entries/{entry.entry_id}",
	"pin-message":          "/rooms/{roomId}/entries/{entry.entry_id}",
	"create-poll":          "/rooms/{roomId}/polls/{entry.entry_id}",
	"vote":                 "/rooms/{roomId}/entries/{entry.entry_id}",
	"end-poll":             "/rooms/{roomId}/entries/{entry.entry_id}",
	"create-form":          "/rooms/{roomId}/forms/{entry.entry_id}",
	"answer-form":          "/rooms/{roomId}/entries/{entry.entry_id}",
	"create-invitation":    "/invitations/{invitation.id}",
	"claim-domain":         "/domains/{domain.domain}",
	"create-service-token": "/service-tokens/{service_token.client_id}",
	"create-workspace":     "/containers/{workspace_id}",
	"create-document":      "/workspaces/{workspaceId}/documents/{document.document_id}",
	"put-file":             "/workspaces/{workspaceId}/files/{file.file_id}",
	"create-container":     "/containers/{container.container_id}",
	"invite-to-container":  "/containers/{containerId}/members/{member.user_id}",
	"issue-credits":        "/containers/{container_id}",
	"add-server":           "/portal/servers/{server.server_id}",
}

// placeholder finds the names in a location.
var placeholder = regexp.MustCompile(`\{([\w.]+)\}`)

// locate fills a location in: answer is the JSON object that the operation answers.
func locate(location string, r *http.Request, answer []byte) string {
	var members map[string]any
	if json.Unmarshal(answer, &members) != nil {
		return ""
	}
	return "/api" + placeholder.ReplaceAllStringFunc(location, func(name string) string {
		name = name[1 : len(name)-1]
		value := pathValue(r, name)
		if value == "" {
			value = memberOf(members, name)
		}
		return url.PathEscape(value)
	})
}

// memberOf is a text in an object, by its path.
func memberOf(object map[string]any, path string) string {
	name, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		value, _ := object[name].(string)
		return value
	}
	return memberOf(asObject(object[name]), rest)
}
