package api

import (
	"encoding/json"
	"slices"
	"strings"

	"ubl"
)

// The answers of some operations hold words of other servers. What follows says whose
// they are, so that agents are shown them marked (see [envelope.Act]).

// wroteResult is the server whose tool was called, and whether the tool failed.
func wroteResult(answer json.RawMessage) (server string, failed bool) {
	var a struct {
		Foreign string `json:"foreign"`
		IsError bool   `json:"is_error"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return "", false
	}
	return a.Foreign, a.IsError
}

// wroteOffers is the MCP Registry.
func wroteOffers(json.RawMessage) (server string, failed bool) { return ubl.Registry, false }

// wroteDefinitions are the servers whose tools are listed or approved, by id.
func wroteDefinitions(answer json.RawMessage) (server string, failed bool) {
	type tool struct {
		ServerID string `json:"server_id"`
	}
	var a struct {
		Tool  *tool  `json:"tool"`
		Tools []tool `json:"tools"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return "", false
	}
	if a.Tool != nil {
		a.Tools = append(a.Tools, *a.Tool)
	}
	var ids []string
	for _, t := range a.Tools {
		if t.ServerID != ubl.OwnServer {
			ids = append(ids, t.ServerID)
		}
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), ", "), false
}
