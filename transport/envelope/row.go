package envelope

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ubl"
)

// CallRow is a call of one of our own tools as the portal's log tells it: by the
// caller in ctx and under its request, with the error that it ended with, if any.
// Its number comes with the log.
func CallRow(ctx context.Context, tool string, began, ended time.Time, err error) *ubl.Call {
	r, who := RequestOf(ctx), Command(ctx, "").Who
	row := &ubl.Call{
		At: ubl.TimeOf(began), Did: ubl.Did(tool), Server: ubl.OwnServer, Capability: tool,
		UserID: who.UserID, IsService: who.IsService, Status: string(ubl.OutcomeOK), Code: ubl.CodeOf(err),
		DurationMS: ended.Sub(began).Milliseconds(), RequestID: r.ID, Parent: r.Parent,
	}
	if row.Code == ubl.CodeUnavailable && errors.Is(ctx.Err(), context.Canceled) {
		row.Code = ubl.CodeCancelled // by the caller, who has gone
	}
	switch status := row.Code.Status(); {
	case err == nil:
	case status == http.StatusForbidden, status == http.StatusTooManyRequests, status == http.StatusUnauthorized:
		row.Status = string(ubl.StatusDenied)
	default:
		row.Status = string(ubl.OutcomeError)
	}
	return row
}
