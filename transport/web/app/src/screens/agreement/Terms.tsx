// What terms say, for people.

import type { Terms as Said } from '../../types';
import { Facts, Time } from '../../ui/Bits';
import { nameFor } from '../Person';
import { accepts, limit, permits } from './said';

export function Terms({ of }: { of: Said }) {
  const may = permits(of.permits, nameFor);
  return (
    <div class="stack">
      {may.length > 0 ? <Facts of={may.map(([who, what]) => [who, `may ${what}`] as const)} /> : <p>Nobody may do anything under this Agreement.</p>}
      {of.obligations && (
        <>
          <h3>What everybody takes on</h3>
          <ul>
            {of.obligations.map((text) => (
              <li key={text} dir="auto">
                {text}
              </li>
            ))}
          </ul>
        </>
      )}
      <Facts
        of={[
          ...(of.limits ?? []).map((l) => ['At most', limit(l)] as const),
          ['From', of.from ? <Time at={of.from} as="full" /> : 'its beginning'],
          ['Until', of.until ? <Time at={of.until} as="full" /> : 'somebody ends it'],
          ['Who must accept other terms', accepts[of.accept]],
        ]}
      />
    </div>
  );
}
