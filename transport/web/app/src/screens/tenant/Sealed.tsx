import { useState } from 'preact/hooks';
import { at, get, newKey, post, query } from '../../api';
import type { SealedPlace } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Select } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { members } from '../members/api';
import { heirs } from '../members/heirs';

// Sealed are the private places that nobody is left in, which owners give to an heir.
export function Sealed() {
  const list = useLoad(all);
  const [naming, setNaming] = useState<SealedPlace | null>(null);
  return (
    <Section title="Sealed places">
      <Await of={list}>
        {(places) =>
          places.length === 0 ? (
            <p class="soft">Nothing is sealed. A private room or workspace is, when the last person in it leaves the tenant: nobody reads it until it has an heir.</p>
          ) : (
            <List label="Sealed places">
              {places.map((place) => (
                <Row
                  key={place.agreement_id}
                  start={<Icon name="lock" />}
                  title={place.name}
                  sub={place.id}
                  below={<>Sealed <Time at={place.sealed_at} /></>}
                  end={<Button onClick={() => setNaming(place)}>Name an heir</Button>}
                />
              ))}
            </List>
          )
        }
      </Await>
      {naming && <Heir of={naming} onClose={() => setNaming(null)} onNamed={list.reload} />}
    </Section>
  );
}

// all reads the list page by page; most tenants have one.
async function all(signal: AbortSignal): Promise<SealedPlace[]> {
  const places: SealedPlace[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await get<{ sealed: SealedPlace[]; next_cursor: string | null }>(`/api/sealed${query({ limit: 100, cursor })}`, { signal });
    places.push(...page.sealed);
    cursor = page.next_cursor;
  }
  return places;
}

function Heir({ of, onClose, onNamed }: { of: SealedPlace; onClose: () => void; onNamed: () => void }) {
  const people = useLoad(members);
  const [heir, setHeir] = useState('');
  const [key] = useState(newKey);
  const act = useAct();
  const name = async () => {
    if (!(await act.run(() => post(at`/api/agreements/${of.agreement_id}/heir`, { user_id: heir }, { key: `${key}-${heir}` })))) return;
    toast(`${of.name} has an owner again`);
    onNamed();
    onClose();
  };
  return (
    <Dialog
      title={`Name an heir of “${of.name}”`}
      onClose={onClose}
      onSubmit={() => heir && void name()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!heir}>
            Name the heir
          </Button>
        </>
      }
    >
      <p>They own it from now on. What was there before stays closed, to them too; credits are theirs.</p>
      <Await of={people}>{({ members: list }) => <Select label="Heir" value={heir} options={[{ value: '', label: 'Choose somebody' }, ...heirs(list)]} onValue={setHeir} />}</Await>
      <Problem of={act.problem} />
    </Dialog>
  );
}
