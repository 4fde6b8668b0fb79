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
	bashWords(&b, "  ", commands, 1)
	b.WriteString("  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\ncomplete -o default -F _ubl ubl\n")
	return b.String()
}

// bashWords sets what may stand at a place: a command's name, or what follows
// the one that is there.
func bashWords(b *strings.Builder, indent string, commands []*kong.Node, place int) {
	fmt.Fprintf(b, "%sif [ \"$COMP_CWORD\" -eq %d ]; then words=\"%s\"; else\n", indent, place, names(commands))
	fmt.Fprintf(b, "%s  case \"${COMP_WORDS[%d]}\" in\n", indent, place)
	for _, c := range commands {
		if c.Leaf() {
			fmt.Fprintf(b, "%s    %s) words=\"%s\" ;;\n", indent, c.Name, flags(c))
			continue
		}
		fmt.Fprintf(b, "%s    %s)\n", indent, c.Name)
		bashWords(b, indent+"      ", c.Children, place+1)
		fmt.Fprintf(b, "%s      ;;\n", indent)
	}
	fmt.Fprintf(b, "%s  esac\n%sfi\n", indent, indent)
}

func zsh(commands []*kong.Node) string {
	return "#compdef ubl\n# zsh completion for ubl\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands)
}

func fish(commands []*kong.Node) string {
	var b strings.Builder
	b.WriteString("# fish completion for ubl\n")
	fishWords(&b, "__fish_use_subcommand", "", commands)
	return b.String()
}

// fishWords offers commands where the condition first holds, and their flags
// behind them; seen is the condition that those above them were given.
func fishWords(b *strings.Builder, first, seen string, commands []*kong.Node) {
	for _, c := range commands {
		fmt.Fprintf(b, "complete -c ubl -f -n '%s' -a %s -d %s\n", first, c.Name, quoted(c.Help))
		here := seen + "__fish_seen_subcommand_from " + c.Name
		for _, f := range c.Flags {
			fmt.Fprintf(b, "complete -c ubl -n '%s' -l %s -d %s\n", here, f.Name, quoted(f.Help))
		}
		fishWords(b, here+"; and not __fish_seen_subcommand_from "+names(c.Children), here+"; and ", c.Children)
	}
}
