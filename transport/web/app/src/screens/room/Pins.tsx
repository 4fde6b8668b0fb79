// The messages that are pinned in a room, each of which leads to its place.

import { useState } from 'preact/hooks';
import { at, get, query } from '../../api';
import { store } from '../../store';
import { rowOf } from '../../store/entries';
import { oneLine } from '../../text';
import type { Entry, Message } from '../../types';
import { Await } from '../../ui/Await';
import { Avatar } from '../../ui/Avatar';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { linkTo } from '../rooms/jump';
import { whoIs, wordsOf } from './who';

interface Page {
  entries: Entry[];
  next_cursor: number | null;
}

// step is how many are shown at first, and how many more at a time; looks is how many pages are
// asked for them, since a page may be short.
const step = 20;
const looks = 20;

async function read(roomId: string, wanted: number, signal: AbortSignal): Promise<{ pins: Message[]; more: boolean }> {
  const pins: Message[] = [];
  let cursor: number | null | undefined;
  for (let i = 0; i < looks && cursor !== null && pins.length < wanted; i++) {
    const page: Page = await get<Page>(at`/api/rooms/${roomId}/pins` + query({ cursor, limit: wanted - pins.length }), { signal });
    pins.push(...page.entries.map(rowOf));
    cursor = page.next_cursor;
  }
  return { pins, more: cursor !== null };
}

export function Pins({ roomId, archived }: { roomId: string; archived: boolean }) {
  const [wanted, setWanted] = useState(step);
  const seq = store.value?.rooms.get(roomId)?.last_seq; // whatever comes may be a pin
  const loaded = useLoad((signal) => read(roomId, wanted, signal), [roomId, wanted, seq]);
  return (
    <Section title={t('pins.title')}>
      <Await of={loaded}>
        {({ pins, more }) => (
          <>
            {pins.length === 0 && <p class="soft">{t(archived ? 'pins.none.archived' : 'pins.none')}</p>}
            {pins.length > 0 && (
              <List label={t('pins.title')}>
                {pins.map((message) => {
                  const who = whoIs(message.sender_id);
                  return (
                    <Row
                      key={message.msg_id}
                      to={linkTo(message)}
                      start={<Avatar id={who.id} name={who.name} icon={who.agent ? 'tool' : undefined} size="small" />}
                      title={oneLine(wordsOf(message).slice(0, 200))}
                      sub={who.name}
                      meta={<Time at={message.sent_at} as="brief" />}
                    />
                  );
                })}
              </List>
            )}
            {more && (
              <Button kind="quiet" busy={loaded.busy} onClick={() => setWanted(wanted + step)}>
                {t('pins.more')}
              </Button>
            )}
          </>
        )}
      </Await>
    </Section>
  );
}
