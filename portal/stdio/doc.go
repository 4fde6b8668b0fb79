// Package stdio runs MCP servers that speak over standard input and output, as children of the
// node. It knows no MCP: who starts a child reads and writes its pipes.
//
// # Data and owners
//
//	Command  what the operator's file allows under a name: the program with its arguments, its
//	         environment, and its bounds. Nobody else names a program.
//	Runner   owns the commands, and the places: so many children at a time on a node, and of one tenant
//	Child    one process with all that it starts; it belongs to whoever had it started
//
// # The way of one child
//
//	Runner.Start  makes an empty folder, starts this executable again with what of the child is to
//	              be bounded, and hands it three pipes
//	launcher      takes limits upon itself, sees to what of the disk it sees, gives up every right,
//	              and becomes the program (execve)
//	the program   reads lines and writes lines
//	the end       its input ends; then it is asked (SIGTERM), and then killed with all of its
//	              group. The folder is removed.
//
// The program inherits nothing: no environment but what its Command names, and of that HOME and
// TMPDIR, which are its folder; no files but its three pipes.
//
// # What keeps a child from others
//
//	Isolated  namespaces of users, mounts, processes and IPC, and of the network unless the command
//	          may use it. All of the disk can only be read, what the node hides isn't there, the
//	          folder is in memory. It sees no other process, and none that it starts outlives it.
//	ByUser    another user alone, whom the operator names: files and processes are kept apart as
//	          the system keeps users apart. Children of the same user aren't kept apart.
//	Not       nothing but the limits. The program can do all that the node can.
//
// A node that is root runs programs as the user that the command names, or nobody; another node
// under its own user. Whatever that user may read on the disk, and isn't hidden, the program may read.
// What a command wants that the system doesn't let the node do is an error: nothing runs then.
//
// # Bounds
//
//	memory     RLIMIT_DATA, of each process
//	processor  RLIMIT_CPU, of each process over its life; and a low priority: requests go first
//	processes  RLIMIT_NPROC, threads too; of the user's children together without namespaces
//	files      256 open, of 64 MiB at most; the folder has 64 MiB
//	rights     none (no_new_privs): no program that it starts has more
//
// All but the last words on standard error are dropped. They are for the operator's log. It is read at
// a pace, 1 MiB a second behind the first 8: a child that says more waits.
//
// # What fails
//
//	the program doesn't start    the child ends at once, with its reason in the log
//	it meets a bound             the system ends it or refuses it; Child.Done tells
//	the node dies                the kernel kills the child (Pdeathsig), with all that it started where Isolated
//	the node ends                Child.Close, by whoever had it started
//
// All this is Linux's. Elsewhere only Not can be had, without limits.
package stdio
