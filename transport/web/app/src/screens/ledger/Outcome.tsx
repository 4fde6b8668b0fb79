import { Link } from '../../router';
import { count } from '../../text';
import { Copy, Facts } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import { titles, worstOf, type Verdict } from './verify';

// Outcome is what came out of a check of the chain, under the worst that it found.
export function Outcome({ of }: { of: Verdict }) {
  const { at, bad, noted, head } = of;
  const worst = worstOf(of);
  return (
    <section class={worst === 'whole' ? 'outcome good' : 'outcome bad'} aria-label="Outcome">
      <Icon name={worst === 'whole' ? 'check' : 'warning'} size={40} />
      <div>
        <h3>{titles[worst]}</h3>
        {worst === 'another' && <p>Either it was copied with a mistake, or the ledger was changed since: compare it with what others noted.</p>}
        {bad ? (
          <>
            <p>
              At <Link to={`/ui/ledger/${bad.seq}`}>atom {bad.seq.toLocaleString()}</Link>: {bad.reason}.
            </p>
            {at.seq > 0 && <p>The {count(at.seq, 'atom')} before it are as they should be.</p>}
          </>
        ) : (
          <p>{count(at.seq, 'atom')}, each with the hash of its content and of all that came before it.</p>
        )}
      </div>
      {bad && noted === null && <p class="noted">The head that you noted was not found before it.</p>}
      {typeof noted === 'number' && <p class="noted">The head that you noted was the head after atom {noted.toLocaleString()}: nothing up to there has changed since.</p>}
      {!bad && (
        <div class="head-now">
          <Facts of={[['Head, to note or to compare with somebody else’s', <code>{head}</code>]]} />
          <Copy text={head} label="Copy the head" />
        </div>
      )}
    </section>
  );
}
