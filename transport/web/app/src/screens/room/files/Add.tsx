// What one adds to a message: files, a picture taken now, marks of Markdown.

import { signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { touch } from '../../../device';
import { Menu, type MenuItem } from '../../../ui/Menu';
import { t } from '../../../words';
import { useLater, type Props } from '../Later';
import { take } from './take';

// toolbar tells whether the toolbar is shown; it is kept on this device.
export const toolbar = signal(localStorage.getItem('ubl.toolbar') === 'shown');
toolbar.subscribe((shown) => (shown ? localStorage.setItem('ubl.toolbar', 'shown') : localStorage.removeItem('ubl.toolbar')));

// narrow is where no second button fits beside that which sends.
const narrow = matchMedia('(max-width: 47.99rem)');

export function Add(props: Props) {
  const { talk } = props;
  const later = useLater(props);
  const files = useRef<HTMLInputElement>(null);
  const camera = useRef<HTMLInputElement>(null);
  const items: MenuItem[] = [
    { label: t('write.files'), icon: 'document', onSelect: () => files.current?.click() },
    ...(touch ? [{ label: t('write.camera'), icon: 'eye' as const, onSelect: () => camera.current?.click() }] : []),
    { label: t('poll.new'), icon: 'check', onSelect: () => (talk.polling.value = '') },
    ...(narrow.matches ? [{ label: t('scheduled.later'), icon: 'clock' as const, onSelect: later.ask }] : []),
    { label: t(toolbar.value ? 'write.toolbar.hide' : 'write.toolbar.show'), icon: 'edit', onSelect: () => (toolbar.value = !toolbar.value) },
  ];
  const taken = (e: Event & { currentTarget: HTMLInputElement }) => {
    take(talk, [...(e.currentTarget.files ?? [])]);
    e.currentTarget.value = ''; // the same file may be chosen again
  };
  return (
    <>
      <Menu label={t('write.add')} icon="plus" items={items} />
      <input ref={files} type="file" multiple hidden onChange={taken} />
      <input ref={camera} type="file" accept="image/*" capture="environment" hidden onChange={taken} />
    </>
  );
}
