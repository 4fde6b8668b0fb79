package suite

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"ubl/test/bench/internal/proc"
	"ubl/test/bench/internal/rawhttp"
	"ubl/test/bench/internal/report"
)

// Whose tokens UBL is driven with; their domains are the tenants.
const (
	sender = "one@bench.example" // sends and listens
	keeper = "owner@localhost"   // has the rooms that "ubl bench --prepare-rooms" makes, and may add servers on this machine
)

// commandTimeout bounds UBL's short commands.
const commandTimeout = 30 * time.Second

// target is a running server and how to speak to it.
type target struct {
	server *proc.Server
	token  string
}

// unlimited lifts the limits that a server has by default: one account asks as often as
// it can.
const unlimited = "--limit=all=0"

// startUBL starts UBL on dir without limits, with more flags, and gets a token for the
// account.
func (s *Suite) startUBL(ctx context.Context, dir, account string, flags ...string) (*target, error) {
	return s.startLimited(ctx, dir, account, append(flags, unlimited)...)
}

// startLimited is startUBL with the limits that a server has by default.
func (s *Suite) startLimited(ctx context.Context, dir, account string, flags ...string) (*target, error) {
	return s.startWith(ctx, s.UBL, dir, account, flags...)
}

// startWith is startLimited of a program.
func (s *Suite) startWith(ctx context.Context, program, dir, account string, flags ...string) (*target, error) {
	server, err := s.serve(ctx, program, dir, flags...)
	if err != nil {
		return nil, err
	}
	token, err := s.token(ctx, dir, account)
	if err == nil {
		err = touch(server.Host, token, roomsPath)
	}
	if err != nil {
		server.Stop()
		return nil, err
	}
	return &target{server, token}, nil
}

func (s *Suite) serveUBL(ctx context.Context, dir string, flags ...string) (*proc.Server, error) {
	return s.serve(ctx, s.UBL, dir, flags...)
}

func (s *Suite) serve(ctx context.Context, program, dir string, flags ...string) (*proc.Server, error) {
	return proc.Start(ctx, proc.Spec{
		Name: string(report.UBL), Path: program, Address: proc.ListeningOn, LogDir: s.Scratch,
		Args: append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, flags...),
	})
}

func (s *Suite) token(ctx context.Context, dir, account string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	output, err := proc.Output(ctx, nil, s.UBL, "token", account, "--data", dir)
	if err != nil {
		return "", fmt.Errorf("couldn't get a token: %w", err)
	}
	return string(bytes.TrimSpace(output)), nil
}

// touch makes the account's first request, which founds the tenant and its
// room, before anything is measured.
func touch(host, token, path string) error {
	conn, err := rawhttp.Dial(host)
	if err != nil {
		return err
	}
	defer conn.Close()
	status, body, err := conn.Do(rawhttp.Get(host, path, token, "application/json"))
	if err != nil {
		return fmt.Errorf("couldn't make the first request: %w", err)
	}
	if status != http.StatusOK {
		return fmt.Errorf("the first request was refused: %d %.200s", status, body)
	}
	return nil
}
