// The files of a message, as they are shown below its text. A picture keeps its room before
// it has come; what isn't a picture, a sound or a film is a card that saves it.

import './files.css';
import { useState } from 'preact/hooks';
import { store } from '../../../store';
import type { SentFile } from '../../../store/db';
import type { Attachment } from '../../../types';
import { bytes } from '../../../text';
import { Icon } from '../../../ui/Icon';
import { t } from '../../../words';
import { pictureOf, urlOf } from './urls';
import { Viewer } from './Viewer';
import { kindOf } from './words';

interface Props {
  files: readonly Attachment[];
  room: string;
  // sending are those of a message that isn't known to have arrived.
  sending?: readonly SentFile[];
}

// side is the longer side of a picture in a message, in pixels.
const side = 360;

const isPicture = (f: Attachment) => f.thumbnail === true && f.content_type.startsWith('image/');
export default function Attached({ files, room, sending = [] }: Props) {
  const [open, setOpen] = useState(-1);
  const pictures = files.filter(isPicture);
  return (
    <div class="attached">
      {files.map((f) =>
        isPicture(f) ? (
          <Picture key={f.file_id} of={f} room={room} onOpen={() => setOpen(pictures.indexOf(f))} />
        ) : f.content_type.startsWith('audio/') ? (
          <figure key={f.file_id} class="sound">
            <figcaption class="small soft"><bdi>{f.name}</bdi></figcaption>
            <audio controls preload="metadata" src={urlOf(room, f)} aria-label={f.name} />
          </figure>
        ) : f.content_type.startsWith('video/') ? (
          <video key={f.file_id} controls preload="metadata" src={urlOf(room, f)} aria-label={f.name} />
        ) : (
          <a key={f.file_id} class="file" href={urlOf(room, f)} download={f.name} title={t('files.save', { name: f.name })}>
            <Icon name="document" />
            <span class="about">
              <bdi class="name">{f.name}</bdi>
              <span class="small soft">
                {kindOf(f.content_type, f.name)} · {bytes(f.bytes)}
              </span>
            </span>
          </a>
        ),
      )}
      {sending.map((f) => (
        <Sending key={f.id} of={f} />
      ))}
      {open >= 0 && <Viewer files={pictures} room={room} first={open} onClose={() => setOpen(-1)} />}
    </div>
  );
}

function Picture({ of, room, onOpen }: { of: Attachment; room: string; onOpen: () => void }) {
  const { width = side, height = side } = of;
  const scale = Math.min(1, side / Math.max(width, height, 1));
  return (
    <button type="button" class="picture" aria-label={t('files.open', { name: of.name })} onClick={onOpen}>
      <img
        src={pictureOf(room, of, 'small')}
        srcset={`${pictureOf(room, of, 'small')} 1x, ${pictureOf(room, of, 'large')} 2x`}
        width={Math.max(1, Math.round(width * scale))}
        height={Math.max(1, Math.round(height * scale))}
        alt=""
        loading="lazy"
        decoding="async"
      />
    </button>
  );
}

function Sending({ of }: { of: SentFile }) {
  const upload = store.value?.uploads.all.value.find((u) => u.id === of.id);
  return (
    <div class="file">
      <Icon name="up" size={20} />
      <span class="about">
        <bdi class="name">{of.name}</bdi>
        <span class="small soft">{upload?.state === 'waiting' ? t('files.going', { sent: bytes(upload.sent), size: bytes(of.bytes) }) : bytes(of.bytes)}</span>
        {upload?.state === 'waiting' && <progress max={Math.max(1, of.bytes)} value={upload.sent} aria-label={t('files.progress', { name: of.name })} />}
      </span>
    </div>
  );
}
