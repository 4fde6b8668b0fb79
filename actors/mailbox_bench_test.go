package actors

import (
	"log/slog"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
)

// BenchmarkMailbox sends bursts of 64 messages to each of 64 actors: through the library's
// mailbox with its own dispatcher and with ours, and through a channel with a goroutine an actor.
func BenchmarkMailbox(b *testing.B) {
	const actors, burst = 64, 64
	quiet := actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) })
	var done sync.WaitGroup
	library := func(options ...actor.PropsOption) func(b *testing.B) {
		return func(b *testing.B) {
			system := actor.NewActorSystemWithConfig(actor.Configure(quiet))
			defer system.Shutdown()
			var pids []*actor.PID
			for range actors {
				pids = append(pids, system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
					if _, ok := ctx.Message().(*envelope); ok {
						done.Done()
					}
				}, options...)))
			}
			e := new(envelope)
			for b.Loop() {
				done.Add(actors * burst)
				for range burst {
					for _, pid := range pids {
						system.Root.Send(pid, e)
					}
				}
				done.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/actors/burst, "ns/message")
		}
	}
	ours := newDispatcher()
	defer ours.close()
	b.Run("library", library())
	b.Run("library, our dispatcher", library(actor.WithDispatcher(ours)))
	b.Run("channel", func(b *testing.B) {
		var queues []chan *envelope
		for range actors {
			queue := make(chan *envelope, burst)
			defer close(queue)
			queues = append(queues, queue)
			go func() {
				for range queue {
					done.Done()
				}
			}()
		}
		e := new(envelope)
		for b.Loop() {
			done.Add(actors * burst)
			for range burst {
				for _, queue := range queues {
					queue <- e
				}
			}
			done.Wait()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/actors/burst, "ns/message")
	})
}
