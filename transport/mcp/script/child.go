package script

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// maxCalls bounds the calls of a job.
const maxCalls = 10_000

// Exit codes of a child, apart from those of Go's runtime.
const (
	exitDone    = 0
	exitMemory  = 70
	exitRefused = 71 // it couldn't take its limits, or there was no job
	exitCPU     = 72
)

// RunIfChild runs a job and ends the process, where a [Runner] has started it. Every main whose
// program runs programs calls it before anything else.
func RunIfChild() {
	if len(os.Args) == 2 && os.Args[1] == argument {
		os.Exit(child(os.Stdin, os.Stdout))
	}
}

// argument is the only one of a child.
const argument = "run-script"

// child is main of a child: it runs the one job that comes in, and answers the exit code. The
// process must have nothing else to do: it gives away its rights.
func child(in io.Reader, out io.Writer) int {
	time.Local = time.UTC // before the zone's file would be read
	from := bufio.NewReader(in)
	var job start
	if readLine(from, maxStart, &job) != nil {
		return exitRefused
	}
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(64 << 20)
	err := errors.New("the job has no bounds")
	if job.Memory > 0 && job.CPU > 0 {
		err = limit(job.Memory, job.CPU)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // for the operator: the runner passes it on
		return exitRefused
	}
	began := taken()
	debug.SetMemoryLimit(int64(min(began+job.Memory*3/4, math.MaxInt64)))
	go watch(began + job.Memory)
	// All answers have room, or both sides might wait until the other reads.
	answers := make(chan answer, max(0, min(job.MaxCalls, maxCalls)))
	go listen(from, answers)
	runJob(job, answers, func(n note) {
		if writeLine(out, n) != nil { // the runner has gone
			os.Exit(exitDone)
		}
	})
	return exitDone
}

// listen passes answers on until the input ends, and the process with it: nobody waits for it.
func listen(from *bufio.Reader, answers chan<- answer) {
	for {
		var a answer
		if readLine(from, maxLine, &a) != nil {
			os.Exit(exitDone)
		}
		answers <- a
	}
}

// watch ends the process when it has taken more memory than it may.
func watch(most uint64) {
	for {
		time.Sleep(10 * time.Millisecond)
		if taken() > most {
			os.Exit(exitMemory)
		}
	}
}

// taken is the memory that the runtime has from the system, in bytes, but what it gave back.
func taken() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}
