// The call that this browser is in: its camera and microphone, the connections to the others, and
// what is said by way of the room so that they find each other.

import { computed, signal } from '@preact/signals';
import { ApiError, at, newKey, post } from '../../api';
import type { Store } from '../../store/sync';
import type { Caller, InCall, RoomCall, RoomEvent } from '../../types';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import { Peer, type Said } from './peer';

const every = 10_000; // how often one says that one is there, in ms
const soon = 50; // how long what is said is gathered, in ms
const most = 100; // signals at once
const serversFor = 3_600_000; // how long STUN and TURN servers are used before they are asked for again, in ms
const absent = 30_000; // how long somebody may be unknown to the room, as after its restart, in ms

interface Answer {
  in_call: InCall;
  signals: { data: string; from: string; n: number }[];
  servers?: RTCIceServer[];
}

// current is the call that this browser is in, null for none.
export const current = signal<Call | null>(null);

export class Call {
  readonly session = newKey();
  readonly peers = signal<ReadonlyMap<string, Peer>>(new Map());
  readonly muted = signal(false);
  readonly hidden = signal(false); // one's camera
  readonly sharing = signal<MediaStream | null>(null);
  readonly own = new MediaStream();
  readonly picture = computed(() => this.sharing.value ?? this.own);
  private readonly over = new AbortController();
  private readonly missing = new Map<string, number>(); // since when the room doesn't know somebody
  private waiting: { to: string; data: string }[] = [];
  private after = 0;
  private servers: RTCIceServer[] = [];
  private asked = 0; // when servers were
  private running: Promise<void> | null = null;
  private again = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly store: Store,
    readonly roomId: string,
    readonly callId: string,
    tracks: MediaStreamTrack[],
  ) {
    for (const track of tracks) this.own.addTrack(track);
    this.hidden.value = this.own.getVideoTracks().length === 0;
    this.muted.value = this.own.getAudioTracks().length === 0;
  }

  // run keeps the call until it is over.
  run(): void {
    this.store.listen(this.roomId, (event) => this.told(event), this.over.signal);
    this.soon(0);
  }

  private told(event: RoomEvent) {
    if (event.event !== 'room.call' || event.payload.call_id !== this.callId) return;
    const known = event.payload.people.every(({ session }) => session === this.session || this.peers.peek().has(session));
    if (event.payload.news.includes(this.session) || !known) this.soon(0);
    else this.meet(event.payload.people);
  }

  // soon exchanges what is said before long, and what waits then; otherwise that is done every 10 s.
  private soon(ms: number) {
    if (this.over.signal.aborted) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.running) this.again = true;
      else this.running = this.exchange().finally(() => {
        this.running = null;
        this.soon(this.again || this.waiting.length > 0 ? soon : every);
        this.again = false;
      });
    }, ms);
  }

  private ask(more: object): Promise<Answer> {
    return post<Answer>(at`/api/rooms/${this.roomId}/calls/${this.callId}/callers`, { session: this.session, after: this.after, ...more }, { quiet: true });
  }

  private async exchange() {
    const signals = this.waiting.splice(0, most);
    const servers = Date.now() - this.asked > serversFor;
    try {
      const answer = await this.ask({ signals, servers });
      if (answer.servers) [this.servers, this.asked] = [answer.servers, Date.now()];
      if (this.over.signal.aborted) return;
      this.meet(answer.in_call.people);
      for (const { data, from, n } of answer.signals) {
        if (n <= this.after) continue;
        this.after = n;
        this.again = true; // that it has come is said at once
        await this.hear(from, JSON.parse(data) as Said);
      }
    } catch (problem) {
      if (problem instanceof ApiError && problem.mayRetry) {
        this.waiting.unshift(...signals);
        await new Promise((done) => setTimeout(done, 1000));
      } else this.ended(problem);
    }
  }

  private async hear(from: string, said: Said) {
    if (said.bye) this.drop(from);
    else await this.peers.peek().get(from)?.hear(said);
  }

  // meet connects to who has come, and lets go of who has left.
  private meet(people: readonly Caller[]) {
    this.store.people.meet(people.map(({ user_id }) => user_id));
    const here = new Set(people.map(({ session }) => session));
    for (const { session, user_id } of people) {
      this.missing.delete(session);
      if (session === this.session || this.peers.peek().has(session)) continue;
      const tell = (said: Said) => {
        this.waiting.push({ to: session, data: JSON.stringify(said) });
        this.soon(soon);
      };
      const peer = new Peer(user_id, this.session < session, this.servers, this.own, tell);
      this.peers.value = new Map(this.peers.peek()).set(session, peer);
      const shared = this.sharing.peek()?.getVideoTracks()[0];
      if (shared) void peer.show(shared, this.own);
    }
    for (const [session, peer] of this.peers.peek()) {
      if (here.has(session)) continue;
      const since = this.missing.get(session) ?? Date.now();
      this.missing.set(session, since);
      if (!peer.reached.peek() || Date.now() - since > absent) this.drop(session);
    }
  }

  private drop(session: string) {
    this.peers.peek().get(session)?.close();
    const left = new Map(this.peers.peek());
    left.delete(session);
    this.peers.value = left;
  }

  mute(): void {
    this.muted.value = !this.muted.value;
    for (const track of this.own.getAudioTracks()) track.enabled = !this.muted.value;
  }

  hide(): void {
    this.hidden.value = !this.hidden.value;
    for (const track of this.own.getVideoTracks()) track.enabled = !this.hidden.value;
  }

  // share shows the others one's screen in place of the camera, or the camera again.
  async share(): Promise<void> {
    if (this.sharing.peek()) return this.shared(null);
    const screen = await navigator.mediaDevices.getDisplayMedia({ video: true }).catch(() => null); // one may think better of it
    if (!screen) return;
    screen.getVideoTracks()[0]!.onended = () => void this.shared(null);
    await this.shared(screen);
  }

  private async shared(screen: MediaStream | null) {
    for (const track of this.sharing.peek()?.getTracks() ?? []) track.stop();
    this.sharing.value = screen;
    const track = (screen ?? this.own).getVideoTracks()[0];
    if (track) await Promise.all([...this.peers.peek().values()].map((peer) => peer.show(track, this.own)));
  }

  // leave says so to the others; the last one ends the call.
  async leave(): Promise<void> {
    const byes = [...this.peers.peek().keys()].map((to) => ({ to, data: JSON.stringify({ bye: true } satisfies Said) }));
    this.close();
    try {
      if (byes.length > 0) await this.ask({ signals: byes });
      const { in_call } = await this.ask({ leaves: true });
      if (in_call.people.length === 0) await post(at`/api/rooms/${this.roomId}/calls/${this.callId}/end`, {}, { key: newKey() });
    } catch (problem) {
      // the room ends what nobody is in any more, and somebody else may have come or ended it
      if (!(problem instanceof ApiError && (problem.code === 'conflict' || problem.mayRetry))) failed(problem);
    }
  }

  private ended(problem: unknown) {
    this.close();
    if (problem instanceof ApiError && problem.code === 'conflict') toast(problem.message);
    else failed(problem);
  }

  private close() {
    this.over.abort();
    clearTimeout(this.timer);
    for (const peer of this.peers.peek().values()) peer.close();
    for (const stream of [this.own, this.sharing.peek()]) for (const track of stream?.getTracks() ?? []) track.stop();
    this.peers.value = new Map();
    if (current.peek() === this) current.value = null;
  }
}

// media are the camera and the microphone, or what there is of them and one allows.
async function media(): Promise<MediaStreamTrack[]> {
  const { mediaDevices } = navigator;
  if (!mediaDevices) throw new Error(t('incall.secure'));
  const video = { width: { ideal: 1280 }, height: { ideal: 720 } };
  const both = await mediaDevices.getUserMedia({ audio: true, video }).catch(() => mediaDevices.getUserMedia({ audio: true })).catch(() => null);
  if (!both) toast(t('incall.mute.only'));
  return both?.getTracks() ?? [];
}

// join is in the call of a room, and begins it where there is none.
export async function join(store: Store, roomId: string): Promise<void> {
  const before = current.peek();
  if (before?.roomId === roomId) return;
  await before?.leave();
  const tracks = await media();
  try {
    const { call } = await post<{ call: RoomCall }>(at`/api/rooms/${roomId}/calls`, {}, { key: newKey() });
    current.value = new Call(store, roomId, call.call_id, tracks);
    current.value.run();
  } catch (problem) {
    for (const track of tracks) track.stop();
    throw problem;
  }
}
