package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ubl/test/built"
)

// TestDocumentedCommandsExist: every ubl command of the handbooks is one that
// the program has, with the flags that it has.
func TestDocumentedCommandsExist(t *testing.T) {
	help := map[string]string{}
	for _, name := range []string{"README.md", "RUNBOOK.md"} {
		for _, line := range commands(readFile(t, name)) {
			words := strings.Fields(line)
			sub := subcommand(words)
			if _, ok := help[sub]; !ok {
				out, err := exec.Command(built.Path(t), append(strings.Fields(sub), "--help")...).CombinedOutput()
				if err != nil {
					t.Errorf("%s: %q: %s", name, line, out)
				}
				help[sub] = string(out)
			}
			for _, word := range words {
				if strings.HasPrefix(word, "--") && !strings.Contains(help[sub], word) {
					t.Errorf("%s: %q: ubl %s has no flag %s", name, line, sub, word)
				}
			}
		}
	}
	if len(help) < 8 {
		t.Errorf("the handbooks use %d commands of ubl, which is too few to be true", len(help))
	}
}

// commands lists the command lines of ubl in code: where a command begins, or
// behind what runs it for another.
func commands(text string) (lines []string) {
	code := regexp.MustCompile("(?s)```sh\n(.*?)```|`([^`\n]+)`").FindAllStringSubmatch(text, -1)
	call := regexp.MustCompile(`(?:^|[|(] ?|-u ubl |/)ubl ((?:cluster|key|deadletters|file) [a-z]+|[a-z]+)((?: +[^\s|>)#;&]+)*)`)
	for _, c := range code {
		for line := range strings.Lines(c[1] + c[2]) {
			for _, found := range call.FindAllStringSubmatch(strings.TrimSpace(line), -1) {
				lines = append(lines, strings.TrimSpace(found[1]+found[2]))
			}
		}
	}
	return lines
}

func subcommand(words []string) string {
	switch {
	case slices.Contains([]string{"cluster", "key", "deadletters", "file"}, words[0]):
		return strings.Join(words[:2], " ")
	case words[0] == "token": // of an address: the group's usual command
		return "token create"
	}
	return words[0]
}

// TestRunbookLinksLead: each link within and between the handbooks has its
// heading.
func TestRunbookLinksLead(t *testing.T) {
	headings := map[string][]string{}
	for _, name := range []string{"README.md", "RUNBOOK.md", "../docs/operating.md", "../docs/agents.md"} {
		for _, h := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(readFile(t, name), -1) {
			headings[name] = append(headings[name], anchor(h[1]))
		}
	}
	for _, name := range []string{"README.md", "RUNBOOK.md", "prometheus/alerts.yaml"} {
		for _, link := range regexp.MustCompile(`((?:\.\./docs/)?[A-Za-z]+\.md)?#([a-z-]+)\b`).FindAllStringSubmatch(readFile(t, name), -1) {
			file := link[1]
			if file == "" {
				file = name
			}
			if !slices.Contains(headings[file], link[2]) {
				t.Errorf("%s: there is no heading for %s#%s", name, file, link[2])
			}
		}
	}
}

// TestRunbookKnowsMessages: what a start or a command says when it goes no further stands in
// the runbook as the program says it.
func TestRunbookKnowsMessages(t *testing.T) {
	runbook := readFile(t, "RUNBOOK.md")
	for says, file := range map[string]string{
		"the file belongs to another data directory, or to another place in it":              "storage/boltfile.go",
		"its root page lies beyond the end of the file":                                      "storage/salvage.go",
		"is open to others (mode ":                                                           "transport/auth/key.go",
		"this node waits for its cluster":                                                    "cmd/ubl/waiting.go",
		"no node leads this part of the data now":                                            "cluster/ask.go",
		"belongs to a node of a cluster":                                                     "cmd/ubl/node.go",
		"the data directory holds data and had no key":                                       "cmd/ubl/key.go",
		"not an Ed25519 key":                                                                 "transport/auth/key.go",
		"was damaged or missing, and was made again":                                         "cmd/ubl/node.go",
		"the newest atoms may be missing, behind the last":                                   "ledger.go",
		"Everything from the first record on that can't be read is given up, sound or not: ": "cmd/ubl/scrub.go",
	} {
		source, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), says) {
			t.Errorf("%s doesn't say %q any more", file, says)
		}
		if !strings.Contains(runbook, strings.TrimRight(says, ": ")) {
			t.Errorf("RUNBOOK.md doesn't know %q", says)
		}
	}
}

// anchor is how a heading is linked to.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}
