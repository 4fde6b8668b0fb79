// The connection to one other browser in a call, by the pattern of perfect negotiation: either side
// may offer at any time, and where both do so at once the polite one gives way.

import { signal } from '@preact/signals';

// Said is what one browser tells another one: an offer or an answer, a way to reach it, or that it
// leaves.
export interface Said {
  description?: RTCSessionDescriptionInit;
  candidate?: RTCIceCandidateInit;
  bye?: true;
}

export class Peer {
  // stream is what comes from there; null until something does.
  readonly stream = signal<MediaStream | null>(null);
  // reached tells whether the connection stands.
  readonly reached = signal(false);
  private readonly pc: RTCPeerConnection;
  private offering = false;
  private ignoring = false;

  constructor(
    readonly userId: string,
    private readonly polite: boolean,
    servers: RTCIceServer[],
    own: MediaStream,
    private readonly tell: (said: Said) => void,
  ) {
    this.pc = new RTCPeerConnection({ iceServers: servers });
    this.pc.onnegotiationneeded = () => void this.offer();
    this.pc.onicecandidate = ({ candidate }) => candidate && tell({ candidate: candidate.toJSON() });
    this.pc.ontrack = ({ track, streams: [stream] }) => {
      this.stream.value = stream ?? new MediaStream([...(this.stream.peek()?.getTracks() ?? []), track]);
    };
    this.pc.onconnectionstatechange = () => {
      this.reached.value = this.pc.connectionState === 'connected';
      if (this.pc.connectionState === 'failed') this.pc.restartIce();
    };
    for (const track of own.getTracks()) this.pc.addTrack(track, own);
  }

  private async offer() {
    try {
      this.offering = true;
      await this.pc.setLocalDescription();
      this.tell({ description: this.pc.localDescription!.toJSON() });
    } catch {
      // it was closed meanwhile, or another offer has come
    } finally {
      this.offering = false;
    }
  }

  // hear takes what the other browser has said.
  async hear({ description, candidate }: Said): Promise<void> {
    try {
      if (description) await this.agree(description);
      if (candidate) await this.pc.addIceCandidate(candidate);
    } catch (problem) {
      if (!this.ignoring) console.warn('a signal of a call couldn’t be taken', problem);
    }
  }

  private async agree(description: RTCSessionDescriptionInit) {
    const { pc } = this;
    this.ignoring = !this.polite && description.type === 'offer' && (this.offering || pc.signalingState !== 'stable');
    if (this.ignoring) return;
    await pc.setRemoteDescription(description);
    if (description.type !== 'offer') return;
    await pc.setLocalDescription();
    this.tell({ description: pc.localDescription!.toJSON() });
  }

  // show sends another picture, or the first one.
  async show(track: MediaStreamTrack, own: MediaStream): Promise<void> {
    const sender = this.pc.getSenders().find((s) => s.track?.kind === 'video');
    if (sender) await sender.replaceTrack(track);
    else this.pc.addTrack(track, own);
  }

  close(): void {
    this.pc.close();
  }
}
