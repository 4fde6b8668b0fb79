// Command retrieval measures how well a server finds documents by questions: it publishes a
// collection in a workspace, asks the questions that come with it by the public API, and holds the answers
// against the judgements that come with it.
//
//	go run ./test/retrieval -dir DIR -url http://127.0.0.1:8080 -token-file FILE -workspace w:general
//
// DIR has the Cranfield collection as TREC writes it: cran.all.1400.xml, cran.qry.xml and cranqrel.trec.txt. It may
// not be passed on with this repository, so it isn't here. Figures of questions with even and with odd numbers are told apart: what is tuned
// is tuned on the even ones, and the odd ones are the goal.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "retrieval:", err)
		os.Exit(1)
	}
}

// run does what the arguments say.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("retrieval", flag.ContinueOnError)
	dir := flags.String("dir", "", "folder with the collection")
	s := server{}
	flags.StringVar(&s.url, "url", "http://127.0.0.1:8080", "address of the server")
	flags.StringVar(&s.workspace, "workspace", "w:general", "where to publish the collection; there should be nothing else")
	token := flags.String("token-file", "", "file with a token of somebody who may write there")
	match := flags.String("match", "any", "any or all: how the questions are asked")
	if err := flags.Parse(args); err != nil {
		return err
	}
	secret, err := os.ReadFile(*token)
	if err != nil {
		return fmt.Errorf("couldn't read the token: %w", err)
	}
	s.token = strings.TrimSpace(string(secret))
	c, err := readCollection(*dir)
	if err != nil {
		return err
	}
	if err := s.publish(ctx, c.documents); err != nil {
		return err
	}
	var even, odd measures
	for _, q := range c.questions {
		relevant := c.relevant[q.number]
		if len(relevant) == 0 {
			continue
		}
		found, err := s.ask(ctx, q.text, *match)
		if err != nil {
			return fmt.Errorf("question %d: %w", q.number, err)
		}
		if q.number%2 == 0 {
			even.add(found, relevant)
		} else {
			odd.add(found, relevant)
		}
	}
	fmt.Fprintf(out, "questions  how many  nDCG@10  recall@20\neven       %8d  %s\nodd        %8d  %s\n", even.count, even, odd.count, odd)
	return nil
}
