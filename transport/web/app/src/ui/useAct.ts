import { useEffect, useRef, useState } from 'preact/hooks';

export interface Act {
  busy: boolean;
  // problem is why the newest try failed.
  problem: unknown;
  // run does some work, unless other work still goes on. It answers whether it went well.
  run: (work: () => Promise<unknown>) => Promise<boolean>;
  clear: () => void;
}

// useAct is for what a button does: it tells whether that goes on, and what failed.
export function useAct(): Act {
  const [state, setState] = useState<{ busy: boolean; problem?: unknown }>({ busy: false });
  const here = useRef(true);
  const going = useRef(false);
  useEffect(() => () => void (here.current = false), []);
  const end = (problem?: unknown) => {
    going.current = false;
    if (here.current) setState({ busy: false, problem });
    return problem === undefined;
  };
  return {
    ...state,
    problem: state.problem,
    run: async (work) => {
      if (going.current) return false;
      going.current = true;
      setState({ busy: true });
      return work().then(
        () => end(),
        (problem) => end(problem),
      );
    },
    clear: () => setState({ busy: false }),
  };
}
