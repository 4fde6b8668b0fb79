// Proposing other terms: what everybody takes on, who may do what, how often, how long they hold, and
// who must accept the next ones.

import { useState } from 'preact/hooks';
import { at, put } from '../../api';
import type { Agreement, Terms } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Choice, Field } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { nameFor } from '../Person';
import { actsFor, atMostsOf, limitsOf, maysOf, permitsOf, problemOf, whomFor } from './choices';
import { Limits, Permits } from './Lines';

interface Props {
  agreement: Agreement;
  onChanged: () => void;
}

export function Propose({ agreement, onChanged }: Props) {
  const { id, terms } = agreement;
  const [texts, setTexts] = useState((terms.obligations ?? []).join('\n'));
  const [mays, setMays] = useState(maysOf(terms.permits));
  const [atMosts, setAtMosts] = useState(atMostsOf(terms.limits));
  const [from, setFrom] = useState(terms.from?.slice(0, 10) ?? '');
  const [until, setUntil] = useState(terms.until?.slice(0, 10) ?? '');
  const [accept, setAccept] = useState(terms.accept);
  const act = useAct();
  const dids = actsFor(agreement);
  const save = async () => {
    const next: Terms = {
      ...terms,
      permits: permitsOf(mays),
      limits: limitsOf(atMosts),
      obligations: texts.split('\n').filter((line) => line.trim()),
      from: momentOf(from, terms.from),
      until: momentOf(until, terms.until),
      accept,
    };
    const propose = async () => {
      const problem = problemOf(mays, atMosts);
      if (problem) throw new Error(problem);
      const { agreement } = await put<{ agreement: Agreement }>(at`/api/agreements/${id}/proposal`, { terms: next });
      toast(agreement.proposal ? 'The terms are proposed' : 'The new terms are in force');
    };
    if (!(await act.run(propose))) return;
    onChanged();
  };
  return (
    <Section title="Propose other terms">
      <form
        class="stack"
        noValidate
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <Field label="What everybody takes on" hint="One on each line. People read this before they accept." lines={4} value={texts} onValue={setTexts} />
        <details>
          <summary>Who may do what, and limits</summary>
          <Permits lines={mays} onLines={setMays} dids={dids} people={whomFor(agreement)} name={nameFor} />
          <Limits lines={atMosts} onLines={setAtMosts} dids={dids} />
        </details>
        <Field label="It begins on" hint="Empty: it holds at once. Before that day nothing can be done under it." type="date" value={from} onValue={setFrom} />
        <Field label="It ends on" hint="Empty: it holds until somebody ends it." type="date" value={until} onValue={setUntil} />
        <Choice
          label="Who must accept the next terms"
          value={accept}
          options={[
            { value: 'proposer', label: 'Nobody else' },
            { value: 'owners', label: 'All owners' },
            { value: 'entries', label: 'All members' },
          ]}
          onValue={setAccept}
        />
        <Problem of={act.problem} />
        <Button kind="primary" type="submit" busy={act.busy}>
          Propose these terms
        </Button>
      </form>
    </Section>
  );
}

// momentOf is when a chosen day begins; the moment that the terms have already, where it is on that day.
function momentOf(day: string, had?: string): string | undefined {
  if (!day) return undefined;
  return had?.startsWith(day) ? had : `${day}T00:00:00.000Z`;
}
