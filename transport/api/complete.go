package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"ubl"
	"ubl/transport/envelope"
)

// streamType is the media type of Server-Sent Events.
const streamType = "text/event-stream"

type completeInput struct {
	WorkspacePath
	Body struct {
		Keyed
		Prompt      string   `json:"prompt" minLength:"1" maxLength:"100000" doc:"What to ask the model, with all that it needs to know." example:"Summarise these notes in three sentences: …"`
		Model       string   `json:"model,omitempty" minLength:"1" maxLength:"64" default:"gpt-4" doc:"The model, by the name that its provider has for it." example:"gpt-4"`
		MaxTokens   int      `json:"max_tokens,omitempty" minimum:"1" maximum:"100000" default:"1000" doc:"At most so many tokens of answer, in all steps together."`
		Temperature *float64 `json:"temperature,omitempty" minimum:"0" maximum:"2" doc:"Absent for the provider's own. At 0 an earlier answer to the same request may be given again." example:"0.2"`
		Cache       bool     `json:"cache,omitempty" doc:"Whether an earlier answer will do at any temperature."`
		Tools       []string `json:"tools,omitempty" maxItems:"100" pattern:"^[A-Za-z0-9_.-]{1,128}$" nullable:"false" doc:"Tools that the model may use for the caller; without any it uses none." example:"[\"messenger.send\"]"`
		MaxSteps    int      `json:"max_steps,omitempty" minimum:"1" maximum:"16" default:"4" doc:"How often the model is asked: first with the prompt, then with what its tools answered."`
	}
}

// complete answers whole, or piece by piece to who accepts a stream.
func (a *API) complete(w http.ResponseWriter, r *http.Request, in *completeInput) {
	ctx := r.Context()
	if acceptsStream(r.Header) {
		patient := envelope.Patiently(w, envelope.Silence, "error")
		defer patient.Close()
		s := pieces{w: patient}
		c, err := a.ask(ctx, in, s.delta)
		s.end(r, c, err)
		return
	}
	c, err := a.ask(ctx, in, pieceOf(ctx))
	if err != nil {
		envelope.WriteError(w, r, err)
		return
	}
	answer(w, r, http.StatusOK, c)
}

func (a *API) ask(ctx context.Context, in *completeInput, delta func(text string)) (*ubl.Completion, error) {
	if err := enter(ctx); err != nil {
		return nil, err
	}
	who := envelope.CallerOf(ctx)
	if say := delta; say != nil {
		delta = func(text string) {
			if !who.Doubtful() { // the whole follows, if it may
				say(text)
			}
		}
	}
	c, err := a.Office.Complete(ctx, ubl.CompleteRequest{
		Request: envelope.Command(ctx, in.Body.Key), WorkspaceID: in.WorkspaceID, Prompt: in.Body.Prompt,
		Model: in.Body.Model, MaxTokens: in.Body.MaxTokens, Temperature: in.Body.Temperature, Cache: in.Body.Cache,
		Tools: in.Body.Tools, MaxSteps: in.Body.MaxSteps,
	}, delta)
	if gone := who.Remains(ctx); gone != nil {
		return nil, gone
	}
	return c, err
}

// completionEvent is the last event of a stream: what would have been the
// answer without one.
type completionEvent struct {
	*ubl.Completion
	RequestID  string   `json:"request_id"`
	ServerTime ubl.Time `json:"server_time"`
}

// pieces writes a completion as events. It belongs to the request's goroutine.
type pieces struct {
	w     http.ResponseWriter
	began bool
}

func (s *pieces) delta(text string) {
	s.send("delta", struct {
		Delta string `json:"delta"`
	}{text})
}

// end writes the last event. An error that comes before all others, and before a
// silence, is answered like any other.
func (s *pieces) end(r *http.Request, c *ubl.Completion, err error) {
	req := envelope.RequestOf(r.Context())
	switch {
	case err == nil:
		s.send("completion", completionEvent{c, req.ID, req.At})
	case s.began:
		_, body := envelope.NewError(r.Context(), err)
		s.send("error", body)
	default:
		envelope.WriteError(s.w, r, err)
	}
}

// send writes one event. JSON has no line breaks of its own, so one data line
// holds it. A client that has gone ends the request's context; there is nothing
// else to do about it.
func (s *pieces) send(event string, v any) {
	data, err := json.Marshal(v)
	if err != nil { // a programming error: these are our own types
		panic(err)
	}
	if !s.began {
		s.began = true
		h := s.w.Header()
		h.Set("Content-Type", streamType)
		h.Set("X-Accel-Buffering", "no")
		s.w.WriteHeader(http.StatusOK)
	}
	_, _ = s.w.Write(slices.Concat([]byte("event: "+event+"\ndata: "), data, []byte("\n\n")))
	_ = http.NewResponseController(s.w).Flush()
}

// acceptsStream reports whether a client asks for events.
func acceptsStream(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Accept"), func(accept string) bool {
		return strings.Contains(strings.ToLower(accept), streamType)
	})
}
