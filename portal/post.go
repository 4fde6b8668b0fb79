package portal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ubl/panics"
)

// standalone is the first version of the protocol in which a request stands by
// itself: one POST, and its answer, in which the server can't ask back.
const standalone = "2026-07-28"

// poster makes calls of tools in a session with a server of such a version. What
// goes out is what the SDK would send (a test holds one against the other), but the
// SDK makes all of it anew for each call, reads the tool's schema again for the
// headers, and hands the answer through several goroutines: that costs more than all
// else in a call. Everything but calls stays with the SDK. Safe for concurrent use.
type poster struct {
	client *http.Client
	url    string
	header http.Header // of every call
	params []byte      // of every body, up to the name of the tool
	serial atomic.Int64
	panics *panics.Catcher
}

// newPoster is nil for sessions of older versions, whose calls need the SDK: their
// servers may ask back, and have answers resumed.
func newPoster(client *http.Client, url string, me *mcp.Implementation, s *mcp.ClientSession) (*poster, error) {
	version := s.InitializeResult().ProtocolVersion
	if version < standalone {
		return nil, nil
	}
	meta, err := json.Marshal(mcp.Meta{
		mcp.MetaKeyProtocolVersion: version, mcp.MetaKeyClientInfo: me, mcp.MetaKeyClientCapabilities: struct{}{},
	})
	if err != nil {
		return nil, fmt.Errorf("couldn't write what goes with each call: %w", err)
	}
	p := &poster{client: client, url: url, params: fmt.Appendf(nil, `,"method":"tools/call","params":{"_meta":%s,"name":`, meta), header: http.Header{}}
	p.header.Set("Content-Type", "application/json")
	p.header.Set("Accept", "application/json, text/event-stream")
	p.header.Set("Mcp-Protocol-Version", version)
	p.header.Set("Mcp-Method", "tools/call")
	if id := s.ID(); id != "" { // this version has no sessions, but some servers do
		p.header.Set(sessionHeader, id)
	}
	return p, nil
}

const sessionHeader = "Mcp-Session-Id"

// call calls a tool by a name that [ubl.ValidToolName] allows, with arguments that
// are an object, and returns the result as the server wrote it. A server's own
// refusal is a *[jsonrpc.Error]. What is no answer of an MCP server, so that the
// session should end, is errNoAnswer.
func (p *poster) call(ctx context.Context, tool string, repeated []paramHeader, args json.RawMessage) (json.RawMessage, error) {
	// The SDK counts its requests; a text is none of its numbers.
	id := "call-" + strconv.FormatInt(p.serial.Add(1), 10)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(p.body(id, tool, args)))
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, p.header)
	req.Header.Set("Mcp-Name", tool)
	repeatParams(req.Header, repeated, args)
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	answer, err := p.read(resp, id)
	switch {
	case err != nil:
		return nil, err
	case answer.Error != nil:
		return nil, answer.Error
	}
	return answer.Result, nil
}

func (p *poster) body(id, tool string, args json.RawMessage) []byte {
	b := make([]byte, 0, len(p.params)+len(id)+len(tool)+len(args)+64)
	b = append(b, `{"jsonrpc":"2.0","id":"`...)
	b = append(append(b, id...), '"')
	b = append(b, p.params...)
	b = strconv.AppendQuote(b, tool)
	b = append(append(b, `,"arguments":`...), args...)
	return append(b, `}}`...)
}

// errNoAnswer is what an MCP server doesn't send. It was replaced, or has broken.
var errNoAnswer = errors.New("couldn't read the answer as one of an MCP server")

// read reads the answer to a request, and lets go of the connection.
func (p *poster) read(resp *http.Response, id string) (*message, error) {
	if resp.StatusCode/100 != http.StatusOK/100 {
		defer resp.Body.Close()
		return nil, p.refused(resp)
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
	case "application/json":
		defer resp.Body.Close()
		return readWhole(resp.Body, id)
	case "text/event-stream":
		// The rest is awaited, but not by the caller: then the connection is used again.
		defer func() {
			p.panics.Go(nil, "reading the rest of an answer", func() {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			})
		}()
		return readEvents(resp.Body, id)
	}
	resp.Body.Close()
	return nil, fmt.Errorf("%w: it is neither JSON nor a stream", errNoAnswer)
}

// refused is what a status says that isn't success. Those of a server with troubles
// that pass don't end the session.
func (p *poster) refused(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fmt.Errorf("couldn't call: status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("couldn't read an error: %w", err)
	}
	var m message
	if json.Unmarshal(body, &m) == nil && m.Version == "2.0" && m.Error != nil {
		return m.Error
	}
	if resp.StatusCode == http.StatusNotFound && p.header.Get(sessionHeader) != "" {
		return fmt.Errorf("couldn't call: %w", mcp.ErrSessionMissing)
	}
	return fmt.Errorf("%w: status %d", errNoAnswer, resp.StatusCode)
}

func readWhole(body io.Reader, id string) (*message, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("couldn't read an answer: %w", err)
	}
	answer, err := answerTo(id, text)
	if err == nil && answer == nil {
		err = fmt.Errorf("%w: it is to something else", errNoAnswer)
	}
	return answer, err
}

// message is a JSON-RPC message of a server.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  json.RawMessage `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   *jsonrpc.Error  `json:"error"`
}

// answerTo is a message as the answer to a request, nil where it is another one. A
// question is none: this version of the protocol doesn't have them.
func answerTo(id string, text []byte) (*message, error) {
	m := new(message)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	switch {
	case m.Version != "2.0":
		return nil, fmt.Errorf("%w: it is not JSON-RPC 2.0", errNoAnswer)
	case m.Method != nil && m.ID != nil:
		return nil, fmt.Errorf("%w: it is a question", errNoAnswer)
	case m.Method != nil || m.ID != id:
		return nil, nil
	}
	return m, nil
}
