package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// collection is documents, questions, and which documents answer which.
type collection struct {
	documents []document
	questions []question
	relevant  map[int]map[string]bool // by the question's number
}

type document struct{ id, title, text string }

// question is one with its number among all, from 1, which judgements use. The file has another
// one for it.
type question struct {
	number int
	text   string
}

// The files are not quite XML, so they are read by their marks.
var (
	documentForm = regexp.MustCompile(`(?s)<docno>\s*(\d+)\s*</docno>\s*<title>(.*?)</title>.*?<text>(.*?)</text>`)
	questionForm = regexp.MustCompile(`(?s)<top>.*?<title>(.*?)</title>`)
)

func readCollection(dir string) (*collection, error) {
	var files [3]string
	for i, name := range []string{"cran.all.1400.xml", "cran.qry.xml", "cranqrel.trec.txt"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("couldn't read the collection: %w", err)
		}
		files[i] = string(data)
	}
	return parse(files[0], files[1], files[2])
}

func parse(documents, questions, judgements string) (*collection, error) {
	c := &collection{relevant: map[int]map[string]bool{}}
	for _, m := range documentForm.FindAllStringSubmatch(documents, -1) {
		c.documents = append(c.documents, document{m[1], line(m[2]), html.UnescapeString(m[3])})
	}
	for i, m := range questionForm.FindAllStringSubmatch(questions, -1) {
		c.questions = append(c.questions, question{i + 1, line(m[1])})
	}
	for l := range strings.Lines(judgements) {
		f := strings.Fields(l)
		if len(f) == 0 {
			continue
		}
		if len(f) != 4 {
			return nil, fmt.Errorf("a judgement has %d fields, not four", len(f))
		}
		number, err := strconv.Atoi(f[0])
		if err != nil {
			return nil, fmt.Errorf("a judgement is of no question: %w", err)
		}
		if f[3] == "0" { // not relevant
			continue
		}
		if c.relevant[number] == nil {
			c.relevant[number] = map[string]bool{}
		}
		c.relevant[number][f[2]] = true
	}
	if len(c.documents) == 0 || len(c.questions) == 0 || len(c.relevant) == 0 {
		return nil, fmt.Errorf("there are %d documents, %d questions and %d judged ones", len(c.documents), len(c.questions), len(c.relevant))
	}
	return c, nil
}

// line is a text in one line.
func line(text string) string { return strings.Join(strings.Fields(html.UnescapeString(text)), " ") }
