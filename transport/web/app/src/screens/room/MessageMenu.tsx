// What one can do with a message: beside the pointer, or from below on a phone.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { MenuItems, type MenuItem } from '../../ui/Menu';
import { failed, toast } from '../../ui/Toast';
import { isNews } from '../../store/entries';
import { t } from '../../words';
import { linkTo } from '../rooms/jump';
import type { Talk } from './talk';
import { whoIs, wordsOf } from './who';
import type { Message } from '../../types';

export default function MessageMenu({ talk, message, x, y }: { talk: Talk; message: Message; x: number; y: number }) {
  const box = useRef<HTMLDialogElement>(null);
  const pressed = useRef(false);
  const close = () => (talk.menu.value = null);
  useLayoutEffect(() => {
    const dialog = box.current!;
    const before = document.activeElement;
    dialog.showModal();
    place(dialog, x, y);
    dialog.querySelector('button')?.focus();
    return () => {
      dialog.close();
      // What an item does may have moved the focus already.
      if (before instanceof HTMLElement && (document.activeElement ?? document.body) === document.body) before.focus();
    };
  }, []);
  const answered = message.reply_to && talk.quote(message.reply_to).value;
  const text = message.type === 'text';
  const own = text && message.sender_id === talk.store.who.user_id;
  const { act, answer, remove } = talk.rights.value;
  const items: MenuItem[] = [
    ...(isNews(message) && talk.mayWrite ? [{ label: t('talk.reply'), icon: 'reply' as const, onSelect: () => (talk.reply.value = message) }] : []),
    ...(answered ? [{ label: t('talk.answered'), icon: 'up' as const, onSelect: () => void talk.goTo(answered.room_seq) }] : []),
    ...(isNews(message) ? [{ label: t('talk.copy'), icon: 'copy' as const, onSelect: () => void copy(wordsOf(message)) }] : []),
    { label: t('talk.details'), icon: 'check', onSelect: () => (talk.details.value = message) },
    ...(text && act ? [{ label: t('talk.react'), icon: 'smile' as const, onSelect: () => (talk.picking.value = message) }] : []),
    ...(act ? (message.reactions ?? []) : []).map(({ key, count }) => ({ label: t('talk.reaction', { key, n: count }), icon: 'smile' as const, onSelect: () => talk.react(message, key) })),
    ...(message.edited ? [{ label: t('talk.before'), icon: 'clock' as const, onSelect: () => (talk.versions.value = message) }] : []),
    ...(talk.thread || !(answer || message.replies) ? [] : [{ label: answer ? t('talk.thread') : t('talk.replies', { n: message.replies!.count }), icon: 'room' as const, onSelect: () => talk.openThread(message) }]),
    { label: t('talk.link'), icon: 'link', onSelect: () => void copy(location.origin + linkTo(message)) },
    ...(text && !message.thread ? [{ label: t('talk.readers'), icon: 'eye' as const, onSelect: () => (talk.reading.value = message) }] : []),
    ...(text ? [{ label: t('remind.title'), icon: 'clock' as const, onSelect: () => (talk.reminding.value = { message }) }] : []),
    ...(text && !message.poll && !message.form ? [{ label: t('talk.forward'), icon: 'forward' as const, onSelect: () => (talk.forwarding.value = message) }] : []),
    ...(text && act ? [{ label: t(message.pinned ? 'talk.unpin' : 'talk.pin'), icon: 'pin' as const, onSelect: () => talk.pin(message, !message.pinned) }] : []),
    ...(own && act && !message.poll && !message.form && !message.forwarded ? [{ label: t('talk.edit'), icon: 'edit' as const, onSelect: () => (talk.editing.value = message) }] : []),
    ...(own || (text && remove) ? [{ label: own ? t('talk.delete') : t('talk.delete.other', { name: whoIs(message.sender_id).name }), icon: 'trash' as const, danger: true, onSelect: () => void talk.remove(message) }] : []),
  ];
  return (
    <dialog
      ref={box}
      class="menu context"
      aria-label={t('talk.message')}
      onCancel={(e) => {
        e.preventDefault();
        close();
      }}
      onPointerDownCapture={() => (pressed.current = true)}
      onClickCapture={(e) => {
        // The finger that held the message is lifted over the menu: that chooses nothing.
        if (e.detail > 0 && !pressed.current) e.stopPropagation();
        else if (e.target === box.current) close();
      }}
      onContextMenu={(e) => e.preventDefault()}
    >
      <MenuItems label={t('talk.message')} items={items} onClose={close} onTab={close} />
    </dialog>
  );
}

// place keeps the menu within the screen; on a phone the style has the last word.
function place(dialog: HTMLElement, x: number, y: number) {
  const { width, height } = dialog.getBoundingClientRect();
  const [right, bottom] = [innerWidth - width - 8, innerHeight - height - 8];
  dialog.style.setProperty('--x', `${Math.max(8, Math.min(x, right))}px`);
  dialog.style.setProperty('--y', `${Math.max(8, Math.min(y, bottom))}px`);
}

export async function copy(text: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('do.copied'));
  } catch {
    failed(new Error(t('do.copy.failed')));
  }
}
