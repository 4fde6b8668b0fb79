// Package resolver reads TXT records, by which the owners of a domain prove that it is
// theirs.
//
// The data: none. The way of one question: to the resolvers in turn, over UDP, and over
// TCP where the answer didn't fit. Only records at the very name count. An alias (CNAME,
// DNAME) is refused, and not followed: a wildcard or forgotten alias would let the owner
// of its target speak for the domain.
//
// What fails: no such name is an empty list; a resolver that is silent, refuses or
// answers another question is passed over. A question ends after [Timeout], and only
// [Together] are on their way at a time.
package resolver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"

	"ubl"
)

// Limits of a question.
const (
	// Timeout is how long one may take, over all resolvers.
	Timeout = 5 * time.Second
	// Together is how many are asked at a time; more are refused.
	Together = 16
	// maxServers is how many resolvers are asked, one after the other.
	maxServers = 3
	// maxRecords is how many records of a name are read.
	maxRecords = 64
	// udpSize is the largest answer that passes every network in one piece.
	udpSize = 1232
)

// Config is where a system says which resolvers it has.
const Config = "/etc/resolv.conf"

// Resolver asks DNS. It is safe for concurrent use.
type Resolver struct {
	server  string
	timeout time.Duration
	busy    chan struct{}
}

// New makes a Resolver that asks a server, HOST:PORT, or where that is "" those of the
// system, as [Config] has them at the time.
func New(server string) *Resolver {
	return &Resolver{server: server, timeout: Timeout, busy: make(chan struct{}, Together)}
}

// TXT is what the TXT records at a name say, each in one piece. Where nothing stands
// there it is empty. An alias is a conflict; no answer is unavailable.
func (r *Resolver) TXT(ctx context.Context, name string) ([]string, error) {
	select {
	case r.busy <- struct{}{}:
		defer func() { <-r.busy }()
	default:
		return nil, ubl.Errorf(ubl.CodeOverloaded, "the server is asking DNS for many others: try again in a moment").Later(time.Second)
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	servers, err := r.servers()
	if err != nil {
		return nil, ubl.Errorf(ubl.CodeUnavailable, "the server knows no DNS resolver: its operator gives one with --dns-server").Because(err)
	}
	for n, server := range servers {
		texts, failed := ask(ctx, server, dns.Fqdn(name), r.timeout/time.Duration(len(servers)))
		switch {
		case failed == nil:
			return texts, nil
		case errors.Is(failed, errAlias):
			return nil, ubl.Errorf(ubl.CodeConflict, "the record's name is an alias (CNAME): the TXT record has to stand at the name itself")
		}
		err = errors.Join(err, fmt.Errorf("resolver %d: %w", n+1, failed))
	}
	return nil, ubl.Errorf(ubl.CodeUnavailable, "DNS gave no answer: try again in a minute").Because(err)
}

func (r *Resolver) servers() ([]string, error) {
	if r.server != "" {
		return []string{r.server}, nil
	}
	config, err := dns.ClientConfigFromFile(Config)
	if err != nil {
		return nil, fmt.Errorf("couldn't read the system's resolvers: %w", err)
	}
	if len(config.Servers) == 0 {
		return nil, errors.New("the system has no resolvers")
	}
	var out []string
	for _, host := range config.Servers[:min(len(config.Servers), maxServers)] {
		out = append(out, net.JoinHostPort(host, config.Port))
	}
	return out, nil
}

// ask asks one resolver, within its share of the time.
func ask(ctx context.Context, server, name string, share time.Duration) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	question := new(dns.Msg).SetQuestion(name, dns.TypeTXT).SetEdns0(udpSize, false)
	answer, err := exchange(ctx, &dns.Client{UDPSize: udpSize, Timeout: share}, question, server)
	if err == nil && answer.Truncated {
		answer, err = exchange(ctx, &dns.Client{Net: "tcp", Timeout: share}, question, server)
	}
	if err != nil {
		return nil, err
	}
	return read(answer, name)
}

// exchange asks over a connection that ends with ctx: the library looks at its deadline,
// and not at callers who go.
func exchange(ctx context.Context, client *dns.Client, question *dns.Msg, server string) (*dns.Msg, error) {
	conn, err := client.DialContext(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	answer, _, err := client.ExchangeWithConnContext(ctx, question, conn)
	return answer, err
}

var errAlias = errors.New("the name is an alias")

// read takes an answer's records, if it answers the question.
func read(answer *dns.Msg, name string) ([]string, error) {
	if len(answer.Question) != 1 || !answer.Response || answer.Truncated || answer.Question[0].Qtype != dns.TypeTXT || !same(answer.Question[0].Name, name) {
		return nil, errors.New("the answer is to another question")
	}
	if answer.Rcode != dns.RcodeSuccess && answer.Rcode != dns.RcodeNameError {
		return nil, fmt.Errorf("the resolver answered %s", dns.RcodeToString[answer.Rcode])
	}
	var texts []string
	for _, record := range answer.Answer[:min(len(answer.Answer), maxRecords)] {
		switch rr := record.(type) {
		case *dns.CNAME, *dns.DNAME:
			return nil, errAlias
		case *dns.TXT:
			if same(rr.Hdr.Name, name) && rr.Hdr.Class == dns.ClassINET {
				texts = append(texts, strings.Join(rr.Txt, ""))
			}
		}
	}
	return texts, nil
}

// same compares names as DNS does.
func same(a, b string) bool { return strings.EqualFold(a, b) }
