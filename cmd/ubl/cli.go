package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// cli is the command line. A flag --some-flag is also the variable
// UBL_SOME_FLAG and the key some-flag of the YAML file, unless it is tagged config:"-".
type cli struct {
	Config string `help:"YAML file with the flags' names as keys, and the sections limits, gateway, oidc and portal." placeholder:"FILE"`

	Show kong.VersionFlag `name:"version" short:"v" config:"-" help:"Print the version."`

	Login    loginCmd    `cmd:"" group:"You and your server" help:"Sign in to a server through your browser, and keep that as a profile."`
	Logout   logoutCmd   `cmd:"" group:"You and your server" help:"End a profile and its token."`
	Profiles profilesCmd `cmd:"" group:"You and your server" help:"List the servers that you are signed in to, and choose the default one."`
	Whoami   whoamiCmd   `cmd:"" group:"You and your server" help:"Say which server you are on, and who you are there."`
	Open     openCmd     `cmd:"" group:"You and your server" help:"Open the app in your browser, on the server's own machine with a fresh sign-in link."`
	Token    tokensCmd   `cmd:"" group:"You and your server" help:"Make tokens with the server's key; list and revoke those that there are."`

	Rooms    roomsCmd    `cmd:"" group:"Rooms and messages" help:"List rooms."`
	Room     roomCmd     `cmd:"" group:"Rooms and messages" help:"Make, join, leave and end rooms."`
	Dm       dmCmd       `cmd:"" group:"Rooms and messages" help:"Open the direct messages with people, or write one."`
	Send     sendCmd     `cmd:"" group:"Rooms and messages" help:"Send a message."`
	History  historyCmd  `cmd:"" group:"Rooms and messages" help:"Read a room's messages."`
	Tail     tailCmd     `cmd:"" group:"Rooms and messages" help:"Follow a room."`
	Webhook  webhookCmd  `cmd:"" group:"Rooms and messages" help:"Have other servers told of messages, signed, and see how that fares."`
	Bridge   bridgeCmd   `cmd:"" group:"Rooms and messages" help:"Connect a room with another system's channels."`
	Poll     pollCmd     `cmd:"" group:"Rooms and messages" help:"Ask rooms to vote, vote, and end polls."`
	Form     formCmd     `cmd:"" group:"Rooms and messages" help:"Ask with buttons and fields, and answer."`
	Schedule scheduleCmd `cmd:"" group:"Rooms and messages" help:"Send messages later, once or again and again."`
	Notify   notifyCmd   `cmd:"" group:"Rooms and messages" help:"Choose what reaches you, and when."`
	Looked   showCmd     `cmd:"" group:"Rooms and messages" name:"show" help:"Show a room, a container or an Agreement, as it is or was."`

	Search searchCmd `cmd:"" group:"Rooms and messages" help:"Find messages in all your rooms, by what they say."`

	Workspace workspaceCmd `cmd:"" group:"Documents and files" help:"List and make workspaces."`

	Doc  docCmd  `cmd:"" group:"Documents and files" help:"List, read, write and find documents."`
	File fileCmd `cmd:"" group:"Documents and files" help:"Put files into workspaces, and get them."`

	Knowledge knowledgeCmd `cmd:"" group:"Documents and files" help:"Publish folders of Markdown, and check whether they are ready."`

	Members     membersCmd     `cmd:"" group:"People, agents and tools" help:"List the people and agents of your tenant."`
	Member      memberCmd      `cmd:"" group:"People, agents and tools" help:"List, add and remove members of the tenant, rooms and containers."`
	Invite      invitesCmd     `cmd:"" group:"People, agents and tools" help:"Invite people into your tenant; list and take back invitations."`
	Invitations invitationsCmd `cmd:"" group:"People, agents and tools" hidden:"" help:"List the invitations into the tenant, and take one back."`
	Tool        toolCmd        `cmd:"" group:"People, agents and tools" help:"Say who may use which tool."`
	Servers     serversCmd     `cmd:"" group:"People, agents and tools" help:"List the servers of tools, and how they are doing."`
	MCPCheck    mcpCheckCmd    `cmd:"" group:"People, agents and tools" name:"mcp-check" help:"Connect as an agent does: list the tools, send a message, look its receipt up."`
	Domains     domainsCmd     `cmd:"" group:"People, agents and tools" help:"See and claim the mail domains whose people join your tenant."`
	Sealed      sealedCmd      `cmd:"" group:"People, agents and tools" help:"See the rooms and containers that nobody is left in, and give them to an heir."`
	DeadLetters deadLettersCmd `cmd:"" group:"People, agents and tools" name:"deadletters" help:"See what could not be done by itself, and have it tried again, or give it up."`

	Me     meCmd      `cmd:"" group:"The ledger" help:"Take your own data home."`
	Export exportCmd  `cmd:"" group:"The ledger" help:"Write a tenant's ledger to standard output, or all that it has into a folder."`
	Import importsCmd `cmd:"" group:"The ledger" help:"Take an exported tenant's rooms, documents and files into yours, or the channels of Slack, Mattermost or Matrix."`
	Verify verifyCmd  `cmd:"" group:"The ledger" help:"Check an exported ledger, offline."`

	Serve   serveCmd   `cmd:"" group:"Running a server" help:"Run the server."`
	Health  healthCmd  `cmd:"" group:"Running a server" help:"Ask a server whether it takes requests."`
	Doctor  doctorCmd  `cmd:"" group:"Running a server" help:"Check disk, clock, ports, permissions, backup and reachability, and say what to do."`
	Key     keyCmd     `cmd:"" group:"Running a server" help:"Rotate the server's key, or list its keys."`
	Backup  backupCmd  `cmd:"" group:"Running a server" help:"Back up everything into one file. A running server wants the token of one of its operators (serve --operator EMAIL); --data DIR is for a stopped one."`
	Restore restoreCmd `cmd:"" group:"Running a server" help:"Make a data directory from a backup."`
	Scrub   scrubCmd   `cmd:"" group:"Running a server" help:"Check a stopped server's data: every page, value and number. With --json it also prints digests, to compare two copies."`
	Cluster clusterCmd `cmd:"" group:"Running a server" help:"See and manage the nodes of a cluster."`
	Limits  limitsCmd  `cmd:"" group:"Running a server" help:"Print the limits of a server, which hold by default."`
	Bench   benchCmd   `cmd:"" group:"Running a server" help:"Measure this machine, or fill a data directory."`

	Version    versionCmd    `cmd:"" group:"This program" help:"Print the version."`
	Completion completionCmd `cmd:"" group:"This program" help:"Print a completion script for a shell."`
	Values     valuesCmd     `cmd:"" name:"__values" hidden:"" help:"List what may stand at a place of the command line."`
}

// Shared groups of flags.
type (
	// whichServer says which server a command asks; see target.go.
	whichServer struct {
		URL     string `name:"url" help:"The server; without one, the profile's, else http://127.0.0.1:8080." placeholder:"URL"`
		Profile string `complete:"profiles" help:"The server and sign-in of this profile, as \"ubl profiles\" lists them." placeholder:"NAME"`
	}
	// remote is where the client commands find the server, and as whom.
	remote struct {
		whichServer
		TokenFile string `name:"token-file" type:"path" help:"File with the bearer token; else it is the variable UBL_TOKEN." placeholder:"FILE"`
	}
	// format is how results are written.
	format struct {
		JSON bool `name:"json" help:"Write JSON, for programs."`
	}
)

const description = `UBL: rooms for people and AI agents, with a receipt for every action.

Most flags can be given as a variable (--admin-listen is UBL_ADMIN_LISTEN) or in
a YAML file (admin-listen: …); a flag beats a variable, a variable the file.
Tokens are never flags: clients take UBL_TOKEN or --token-file.

Exit codes: 0 fine, 1 failed (or does not verify), 2 the command line is wrong,
65 a ledger lacks atoms, or may (export, import, verify), 75 the disk is full (serve).`

// importExits are the codes of an import from another product.
const importExits = "0 all is there that can be, 1 failed, or some of it was refused, 2 the command line is wrong."

// exitHelp stands below a command's help where it ends with more than the usual codes.
var exitHelp = map[string]string{
	"doctor":            "0 all is well, or merely odd (warn), 1 a check failed, 2 the command line is wrong.",
	"serve":             "0 it was stopped, 1 failed, 2 the command line is wrong, 75 the disk is full: free some space, then start again.",
	"export":            "0 all is there, 1 failed, 2 the command line is wrong, 65 all is there that can be read: atoms are missing, or may be.",
	"import":            "0 all is there that can be, 1 failed, or some of it was refused, 2 the command line is wrong, 65 the export's ledger lacks atoms.",
	"import slack":      importExits,
	"import mattermost": importExits,
	"import matrix":     importExits,
	"bridge irc":        "0 it was stopped, or --check found all well, 1 a side no longer takes the bridge, or its file can't be written, 2 the command line is wrong.",
	"knowledge check":   "0 all that asks to be published would be, 1 some of it wouldn't, or failed, 2 the command line is wrong.",
	"verify":            "0 the ledger holds, 1 it doesn't, 2 the command line is wrong, 65 what is there holds: atoms are missing, or may be.",
}

// examples stand at the end of each command's help.
var examples = map[string][]string{
	"serve": {
		"ubl serve",
		"ubl serve --data /var/lib/ubl --listen 127.0.0.1:0",
		"ubl serve --listen 0.0.0.0:8080 --public-url https://ubl.example.com --oidc-issuer https://id.example.com --oidc-audience ubl",
	},
	"login":              {"ubl login", "ubl login https://ubl.example.com --name work", "ubl login http://127.0.0.1:8080 --no-browser"},
	"logout":             {"ubl logout", "ubl logout work"},
	"profiles":           {"ubl profiles", "ubl profiles --use work --json"},
	"whoami":             {"ubl whoami", "ubl whoami --profile work --json"},
	"open":               {"ubl open", "ubl open eve@example.com --data /var/lib/ubl --print"},
	"key rotate":         {"ubl key rotate", "ubl key rotate --keep 0 --identity-key /var/lib/ubl/identity.key"},
	"key list":           {"ubl key list"},
	"send":               {`ubl send general "good morning"`, "uptime | ubl send r:general -", `ubl send plans "see this" --forward general/m:0199a1b2`},
	"schedule list":      {"ubl schedule", "ubl schedule --json"},
	"poll create":        {`ubl poll create general "Where do we eat?" "At the lake" "In town" --in 24h`},
	"poll show":          {`ubl poll show general m:0199a1b2`},
	"poll vote":          {`ubl poll vote general m:0199a1b2 2`, `ubl poll vote general m:0199a1b2`},
	"poll end":           {`ubl poll end general m:0199a1b2`},
	"form send":          {`ubl form send general "May I deploy?" --button Approve --button Reject`, `ubl form send general "Who comes along?" --fields trip.json`},
	"form show":          {`ubl form show general m:0199a1b2`},
	"form answer":        {`ubl form answer general m:0199a1b2 choice=Approve`},
	"schedule send":      {`ubl schedule send general "stand-up" --at 2026-02-02T09:00 --zone Europe/Berlin --every "FREQ=WEEKLY;BYDAY=MO"`, `ubl schedule send general "back at my desk" --in 2h`},
	"schedule change":    {`ubl schedule change q:00112233445566778899 --text "stand-up, in the kitchen"`},
	"webhook list":       {"ubl webhook", "ubl webhook --json"},
	"webhook add":        {"ubl webhook add build https://hooks.example/ubl --room general", "ubl webhook add audit https://audit.example/in --room general --room board --event message --event edit --event redaction"},
	"webhook change":     {"ubl webhook change wh:00112233445566778899 --pause", "ubl webhook change wh:00112233445566778899 --to https://hooks.example/new"},
	"webhook rotate":     {"ubl webhook rotate wh:00112233445566778899"},
	"webhook test":       {"ubl webhook test wh:00112233445566778899"},
	"webhook deliveries": {"ubl webhook deliveries wh:00112233445566778899"},
	"webhook redeliver":  {"ubl webhook redeliver wh:00112233445566778899 msg_00112233445566778899"},
	"webhook rm":         {"ubl webhook rm wh:00112233445566778899"},
	"bridge irc":         {"ubl bridge irc general --server irc.example.org --channel #ubl --token-file bridge.token --check", "ubl bridge irc general --server irc.example.org --channel #ubl --nick ublbot --login ublbot --password-file irc.password"},
	"schedule cancel":    {"ubl schedule cancel q:00112233445566778899"},
	"tail":               {"ubl tail general", "ubl tail general --from 0 --json"},
	"rooms":              {"ubl rooms", `ubl rooms --directory "launch plans"`},
	"dm":                 {`ubl dm eve@example.com "good morning"`, "ubl dm eve@example.com bob@example.com", "ubl dm eve@example.com --forward general/m:0199a1b2"},
	"show":               {"ubl show general", "ubl show r:plans --as-of 2026-01-31T12:00:00Z", "ubl show a:tenant:t:example.com --as-of 4711 --json"},
	"members":            {"ubl members", "ubl members --former", "ubl members --json"},
	"servers":            {"ubl servers", "ubl servers --json"},
	"history":            {"ubl history general --limit 20"},
	"me export":          {"ubl me export --out my-data.zip", "ubl me export --out my-data.zip --force --json"},
	"export":             {"ubl export --tenant t:example.com > ledger.ndjson", "ubl export --tenant t:example.com --data ./ubl-data | ubl verify -", "ubl export --all ./everything"},
	"import slack":       {"ubl import slack export.zip --dry-run", "ubl import slack export.zip --people people.csv", "SLACK_TOKEN=xoxp-… ubl import slack export.zip --only general --only design"},
	"import mattermost":  {"ubl import mattermost export.zip --dry-run", "ubl import mattermost export.zip --direct --json"},
	"import matrix":      {"ubl import matrix matrix-export.zip", "ubl import matrix export.json --people people.csv"},
	"import archive":     {"ubl import ./everything --dry-run", "ubl import ./everything", "ubl import everything.zip --merge --json"},
	"verify":             {"ubl verify ledger.ndjson", "ubl verify ledger.ndjson --head h:50e4…", "ubl export --tenant t:localhost | ubl verify -"},
	"scrub":              {"ubl scrub --data ./ubl-data", "ubl scrub --json", "ubl scrub --data ./ubl-data --accept-journal-loss"},
	"backup":             {"ubl backup monday.tar", "ubl backup monday.tar --data ./ubl-data", "ubl backup monday.tar.age --encrypt-to-file recipients.txt"},
	"restore":            {"ubl restore monday.tar --data ./ubl-new --identity-key ./kept/identity.key", "ubl restore monday.tar.age --data ./ubl-new --decrypt-with age.key"},
	"bench":              {"ubl bench --writers 64 --seconds 5 --json", "ubl bench --prepare-rooms 100000 --data ./big", "ubl bench --prepare-events 1000000 --data ./old"},
	"limits":             {"ubl limits", "ubl limits --config ubl.yaml"},
	"doctor":             {"ubl doctor", "ubl doctor --data /var/lib/ubl --public-url https://ubl.example.com --json"},
	"health":             {"ubl health", "ubl health --wait 5m --url https://ubl.example.com", "ubl health --live"},
	"mcp-check":          {"ubl mcp-check", "ubl mcp-check --room - --json", "ubl mcp-check --path /mcp --url https://ubl.example.com"},
	"version":            {"ubl version", "ubl version --json"},
	"__values":           {"ubl __values rooms"},
	"completion":         {`source <(ubl completion bash)`, "ubl completion fish > ~/.config/fish/completions/ubl.fish"},

	"notify show":     {"ubl notify", "ubl notify --json"},
	"notify room":     {"ubl notify room general --mute 8h", "ubl notify room plans --level all --favourite"},
	"notify quiet":    {"ubl notify quiet 22:00 07:00 --zone Europe/Berlin", "ubl notify quiet --off"},
	"notify dnd":      {"ubl notify dnd 90m", "ubl notify dnd 0s"},
	"notify mail":     {"ubl notify mail off", "ubl notify mail daily --text"},
	"notify keywords": {"ubl notify keywords deploy \"on fire\"", "ubl notify keywords"},
	"notify remind":   {"ubl notify remind general m:00000000-0001-839e-aaa2-5d5d1845e2c3 --in 2h --note \"answer Eve\""},
	"notify forget":   {"ubl notify forget n:00112233445566778899"},

	"room list":          {`ubl room list`},
	"room create":        {`ubl room create "Launch plans"`, `ubl room create Board --join tenant --keep 365`, `ubl room create News --posting threads`},
	"room policy":        {`ubl room policy plans --keep 8h`, `ubl room policy plans --keep forever --posting threads`},
	"room describe":      {`ubl room describe plans --topic "What comes next"`, `ubl room describe plans --name Launch`},
	"room join":          {`ubl room join plans`},
	"room leave":         {`ubl room leave plans`},
	"room archive":       {`ubl room archive plans --yes`},
	"member list":        {`ubl member list`, `ubl member list --room plans`},
	"member add":         {`ubl member add eve@example.com --room plans`, `ubl member add u:ca6125ff58bada5aba2e2d0f84e82f0d --container w:drafts --role owner`},
	"member remove":      {`ubl member remove eve@example.com --room plans`, `ubl member remove eve@example.com --yes`},
	"member role":        {`ubl member role eve@example.com owner`, `ubl member role eve@example.com member --room plans`},
	"invite create":      {`ubl invite eve@example.org`, `ubl invite eve@example.org --role owner --ttl 24h --json`},
	"invitations list":   {"ubl invitations list"},
	"invitations revoke": {"ubl invitations revoke eve@example.org"},
	"invite list":        {`ubl invite list`, `ubl invite list --json`},
	"invite revoke":      {`ubl invite revoke eve@example.org`, `ubl invite revoke i:0123456789abcdef0123456789abcdef`},
	"token create":       {`export UBL_TOKEN=$(ubl token ana@example.com)`, `ubl token ana@example.com --service builder --ttl 720h`, `ubl token ana@example.com --service scribe --room general --tools "messenger.*"`},
	"token list":         {`ubl token list`, `ubl token list --json`},
	"token revoke":       {`ubl token revoke 0123456789abcdef0123456789abcdef`, `ubl token revoke builder`},
	"workspace list":     {`ubl workspace list`, `ubl workspace list --json`},
	"workspace create":   {`ubl workspace create Handbook`, `ubl workspace create Board --for members`, `ubl workspace create "Public pages" --for public`},
	"doc list":           {`ubl doc list`, `ubl doc list --workspace plans --as-of 4711 --json`},
	"doc get":            {`ubl doc get Launch`, `ubl doc get d:01890000-0000-7000-8000-000000000000 --at-version 2 > launch.md`},
	"doc put":            {`ubl doc put launch.md`, `ubl doc put launch.md --document Launch --if-version 3`, `date | ubl doc put - --title Now --workspace plans`},
	"knowledge check":    {`ubl knowledge check ./handbook`, `ubl knowledge check ./handbook --strict --json`},
	"knowledge import":   {`ubl knowledge import ./handbook --workspace handbook`, `ubl knowledge import . --workspace handbook --commit $(git rev-parse HEAD) --yes`},
	"search":             {`ubl search "launch mond*"`, `ubl search '"launch plan" -draft' --in general --from ana@example.com --after 2026-01-31`},
	"doc search":         {`ubl doc search "launch mond*"`, `ubl doc search "how do we renew certificates?" --any --workspace handbook`, `ubl doc search budget --where tags=finance --from 2026-01-01 --to 2026-12-31`},
	"tool list":          {`ubl tool list`, `ubl tool list --server weather --json`},
	"tool allow":         {`ubl tool allow weather.forecast`, `ubl tool allow messenger.send --member eve@example.com --per-minute 60`},
	"tool deny":          {`ubl tool deny office.document.delete`},

	"domains list":    {"ubl domains list", "ubl domains list --json"},
	"domains claim":   {"ubl domains claim example.com", "ubl domains claim example.com --json"},
	"domains verify":  {"ubl domains verify example.com", "until ubl domains verify example.com; do sleep 60; done"},
	"domains release": {"ubl domains release example.com"},

	"file put":    {"ubl file put report.pdf", "ubl file put film.mp4 --workspace plans --name \"The film.mp4\"", "ubl file put film.mp4 --upload up:0123456789abcdef0123456789abcdef01234567"},
	"file get":    {"ubl file get f:01890000-0000-7000-8000-000000000000", "ubl file get f:01890000-0000-7000-8000-000000000000 copy.pdf", "ubl file get f:01890000-0000-7000-8000-000000000000 - | less"},
	"file list":   {"ubl file list", "ubl file list --workspace plans --json"},
	"file remove": {"ubl file remove f:01890000-0000-7000-8000-000000000000"},

	"deadletters discard": {"ubl deadletters discard retention r:general"},
	"deadletters list":    {"ubl deadletters list", "ubl deadletters list --pending", "ubl deadletters list --all --json"},
	"deadletters redrive": {"ubl deadletters redrive retention r:general", "ubl deadletters redrive call:17 portal t:example.com"},

	"sealed list": {"ubl sealed list", "ubl sealed list --json"},
	"sealed heir": {"ubl sealed heir a:room:r:plans eve@example.com", "ubl sealed heir a:workspace:w:drafts u:ca6125ff58bada5aba2e2d0f84e82f0d"},

	"cluster secret": {"ubl cluster secret --out secret", "ubl cluster secret | kubectl create secret generic ubl-cluster --from-file=cluster-secret=/dev/stdin"},
	"cluster status": {"ubl cluster status", "ubl cluster status --json", "until ubl cluster status; do sleep 1; done"},
	"cluster remove": {"ubl cluster remove n3"},
}

// newParser builds the parser. The exit function is called after --help.
func newParser(c *cli, p *program, exit func(int)) (*kong.Kong, error) {
	return kong.New(c,
		kong.Name("ubl"),
		kong.Description(description),
		kong.Writers(p.out, p.err),
		kong.Bind(p),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Help(p.printHelp),
		kong.Vars{"version": about()},
		kong.ValueFormatter(withVariable),
	)
}

// printHelp ends a command's help with its exit codes and examples to copy.
func (p *program) printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	node := ctx.Selected()
	if node == nil {
		return nil
	}
	if slices.ContainsFunc(node.Flags, func(f *kong.Flag) bool { return f.Name == "profile" }) {
		fmt.Fprintf(ctx.Stdout, "\n%s\n", precedence)
	}
	if codes := exitHelp[node.Path()]; codes != "" {
		fmt.Fprintf(ctx.Stdout, "\nExit codes: %s\n", codes)
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\nExamples:\n  %s\n", p.copyable(strings.Join(examplesOf(node), "\n  ")))
	return err
}

// examplesOf are a command's; of one that has others below it, the first of each and all of
// what it does by itself.
func examplesOf(node *kong.Node) []string {
	own := examples[node.Path()]
	for _, child := range node.Children {
		below := examplesOf(child)
		if child != node.DefaultCmd {
			below = below[:min(1, len(below))]
		}
		own = append(own[:len(own):len(own)], below...)
	}
	return own
}

// withVariable adds to a flag's help its default, where the placeholder hides
// it, and the variable that says the same.
func withVariable(v *kong.Value) string {
	if v.Flag == nil || !configurable(v.Flag) {
		return v.Help
	}
	more := "$" + variable(v.Flag.Name)
	if v.HasDefault && v.Flag.PlaceHolder != "" {
		more = "default " + v.Default + "; " + more
	}
	return strings.TrimSuffix(v.Help, ".") + " (" + more + ")."
}
