// Package confine is what programs of the node's own have in common that run what others wrote, in
// processes that they start: the same executable is started again, takes limits upon itself that
// nothing can lift, and becomes what is to run.
//
//	node    starts [ThisProgram] with an argument of its own, in a process group ([Apart])
//	child   gives up what it has by chance ([CloseInherited]), lets others go first ([YieldToOthers])
//	        and takes limits ([Take])
//
// The limits of the kernel are Linux's.
package confine
