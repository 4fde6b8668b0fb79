package mcp

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"ubl"
	"ubl/transport/envelope"
)

// Every JSON answer of our own is written here: results of tools/call, which
// are most of all answers, by hand.

var jsonType = []string{"application/json"}

// appendResult writes the answer to a tools/call.
func (s *Server) appendResult(dst []byte, v *visit, id jsontext.Value, out *Result) ([]byte, error) {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = append(dst, id...)
	dst = append(dst, `,"result":{`...)
	var err error
	if dst, err = s.appendMeta(dst, v, out); err != nil {
		return nil, err
	}
	dst = append(dst, `"content":`...)
	if dst, err = out.appendContent(dst, s.opts.Random); err != nil {
		return nil, err
	}
	if out.Structured != nil {
		dst = append(dst, `,"structuredContent":`...)
		dst = append(dst, out.Structured...)
	}
	if out.IsError {
		dst = append(dst, `,"isError":true`...)
	}
	if v.modern {
		dst = append(dst, `,"resultType":"complete"`...)
	}
	return append(dst, `}}`...), nil
}

// appendMeta writes what goes with a result, if anything does.
func (s *Server) appendMeta(dst []byte, v *visit, out *Result) ([]byte, error) {
	if !v.modern && out.Receipt == nil && out.Foreign == "" && out.Salt.IsZero() && out.task == "" {
		return dst, nil
	}
	dst = append(dst, `"_meta":{`...)
	if v.modern {
		dst = append(append(append(dst, `"io.modelcontextprotocol/serverInfo":`...), s.info...), ',')
	}
	if out.task != "" { // an id of ours needs no escapes
		dst = append(append(append(dst, `"`+metaTask+`":{"taskId":"`...), out.task...), `"},`...)
	}
	if out.Receipt != nil {
		receipt, err := json.Marshal(out.Receipt)
		if err != nil {
			return nil, err
		}
		dst = append(append(append(dst, `"`+metaReceipt+`":`...), receipt...), ',')
	}
	if out.Foreign != "" {
		dst = append(append(dst, `"`+ubl.MetaForeign+`":{"server":"`...), out.Foreign...) // an id needs no escapes
		dst = append(dst, `"},`...)
	}
	if !out.Salt.IsZero() { // hex needs no escapes
		dst = append(append(append(dst, `"`+metaSalt+`":"`...), out.Salt.String()...), `",`...)
	}
	dst[len(dst)-1] = '}'
	return append(dst, ','), nil
}

// metaReceipt is where a result of another server's tool has its receipt.
const metaReceipt = "ubl/receipt"

// metaSalt is where a result has the salt of its act's commitments ([Result.Salt]): programs open
// them with it, and models don't pay for it.
const metaSalt = "ubl/salt"

// appendText writes content with one item of text.
func appendText(dst, text []byte) ([]byte, error) {
	dst = append(dst, `[{"type":"text","text":`...)
	dst, err := jsontext.AppendQuote(dst, text)
	return append(dst, `}]`...), err
}

// itemAndText is content with an item and one of text behind it.
func itemAndText(item, text []byte) ([]byte, error) {
	texts, err := appendText(nil, text)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte{'['}, item, []byte{','}, texts[1:]), nil
}

// refuse answers a request that isn't in order, as an HTTP error that holds a
// JSON-RPC error.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, id jsontext.Value, err error) {
	p := problemOf(r.Context(), err)
	status := ubl.AsError(err).Code.Status()
	if special, ok := errors.AsType[*rpcError](err); ok {
		status = special.status
		if status == 0 {
			status = http.StatusBadRequest
		}
	}
	modern := isModern(r.Header.Get(headerProtocol))
	switch {
	case p.Code == codeNoMethod && modern:
		status = http.StatusNotFound
	case p.Code == codeNoMethod, p.Code == codeInvalidParams && id != nil && !modern:
		// A request that can be read is answered as one.
		status = http.StatusOK
	}
	s.blame(r.Context(), "couldn't take a request", err)
	s.writeProblem(w, status, id, p)
}

func (s *Server) writeProblem(w http.ResponseWriter, status int, id jsontext.Value, p *problem) {
	if id == nil {
		id = jsontext.Value("null")
	}
	body, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   *problem       `json:"error"`
	}{"2.0", id, p})
	if err != nil { // impossible: it was all checked
		http.Error(w, "couldn't encode the answer", http.StatusInternalServerError)
		return
	}
	envelope.SetHints(w.Header(), status, p.Data.RetryAfter)
	write(w, status, body)
}

func write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	// A client that has gone is no error of ours.
	_, _ = w.Write(body)
}

// answerNothing answers a request with an empty result.
func answerNothing(w http.ResponseWriter, id jsontext.Value) {
	answerWith(w, id, []byte(`{}`))
}

// answerWith answers a request with a result.
func answerWith(w http.ResponseWriter, id jsontext.Value, result []byte) {
	write(w, http.StatusOK, slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), id, []byte(`,"result":`), result, []byte{'}'}))
}

// answerError answers a request that was in order and failed.
func (s *Server) answerError(ctx context.Context, w http.ResponseWriter, v *visit, id jsontext.Value, err error) {
	p := problemOf(ctx, err)
	s.writeProblem(w, p.status(v.modern), id, p)
}
