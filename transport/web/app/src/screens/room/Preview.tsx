// What the pages are about that a message links to, below its text. The server has fetched them, so
// that no page learns who reads. A row that grows by them moves nothing that is in view: the list of
// messages holds it.

import './Preview.css';
import { useEffect, useState } from 'preact/hooks';
import type { Message } from '../../types';
import { Button } from '../../ui/Button';
import { failed } from '../../ui/Toast';
import { t } from '../../words';
import { knownOf, previewsOf, withoutPreview, type LinkPreview } from './previews';
import type { Talk } from './talk';

export default function Previews({ message, talk }: { message: Message; talk: Talk }) {
  const [, again] = useState(0);
  const version = message.edited?.room_seq;
  const list = knownOf(message) ?? [];
  useEffect(() => {
    if (knownOf(message)) return;
    const end = new AbortController();
    previewsOf(message, end.signal).then(
      () => again((n) => n + 1),
      () => undefined, // without an answer the link says enough; it is asked for again when the message is shown again
    );
    return () => end.abort();
  }, [message.msg_id, version]);
  const mine = message.sender_id === talk.store.who.user_id && talk.rights.value.act;
  if (list.length === 0) return null;
  return (
    <ul class="previews">
      {list.map((p) => (
        <li key={p.url} class="preview">
          <Page of={p} />
          {mine && <Button kind="quiet" icon="close" label={t('preview.remove', { title: p.title })} onClick={() => void remove(talk, message, p).catch(failed)} />}
        </li>
      ))}
    </ul>
  );
}

function Page({ of: { url, host, title, description, site_name, image } }: { of: LinkPreview }) {
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      <span class="words">
        <bdi class="small soft site">{site_name && site_name.toLowerCase() !== host ? `${host} · ${site_name}` : host}</bdi>
        <bdi class="title">{title}</bdi>
        {description && (
          <span class="small description" dir="auto">
            {description}
          </span>
        )}
      </span>
      {image && <img src={image.url} width={72} height={72} alt="" loading="lazy" decoding="async" />}
    </a>
  );
}

// remove has the message say the same without the preview.
function remove(talk: Talk, message: Message, { url }: LinkPreview): Promise<void> {
  return talk.edit(message, withoutPreview(message.body.text, url), [...(message.body.mentions ?? [])]);
}
