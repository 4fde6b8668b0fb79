package report

import "fmt"

// The subjects and measures of the section history.
const (
	Tenant     Subject = "a tenant"
	CoreTenant Subject = "tenant 0"

	FirstMillis Measure = "first_ms" // of the first request after a start
	WarmMillis  Measure = "warm_ms"  // of the same once more
	WokenMillis Measure = "woken_ms" // of the first one after the actor has left memory
	StartMillis Measure = "start_ms" // by which a start takes longer than without a history
)

// The subjects and measures of the section alarms.
const (
	Unarmed Subject = "counters without alarms"
	Armed   Subject = "armed"
	Flat    Subject = "due, beside writers at full speed"
	Paced   Subject = "due, beside 200 sends a second"

	IdleCPU  Measure = "idle_percent"      // of a core
	IdleMore Measure = "idle_more_percent" // with alarms, beyond that without

	AlarmInUse   Measure = "alarm_in_use_bytes" // an armed alarm of an actor that is in memory
	AlarmIdle    Measure = "alarm_idle_bytes"   // one whose actor isn't
	ArmRate      Measure = "armed_per_second"
	FiredSeconds Measure = "fired_s"      // from when the first is due until all are fired
	QuietP99     Measure = "quiet_p99_us" // of sends while no alarm is due
	FiringP99    Measure = "firing_p99_us"
)

// idleNoise is how much of a core, in percent, is too little to be told from nothing:
// three ticks of the kernel's clock in 30 s.
const idleNoise = 0.1

// storeGoals are those about what a store holds that nobody uses.
func storeGoals() []Goal {
	goals := []Goal{
		{Text: "100,000 rooms on disk: ready in < 0.3 s", Of: Key{Start, UBL, ReadySeconds}, Bound: 0.3, Strict: true},
		{Text: "a tenant with 1,000,000 events: its first request after a start < 100 ms", Of: Key{History, Tenant, FirstMillis}, Bound: 100, Strict: true, Every: true},
		{Text: "tenant 0 with 1,000,000 events: a start takes < 100 ms longer", Of: Key{History, CoreTenant, StartMillis}, Bound: 100, Strict: true, Every: true},
		{Text: "tenant 0 with 1,000,000 events: its first request after an idle time < 100 ms", Of: Key{History, CoreTenant, WokenMillis}, Bound: 100, Strict: true},
		{Text: fmt.Sprintf("1,000,000 armed alarms: idle CPU ≤ %.1f %% of a core more than without", idleNoise), Of: Key{Alarms, Armed, IdleMore}, Bound: idleNoise},
	}
	for _, of := range []struct {
		subject Subject
		beside  string
	}{{Flat, "64 writers"}, {Paced, "200 sends a second"}} {
		goals = append(goals,
			Goal{Text: "10,000 alarms due in one second, beside " + of.beside + ": all fired within 5 s", Of: Key{Alarms, of.subject, FiredSeconds}, Bound: 5, Every: true},
			Goal{Text: "10,000 alarms due in one second, beside " + of.beside + ": p99 of sends meanwhile ≤ 1.5 × that before",
				Of: Key{Alarms, of.subject, FiringP99}, By: Key{Alarms, of.subject, QuietP99}, Bound: 1.5})
	}
	return goals
}

// storeTables are those of the same sections.
func (r *Report) storeTables() []table {
	s := r.Settings
	rooms, events := whole(float64(s.Rooms)), whole(float64(s.Events))
	return []table{
		{Start, fmt.Sprintf("Start with %s rooms on disk", rooms),
			"From exec to the first 200 of /readyz, with the files in the page cache.",
			[]Subject{UBL}, []column{{"ready s", ReadySeconds, seconds}}},
		{Memory, fmt.Sprintf("Memory with %s rooms on disk", rooms),
			fmt.Sprintf("VmRSS in MB when ready, after each room's history has been read once, and after %d s of nothing; "+
				"and the part that is its own (RssAnon), without mapped files. The last two columns are what an actor costs: one that is in memory "+
				"(objects and stacks after a garbage collection, by actors in memory), and what is left of one that has been idle and has gone (RssAnon, by rooms).", s.IdleSeconds),
			[]Subject{UBL}, []column{{"ready", RSSReady, whole}, {"own", OwnReady, whole}, {"reading all, s", TouchSeconds, seconds},
				{"in use", RSSTouched, whole}, {"own", OwnTouched, whole}, {"idle", RSSIdle, whole}, {"own", OwnIdle, whole},
				{"KB an actor in memory", ActorInUse, hundredths}, {"KB an idle one", ActorIdle, hundredths}}},
		{History, fmt.Sprintf("Opening tenants with %s events each", events),
			"A year of a tenant's acts (new members, and another name for one of them), and of sessions that tenant 0 began and renewed. The first request after a start reads the tenant, " +
				"with a token that is known; files are in the page cache. Tenant 0 is opened by each start: by how much one takes longer than with an empty store. " +
				"After an idle time all actors have left memory.",
			[]Subject{Tenant, CoreTenant}, []column{{"first request, ms", FirstMillis, tenths}, {"once more, ms", WarmMillis, tenths},
				{"start, ms longer", StartMillis, tenths}, {"first after an idle time, ms", WokenMillis, tenths}}},
		{Alarms, fmt.Sprintf("Alarms: %s armed, %s due", whole(float64(s.Alarms)), whole(float64(s.DueAlarms))),
			fmt.Sprintf("One alarm in each of as many counters (`test/counter`) of one tenant. Armed: idle CPU over %d s, in percent of a core, against a store of counters without alarms; "+
				"memory of one whose actor is in memory (objects and stacks after a garbage collection, beyond those of a counter without an alarm), and whose actor isn't (the same after a start, beyond that without alarms). "+
				"Due: all within one second, of counters that are not in memory, while %d writers send to a room of that tenant; the p99 of sends meanwhile is that until all are fired.", s.IdleNodes, s.Writers),
			[]Subject{Unarmed, Armed, Flat, Paced}, []column{{"armed/s", ArmRate, whole}, {"idle CPU %", IdleCPU, hundredths}, {"KB a counter in memory", ActorInUse, hundredths},
				{"bytes an alarm, in memory", AlarmInUse, whole}, {"bytes an alarm, idle", AlarmIdle, whole},
				{"all fired, s", FiredSeconds, hundredths}, {"p99 before, ms", QuietP99, millis}, {"p99 meanwhile, ms", FiringP99, millis}}},
	}
}
