import { Link } from '../../router';
import { count } from '../../text';
import { Copy, Facts } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import { foundIn, holds, shown, titles, type Verdict } from './verify';

// Outcome is what came out of a check of the chain, under the worst that it found.
export function Outcome({ of }: { of: Verdict }) {
  const { at, bad, noted, since, head } = of;
  const found = foundIn(of);
  return (
    <section class={holds(found) ? 'outcome good' : 'outcome bad'} aria-label="Outcome">
      <Icon name={holds(found) ? 'check' : 'warning'} size={40} />
      <div>
        <h3>{titles[found]}</h3>
        {found === 'another' && <p>Either it was copied with a mistake, or the ledger was changed since: compare it with what others noted.</p>}
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
      {holds(found) && <p class="noted">{shown[found as keyof typeof shown]}</p>}
      {typeof noted === 'number' && <p class="noted">The head that you noted was the head after atom {noted.toLocaleString()}.</p>}
      {since > 0 && <p class="noted">This device had noted the head after atom {since.toLocaleString()} before, and checked what came after it.</p>}
      {!bad && (
        <div class="head-now">
          <Facts of={[['Head, to note or to compare with somebody else’s', <code>{head}</code>]]} />
          <Copy text={head} label="Copy the head" />
        </div>
      )}
    </section>
  );
}
