// What a search is narrowed by: one chip each, which says what is set and takes it away.

import { useState } from 'preact/hooks';
import { store } from '../../store';
import { bare } from '../../text';
import { date } from '../../time';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { nameFor } from '../Person';
import { Picker, people, rooms } from '../rooms/Picker';
import { t } from '../../words';
import { kinds, type Wanted } from './query';

type Name = 'from' | 'in' | 'has' | 'after' | 'before';
const names: readonly Name[] = ['from', 'in', 'has', 'after', 'before'];

export function Chips({ of, onChange }: { of: Wanted; onChange: (change: Partial<Wanted>) => void }) {
  const [open, setOpen] = useState<Name | null>(null);
  const set = (value: string) => {
    setOpen(null);
    onChange({ [open!]: value });
  };
  return (
    <div class="chips" role="group" aria-label={t('search.narrow')}>
      {names.map((name) =>
        of[name] ? (
          <button key={name} type="button" class="chip on" aria-label={t('search.without', { what: said(name, of[name]) })} onClick={() => onChange({ [name]: '' })}>
            <bdi>{said(name, of[name])}</bdi> <Icon name="close" size={16} />
          </button>
        ) : (
          <button key={name} type="button" class="chip" aria-haspopup="dialog" onClick={() => setOpen(name)}>
            <Icon name="plus" size={16} /> {t(`search.by.${name}`)}
          </button>
        ),
      )}
      {open && <Ask name={open} onSet={set} onClose={() => setOpen(null)} />}
    </div>
  );
}

function Ask({ name, onSet, onClose }: { name: Name; onSet: (value: string) => void; onClose: () => void }) {
  const [day, setDay] = useState('');
  const isDay = name === 'after' || name === 'before';
  return (
    <Dialog title={t(`search.by.${name}`)} onClose={onClose} onSubmit={() => isDay && day && onSet(day)} actions={isDay && <Button kind="primary" type="submit" disabled={!day}>{t('search.set')}</Button>}>
      {name === 'from' && <Picker label={t('search.who')} of={people()} onPick={onSet} />}
      {name === 'in' && <Picker label={t('rooms.search')} of={rooms()} onPick={onSet} />}
      {name === 'has' && <Picker label={t('search.kind')} of={kinds.map((id) => ({ id, name: t(`search.has.${id}`), icon: 'search' }))} onPick={onSet} />}
      {isDay && <Field label={t('search.day')} type="date" value={day} onValue={setDay} />}
    </Dialog>
  );
}

// said is what a chip says.
function said(name: Name, value: string): string {
  if (name === 'from') return t('search.is.from', { what: nameFor(value) });
  if (name === 'in') return t('search.is.in', { what: store.value?.rooms.get(value)?.name ?? bare(value) });
  if (name === 'has') return t(`search.has.${value as 'file'}`);
  return t(`search.is.${name}`, { what: date(`${value}T12:00:00`) });
}
