package ubl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ubl"
)

// The table of codes as it is promised to clients.
func TestCodes(t *testing.T) {
	for code, status := range map[ubl.Code]int{
		"validation_error": 400, "unauthorized": 401, "forbidden": 403, "not_a_member": 403, "origin_not_allowed": 403, "confirmation_required": 403, "declined": 403,
		"not_found": 404, "unknown_tool": 404, "method_not_allowed": 405, "conflict": 409, "idempotency_conflict": 409, "too_large": 413,
		"unsupported_media_type": 415, "rate_limited": 429, "internal": 500, "overloaded": 503, "unavailable": 503, "quota_exceeded": 507,
		"no such code": 500,
	} {
		if got := code.Status(); got != status {
			t.Errorf("%s: status %d, want %d", code, got, status)
		}
	}
	for status, code := range map[int]ubl.Code{
		400: "validation_error", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed",
		409: "conflict", 413: "too_large", 415: "unsupported_media_type", 429: "rate_limited", 503: "unavailable", 507: "quota_exceeded",
		422: "validation_error", 418: "validation_error", 500: "internal", 502: "internal",
	} {
		if got := ubl.CodeForStatus(status); got != code {
			t.Errorf("status %d: code %s, want %s", status, got, code)
		}
	}
}

func TestAsError(t *testing.T) {
	cause := errors.New("disk on fire at /secret/path")
	shown := ubl.Errorf(ubl.CodeConflict, "the room %s is taken", "r:x").Because(cause)
	for _, c := range []struct {
		name string
		err  error
		code ubl.Code
	}{
		{"an error of ours, wrapped", fmt.Errorf("couldn't create the room: %w", shown), ubl.CodeConflict},
		{"a deadline", fmt.Errorf("asking: %w", context.DeadlineExceeded), ubl.CodeUnavailable},
		{"a caller who left", context.Canceled, ubl.CodeUnavailable},
		{"anything else", cause, ubl.CodeInternal},
	} {
		e := ubl.AsError(c.err)
		if e.Code != c.code || ubl.CodeOf(c.err) != c.code {
			t.Errorf("%s: code %s, want %s", c.name, e.Code, c.code)
		}
		if strings.Contains(e.Message, "secret") {
			t.Errorf("%s: the message shows the cause: %s", c.name, e.Message)
		}
	}
	if !errors.Is(shown, cause) || ubl.CodeOf(nil) != "" {
		t.Error("the cause is lost, or nil has a code")
	}
}

func TestDids(t *testing.T) {
	dids := ubl.Dids()
	if slices.Sort(dids); len(slices.Compact(slices.Clone(dids))) != len(dids) {
		t.Error("an act stands twice in the table")
	}
	dids[0] = "changed"
	if slices.Contains(ubl.Dids(), "changed") {
		t.Error("the table can be changed from outside")
	}
}

func TestCheckText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       ubl.Code
	}{
		{"one byte", "x", ""},
		{"8,000 bytes", strings.Repeat("x", 8000), ""},
		{"8,000 bytes in 4,000 characters", strings.Repeat("é", 4000), ""},
		{"8,001 bytes", strings.Repeat("x", 8001), ubl.CodeTooLarge},
		{"8,001 bytes that end inside a character", strings.Repeat("é", 4000) + "x", ubl.CodeTooLarge},
		{"nothing", "", ubl.CodeValidation},
		{"blanks alone", " \n\t\u00a0", ubl.CodeValidation},
		{"what can't be seen", "\u200b\u2060 \ufe0f", ubl.CodeValidation},
		{"a picture", "\U0001f44d", ""},
		{"a sign for what couldn't be read", "\ufffd", ""},
		{"invalid UTF-8", "a\xff", ubl.CodeValidation},
	} {
		if got := ubl.CodeOf(ubl.CheckText(c.text, ubl.MaxMessageBytes)); got != c.code {
			t.Errorf("%s: code %q, want %q", c.name, got, c.code)
		}
	}
}

func TestPolicyPatches(t *testing.T) {
	base := ubl.RoomPolicy{MaxMessageBytes: 8000, Join: ubl.JoinInvite}
	num := func(n int) *int { return &n }
	str := func(s string) *string { return &s }
	for _, c := range []struct {
		name  string
		patch ubl.RoomPolicyPatch
		want  ubl.RoomPolicy
		ok    bool
	}{
		{"nothing", ubl.RoomPolicyPatch{}, base, true},
		{"all three", ubl.RoomPolicyPatch{MaxMessageBytes: num(1), RetentionDays: num(36500), Join: str("tenant")}, ubl.RoomPolicy{MaxMessageBytes: 1, RetentionDays: 36500, Join: "tenant"}, true},
		{"no bytes", ubl.RoomPolicyPatch{MaxMessageBytes: num(0)}, base, false},
		{"too many bytes", ubl.RoomPolicyPatch{MaxMessageBytes: num(8001)}, base, false},
		{"hours", ubl.RoomPolicyPatch{RetentionHours: num(23)}, ubl.RoomPolicy{MaxMessageBytes: base.MaxMessageBytes, RetentionDays: base.RetentionDays, RetentionHours: 23, Join: base.Join}, true},
		{"negative hours", ubl.RoomPolicyPatch{RetentionHours: num(-1)}, base, false},
		{"a day of hours", ubl.RoomPolicyPatch{RetentionHours: num(24)}, base, false},
		{"negative days", ubl.RoomPolicyPatch{RetentionDays: num(-1)}, base, false},
		{"too many days", ubl.RoomPolicyPatch{RetentionDays: num(36501)}, base, false},
		{"no such rule", ubl.RoomPolicyPatch{Join: str("anyone")}, base, false},
	} {
		got, err := base.Apply(c.patch)
		if (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
}

// TestRetryAfter: only who was refused for load is told to wait.
func TestRetryAfter(t *testing.T) {
	limited := ubl.Errorf(ubl.CodeRateLimited, "too often")
	limited.Details = map[string]string{"provider": "first"}
	for _, c := range []struct {
		name string
		err  *ubl.Error
		want int
	}{
		{"for as long as is said", limited.Later(37 * time.Second), 37},
		{"in whole seconds", limited.Later(time.Millisecond), 1},
		{"again", limited.Later(time.Minute).Later(2001 * time.Millisecond), 3},
		{"where nothing is said", limited, 1},
		{"for load of any kind", ubl.Errorf(ubl.CodeOverloaded, "busy"), 1},
		{"for what won't change", ubl.Errorf(ubl.CodeForbidden, "no"), 0},
	} {
		if got := c.err.RetryAfter(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	if limited.Later(time.Second).Details["provider"] != "first" || len(limited.Details) != 1 {
		t.Errorf("the other details are %v", limited.Details)
	}
}
