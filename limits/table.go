package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ubl"
)

// Name names a limit, in the table, in the YAML file and in refusals.
type Name string

// The limits. Rates are on each node, per second or per hour; ten seconds' worth, a
// second's of bytes, or an hour's may come at once.
const (
	RequestsIP        Name = "requests-ip"
	FoundingsIP       Name = "foundings-ip"
	ClientsIP         Name = "clients-ip"
	PublicIP          Name = "public-ip"
	PublicAskedIP     Name = "public-asked-ip"
	PublicAsked       Name = "public-asked"
	RequestsIdentity  Name = "requests-identity"
	RequestsTenant    Name = "requests-tenant"
	SendsIdentity     Name = "sends-identity"
	SendsTenant       Name = "sends-tenant"
	CreationsIdentity Name = "creations-identity"
	CreationsTenant   Name = "creations-tenant"
	StreamsIP         Name = "streams-ip"
	StreamsIdentity   Name = "streams-identity"
	StreamsTenant     Name = "streams-tenant"
	StreamedTenant    Name = "streamed-tenant"
	UploadsIdentity   Name = ubl.QuotaUploadsIdentity
	UploadsTenant     Name = ubl.QuotaUploadsTenant
	Runs              Name = "runs"
	RunsTenant        Name = "runs-tenant"
	ConnectionsIP     Name = "connections-ip"
	Connections       Name = "connections"
	RoomsTenant       Name = ubl.QuotaRooms
	ContainersTenant  Name = ubl.QuotaContainers
	TokensTenant      Name = ubl.QuotaTokens
	ToolsTenant       Name = ubl.QuotaTools
	BytesTenant       Name = ubl.QuotaBytes
	FileBytesRoom     Name = ubl.QuotaRoomFiles
)

// Burst is how many seconds' worth of a rate may come at once.
const Burst = 10

// bytesASecond is the unit of what isn't refused, but comes later.
const bytesASecond = "bytes/s"

// Row is one limit as it is explained to an operator.
type Row struct {
	Name    Name
	Default int64
	Unit    string
	Says    string
}

// rows is the table. The defaults let a busy team and its agents pass unnoticed: a
// person types a message in seconds, an agent that works through a list sends ten a
// second; only what would crowd others out is refused.
var rows = []Row{
	{RequestsIP, 1000, "a second", "requests from one address without sign-in; who signs in counts below"},
	{FoundingsIP, 10, "an hour", "tenants founded from one address; this machine's own isn't counted, unless a proxy passed the request on"},
	{ClientsIP, 60, "an hour", "programs of agents that register or are looked up from one address; this machine's own aren't counted, unless a proxy passed the request on"},
	{PublicIP, 1000, "a second", "reads of what is public from one address"},
	{PublicAskedIP, 50, "a second", "those of them that are in no copy, and for which a container is asked; names that lead nowhere too"},
	{PublicAsked, 500, "a second", "the same from all addresses together"},
	{RequestsIdentity, 200, "a second", "requests of one person or agent"},
	{RequestsTenant, 1000, "a second", "requests of one tenant"},
	{SendsIdentity, 50, "a second", "messages, documents, transfers, calls of tools and models, joining, leaving, removing and signing out by one person or agent"},
	{SendsTenant, 500, "a second", "the same of one tenant"},
	{CreationsIdentity, 10, "a second", "all else that one person or agent makes or changes: rooms, entries, roles, tokens, sign-ins, servers, who may use a tool; and looks at the past (as_of)"},
	{CreationsTenant, 50, "a second", "the same of one tenant"},
	{StreamsIP, 1000, "open", "live streams to one address"},
	{StreamsIdentity, 100, "open", "live streams of one person or agent"},
	{StreamsTenant, 5000, "open", "live streams of one tenant"},
	{StreamedTenant, 16 << 20, bytesASecond, "what the live streams of one tenant send; what is more comes a little later"},
	{UploadsIdentity, 100, "open", "uploads of one person or agent that are under way on a node"},
	{UploadsTenant, 1000, "open", "the same of one tenant"},
	{Runs, 4, "at once", "programs (tool.run) on a node; more wait for ten seconds, and are then refused by this limit"},
	{RunsTenant, 2, "at once", "the same of one tenant"},
	{ConnectionsIP, 1000, "open", "connections from one address, idle ones included"},
	{Connections, 20_000, "open", "connections in all; at most three quarters of the files that the process may open"},
	{RoomsTenant, 10_000, "in all", "rooms of one tenant"},
	{ContainersTenant, 10_000, "in all", "workspaces, wallets and other containers of one tenant"},
	{TokensTenant, 1000, "in all", "service tokens of one tenant that are good"},
	{ToolsTenant, 1000, "in all", "tools about which one tenant has said who may use them"},
	{BytesTenant, 20 << 30, "in all", "bytes of one tenant's messages, documents, files, events and ledger"},
	{FileBytesRoom, 10 << 30, "in all", "bytes of the files in one room's messages"},
}

// Rows is the table with its defaults.
func Rows() []Row { return slices.Clone(rows) }

// Table holds a number for each limit; 0 is no limit. The zero Table has none at all.
type Table map[Name]int64

// Default is the table as it comes.
func Default() Table {
	t := make(Table, len(rows))
	for _, r := range rows {
		t[r.Name] = r.Default
	}
	return t
}

// Fit is the table with no more connections than a process has files for: a quarter of
// them is kept for storage, other nodes and other servers. No number of files, or one
// that nobody reaches, bounds nothing.
func (t Table) Fit(files uint64) Table {
	const endless = 1 << 40
	if files == 0 || files >= endless {
		return t
	}
	out := maps.Clone(t)
	most := max(1, int64(files-files/4))
	if out[Connections] == 0 || out[Connections] > most {
		out[Connections] = most
	}
	return out
}

// All, in place of a name, stands for every limit.
const All = "all"

// With is the table with changes by name, 0 for no limit; the changes to single ones
// count over that to all.
func (t Table) With(changes map[string]int64) (Table, error) {
	out := maps.Clone(t)
	if all, ok := changes[All]; ok {
		for _, r := range rows {
			out[r.Name] = all
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if changes[name] < 0 {
			return nil, fmt.Errorf("the limit %q is below zero; 0 is no limit", name)
		}
		if name == All {
			continue
		}
		if _, known := out[Name(name)]; !known {
			return nil, fmt.Errorf("there is no limit %q; \"ubl limits\" lists them", name)
		}
		out[Name(name)] = changes[name]
	}
	return out, nil
}

// Within refuses one more of what is counted where it is, where somebody has as many as the
// limit lets them. It is a [ubl.Quota].
func (t Table) Within(limit string, have int) error {
	if most := t[Name(limit)]; most > 0 && int64(have) >= most {
		again := allAgain
		if Name(limit) == UploadsIdentity || Name(limit) == UploadsTenant {
			again = openAgain
		}
		return Exceeded(Name(limit), most).Later(again)
	}
	return nil
}

// allAgain is when to try again for more than there may be in all: after a person has
// done something about it.
const allAgain = time.Hour

// String is the table for people to read.
func (t Table) String() string {
	var b strings.Builder
	for _, r := range rows {
		n := "none"
		if t[r.Name] > 0 {
			n = fmt.Sprint(t[r.Name])
		}
		fmt.Fprintf(&b, "%-19s %12s %-9s %s\n", r.Name, n, r.Unit, r.Says)
	}
	return b.String()
}
