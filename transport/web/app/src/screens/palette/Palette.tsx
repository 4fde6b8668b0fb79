// The palette: one field that leads to rooms, people, documents and commands, by keyboard
// alone. The focus stays in the field; what is chosen is told to screen readers by it.

import './palette.css';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { TargetedKeyboardEvent } from 'preact';
import { Avatar } from '../../ui/Avatar';
import { store } from '../../store';
import { Icon } from '../../ui/Icon';
import { t } from '../../words';
import { useDocuments } from './documents';
import { find, type Item } from './find';
import { Chords } from './Chords';

export default function Palette({ onClose }: { onClose: () => void }) {
  const [word, setWord] = useState('');
  const [at, setAt] = useState(0);
  const documents = useDocuments(word.trim().length >= 2);
  const groups = useMemo(() => find(word, documents), [word, documents]);
  const items = groups.flatMap(({ items }) => items);
  const chosen = items[Math.min(at, items.length - 1)];
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  const option = (item: Item) => `${id}-${items.indexOf(item)}`;
  useOpen(box);
  useEffect(() => void store.peek()?.people.refresh(), []); // some may have come since they were read
  useEffect(() => {
    if (chosen) document.getElementById(option(chosen))?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const go = (item: Item | undefined) => {
    if (!item) return;
    onClose();
    item.run();
  };
  const onKeyDown = (e: TargetedKeyboardEvent<HTMLInputElement>) => {
    if (e.isComposing) return;
    const last = items.length - 1;
    const next = { ArrowDown: at >= last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, PageDown: Math.min(at + 8, last), PageUp: Math.max(at - 8, 0) }[e.key];
    if (e.key === 'Enter') go(chosen);
    else if (next !== undefined && items.length > 0) setAt(next);
    else return;
    e.preventDefault();
  };
  return (
    <dialog
      ref={box}
      class="dialog palette"
      aria-label={t('palette.title')}
      onCancel={(e) => {
        e.preventDefault();
        onClose();
      }}
      onClick={(e) => e.target === box.current && onClose()}
    >
      <div class="sought">
        <Icon name="search" size={20} />
        <input
          type="text"
          dir="auto"
          role="combobox"
          aria-label={t('palette.title')}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen && option(chosen)}
          aria-autocomplete="list"
          placeholder={t('palette.hint')}
          autoComplete="off"
          spellcheck={false}
          value={word}
          onInput={(e) => {
            setWord(e.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div class="found" role="listbox" id={`${id}-list`} aria-label={t('palette.title')} tabIndex={-1}>
        {groups.map((group) => (
          <div key={group.title} role="group" aria-label={t(group.title)}>
            <p class="group" aria-hidden="true">
              {t(group.title)}
            </p>
            {group.items.map((item) => (
              <div key={item.id} id={option(item)} class="option" role="option" aria-selected={item === chosen} onClick={() => go(item)} onPointerMove={() => item !== chosen && setAt(items.indexOf(item))}>
                {item.icon ? <Icon name={item.icon} size={20} /> : <Avatar id={item.id} name={item.name} size="small" />}
                <span class="name" dir="auto">
                  {item.name}
                </span>
                {item.note && (
                  <span class="note" dir="auto">
                    {item.note}
                  </span>
                )}
                {item.chord && <Chords of={[item.chord]} />}
              </div>
            ))}
          </div>
        ))}
        {items.every(({ id }) => id === 'search') && <p class="none">{t('palette.none')}</p>}
      </div>
      <p class="hidden" role="status">
        {t('palette.found', { n: items.length })}
      </p>
    </dialog>
  );
}

// useOpen shows the dialog, and gives the focus back afterwards.
function useOpen(box: { current: HTMLDialogElement | null }) {
  useEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog?.showModal();
    dialog?.querySelector('input')?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}
