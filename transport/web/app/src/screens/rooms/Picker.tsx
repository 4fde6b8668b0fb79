// Choosing people or rooms by typing: the field keeps the focus, the arrow keys choose among
// what is found, Enter takes it.

import { useId, useState } from 'preact/hooks';
import type { TargetedKeyboardEvent } from 'preact';
import { me } from '../../session';
import { store } from '../../store';
import { nameOf } from '../../text';
import { Avatar } from '../../ui/Avatar';
import { Icon, type IconName } from '../../ui/Icon';
import { t } from '../../words';
import { best } from '../palette/fuzzy';
import '../palette/palette.css';
import './picker.css';

export interface Pick {
  id: string;
  name: string;
  note?: string;
  agent?: boolean;
  icon?: IconName; // a face where there is none
}

// most are shown at once: further letters tell them apart.
const most = 8;

export const people = ({ others = false } = {}): Pick[] =>
  [...(store.value?.people.byId.value.values() ?? [])]
    .filter((p) => !p.left && !(others && p.user_id === me.value?.identity.user_id))
    .map((p) => ({ id: p.user_id, name: nameOf(p), note: p.is_service ? t('members.agent') : p.email, agent: p.is_service }));

export const rooms = (): Pick[] => (store.value?.rooms.mine.value ?? []).map(({ room_id, name }) => ({ id: room_id, name }));

interface Props {
  label: string;
  of: readonly Pick[];
  onPick: (id: string) => void;
  // onBack is for Backspace in an empty field: it takes the last one away.
  onBack?: () => void;
}

export function Picker({ label, of, onPick, onBack }: Props) {
  const [word, setWord] = useState('');
  const [at, setAt] = useState(0);
  const id = useId();
  const found = best(of, word, (p) => `${p.name} ${p.note ?? ''}`, most);
  const chosen = found[Math.min(at, found.length - 1)];
  const pick = (one: Pick | undefined) => {
    if (!one) return;
    setWord('');
    setAt(0);
    onPick(one.id);
  };
  const onKeyDown = (e: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (e.isComposing || e.ctrlKey || e.metaKey) return;
    const last = found.length - 1;
    const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1 }[e.key];
    if (e.key === 'Enter') pick(chosen);
    else if (e.key === 'Backspace' && word === '') return onBack?.();
    else if (next !== undefined && found.length > 0) setAt(next);
    else return;
    e.preventDefault();
  };
  return (
    <div class="palette chooser">
      <input
        class="input"
        type="text"
        dir="auto"
        role="combobox"
        aria-label={label}
        placeholder={label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={chosen && `${id}-${found.indexOf(chosen)}`}
        aria-autocomplete="list"
        autoComplete="off"
        spellcheck={false}
        value={word}
        onInput={(e) => {
          setWord(e.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="found" role="listbox" id={`${id}-list`} aria-label={label} tabIndex={-1}>
        {found.map((one, i) => (
          <div key={one.id} id={`${id}-${i}`} class="option" role="option" aria-selected={one === chosen} onClick={() => pick(one)} onPointerMove={() => one !== chosen && setAt(i)}>
            {one.icon ? <Icon name={one.icon} size={20} /> : <Avatar id={one.id} name={one.name} size="small" icon={one.agent ? 'tool' : undefined} />}
            <span class="name" dir="auto">
              {one.name}
            </span>
            {one.note && (
              <span class="note" dir="auto">
                {one.note}
              </span>
            )}
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="hint">{t('palette.none')}</p>}
      <p class="hidden" role="status">
        {t('palette.found', { n: found.length })}
      </p>
    </div>
  );
}
