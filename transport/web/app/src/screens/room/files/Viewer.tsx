// The viewer of pictures: arrows go through those of a message, Z and a press zoom, Escape
// closes. It shows the server's large picture, and the file itself once one zooms in.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Attachment } from '../../../types';
import { Button } from '../../../ui/Button';
import { Icon } from '../../../ui/Icon';
import { t } from '../../../words';
import { pictureOf, urlOf } from './urls';

interface Props {
  files: readonly Attachment[];
  room: string;
  first: number;
  onClose: () => void;
}

export function Viewer({ files, room, first, onClose }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const [now, setNow] = useState(first);
  const [near, setNear] = useState(false);
  const file = files[now]!;
  useEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const step = (by: number) => {
    setNow((now + by + files.length) % files.length);
    setNear(false);
  };
  const rtl = document.documentElement.dir === 'rtl';
  return (
    <dialog
      ref={box}
      class="viewer"
      aria-label={file.name}
      onCancel={(e) => {
        e.preventDefault();
        onClose();
      }}
      onKeyDown={(e) => {
        const by = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1 }[e.key];
        if (by && files.length > 1 && !near) step(by);
        else if (e.key === 'z' || e.key === '+' || e.key === '-') setNear(e.key === 'z' ? !near : e.key === '+');
        else return;
        e.preventDefault();
      }}
    >
      <header>
        <bdi class="name">{file.name}</bdi>
        {files.length > 1 && <span class="soft small">{t('files.place', { n: now + 1, of: files.length })}</span>}
        <Button kind="quiet" icon="search" label={t(near ? 'files.zoom.out' : 'files.zoom.in')} aria-pressed={near} onClick={() => setNear(!near)} />
        <a class="button quiet round" href={urlOf(room, file)} download={file.name} aria-label={t('files.save', { name: file.name })} title={t('files.save', { name: file.name })}>
          <Icon name="down" />
        </a>
        <Button kind="quiet" icon="close" label={t('do.close')} onClick={onClose} />
      </header>
      <div class={near ? 'canvas near' : 'canvas'} tabIndex={near ? 0 : -1} onClick={() => setNear(!near)}>
        <img src={near ? urlOf(room, file) : pictureOf(room, file, 'large')} alt={file.name} />
      </div>
      {files.length > 1 && (
        <>
          <Button class="before" icon="back" label={t('files.before')} onClick={() => step(-1)} />
          <Button class="after" icon="forward" label={t('files.after')} onClick={() => step(1)} />
        </>
      )}
    </dialog>
  );
}
