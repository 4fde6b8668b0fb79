package portal

import (
	"encoding/json"
	"errors"
	"fmt"

	"ubl"
)

// rowVersion begins the stored form of a row.
const rowVersion = 1

// rowText is a row with its members in canonical order. Sorting them afterwards takes
// many times as long as writing them, and every call writes its row twice.
type rowText struct {
	At         ubl.Time     `json:"at"`
	Capability string       `json:"capability"`
	Code       ubl.Code     `json:"code,omitempty"`
	Did        ubl.Did      `json:"did"`
	DurationMS int64        `json:"duration_ms"`
	IsService  bool         `json:"is_service"`
	N          int64        `json:"n"`
	Parent     string       `json:"parent,omitempty"`
	Receipt    *receiptText `json:"receipt,omitempty"`
	RequestID  string       `json:"request_id"`
	Server     string       `json:"server"`
	Status     string       `json:"status"`
	Usage      *ubl.Usage   `json:"usage,omitempty"`
	UserID     ubl.UserID   `json:"user_id"`
}

type receiptText struct {
	CID      string   `json:"cid"`
	HeadHash string   `json:"head_hash"`
	Shard    string   `json:"ledger_shard"`
	Seq      int64    `json:"seq"`
	Time     ubl.Time `json:"time"`
}

// encodeRow writes a row as canonical JSON behind its version. Only usage has texts
// that others wrote, which the usual encoder may escape in its own way.
func encodeRow(row ubl.Call) []byte {
	t := rowText{
		At: row.At, Capability: row.Capability, Code: row.Code, Did: row.Did, DurationMS: row.DurationMS, IsService: row.IsService,
		N: row.N, Parent: row.Parent, RequestID: row.RequestID, Server: row.Server, Status: row.Status, Usage: row.Usage, UserID: row.UserID,
	}
	if r := row.Receipt; r != nil {
		t.Receipt = &receiptText{CID: r.CID, HeadHash: r.HeadHash, Shard: r.Shard, Seq: r.Seq, Time: r.Time}
	}
	text := encode(t)
	if row.Usage != nil {
		var err error
		if text, err = ubl.Canonical(text); err != nil {
			panic(fmt.Sprintf("portal: couldn't encode a row: %v", err))
		}
	}
	return append([]byte{rowVersion}, text...)
}

func decodeRow(stored []byte) (ubl.Call, error) {
	var row ubl.Call
	if len(stored) == 0 || stored[0] != rowVersion {
		return row, errors.New("a row of the log is stored in an unknown form")
	}
	if err := json.Unmarshal(stored[1:], &row); err != nil {
		return row, fmt.Errorf("couldn't read a row of the log: %w", err)
	}
	return row, nil
}
