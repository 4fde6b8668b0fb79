// Adding members of the tenant to a room or a workspace: by name from those who are known
// here, or by their whole address or id.

import { useState } from 'preact/hooks';
import { post } from '../../api';
import { store } from '../../store';
import { nameOf } from '../../text';
import type { Known } from '../../store/db';
import type { Member } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Badge } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { t } from '../../words';
import type { Of } from './of';

// most is how many people are offered at once.
const most = 6;

export function AddMember({ of, members, onAdded }: { of: Of; members: Member[]; onAdded: () => void }) {
  const [sought, setSought] = useState('');
  const [busy, setBusy] = useState(false);
  const inside = new Set(members.map((member) => member.user_id));
  const people = [...(store.value?.people.byId.value.values() ?? [])].filter((person) => !person.left && !inside.has(person.user_id) && fits(person, sought));
  const word = sought.trim();
  const whole = /^u:.|^[^@\s]+@[^@\s]+$/.test(word);
  const add = async (who: { user_id?: string; email?: string }, name: string) => {
    setBusy(true);
    try {
      await post(`${of.url}/members`, who);
      setSought('');
      toast(t('add.done', { name, what: of.what }));
      onAdded();
    } catch (problem) {
      failed(problem);
    }
    setBusy(false);
  };
  return (
    <Section title={t('add.title')}>
      <form
        class="stack"
        onSubmit={(e) => {
          e.preventDefault();
          if (people.length === 1) void add({ user_id: people[0]!.user_id }, nameOf(people[0]!));
          else if (whole) void add(word.startsWith('u:') ? { user_id: word } : { email: word }, word);
        }}
      >
        <Field label={t('add.field')} hint={t('add.hint')} value={sought} onValue={setSought} autoComplete="off" autoCapitalize="none" spellcheck={false} />
        {whole && people.length === 0 && (
          <Button kind="primary" type="submit" busy={busy}>
            {t('add.action', { name: word })}
          </Button>
        )}
      </form>
      <List label={t('add.people')}>
        {people.slice(0, most).map((person) => (
          <Row
            key={person.user_id}
            start={<Avatar id={person.user_id} name={nameOf(person)} icon={person.is_service ? 'tool' : undefined} />}
            title={nameOf(person)}
            sub={person.is_service ? t('members.agent') : (person.email ?? person.user_id)}
            meta={person.unproven ? <Badge kind="warn">{t('person.unproven')}</Badge> : undefined}
            end={<Button kind="quiet" icon="plus" label={t('add.action', { name: nameOf(person) })} disabled={busy} onClick={() => void add({ user_id: person.user_id }, nameOf(person))} />}
          />
        ))}
      </List>
    </Section>
  );
}

function fits(person: Known, sought: string): boolean {
  const word = sought.trim().toLocaleLowerCase();
  return [nameOf(person), person.email ?? '', person.user_id].some((text) => text.toLocaleLowerCase().includes(word));
}
