package web

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	downloads "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"ubl/test/ports"
)

// TestWallets: an owner makes a wallet and credits in it, sends some to another one after looking at
// what is to be sent, and finds both in what happened, each with its receipt. Who isn't an owner of
// the wallet sees no way to send; who isn't in it sees no wallet.
func TestWallets(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.visit("/ui/settings")
		p.press("link", "Wallets")
		p.sees("No wallet yet")
		p.examine("wallets-none")
		for _, name := range []string{"Travel", "Petty cash"} {
			p.visit("/ui/settings/wallets")
			p.press("button", "New wallet")
			p.fill("Name", name)
			p.press("button", "Make the wallet")
			p.sees("Wallet made")
		}
		p.press("button", "Make credits")
		p.fill("How many", "500")
		p.press("button", "Make them")
		p.sees("500 credits made", "+500")
		p.press("button", "Send credits")
		p.fill("How many", "501")
		p.sees("A whole number from 1 to 500")
		p.fill("How many", "120")
		p.pick("To", "k:travel")
		p.press("button", "Continue")
		p.sees("Is this right?", "380")
		p.examine("wallet-review")
		p.press("button", "Send 120")
		p.sees("120 credits sent to Travel", "−120", "to Travel, sent by ana")
		p.until("the balance is what is left", func() bool { return eval[string](p, `document.querySelector('.amount').innerText`) == "380" })
		p.examine("wallet")
		p.press("link", "−120…")
		p.sees("sent something to another container")
		p.visit("/ui/settings/wallets")
		p.sees("380 credits", "120 credits")
		p.examine("wallets")

		c := s.client(owner)
		eve := guest(t, s, v, "eve@elsewhere.example")
		eve.watch.expect("is answered 40[34]$")
		eve.visit("/ui/settings/wallets/k:petty-cash")
		eve.misses("380")
		c.ask("POST", "/api/containers/k:petty-cash/members", map[string]string{"user_id": memberOf(c, "eve@elsewhere.example")}, nil)
		eve.visit("/ui/settings/wallets/k:petty-cash")
		eve.sees("380", "The wallet’s owners send from it")
		eve.lacks("button", "Send credits")
		eve.lacks("button", "Make credits")
	})
}

// TestRulesForNewRooms: an owner says what rooms begin with that are made from now on; others have no
// entrance, and are told whom to ask.
func TestRulesForNewRooms(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.visit("/ui/settings")
		p.press("link", "Rules for new rooms")
		p.sees("Rooms made from now on begin with these rules")
		p.pick("Messages disappear", "90")
		p.fill("Longest message in bytes", "9000")
		p.sees("A whole number from 1 to 8,000")
		p.fill("Longest message in bytes", "4000")
		p.press("button", "Save the rules")
		p.sees("The rules for new rooms are changed")
		p.examine("defaults")
		c := s.client(owner)
		var made struct {
			Room struct {
				Policy struct {
					Days int `json:"retention_days"`
					Most int `json:"max_message_bytes"`
				}
			}
		}
		c.ask("POST", "/api/rooms", map[string]string{"name": "Moorings"}, nil)
		c.ask("GET", "/api/rooms/r:moorings", nil, &made)
		if got := made.Room.Policy; got.Days != 90 || got.Most != 4000 {
			t.Errorf("a new room begins with %+v", got)
		}
		eve := guest(t, s, v, "eve@elsewhere.example")
		eve.visit("/ui/settings")
		eve.find("link", "Wallets")
		for _, name := range []string{"Rules for new rooms", "Backup", "Nodes"} {
			eve.lacks("link", name)
		}
		for path, says := range map[string]string{"defaults": "Owners set these rules", "backup": "Only for those who run this server", "cluster": "Only for those who run this server"} {
			eve.visit("/ui/settings/" + path)
			eve.sees(says)
		}
	})
}

// TestBackupScreen: who runs the server is told that there is no backup, proves that it is them,
// and has one, by which a server starts; then its age is told.
func TestBackupScreen(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		into := t.TempDir()
		call(p, downloads.SetDownloadBehavior, downloads.SetDownloadBehaviorParams{
			Behavior: downloads.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID, DownloadPath: into,
		})
		s.client(owner).send(general, "Never lose this.")
		p.visit("/ui/settings")
		p.press("link", "Backup")
		p.sees("knows of no backup", "ubl backup ubl-backup.tar")
		p.examine("backup-never")
		p.press("button", "Download a backup")
		p.sees("The backup is downloaded", "this minute")
		p.misses("knows of no backup")
		p.examine("backup")
		var files []string
		p.until("the file is there", func() bool {
			files, _ = filepath.Glob(filepath.Join(into, "ubl-*.tar"))
			return len(files) == 1
		})
		n := s.nodes[0]
		restored := filepath.Join(t.TempDir(), "restored")
		n.run("restore", files[0], "--data", restored)
		if _, err := os.Stat(restored); err != nil {
			t.Error(err)
		}
		p.ages()
		p.watch.expect(`^/api/platform/backup is answered 403`)
		p.press("button", "Download a backup")
		p.find("heading", "Confirm it…")
		p.press("button", "Cancel")
		p.sees("This needs a recent sign-in")
	})
}

// TestOwnDataScreen: a person takes home what is theirs, after proving who they are where that was
// long ago. Who doesn't has downloaded nothing.
func TestOwnDataScreen(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
		s := oneNode(t)
		p := newcomer(t, s, v)
		p.authenticator()
		into := t.TempDir()
		call(p, downloads.SetDownloadBehavior, downloads.SetDownloadBehaviorParams{
			Behavior: downloads.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID, DownloadPath: into,
		})
		s.client(owner).send(general, "Never lose this.")
		p.visit("/ui/settings")
		p.press("button", "Add")
		p.press("button", "Continue")
		p.sees("The passkey was added")
		p.ages()
		p.watch.expect(`^/api/me/export is answered 403`)
		p.press("button", "Download your data")
		p.find("heading", "Confirm it…")
		p.press("button", "Cancel")
		p.sees("This needs a recent sign-in")
		if files, _ := os.ReadDir(into); len(files) > 0 {
			t.Errorf("%s was downloaded", files[0].Name())
		}
		p.press("button", "Download your data")
		p.press("button", "Use your passkey")
		p.sees("Your browser is downloading it")
		p.examine("your-data")
		file := filepath.Join(into, "ubl-my-data.zip")
		p.until("the file is there", func() bool { _, err := os.Stat(file); return err == nil })
		z, err := zip.OpenReader(file)
		must(t, err)
		defer z.Close()
		page, err := z.Open("index.html")
		must(t, err)
		text, err := io.ReadAll(page)
		must(t, err)
		if !strings.Contains(string(text), "general") {
			t.Errorf("its first page has no room: %s", text)
		}
	})
}

// TestNodeAlone says so, and offers to remove nothing.
func TestNodeAlone(t *testing.T) {
	onBothScreens(t, func(t *testing.T, v view) {
		p := newcomer(t, oneNode(t), v)
		p.visit("/ui/settings")
		p.press("link", "Nodes")
		p.sees("This server runs alone", "answers", "All 8 partitions are led and take requests")
		p.lacks("button", "Remove…")
		p.examine("node-alone")
	})
}

// TestNodes: operators see every node of a cluster, and without reloading the page, which node is down.
// No node can be removed of three. Of four, one is, once somebody has confirmed it.
func TestNodes(t *testing.T) {
	onScreen(t, desktop, func(t *testing.T, v view) {
		s := threeNodes(t, "--operator", owner)
		p := newcomer(t, s, v)
		p.visit("/ui/settings/cluster")
		p.sees("3 nodes", "n1", "n2", "n3", "A cluster keeps at least 3 nodes")
		p.lacks("button", "Remove n3")
		p.examine("nodes")
		flags := slices.Clone(s.nodes[2].flags)
		flags[slices.Index(flags, "--node-id")+1], flags[slices.Index(flags, "--cluster-listen")+1] = "n4", ports.Free(t)
		n4 := newNode(t, flags...)
		n4.start()
		p.sees("4 nodes", "n4")
		p.press("button", "Remove n4")
		p.find("heading", "Remove n4 for good?")
		p.examine("node-removed")
		p.press("button", "Remove")
		p.sees("n4 is leaving")
		s.nodes[2].kill()
		p.sees("doesn’t answer")
		p.examine("nodes-down")
	})
}
