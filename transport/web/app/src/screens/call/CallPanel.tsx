// The call that one is in: everybody's picture, and what one does with one's own. It lies above the
// screens, so that one can go on to others.

import './Call.css';
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from '../../router';
import { store } from '../../store';
import type { Store } from '../../store/sync';
import { announce } from '../../ui/Announcer';
import { Avatar } from '../../ui/Avatar';
import { Button } from '../../ui/Button';
import { t } from '../../words';
import { whoIs } from '../room/who';
import { current, join, type Call } from './call';
import type { Peer } from './peer';

// begin has one join the call of a room, and shows it.
export async function begin(now: Store, roomId: string): Promise<void> {
  let host = document.getElementById('call');
  if (!host) {
    host = document.createElement('div');
    host.id = 'call';
    document.body.append(host);
    render(<CallPanel />, host);
    store.subscribe((other) => {
      if (current.peek() && other !== current.peek()!.store) void current.peek()!.leave(); // one has signed out
    });
  }
  await join(now, roomId);
}

function CallPanel() {
  const call = current.value;
  return call && <Panel key={call.session} call={call} />;
}

function Panel({ call }: { call: Call }) {
  const [large, setLarge] = useState(false);
  const first = useRef<HTMLElement>(null);
  const name = store.value?.rooms.get(call.roomId)?.name ?? call.roomId;
  const peers = [...call.peers.value];
  const { length } = peers;
  useEffect(() => first.current?.focus(), []);
  useEffect(() => announce(t('incall.others', { n: length })), [length]);
  return (
    <section class={large ? 'call large' : 'call'} aria-label={t('incall.in', { name })} tabIndex={-1} ref={first}>
      <header>
        <Link to={`/ui/rooms/${call.roomId}`}>
          <bdi>{name}</bdi>
        </Link>
        <Button kind="quiet" aria-pressed={large} onClick={() => setLarge(!large)}>
          {t('incall.large')}
        </Button>
      </header>
      <div class="tiles">
        <Tile stream={call.picture.value} userId={call.store.who.user_id} name={t('incall.you')} own={!call.sharing.value} empty={call.hidden.value && !call.sharing.value} quiet />
        {peers.map(([session, peer]) => (
          <Other key={session} peer={peer} />
        ))}
      </div>
      {length === 0 && <p class="small soft">{t('incall.alone')}</p>}
      <div class="buttons" role="group" aria-label={t('incall.controls')}>
        <Button aria-pressed={call.muted.value} disabled={call.own.getAudioTracks().length === 0} onClick={() => call.mute()}>
          {t('incall.mute')}
        </Button>
        <Button aria-pressed={call.hidden.value} disabled={call.own.getVideoTracks().length === 0} onClick={() => call.hide()}>
          {t('incall.hide')}
        </Button>
        {'getDisplayMedia' in navigator.mediaDevices && (
          <Button aria-pressed={call.sharing.value !== null} onClick={() => void call.share()}>
            {t('incall.share')}
          </Button>
        )}
        <Button kind="danger" onClick={() => void call.leave()}>
          {t('incall.leave')}
        </Button>
      </div>
    </section>
  );
}

function Other({ peer }: { peer: Peer }) {
  return <Tile stream={peer.stream.value} userId={peer.userId} name={whoIs(peer.userId).name} empty={!peer.stream.value} note={peer.reached.value ? '' : t('incall.reaching')} />;
}

interface Tile {
  stream: MediaStream | null;
  userId: string;
  name: string;
  empty: boolean;
  own?: boolean; // one's camera, which is shown as in a mirror
  quiet?: boolean;
  note?: string;
}

function Tile({ stream, userId, name, empty, own, quiet = false, note }: Tile) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current && video.current.srcObject !== stream) video.current.srcObject = stream;
  }, [stream]);
  return (
    <figure class={own ? 'tile own' : 'tile'}>
      <video ref={video} autoplay playsInline muted={quiet} aria-label={t('incall.picture', { name })} hidden={empty} />
      {empty && <Avatar id={userId} name={name} size="large" />}
      <figcaption>
        <bdi>{name}</bdi> {note}
      </figcaption>
    </figure>
  );
}
