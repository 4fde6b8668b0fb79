import type { ComponentChildren } from 'preact';
import { said } from '../said';
import { Failed } from './Empty';
import { Spinner } from './Spinner';
import type { Loaded } from './useLoad';

// Await shows what was loaded, or that it is on its way, or why it couldn't be had.
// Where a later try fails, what was known stays, under a line that says so.
export function Await<T>({ of, children }: { of: Loaded<T>; children: (data: T) => ComponentChildren }) {
  if (of.data === undefined) return of.problem ? <Failed problem={of.problem} onRetry={of.reload} /> : <Spinner />;
  return (
    <>
      <Problem of={of.problem} />
      {children(of.data)}
    </>
  );
}

// Problem says what went wrong, where it did; nothing where nothing has.
export function Problem({ of }: { of: unknown }) {
  if (!of) return null;
  return (
    <p class="problem" role="alert" dir="auto">
      {said(of)}
    </p>
  );
}
