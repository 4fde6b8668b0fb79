package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that completes commands and flags. It is made
// from the grammar, so that it knows what this very program knows.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCmd) Run(k *kong.Kong, p *program) error {
	script := map[string]func([]*kong.Node) string{"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	_, err := fmt.Fprint(p.out, script(k.Model.Children))
	return err
}

func names(commands []*kong.Node) string {
	out := make([]string, len(commands))
	for i, c := range commands {
		out[i] = c.Name
	}
	return strings.Join(out, " ")
}

func flags(c *kong.Node) string {
	out := []string{"--help"}
	for _, f := range c.Flags {
		if f.Name != "help" {
			out = append(out, "--"+f.Name)
		}
	}
	return strings.Join(append(out, "--config"), " ")
}

func bash(commands []*kong.Node) string {
	var b strings.Builder
	b.WriteString("# bash completion for ubl\n_ubl() {\n")
	b.WriteString("  local word=\"${COMP_WORDS[COMP_CWORD]}\" words=\"\"\n")
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"%s\"; else\n    case \"${COMP_WORDS[1]}\" in\n", names(commands))
	for _, c := range commands {
		fmt.Fprintf(&b, "      %s) words=\"%s\" ;;\n", c.Name, flags(c))
	}
	b.WriteString("    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -o default -F _ubl ubl\n")
	return b.String()
}

func zsh(commands []*kong.Node) string {
	return "#compdef ubl\n# zsh completion for ubl\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands)
}

func fish(commands []*kong.Node) string {
	var b strings.Builder
	b.WriteString("# fish completion for ubl\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "complete -c ubl -f -n __fish_use_subcommand -a %s -d %s\n", c.Name, quoted(c.Help))
		for _, f := range c.Flags {
			fmt.Fprintf(&b, "complete -c ubl -n '__fish_seen_subcommand_from %s' -l %s -d %s\n", c.Name, f.Name, quoted(f.Help))
		}
	}
	return b.String()
}
