package tenant_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"ubl"
	"ubl/test/harness"
)

// BenchmarkEnter measures what every request asks first: may a member use a tool?
func BenchmarkEnter(b *testing.B) {
	h := harness.Open(b, harness.Options{})
	ana := harness.User("ana@example.com")
	h.Enter(ana)
	enter := ubl.Enter{Request: h.Request(ana), Tool: "messenger.send", Act: true}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.Ask(b.Context(), ubl.TenantName(ana.TenantID), enter); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkSignIn measures the sessions that tenant 0 admits, of many people at a time.
func BenchmarkSignIn(b *testing.B) {
	h := harness.Open(b, harness.Options{})
	ops := harness.User("ops@example.com")
	ops.TenantID = ubl.CoreTenant
	h.Enter(ops)
	var n atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			_, err := h.Ask(b.Context(), ubl.TenantName(ubl.CoreTenant), ubl.AdmitToken{Request: h.Request(ubl.Platform()), Token: ubl.PlatformToken{
				JTI: fmt.Sprint(n.Add(1)), UserID: ubl.UserID(fmt.Sprint("u:", n.Load()%4000)), TenantID: "t:acme.com", Kind: ubl.TokenSession,
				Method: ubl.SignInLink, ExpiresAt: ubl.TimeOf(h.Clock.Now()).Add(time.Hour),
			}})
			if err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sign-ins/s")
}
