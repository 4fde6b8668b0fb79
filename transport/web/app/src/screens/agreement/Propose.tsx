// Proposing other terms: what everybody takes on, how long they hold, and who must accept the
// next ones. Who may do what is changed over the API, and by agents.

import { useState } from 'preact/hooks';
import { at, put } from '../../api';
import type { Agreement, Terms } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Choice, Field } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';

interface Props {
  agreement: Agreement;
  onChanged: () => void;
}

export function Propose({ agreement: { id, terms }, onChanged }: Props) {
  const [texts, setTexts] = useState((terms.obligations ?? []).join('\n'));
  const [until, setUntil] = useState(terms.until?.slice(0, 10) ?? '');
  const [accept, setAccept] = useState(terms.accept);
  const act = useAct();
  const save = async () => {
    const next: Terms = { ...terms, obligations: texts.split('\n').filter((line) => line.trim()), until: until ? `${until}T00:00:00.000Z` : undefined, accept };
    const propose = async () => {
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
