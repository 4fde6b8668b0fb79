// The rooms that one may join and isn't in, by what they are called and about.

import { useState } from 'preact/hooks';
import { at, get, post, query } from '../../api';
import { go } from '../../router';
import { store } from '../../store';
import type { RoomEntry } from '../../types';
import { Avatar } from '../../ui/Avatar';
import { Await } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { rich, t } from '../../words';
import '../search/search.css';

interface Page {
  rooms: RoomEntry[];
  next_cursor: string | null;
}

const read = (words: string, cursor: string | null, signal?: AbortSignal): Promise<Page> => get<Page>('/api/rooms' + query({ joinable: true, query: words, cursor }), { signal });

export default function Directory() {
  const [typed, setTyped] = useState('');
  const [words, setWords] = useState('');
  const list = useLoad((signal) => read(words, null, signal), [words]);
  const act = useAct();
  const more = async ({ rooms, next_cursor }: Page) => {
    const next = await read(words, next_cursor);
    list.set({ rooms: [...rooms, ...next.rooms], next_cursor: next.next_cursor });
  };
  return (
    <Screen title={t('directory.title')} above="/ui/">
      <form
        class="seek"
        role="search"
        aria-label={t('directory.title')}
        onSubmit={(e) => {
          e.preventDefault();
          setWords(typed.trim());
        }}
      >
        <div class="line">
          <input class="input" type="search" dir="auto" aria-label={t('directory.field')} placeholder={t('directory.field')} maxLength={200} value={typed} onInput={(e) => setTyped(e.currentTarget.value)} />
          <Button type="submit">{t('search.action')}</Button>
        </div>
      </form>
      <Await of={list}>
        {(page) =>
          page.rooms.length === 0 ? (
            <Empty icon="room" title={t(words ? 'rooms.notfound' : 'directory.none')}>
              <p>{t('directory.none.help')}</p>
            </Empty>
          ) : (
            <div class="hits">
              <List label={t('rooms.joinable')}>
                {page.rooms.map((room) => (
                  <Entry key={room.room_id} room={room} />
                ))}
              </List>
              {page.next_cursor && (
                <div class="more">
                  <Button busy={act.busy} onClick={() => void act.run(() => more(page)).then((ok) => ok || failed(act.problem))}>
                    {t('search.more')}
                  </Button>
                </div>
              )}
            </div>
          )
        }
      </Await>
    </Screen>
  );
}

function Entry({ room }: { room: RoomEntry }) {
  const act = useAct();
  const join = () =>
    act.run(async () => {
      await post(at`/api/rooms/${room.room_id}/join`).catch((problem: unknown) => {
        failed(problem);
        throw problem;
      });
      await store.value?.refresh();
      go(`/ui/rooms/${room.room_id}`);
    });
  return (
    <Row
      start={<Avatar id={room.room_id} name={room.name} />}
      title={room.name}
      sub={room.topic}
      below={
        <>
          {t('person.members', { n: room.members ?? 0 })}
          {room.active_at && <> · {rich('directory.active', { time: <Time at={room.active_at} as="ago" /> })}</>}
        </>
      }
      end={
        <Button busy={act.busy} label={t('directory.join.room', { name: room.name })} onClick={() => void join()}>
          {t('directory.join')}
        </Button>
      }
    />
  );
}
