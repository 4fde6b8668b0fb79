package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"ubl/test/bench/internal/alarmload"
	"ubl/test/bench/internal/etcdload"
	"ubl/test/bench/internal/fanload"
	"ubl/test/bench/internal/fileload"
	"ubl/test/bench/internal/floodload"
	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/mcpload"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/readload"
	"ubl/test/bench/internal/searchload"
)

// command runs one of the processes that a run is made of. Servers print the
// line "listening on http://HOST:PORT" and end on SIGTERM; the others print
// one JSON value.
func command(ctx context.Context, out io.Writer, name string, args []string) error {
	flags := flag.NewFlagSet("bench "+name, flag.ContinueOnError)
	dir := flags.String("dir", "", "data `directory`, which exists")
	host := flags.String("host", "", "server to drive, as `HOST:PORT`; several, with commas between, are nodes of one server")
	watch := flags.String("watch", "", "`list` of the servers' process ids, whose CPU time is told")
	token := flags.String("token", "", "bearer token for it; load and crowd take several, with commas between")
	writers := flags.Int("writers", 1, "writers, each with one request in flight")
	warm := flags.Duration("warm", 0, "time before the measurement")
	length := flags.Duration("length", time.Second, "length of the measurement")
	every := flags.Duration("every", 0, "time from one send of a writer to the next; 0: each follows the reply before")
	limit := flags.Duration("limit", time.Minute, "time after which fanload gives up")
	streams := flags.Int("streams", 1, "live streams to open")
	messages := flags.Int("messages", 1, "messages to post")
	frame := flags.Int("frame", 0, "length to pad event frames, or a static document, to")
	path := flags.String("path", peer.MCPPath, "`path` of an MCP server, or of what is read")
	protocol := flags.String("protocol", mcpload.Modern, "`version` of MCP to speak")
	tool := flags.String("tool", "", "MCP `tool` to call")
	arguments := flags.String("arguments", "{}", "its arguments, as `JSON`")
	numbered := flags.Bool("numbered", false, "the tool's replies carry a room_seq")
	rude := flags.Bool("rude", false, "refused writers don't wait")
	documents := flags.Int("documents", 1, "documents that there are to be found")
	admin := flags.String("admin", "", "the server's metrics, as `HOST:PORT`")
	alarms := flags.Int("alarms", 1, "alarms that come due")
	due := flags.Int64("due", 0, "when the first of them does, as milliseconds of Unix time")
	document := flags.Bool("document", false, "writers make documents instead of messages")
	bytes := flags.Int64("bytes", 1, "length of the file to send")
	bare := flags.Bool("bare", false, "send it to the bare file copy")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pids, err := numbers(*watch)
	if err != nil {
		return err
	}
	plan := load.Plan{Warm: *warm, Length: *length, Every: *every, Watch: pids}
	calls := mcpload.Options{
		Target: mcpload.Target{Host: *host, Path: *path, Token: *token, Protocol: *protocol},
		Tool:   *tool, Arguments: json.RawMessage(*arguments), Numbered: *numbered, Writers: *writers, Plan: plan,
	}
	writing := load.Options{
		Hosts: strings.Split(*host, ","), Path: peer.MessagesPath, Body: load.Body, Number: load.RoomSeq,
		Tokens: strings.Split(*token, ","), Writers: *writers, Plan: plan,
	}
	switch name {
	case "bare":
		return peer.RunBare(ctx, out, *dir)
	case "jetstream":
		return peer.RunJetStream(ctx, out, *dir)
	case "fan":
		return peer.RunFan(ctx, out, *dir, *frame)
	case "files":
		return peer.RunFiles(ctx, out, *dir)
	case "fileload":
		result, err := fileload.Run(ctx, fileload.Options{Host: *host, Token: *token, Bytes: *bytes, Bare: *bare, Watch: pids})
		return printJSON(out, result, err)
	case "loop":
		result, err := peer.RunLoop(ctx, *dir, *writers, *length)
		return printJSON(out, result, err)
	case "load":
		if *document {
			writing.Path, writing.Body, writing.Number = searchload.DocumentsPath, load.Document, load.ActNumber
		}
		result, err := load.Run(ctx, writing)
		return printJSON(out, result, err)
	case "alarmload":
		result, err := alarmload.Run(ctx, alarmload.Options{Load: writing, Admin: *admin, Alarms: *alarms, Due: time.UnixMilli(*due)})
		return printJSON(out, result, err)
	case "etcdload":
		result, err := etcdload.Run(ctx, etcdload.Options{
			Hosts: strings.Split(*host, ","), Clients: *writers, Value: load.Body, Plan: plan,
		})
		return printJSON(out, result, err)
	case "static":
		return peer.RunStatic(ctx, out, *frame)
	case "readload":
		result, err := readload.Run(ctx, readload.Options{Host: *host, Path: *path, Readers: *writers, Plan: plan})
		return printJSON(out, result, err)
	case "mcp":
		return peer.RunMCP(ctx, out)
	case "mcpload":
		result, err := mcpload.Run(ctx, calls)
		return printJSON(out, result, err)
	case "sdkload":
		result, err := mcpload.RunSDK(ctx, calls)
		return printJSON(out, result, err)
	case "searchload":
		result, err := searchload.Run(ctx, searchload.Options{
			Host: *host, Token: *token, Documents: *documents, Writers: *writers, Plan: plan,
		})
		return printJSON(out, result, err)
	case "fanload":
		result, err := fanload.Run(ctx, fanload.Options{
			Host: *host, PostPath: peer.MessagesPath, EventsPath: peer.EventsPath, Token: *token,
			Streams: *streams, Messages: *messages, Writers: *writers, Limit: *limit,
		})
		return printJSON(out, result, err)
	case "flood":
		result, err := floodload.Run(ctx, floodload.Options{
			Host: *host, PostPath: peer.MessagesPath, EventsPath: peer.EventsPath, RoomsPath: "/api/rooms", Token: *token, Rude: *rude, Plan: plan,
		})
		return printJSON(out, result, err)
	case "crowd":
		result, err := fanload.RunCrowd(ctx, fanload.CrowdOptions{
			Host: *host, PostPath: peer.MessagesPath, EventsPath: peer.EventsPath, Tokens: strings.Split(*token, ","),
			Streams: *streams, Writers: *writers, Rude: *rude, Plan: plan,
		})
		return printJSON(out, result, err)
	default:
		return fmt.Errorf("there is no command %q", name)
	}
}

// numbers reads "1,2,3"; an empty list has none.
func numbers(list string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, fmt.Errorf("not a list of numbers: %w", err)
		}
		out = append(out, n)
	}
	return out, nil
}

func printJSON(out io.Writer, v any, err error) error {
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(v); err != nil {
		return fmt.Errorf("couldn't print the result: %w", err)
	}
	return nil
}
