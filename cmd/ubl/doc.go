// Command ubl is the whole of UBL in one program: the server, and a client for
// people and scripts.
//
// The data: nothing of its own. "serve" owns a data directory while it runs;
// the commands that take --data own it while they work, and say so where
// another process has it.
//
// The way of one command line: [Run] parses arguments, UBL_* variables and the
// YAML file into one of the command structs (cli.go); its Run method does the
// work with the [program]'s streams, clock and random source. Wiring of the
// server's parts is in node.go, and nowhere else.
//
// What fails: a command line that makes no sense is told on standard error with
// exit code 2, before anything was done. Everything else that goes wrong is
// told in one line with exit code 1. Standard output carries results only, so
// that "ubl export | ubl verify -" works; progress and hints go to standard
// error.
package main
