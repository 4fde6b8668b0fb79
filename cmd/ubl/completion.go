package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints a script that completes commands, flags and values. It is made from
// the grammar, so that it knows what this very program knows; values are asked for when the
// tab key is pressed ([valuesCmd]).
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script.
func (c *completionCmd) Run(k *kong.Kong, p *program) error {
	script := map[string]func([]*kong.Node) string{"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	_, err := fmt.Fprint(p.out, script(visible(k.Model.Children)))
	return err
}

// visible are the commands that help lists.
func visible(commands []*kong.Node) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(commands), func(c *kong.Node) bool { return c.Hidden })
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

// choices are what a flag or an argument takes, in the words of a shell: those that the
// grammar lists, or a question to the program. "" where nobody knows.
func choices(v *kong.Value) (words, kind string) {
	if v.Enum != "" && !v.IsBool() {
		return strings.ReplaceAll(v.Enum, ",", " "), ""
	}
	return "", v.Tag.Get("complete")
}

func bash(commands []*kong.Node) string {
	var b strings.Builder
	b.WriteString("# bash completion for ubl\n")
	b.WriteString("_ubl_values() { \"${COMP_WORDS[0]}\" __values \"$1\" 2>/dev/null; }\n_ubl() {\n")
	b.WriteString("  local line=\"${COMP_LINE:0:$COMP_POINT}\" words=\"\" kind=\"\" files=\"\"\n")
	b.WriteString("  local word=\"${line##* }\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n")
	bashWords(&b, "  ", commands, 1)
	// The names of ids hold colons, at which bash parts words.
	b.WriteString("  if [ -n \"$kind\" ] && [[ \"$word\" != -* ]]; then words=\"$words $(_ubl_values \"$kind\")\"; fi\n")
	b.WriteString("  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n")
	b.WriteString("  if [[ \"$word\" == *:* && \"$COMP_WORDBREAKS\" == *:* ]]; then COMPREPLY=(\"${COMPREPLY[@]#\"${word%:*}:\"}\"); fi\n")
	b.WriteString("}\ncomplete -o default -F _ubl ubl\n")
	return b.String()
}

// bashWords sets what may stand at a place: a command's name, or what follows
// the one that is there.
func bashWords(b *strings.Builder, indent string, commands []*kong.Node, place int) {
	fmt.Fprintf(b, "%sif [ \"$COMP_CWORD\" -eq %d ]; then words=\"%s\"; else\n", indent, place, names(commands))
	fmt.Fprintf(b, "%s  case \"${COMP_WORDS[%d]}\" in\n", indent, place)
	for _, c := range commands {
		if c.Leaf() {
			fmt.Fprintf(b, "%s    %s) words=\"%s\"%s\n", indent, c.Name, flags(c), bashValues(c))
			continue
		}
		fmt.Fprintf(b, "%s    %s)\n", indent, c.Name)
		bashWords(b, indent+"      ", visible(c.Children), place+1)
		fmt.Fprintf(b, "%s      ;;\n", indent)
	}
	fmt.Fprintf(b, "%s  esac\n%sfi\n", indent, indent)
}

// bashValues ends a command's case with its arguments' values, and with those of a flag that
// stands before.
func bashValues(c *kong.Node) string {
	var b strings.Builder
	for _, arg := range c.Positional {
		if words, kind := choices(arg); kind != "" {
			fmt.Fprintf(&b, "; kind=%s", kind)
		} else if words != "" {
			fmt.Fprintf(&b, "; words=\"$words %s\"", words)
		}
	}
	cases := ""
	for _, f := range c.Flags {
		switch words, kind := choices(f.Value); {
		case kind != "":
			cases += fmt.Sprintf(" --%s) words=\"\"; kind=%s ;;", f.Name, kind)
		case words != "":
			cases += fmt.Sprintf(" --%s) words=\"%s\"; kind=\"\" ;;", f.Name, words)
		}
	}
	if cases != "" {
		fmt.Fprintf(&b, "; case \"$before\" in%s esac", cases)
	}
	return b.String() + " ;;"
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

// fishWords offers commands where the condition first holds, and their flags and values
// behind them; seen is the condition that those above them were given.
func fishWords(b *strings.Builder, first, seen string, commands []*kong.Node) {
	for _, c := range commands {
		fmt.Fprintf(b, "complete -c ubl -f -n '%s' -a %s -d %s\n", first, c.Name, quoted(c.Help))
		here := seen + "__fish_seen_subcommand_from " + c.Name
		for _, arg := range c.Positional {
			if from := fishValues(arg); from != "" {
				fmt.Fprintf(b, "complete -c ubl -f -n '%s' -a %s\n", here, from)
			}
		}
		for _, f := range c.Flags {
			fmt.Fprintf(b, "complete -c ubl -n '%s' -l %s -d %s", here, f.Name, quoted(f.Help))
			if from := fishValues(f.Value); from != "" {
				fmt.Fprintf(b, " -x -a %s", from)
			}
			b.WriteString("\n")
		}
		below := visible(c.Children)
		fishWords(b, here+"; and not __fish_seen_subcommand_from "+names(below), here+"; and ", below)
	}
}

func fishValues(v *kong.Value) string {
	words, kind := choices(v)
	if kind != "" {
		return "'(ubl __values " + kind + " 2>/dev/null)'"
	}
	if words == "" {
		return ""
	}
	return quoted(words)
}
