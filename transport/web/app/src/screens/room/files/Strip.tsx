// The files of the message that is being written: how far each is, and what became of it.

import './files.css';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Upload } from '../../../store/db';
import { bytes } from '../../../text';
import { announce } from '../../../ui/Announcer';
import { Button } from '../../../ui/Button';
import { Icon } from '../../../ui/Icon';
import { t } from '../../../words';
import type { Talk } from '../talk';
import { take } from './take';
import { whyNot } from './words';

export function Strip({ talk, files }: { talk: Talk; files: readonly Upload[] }) {
  if (files.length === 0) return null;
  return (
    <ul class="strip" aria-label={t('files.list')}>
      {files.map((file) => (
        <Going key={file.id} of={file} talk={talk} />
      ))}
    </ul>
  );
}

function Going({ of, talk }: { of: Upload; talk: Talk }) {
  const { uploads } = talk.store;
  const { size } = of.content;
  useEffect(() => {
    if (of.state !== 'waiting') announce(of.state === 'up' ? t('files.up', { name: of.name }) : whyNot(of));
  }, [of.state]);
  return (
    <li class={of.state === 'failed' ? 'file failed' : 'file'}>
      <Icon name={of.state === 'failed' ? 'warning' : of.state === 'up' ? 'check' : 'up'} size={20} />
      <span class="about">
        <bdi class="name">{of.name}</bdi>
        <span class="small soft">{of.state === 'failed' ? whyNot(of) : of.state === 'up' ? bytes(size) : t('files.going', { sent: bytes(of.sent), size: bytes(size) })}</span>
        {of.state === 'waiting' && <progress max={Math.max(1, size)} value={of.sent} aria-label={t('files.progress', { name: of.name })} />}
      </span>
      {of.state === 'failed' && <Button kind="quiet" icon="refresh" label={t('files.again', { name: of.name })} onClick={() => uploads.retry(of.id)} />}
      <Button kind="quiet" icon="close" label={t(of.state === 'waiting' ? 'files.stop' : 'files.remove', { name: of.name })} onClick={() => uploads.remove(of.id)} />
    </li>
  );
}

// useFiles takes up what is dropped on the conversation, and pasted into the field.
export function useFiles(talk: Talk, input: RefObject<HTMLTextAreaElement | null>) {
  useEffect(() => {
    const field = input.current;
    const room = field?.closest<HTMLElement>('.room');
    if (!field || !room) return;
    const over = (is: boolean) => room.classList.toggle('dropping', is);
    const has = (e: DragEvent) => e.dataTransfer?.types.includes('Files') ?? false;
    const dragged = (e: DragEvent) => {
      if (!has(e)) return;
      e.preventDefault();
      over(true);
    };
    const left = (e: DragEvent) => void (room.contains(e.relatedTarget as Node | null) || over(false));
    const dropped = (e: DragEvent) => {
      if (!has(e)) return;
      e.preventDefault();
      over(false);
      take(talk, [...e.dataTransfer!.files]);
      field.focus();
    };
    const pasted = (e: ClipboardEvent) => {
      const files = [...(e.clipboardData?.files ?? [])];
      if (files.length === 0) return;
      e.preventDefault();
      take(talk, files);
    };
    room.dataset.drop = t('files.drop');
    room.addEventListener('dragover', dragged);
    room.addEventListener('dragleave', left);
    room.addEventListener('drop', dropped);
    field.addEventListener('paste', pasted);
    return () => {
      over(false);
      room.removeEventListener('dragover', dragged);
      room.removeEventListener('dragleave', left);
      room.removeEventListener('drop', dropped);
      field.removeEventListener('paste', pasted);
    };
  }, [talk]);
}
