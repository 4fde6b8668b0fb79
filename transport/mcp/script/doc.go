// Package script runs a small program in JavaScript whose only powers are calls that its caller
// makes for it. It knows no tools and no MCP: who runs a program hands over one function.
//
// # Data and owners
//
//	Job       a program with its arguments, its bounds, and what stands for clock and chance
//	Call      what the program wants done: a name and one object of arguments
//	Outcome   what the program returned, logged or threw, or why it was stopped
//	Runner    owns the places: so many runs at a time on a node, and of one tenant
//
// # The way of one run
//
//	Runner.Run   waits for a place, starts the same executable as a child and sends it the job
//	child        takes its limits upon itself, then loads the program into goja
//	tool("a.b")  the child writes a call, the runner does it and writes its answer:
//	             one after another, in the order in which the program makes them
//	the end      the child writes what was returned or thrown, and its process is ended
//
// Both sides speak lines of JSON (lines.go) over standard input and output. A program has no
// module, no timer, no network and no file. Its clock stands still at the start of the run, and
// its random numbers follow from the job's seed, so that the same job takes the same way again as
// long as its calls answer the same.
//
// Calls wait for each other even where a program makes several at once, as by Promise.all: their
// order is then the program's, and a program can't make a server work for it many times at once.
// A call that nobody awaits is made all the same before the run ends.
//
// # Bounds
//
// A program may be hostile, and goja bounds neither memory nor the time of what is built in, as a
// regular expression. So it runs in a child process, and the server's memory holds one line of it
// at a time, of at most 1 MiB, and the answer to one call.
//
//	wall time   the runner kills the child's process group
//	processor   RLIMIT_CPU, and where it is allowed a low priority: others' requests go first
//	memory      the child watches itself and ends; RLIMIT_AS ends it where that comes too late
//	files       RLIMIT_NOFILE 0: neither a file nor a connection can be opened any more
//	the rest    an empty environment, no files but its two pipes and a third for its last words:
//	            what the server was started with is closed
//
// The limits of the kernel are Linux's. Elsewhere a child has its watch and the collector's limit alone, so one
// huge allocation may pass the bound for a moment.
//
// # What fails
//
//	the program throws       [Outcome.Failure], with line and column where there are any
//	it meets a bound         [Outcome.Stopped] says which; calls that were made stay made
//	the child breaks down    the same, as crashed
//	it can't be confined     internal: no program runs then
//	the server dies          the child reads the end of its input, and ends
//	ctx ends                 the child is killed, and Run answers ctx's error
//	no place becomes free    overloaded, after [Options.Patience]
package script
