import { Link } from '../../router';
import { count } from '../../text';
import { Copy, Facts } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import type { Verdict } from './verify';

// Outcome is what came out of a check of the chain.
export function Outcome({ of: { at, bad, noted, head } }: { of: Verdict }) {
  return (
    <section class={bad ? 'outcome bad' : 'outcome good'} aria-label="Outcome">
      <Icon name={bad ? 'warning' : 'check'} size={40} />
      {bad ? (
        <div>
          <h3>The ledger is not whole</h3>
          <p>
            At <Link to={`/ui/ledger/${bad.seq}`}>atom {bad.seq.toLocaleString()}</Link>: {bad.reason}.
          </p>
          {at.seq > 0 && <p>The {count(at.seq, 'atom')} before it are as they should be.</p>}
        </div>
      ) : (
        <div>
          <h3>Whole and unchanged</h3>
          <p>{count(at.seq, 'atom')}, each with the hash of its content and of all that came before it.</p>
        </div>
      )}
      {noted !== undefined && (
        <p class={noted === null ? 'noted problem' : 'noted'}>
          {noted === null ? 'The head that you noted is not in this chain. Either it was copied with a mistake, or the past is another now.' : `The head that you noted stands behind atom ${noted.toLocaleString()}: nothing before it has changed since.`}
        </p>
      )}
      {!bad && (
        <div class="head-now">
          <Facts of={[['Head, to note or to compare with somebody else’s', <code>{head}</code>]]} />
          <Copy text={head} label="Copy the head" />
        </div>
      )}
    </section>
  );
}
