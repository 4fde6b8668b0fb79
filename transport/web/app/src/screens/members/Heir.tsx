// Who owns a room or a workspace once its last owner is gone: its owners say, its members see.

import { useState } from 'preact/hooks';
import { at, put } from '../../api';
import { me } from '../../session';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Select } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { isNoMember, nameFor, orLeft, Person } from '../Person';
import { members } from './api';
import { heirs } from './heirs';
import type { Of } from './of';

interface Props {
  of: Of;
  // agreement governs it, and keeps heir: the user id of who is named.
  agreement: string;
  heir?: string;
  owner: boolean;
  onChanged: () => void;
}

export function Heir({ owner, ...named }: Props) {
  const { of, heir } = named;
  return (
    <Section title="Heir">
      <div class="stack">
        <p>
          {heir ? (
            <>
              <Person id={heir} /> {isNoMember(heir) ? `is named to own this ${of.what} once its last owner is gone, but is no longer a member of the tenant: this doesn’t count.` : `owns this ${of.what} once its last owner is gone.`}
            </>
          ) : (
            `Nobody is named to own this ${of.what} once its last owner is gone.`
          )}
        </p>
        {owner && <Form key={heir ?? ''} {...named} />}
      </div>
    </Section>
  );
}

function Form({ of, agreement, heir: now = '', onChanged }: Omit<Props, 'owner'>) {
  const people = useLoad(members);
  const [heir, setHeir] = useState(now);
  const act = useAct();
  const save = async () => {
    if (!(await act.run(() => put(at`/api/agreements/${agreement}/heir`, { user_id: heir })))) return;
    toast(heir ? 'The heir is named' : 'Nobody is named any more');
    onChanged();
  };
  return (
    <Await of={people}>
      {({ members: list }) => {
        const others = heirs(list.filter((m) => m.user_id !== me.value?.identity.user_id));
        const gone = now !== '' && !others.some((o) => o.value === now);
        return (
          <form
            class="stack"
            onSubmit={(e) => {
              e.preventDefault();
              if (heir !== now) void save();
            }}
          >
            <Select
              label="Who follows the owners"
              value={heir}
              options={[{ value: '', label: 'Nobody' }, ...(gone ? [{ value: now, label: `${nameFor(now)}${orLeft(now)}` }] : []), ...others]}
              onValue={setHeir}
              hint={`Members of the ${of.what} see this. Somebody from outside has the ${of.what} only where nobody is left in it, and reads nothing from before if it is private.`}
            />
            <Problem of={act.problem} />
            <Button kind="primary" type="submit" busy={act.busy} disabled={heir === now}>
              Save the heir
            </Button>
          </form>
        );
      }}
    </Await>
  );
}
