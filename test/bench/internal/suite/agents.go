package suite

import (
	"context"
	"errors"
	"strconv"

	"ubl/test/bench/internal/load"
	"ubl/test/bench/internal/mcpload"
	"ubl/test/bench/internal/peer"
	"ubl/test/bench/internal/report"
)

// portalPath is where UBL joins its tools with those of other servers.
const portalPath = "/portal/mcp"

// agents measures the selected sections about agents.
func (s *Suite) agents(ctx context.Context, selected func(report.Section) bool) {
	for _, part := range []struct {
		section report.Section
		run     func(context.Context)
	}{{report.MCP, s.mcp}, {report.Portal, s.portal}, {report.MCPIdle, s.mcpIdle}, {report.Search, s.search}, {report.Echo, s.echo}} {
		if selected(part.section) {
			part.run(ctx)
		}
	}
}

// stage is the servers of one round, on which several ways are measured.
type stage struct {
	ubl      *target
	upstream *target // another server; nil where there is none
}

func (st *stage) stop() error {
	err := st.ubl.server.Stop()
	if st.upstream != nil {
		err = errors.Join(err, st.upstream.server.Stop())
	}
	return err
}

// way is one way to the same servers.
type way struct {
	subject report.Subject
	drive   func(ctx context.Context, st *stage) error
}

// ways lets several ways to the same servers take turns, in each round on new
// ones. A way that fails is out; if the servers fail, all are.
func (s *Suite) ways(ctx context.Context, sections []report.Section, begin func(ctx context.Context, dir string) (*stage, error), ways []way) {
	miss := func(w way, reason string) {
		for _, section := range sections {
			if !s.Report.IsMissing(section, w.subject) {
				s.miss(section, w.subject, reason)
			}
		}
	}
	for round := range s.settings().Rounds {
		err := s.inScratch(func(dir string) error {
			st, err := begin(ctx, dir)
			if err != nil {
				return err
			}
			for i := range ways {
				w := ways[(i+round)%len(ways)]
				if ctx.Err() != nil || s.Report.IsMissing(sections[0], w.subject) {
					continue
				}
				s.Logf("%s: round %d of %d: %s", sections[0], round+1, s.settings().Rounds, w.subject)
				if err := s.undisturbed(sections[0], w.subject, func() error { return w.drive(ctx, st) }); err != nil {
					miss(w, err.Error())
				}
			}
			return st.stop()
		})
		if err != nil {
			for _, w := range ways {
				miss(w, err.Error())
			}
			return
		}
	}
}

// calling is what a load generator calls over MCP.
type calling struct {
	generator string // mcpload or sdkload
	path      string
	protocol  string
	tool      string
	arguments string
	numbered  bool
}

// call drives a tool and takes the figures.
func (s *Suite) call(ctx context.Context, section report.Section, subject report.Subject, t *target, writers int, c calling) error {
	return s.generate(ctx, section, subject, t, writers, c.generator,
		"-path", c.path, "-protocol", c.protocol, "-tool", c.tool, "-arguments", c.arguments, "-numbered="+strconv.FormatBool(c.numbered))
}

// sendTool sends load's message to the room of peer.MessagesPath.
const (
	sendTool      = "messenger.send"
	sendArguments = `{"room_id":"r:general","type":"text","body":{"text":"` + load.Text + `"},"reply_to":null}`
)

// mcp holds sends over MCP against sends over REST.
func (s *Suite) mcp(ctx context.Context) {
	sections := []report.Section{report.MCP}
	ways := []way{{report.REST, func(ctx context.Context, st *stage) error {
		return s.generate(ctx, report.MCP, report.REST, st.ubl, s.settings().Writers, "load")
	}}}
	for _, p := range mcpload.Protocols() {
		ways = append(ways, s.sendWay(report.OverMCP(p), peer.MCPPath, p), s.sendWay(report.OverPortal(p), portalPath, p))
	}
	s.ways(ctx, sections, func(ctx context.Context, dir string) (*stage, error) {
		if s.UBLMissing != "" {
			return nil, errors.New(s.UBLMissing)
		}
		t, err := s.startUBL(ctx, dir, sender)
		return &stage{ubl: t}, err
	}, ways)
}

func (s *Suite) sendWay(subject report.Subject, path, protocol string) way {
	return way{subject, func(ctx context.Context, st *stage) error {
		return s.call(ctx, report.MCP, subject, st.ubl, s.settings().Writers, calling{
			generator: "mcpload", path: path, protocol: protocol, tool: sendTool, arguments: sendArguments, numbered: true,
		})
	}}
}

// echo holds the cheapest tool against the same of a bare MCP server.
func (s *Suite) echo(ctx context.Context) {
	var sections []report.Section
	for _, p := range mcpload.Protocols() {
		sections = append(sections, report.EchoOf(p))
	}
	s.missBinaries(sections)
	s.rounds(ctx, sections, []turn{
		{report.UBL, func(ctx context.Context, dir string) error {
			t, err := s.startUBL(ctx, dir, sender)
			if err != nil {
				return err
			}
			return s.whoami(ctx, report.UBL, t)
		}},
		{report.BareMCP, func(ctx context.Context, _ string) error {
			t, err := s.startPeer(ctx, report.BareMCP, "mcp")
			if err != nil {
				return err
			}
			return s.whoami(ctx, report.BareMCP, t)
		}},
	})
}

// whoami drives the tool in both protocols and stops the server.
func (s *Suite) whoami(ctx context.Context, subject report.Subject, t *target) error {
	var err error
	for _, p := range mcpload.Protocols() {
		if err == nil {
			err = s.call(ctx, report.EchoOf(p), subject, t, report.EchoCallers, calling{
				generator: "mcpload", path: peer.MCPPath, protocol: p, tool: peer.WhoamiTool, arguments: "{}",
			})
		}
	}
	return errors.Join(err, t.server.Stop())
}
