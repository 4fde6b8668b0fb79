package mesh

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"ubl/test/poll"
)

func grpcClient(t *testing.T, from *Mesh, serverID string) healthpb.HealthClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+serverID,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, serverID string) (net.Conn, error) { return from.DialGRPC(ctx, serverID) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return healthpb.NewHealthClient(conn)
}

// TestGRPCOverOnePort is a real server and a real client. A graceful stop lets
// the calls that are open end.
func TestGRPCOverOnePort(t *testing.T) {
	s, d := newSecret(t), &directory{}
	a, _ := listen(t, s, d, "n1@a")
	b, _ := listen(t, s, d, "n2@b")
	server, state := grpc.NewServer(), health.NewServer()
	healthpb.RegisterHealthServer(server, state)
	var wg sync.WaitGroup
	l := b.GRPC()
	wg.Go(func() {
		if err := server.Serve(l); err != nil {
			t.Error(err)
		}
	})

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	client := grpcClient(t, a, "n2@b")
	if got, err := client.Check(ctx, &healthpb.HealthCheckRequest{}); err != nil || got.Status != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("got %v, %v", got, err)
	}
	watch, err := client.Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}

	wg.Go(server.GracefulStop)
	poll.Within(t, beforeForgotten, "nobody new gets in", func() bool { _, err := a.DialGRPC(ctx, "n2@b"); return err != nil })
	state.Shutdown()
	if got, err := watch.Recv(); err != nil || got.Status != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("the open call was cut: %v, %v", got, err)
	}
	cancel()
	wg.Wait()
}
