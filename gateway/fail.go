package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"ubl"
)

// failure is why a provider gave no answer.
type failure struct {
	*ubl.Error
	// final says that no other provider may be asked: the request is at fault, or
	// tokens have come.
	final bool
	// after is how long the provider wants to be left alone.
	after time.Duration
}

// What ends a call from our side.
var (
	errTimeout    = errors.New("the call took too long")
	errFirstToken = errors.New("the first token took too long")
)

// fail makes a failure after which the next provider is asked.
func (p *provider) fail(code ubl.Code, what string) *failure {
	e := ubl.Errorf(code, "the model provider %s %s", p.Name, what)
	e.Details = map[string]string{"provider": p.Name}
	return &failure{Error: e}
}

func (f *failure) because(cause error) *failure {
	f.Error = f.Error.Because(cause)
	return f
}

func (f *failure) reason(reason string) *failure {
	if reason != "" {
		f.Details["reason"] = reason
	}
	return f
}

// wait tells the caller when to come back.
func (f *failure) wait(d time.Duration) *failure {
	f.Error = f.Error.Later(d)
	return f
}

func (f *failure) finally() *failure {
	f.final = true
	return f
}

// broken is a call that ended on its way: by our timeouts or by the network.
func (p *provider) broken(ctx context.Context, err error) *failure {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout):
		return p.fail(ubl.CodeUnavailable, "took longer than its timeout").reason("timeout").because(err)
	case errors.Is(cause, errFirstToken):
		return p.fail(ubl.CodeUnavailable, "sent no token in time").reason("first_token_timeout").because(err)
	}
	return p.fail(ubl.CodeUnavailable, "couldn't be reached, or hung up").reason("connection").because(err)
}

// reasons are what a provider may say of an error that is passed on: the codes
// that OpenAI documents. Everything else it says stays out: it may quote prompts
// and keys.
var reasons = map[string]bool{
	"context_length_exceeded": true, "string_above_max_length": true, "content_filter": true,
	"content_policy_violation": true, "insufficient_quota": true, "rate_limit_exceeded": true,
	"invalid_api_key": true, "model_not_found": true, "unsupported_parameter": true,
	"unsupported_value": true, "server_error": true, "tokens_exceeded": true, "invalid_request_error": true,
}

// maxErrorBody is how much of an error is read.
const maxErrorBody = 64 << 10

// refused is an answer with a status other than 200.
func (p *provider) refused(resp *http.Response) *failure {
	var body struct {
		Error wireError `json:"error"`
	}
	// What isn't the usual object has no reason that could be told.
	_ = json.NewDecoder(io.LimitReader(resp.Body, maxErrorBody)).Decode(&body)
	f := p.refusal(resp.StatusCode, body.Error.reason())
	if f.Code == ubl.CodeRateLimited {
		if f.after = retryAfter(resp.Header); f.after > 0 {
			f.wait(f.after)
		}
	}
	return f
}

// inStream stands for a status where the refusal came after a 200.
const inStream = 0

// refusal maps a status and a reason to the table of codes.
func (p *provider) refusal(status int, reason string) *failure {
	var f *failure
	switch {
	case reason == "context_length_exceeded" || reason == "string_above_max_length" || status == http.StatusRequestEntityTooLarge:
		f = p.fail(ubl.CodeTooLarge, "takes no prompt of that size, or no such max_tokens with it").finally()
	case reason == "content_filter" || reason == "content_policy_violation":
		f = p.fail(ubl.CodeForbidden, "refused the prompt by its own rules").finally()
	case status == http.StatusTooManyRequests || status == inStream && reason == "rate_limit_exceeded":
		f = p.fail(ubl.CodeRateLimited, "takes no more requests for now")
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		f = p.fail(ubl.CodeValidation, "refused the request as it is").finally()
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		f = p.fail(ubl.CodeUnavailable, "refused the server's key")
	case status == http.StatusNotFound:
		f = p.fail(ubl.CodeUnavailable, "doesn't know the model, or its url is wrong")
	case status == inStream:
		f = p.fail(ubl.CodeUnavailable, "said that it failed")
	default:
		f = p.fail(ubl.CodeUnavailable, "answered with status "+strconv.Itoa(status))
	}
	return f.reason(reason)
}

// maxRest bounds how long a provider is left alone.
const maxRest = time.Minute

// retryAfter reads the header in its form of seconds; dates are not used by
// providers.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseInt(h.Get("Retry-After"), 10, 32)
	if err != nil || seconds <= 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRest)
}
