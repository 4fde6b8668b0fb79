// An Agreement: what it permits, what its parties owe, what is proposed, and how it came to be.

import { at, del, get, post } from '../../api';
import type { ScreenProps } from '../../router';
import { me } from '../../session';
import type { Agreement as Record, AgreementChange, Proposal } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Badge, Facts, Hash, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Screen, Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { inWords } from '../ledger/words';
import { Person } from '../Person';
import { agreementOf, platform } from '../rooms/archive';
import { Propose } from './Propose';
import { waiting } from './said';
import { Terms } from './Terms';

export default function Agreement({ params: { id = '' } }: ScreenProps) {
  const record = useLoad((signal) => get<{ agreement: Record }>(at`/api/agreements/${id}`, { signal }), [id]);
  return (
    <Screen title="Agreement" above="/ui/more" sub={id.replace(/^a:/, '').replace(':', ' ')}>
      <Await of={record}>{({ agreement }) => <Shown key={agreement.hash} of={agreement} onChanged={record.reload} />}</Await>
    </Screen>
  );
}

function Shown({ of, onChanged }: { of: Record; onChanged: () => void }) {
  const myself = of.members.find((m) => m.user_id === me.value?.identity.user_id);
  const ended = of.status === 'ended';
  return (
    <>
      {of.proposal && !ended && <Proposed of={of.proposal} id={of.id} onChanged={onChanged} />}
      <Section title="What it says" actions={<Badge kind={ended ? 'bad' : 'good'}>{ended ? 'ended' : 'in force'}</Badge>}>
        <Terms of={of.terms} />
      </Section>
      {myself?.role === 'owner' && !ended && <Propose agreement={of} onChanged={onChanged} />}
      {myself?.role === 'owner' && !ended && of.tenant_id !== platform && <End of={of} onChanged={onChanged} />}
      <Section title="How it came to be">
        <ol class="stack">
          {(of.history ?? []).map((step) => (
            <Step key={step.n} of={step} />
          ))}
        </ol>
        <Facts
          of={[
            ['Id', of.id],
            ['Hash', <Hash value={of.hash} />],
          ]}
        />
      </Section>
    </>
  );
}

// End is for good.
function End({ of: { id, type }, onChanged }: { of: Record; onChanged: () => void }) {
  const act = useAct();
  const whole = type === 'tenant_license';
  const end = async () => {
    const question = whole
      ? { title: 'End the whole organisation?', text: 'It is for good. Nobody writes, joins or makes anything in it any more, agents neither. What is there stays readable.', action: 'End the organisation' }
      : { title: 'End this Agreement?', text: `It is for good. ${id.startsWith(agreementOf('')) ? 'The room is archived: n' : 'N'}othing more is done under it; what is there stays readable.`, action: 'End it' };
    if (!(await ask({ ...question, danger: true }))) return;
    if (await act.run(() => post(at`/api/agreements/${id}/end`))) onChanged();
  };
  return (
    <Section title="End">
      <Problem of={act.problem} />
      <Button busy={act.busy} onClick={() => void end()}>
        End the Agreement
      </Button>
    </Section>
  );
}

function Step({ of }: { of: AgreementChange }) {
  return (
    <li>
      <Person id={of.by} /> {inWords(of.did)} <Time at={of.at} as="ago" /> {of.hash && <Hash value={of.hash} />}
    </li>
  );
}

function Proposed({ of, id, onChanged }: { of: Proposal; id: string; onChanged: () => void }) {
  const act = useAct();
  const mine = me.value?.identity.user_id ?? '';
  const awaited = of.waiting?.includes(mine);
  const answer = async (work: () => Promise<unknown>, done: string) => {
    if (!(await act.run(work))) return;
    toast(done);
    onChanged();
  };
  return (
    <Section title="Proposed terms" actions={<Badge kind="warn">{waiting(of.waiting ?? [])}</Badge>}>
      <p>
        <Person id={of.by} /> proposed these terms <Time at={of.at} as="ago" />. They aren’t in force yet.
      </p>
      <Terms of={of.terms} />
      <Problem of={act.problem} />
      {awaited && (
        <Button kind="primary" busy={act.busy} onClick={() => void answer(() => post(at`/api/agreements/${id}/proposal/accept`, { terms_hash: of.terms_hash }), 'The terms are accepted')}>
          Accept these terms
        </Button>
      )}
      {(awaited || of.by === mine) && (
        <Button busy={act.busy} onClick={() => void answer(() => del(at`/api/agreements/${id}/proposal`), 'The proposal is taken back')}>
          {of.by === mine ? 'Take the proposal back' : 'Decline'}
        </Button>
      )}
    </Section>
  );
}
