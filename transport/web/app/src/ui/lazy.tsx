import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import { Failed } from './Empty';
import { Spinner } from './Spinner';
import { more, t } from '../words';

// lazy is a component whose code is fetched when it is first shown. A quiet one is nothing until
// then, and where its code can't be had: for what one can do without.
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>, quiet = false): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [problem, setProblem] = useState<unknown>();
    const [, again] = useState(0);
    const [asked, setAsked] = useState(false);
    if (loaded) {
      const Loaded = loaded;
      return <Loaded {...props} />;
    }
    const fetchIt = () =>
      Promise.all([load(), more()]).then(
        ([module]) => {
          loaded = module.default;
          again((n) => n + 1);
        },
        () => setProblem(new Error(t('app.part'))),
      );
    if (!asked) {
      setAsked(true);
      void fetchIt();
    }
    if (quiet) return null;
    if (!problem) return <Spinner />;
    // A failed import stays failed until the page is loaded anew.
    return <Failed problem={problem} onRetry={() => location.reload()} />;
  };
}
