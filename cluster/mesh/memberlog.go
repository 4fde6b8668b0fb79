package mesh

import (
	"context"
	"log/slog"
	"strings"
)

// memberlog takes memberlist's lines into slog. What it calls information is
// debugging to us, since members says who came and went; what it calls an error
// is a warning, since gossip goes on. Warnings of a kind come once a minute:
// anyone can send datagrams.
type memberlog struct {
	log   *slog.Logger
	limit *limiter
}

// kindWords is how many words at a line's beginning tell what kind it is.
const kindWords = 5

func (w memberlog) Write(p []byte) (int, error) {
	level, text := levelOf(strings.TrimSpace(string(p)))
	if level == slog.LevelDebug {
		w.log.Debug("gossip: " + text)
		return len(p), nil
	}
	words := strings.Fields(text)
	kind := strings.Join(words[:min(kindWords, len(words))], " ")
	if suppressed, ok := w.limit.allow(kind); ok {
		w.log.Log(context.Background(), level, "gossip: "+clip(text), "suppressed", suppressed)
	}
	return len(p), nil
}

// levelOf reads lines such as "[WARN] memberlist: text".
func levelOf(line string) (slog.Level, string) {
	tag, text, ok := strings.Cut(line, "] ")
	if !ok {
		return slog.LevelDebug, line
	}
	text = strings.TrimPrefix(text, "memberlist: ")
	switch tag {
	case "[WARN", "[ERR", "[ERROR":
		return slog.LevelWarn, text
	}
	return slog.LevelDebug, text
}
