package report

import (
	"fmt"
	"strings"
)

// clusterTables are those of the sections with several nodes.
func (r *Report) clusterTables() []table {
	var out []table
	for _, clients := range ClusterClients() {
		out = append(out, clusterTable(clients))
	}
	return append(out,
		table{Failover, fmt.Sprintf("Failover: the leader killed %d times, and silent as often", r.Settings.Kills), r.failoverAbout(), []Subject{UBLThree, UBLSilent},
			[]column{{"s a caller at another node waits", WaitSeconds, seconds}, {"s to the first acknowledged send", FailoverSeconds, seconds}, {"longest send, s", SendMax, seconds},
				{"sends acknowledged", Acknowledged, whole}, {"of them repeated", Repeated, whole}}},
		table{Idle, fmt.Sprintf("Idle: three nodes for %d s", r.Settings.IdleNodes),
			"CPU time of each process, in percent of a core.", []Subject{UBLThree, EtcdThree},
			[]column{{"node 1", IdleOf(1), tenths}, {"node 2", IdleOf(2), tenths}, {"node 3", IdleOf(3), tenths}, {"busiest", IdleMax, tenths}}})
}

func clusterTable(clients int) table {
	title := fmt.Sprintf("Cluster: three nodes, %d clients", clients)
	if clients == 1 {
		title = "Cluster: three nodes, one client"
	}
	return table{ClusterOf(clients), title, clusterAbout(clients),
		[]Subject{UBLThree, EtcdThree, UBL},
		[]column{{"sends/s", Rate, whole}, {"p50 ms", P50, millis}, {"p99 ms", P99, millis},
			{"servers, cores", ServerCores, hundredths}, {"generator, cores", GeneratorCores, hundredths}, {"others, cores", OtherCores, hundredths}}}
}

func clusterAbout(clients int) string {
	spread := "Clients are spread evenly over the nodes, so that two of three requests reach a node that doesn't lead."
	if clients == 1 {
		spread = "The client goes from node to node, so that two of three requests reach a node that doesn't lead."
	}
	return spread + " All sends go to one room, and each has its receipt; an etcd put stores the bytes of a send's body under a new key. " +
		"Every reply comes after a majority has synced; UBL without a cluster syncs alone. " +
		"Both clients send ready-made bytes: HTTP/1.1 to UBL, a connection for each client; gRPC to etcd, a connection for each node, which its clients share. Cores are CPU time by time that passed; others is all else that the machine did."
}

// failoverAbout lists every single time.
func (r *Report) failoverAbout() string {
	about := "Of the node that leads the room's partition, from kill -9 or SIGSTOP. At each other node callers wait meanwhile, who ask no other: what counts is the longest that any of them waited, " +
		"for each kill. The first acknowledged send is one that began when the leader was gone, by a caller who asks the next node after a second. " +
		"The median and the range of all kills. Every acknowledged send was in the room afterwards, once, and no room_seq was left out, read through every node."
	for _, of := range []Subject{UBLThree, UBLSilent} {
		times, ok := r.Find(Key{Failover, of, WaitSeconds})
		if !ok {
			continue
		}
		each := make([]string, len(times.Rounds))
		for i, v := range times.Rounds {
			each[i] = seconds(v)
		}
		about += fmt.Sprintf(" %s, one by one, in s: %s.", of, strings.Join(each, ", "))
	}
	return about
}
