// kept.tsx is for screens that can be read without a network, once they were with one.

import { useEffect } from 'preact/hooks';
import { online } from '../device';
import { opened } from '../store';
import { Time } from '../ui/Bits';
import { useLoad, type Loaded } from '../ui/useLoad';
import { rich } from '../words';

export interface Kept<T> extends Loaded<T> {
  // since is when what is shown was read, where the server can't be asked now; else null.
  since: number | null;
}

// useKept is useLoad for what is kept under a name. It asks again when the network is
// back.
export function useKept<T>(name: string, ask: (signal: AbortSignal) => Promise<T>): Kept<T> {
  const loaded = useLoad(async (signal) => (await opened()).shelf.read(name, () => ask(signal)), [name]);
  const since = loaded.data?.at ?? null;
  useEffect(() => {
    if (online.value && since !== null) loaded.reload();
  }, [online.value]);
  return {
    ...loaded,
    data: loaded.data?.value,
    since,
    set(value) {
      loaded.set({ value, at: null });
      void opened().then((store) => store.shelf.put(name, value));
    },
  };
}

// Since says that what one reads is what was kept.
export function Since({ at }: { at: number | null }) {
  if (at === null) return null;
  return (
    <p class="notice" role="status">
      {rich('app.since', { time: <Time at={new Date(at).toISOString()} as="ago" /> })}
    </p>
  );
}
