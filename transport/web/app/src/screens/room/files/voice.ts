// Recording one's voice, as far as the browser can: a file comes of it, which is sent as others are.

// types are what a note is recorded as, best first. All browsers that record know one.
const types = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4'];

const endings: Readonly<Record<string, string>> = { 'audio/webm': 'webm', 'audio/ogg': 'ogg', 'audio/mp4': 'm4a' };

// typeOf is what the browser records as, undefined where it doesn't. Pages that came without TLS
// from elsewhere have no microphone.
const typeOf = () => (typeof MediaRecorder === 'undefined' || !navigator.mediaDevices ? undefined : types.find((type) => MediaRecorder.isTypeSupported(type)));

export const canRecord = (): boolean => typeOf() !== undefined;

// nameOf is what a note of a moment is called: by the clock, without what file systems refuse.
export function nameOf(title: string, type: string, at: Date): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${title} ${day} ${two(at.getHours())}.${two(at.getMinutes())}.${two(at.getSeconds())}.${endings[type.split(';')[0]!] ?? 'webm'}`;
}

// Recording is one that is under way.
export interface Recording {
  // end answers what was recorded, null where nothing was; cancel throws it away. Both let go of the microphone.
  end: () => Promise<Blob | null>;
  cancel: () => void;
}

// record begins, once the person has let the page hear them. It throws a DOMException where they
// haven't, or there is no microphone. onLost is called where the microphone goes away.
export async function record(onLost: () => void): Promise<Recording> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const free = () => stream.getTracks().forEach((track) => track.stop());
  try {
    const recorder = new MediaRecorder(stream, { mimeType: typeOf()! });
    const parts: Blob[] = [];
    recorder.ondataavailable = ({ data }) => data.size > 0 && parts.push(data);
    const stopped = new Promise<void>((done) => (recorder.onstop = () => done()));
    const stop = () => {
      if (recorder.state !== 'inactive') recorder.stop();
      free();
    };
    stream.getAudioTracks()[0]!.onended = onLost;
    recorder.start();
    return {
      end: async () => {
        stop();
        await stopped;
        return parts.length > 0 ? new Blob(parts, { type: recorder.mimeType.split(';')[0]! }) : null;
      },
      cancel: stop,
    };
  } catch (problem) {
    free();
    throw problem;
  }
}
