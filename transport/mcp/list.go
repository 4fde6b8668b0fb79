package mcp

import (
	"context"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// list answers tools/list from tools that are encoded already: the SDK would encode and check all
// schemas anew each time.
func (s *Server) list(w http.ResponseWriter, r *http.Request, v *visit, m *message) {
	ctx, done := s.flights.start(r.Context(), v.session.id, m.ID)
	defer done()
	buf := buffers.Get().(*[]byte)
	defer giveBuffer(buf)
	body := append(append((*buf)[:0], `{"jsonrpc":"2.0","id":`...), m.ID...)
	err := s.opts.Panics.Try("a list of tools", func() (err error) {
		body, err = s.appendTools(ctx, append(body, `,"result":{`...), v)
		return err
	})
	if err != nil {
		s.blame(ctx, "couldn't list the tools", err)
		s.answerError(ctx, w, v, m.ID, err)
		return
	}
	*buf = append(body, `}}`...)
	write(w, http.StatusOK, *buf)
}

// appendTools writes the members of a result as [sdk.ListToolsResult] has them.
func (s *Server) appendTools(ctx context.Context, dst []byte, v *visit) ([]byte, error) {
	page, next, err := s.page(ctx, v, nil)
	if err != nil {
		return dst, err
	}
	if dst, err = s.appendMeta(dst, v, &Result{}); err != nil {
		return dst, err
	}
	dst = append(append(append(dst, `"cacheScope":"`...), private.CacheScope...), `","ttlMs":0,`...)
	if v.modern {
		dst = append(dst, `"resultType":"complete",`...)
	}
	if next != "" { // base64url needs no escapes
		dst = append(append(append(dst, `"nextCursor":"`...), next...), `",`...)
	}
	dst = append(dst, `"tools":[`...)
	for i, f := range page {
		if i > 0 {
			dst = append(dst, ',')
		}
		if s.opts.Calls != nil && v.portal && v.version == newestLegacy && s.mayBeTask(v, f.tool.Name, nil) {
			dst = append(append(dst, `{"execution":{"taskSupport":"optional"},`...), f.raw[1:]...)
			continue
		}
		dst = append(dst, f.raw...)
	}
	return append(dst, ']'), nil
}

// page is the page of the tools that the request's choice lists, with more of the SDK's own.
func (s *Server) page(ctx context.Context, v *visit, more []*sdk.Tool) ([]form, string, error) {
	tools, err := s.listed(ctx, v)
	if err != nil {
		return nil, "", err
	}
	for _, t := range more {
		tools = append(tools, form{tool: t})
	}
	return paged(tools, v.cursor, func(f form) string { return f.tool.Name })
}
