import { useEffect, useState } from 'preact/hooks';

export interface Loaded<T> {
  // data is the newest answer, undefined before the first.
  data: T | undefined;
  // problem is why the newest try failed; data then is what was known before.
  problem: unknown;
  busy: boolean;
  // reload asks again; set puts an answer of a write in place.
  reload: () => void;
  set: (data: T) => void;
}

// useLoad asks for something when the screen opens, and again when inputs change.
// What is no longer wanted is aborted.
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[] = []): Loaded<T> {
  const [state, setState] = useState<{ data?: T; problem?: unknown; busy: boolean }>({ busy: true });
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    setState((s) => ({ data: s.data, busy: true }));
    load(end.signal).then(
      (data) => end.signal.aborted || setState({ data, busy: false }),
      (problem) => end.signal.aborted || setState((s) => ({ data: s.data, problem, busy: false })),
    );
    return () => end.abort();
  }, [...inputs, tries]);
  return {
    data: state.data,
    problem: state.problem,
    busy: state.busy,
    reload: () => setTries((n) => n + 1),
    set: (data) => setState({ data, busy: false }),
  };
}
