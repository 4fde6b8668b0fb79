package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"ubl"
	"ubl/knowledge"
)

// knowledgeCmd is about folders of Markdown that a workspace publishes.
type knowledgeCmd struct {
	Check  knowledgeCheckCmd  `cmd:"" help:"Say whether a folder of Markdown is ready to be published, and what is wrong with it."`
	Import knowledgeImportCmd `cmd:"" help:"Publish a folder of Markdown in a workspace, or bring the workspace up to it."`
}

// aVault is a folder of Markdown, and how it is read.
type aVault struct {
	Folder   string `arg:"" type:"path" help:"The folder with the Markdown files."`
	Strict   bool   `help:"Refuse what doesn't fit its type, such as a file without a field that its type wants." config:"-"`
	Ontology string `type:"path" help:"YAML file with the types of documents; without one there are 21." placeholder:"FILE" config:"-"`
}

// read reads the folder. Nothing in it leads out of it.
func (v *aVault) read(ctx context.Context) (*knowledge.Vault, error) {
	ontology := knowledge.DefaultOntology()
	if v.Ontology != "" {
		data, err := os.ReadFile(v.Ontology)
		if err != nil {
			return nil, fmt.Errorf("couldn't read the ontology: %w", err)
		}
		if ontology, err = knowledge.ReadOntology(filepath.Base(v.Ontology), data); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(v.Folder)
	if err != nil {
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			err = path.Err
		}
		return nil, fmt.Errorf("couldn't open %s: %w", v.Folder, err)
	}
	defer root.Close()
	return knowledge.Read(ctx, root.FS(), ontology)
}

type knowledgeCheckCmd struct {
	format
	aVault
}

// errNotReady is of a vault of which not all is published that asks to be.
var errNotReady = errors.New("the folder isn't ready: see the problems")

// Run prints what of the folder would be published, and each problem with its line.
func (c *knowledgeCheckCmd) Run(ctx context.Context, p *program) error {
	vault, err := c.read(ctx)
	if err != nil {
		return err
	}
	report := vault.Report(c.Strict)
	if c.JSON {
		err = json.NewEncoder(p.out).Encode(report)
	} else {
		err = tellReport(p, report)
	}
	if err == nil && !report.Ready {
		err = errNotReady
	}
	return err
}

func tellReport(p *program, r *knowledge.Report) error {
	for _, problem := range r.Problems {
		fmt.Fprintln(p.out, clean(fmt.Sprintf("%s: %s", problem.Severity, problem)))
	}
	if len(r.Problems) > 0 {
		fmt.Fprintln(p.out)
	}
	table := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TYPE\tFILES\tPUBLISHED")
	for _, t := range r.Types {
		fmt.Fprintln(table, cells(t.Type, t.Files, t.Published))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if message, times := r.MostOften(); times > 1 {
		fmt.Fprintf(p.out, "\nMost often, in %d places: %s\n", times, clean(message))
	}
	_, err := fmt.Fprintf(p.out, "\n%d of %d files are to be published; %d of their links lead to a file, %d to none.\n",
		len(r.Published), r.Files, r.Links.Resolved, r.Links.Unresolved)
	return err
}

type knowledgeImportCmd struct {
	remote
	format
	inWorkspace
	aVault
	sure
	Commit     string `help:"The commit of the folder, which each document then names: 40 or 64 hex digits." placeholder:"SHA" config:"-"`
	RemoveMost bool   `name:"remove-most" help:"Delete documents even if they are more than half of what is published." config:"-"`
	DryRun     bool   `name:"dry-run" help:"Say what would change, and change nothing." config:"-"`
	Quiet      bool   `help:"Tell no progress." config:"-"`
}

// Run brings the workspace up to what the folder has.
func (c *knowledgeImportCmd) Run(ctx context.Context, p *program) error {
	path, err := c.path()
	if err != nil {
		return err
	}
	vault, err := c.read(ctx)
	if err != nil {
		return err
	}
	server, err := c.client(p)
	if err != nil {
		return err
	}
	stored, err := server.published(ctx, path)
	if err != nil {
		return err
	}
	paths := map[ubl.DocumentKey]string{}
	for key, d := range stored {
		paths[key] = d.Published.Path
	}
	vault.Settle(paths)
	c.tellRefused(p, vault)
	plan := c.compare(vault, stored)
	if c.DryRun || plan.empty() {
		return c.tell(p, plan, nil)
	}
	if 2*len(plan.remove) > len(stored) && !c.RemoveMost {
		return fmt.Errorf("this deletes %d of the %d published documents. Is %s the right folder? If so, add --remove-most", len(plan.remove), len(stored), c.Folder)
	}
	if len(plan.remove) > 0 {
		if err := c.ask(fmt.Sprintf("this deletes %s that the folder doesn't publish any more, with their versions", plural(len(plan.remove), "published document"))); err != nil {
			return err
		}
	}
	g := p.progress("publishing", "documents", c.Quiet || c.JSON)
	receipt, err := c.publish(ctx, p, server, path+"/publish", plan, g)
	g.end()
	if err != nil {
		return err
	}
	return c.tell(p, plan, receipt)
}

// tellRefused tells why files aren't published that may have asked for it.
func (c *knowledgeImportCmd) tellRefused(p *program, vault *knowledge.Vault) {
	for _, problem := range vault.Report(c.Strict).Problems {
		if problem.Severity == knowledge.Broken || c.Strict && problem.Severity == knowledge.Invalid {
			fmt.Fprintln(p.err, clean(fmt.Sprintf("%s: %s", problem.Severity, problem)))
		}
	}
}

// published are the documents of a workspace that were published, by their keys.
func (c *client) published(ctx context.Context, path string) (map[ubl.DocumentKey]*ubl.Document, error) {
	list, err := c.list(ctx, path+"/documents?limit=100", "documents")
	if err != nil {
		return nil, err
	}
	stored := map[ubl.DocumentKey]*ubl.Document{}
	for _, raw := range list {
		d, err := formed[ubl.Document]("a document", raw)
		if err != nil {
			return nil, err
		}
		if d.Published != nil {
			stored[d.Published.DocumentKey] = &d
		}
	}
	return stored, nil
}

// importPlan is what publishing a folder changes.
type importPlan struct {
	put       []*knowledge.Entry
	remove    []ubl.DocumentKey
	unchanged int
	withheld  int
}

func (p *importPlan) empty() bool { return len(p.put) == 0 && len(p.remove) == 0 }

// compare holds what the folder publishes against what the workspace has. A broken file doesn't say
// that it is no longer to be published, so what is stored of it stays.
func (c *knowledgeImportCmd) compare(vault *knowledge.Vault, stored map[ubl.DocumentKey]*ubl.Document) *importPlan {
	plan := &importPlan{}
	broken, left := map[string]bool{}, map[ubl.DocumentKey]bool{}
	for _, e := range vault.Entries {
		key := e.Key()
		if why := e.Withheld(c.Strict); why != "" {
			plan.withheld++
			broken[e.Path] = why == knowledge.WithheldBroken
			continue
		}
		left[key] = true
		if d := stored[key]; d != nil && same(d, e) {
			plan.unchanged++
			continue
		}
		plan.put = append(plan.put, e)
	}
	for key, d := range stored {
		if !left[key] && !broken[d.Published.Path] {
			plan.remove = append(plan.remove, key)
		}
	}
	slices.SortFunc(plan.remove, func(a, b ubl.DocumentKey) int { return strings.Compare(a.String(), b.String()) })
	return plan
}

// same reports whether a document says what an entry does. The commitment tells whether the text
// does, which lists don't have.
func same(d *ubl.Document, e *knowledge.Entry) bool {
	metadata, err := ubl.Canonical(d.Published.Metadata)
	return err == nil && d.Title == strings.TrimSpace(e.Title) && d.Published.Path == e.Path && bytes.Equal(metadata, e.Metadata) &&
		d.ContentHash == d.Salt.CommitText("content", e.Body)
}

// publishBytes is about how much one act brings: less than [ubl.MaxPublishedBytes], and than a
// request may have once its texts are JSON.
const publishBytes = 1 << 20

// publish asks for the plan, a hundred documents an act at most, and returns the last receipt.
func (c *knowledgeImportCmd) publish(ctx context.Context, p *program, server *client, path string, plan *importPlan, g *progress) (*ubl.Receipt, error) {
	total, done := int64(len(plan.put)+len(plan.remove)), 0
	var receipt *ubl.Receipt
	for put, remove := plan.put, plan.remove; len(put)+len(remove) > 0; {
		n, size := 0, 0
		documents := []map[string]any{}
		for n < len(put) && n < ubl.MaxPublished && (n == 0 || size+len(put[n].Body) <= publishBytes) {
			e := put[n]
			documents = append(documents, map[string]any{"type": e.Type, "id": e.ID, "path": e.Path, "title": e.Title, "content": e.Body, "metadata": e.Metadata})
			size += len(e.Body)
			n++
		}
		gone := min(len(remove), ubl.MaxPublished-n)
		body := map[string]any{"documents": documents, "remove": append([]ubl.DocumentKey{}, remove[:gone]...)}
		if c.RemoveMost {
			body["remove_most"] = true
		}
		if c.Commit != "" {
			body["commit"] = c.Commit
		}
		answer, err := server.act(ctx, p, "POST", path, body, "")
		if err != nil {
			return nil, fmt.Errorf("%d of %d documents are published, then: %w", done, total, err)
		}
		made, err := formed[ubl.DocumentsPublished]("an answer", answer)
		if err != nil {
			return nil, err
		}
		receipt = &made.Receipt
		put, remove = put[n:], remove[gone:]
		done += n + gone
		g.at(int64(done), total)
	}
	return receipt, nil
}

// tell says what was changed, or would be.
func (c *knowledgeImportCmd) tell(p *program, plan *importPlan, receipt *ubl.Receipt) error {
	if c.JSON {
		return json.NewEncoder(p.out).Encode(map[string]any{
			"published": len(plan.put), "removed": len(plan.remove), "unchanged": plan.unchanged, "withheld": plan.withheld, "dry_run": c.DryRun, "receipt": receipt,
		})
	}
	did := "Done"
	if c.DryRun {
		did = "To be done"
	}
	line := fmt.Sprintf("%s: %s published, %d removed, %d as before. %s not published.", did, plural(len(plan.put), "document"), len(plan.remove), plan.unchanged, plural(plan.withheld, "file"))
	if receipt != nil {
		line += fmt.Sprintf(" The last receipt is %d %s.", receipt.Seq, receipt.HeadHash)
	}
	_, err := fmt.Fprintln(p.out, line)
	return err
}
