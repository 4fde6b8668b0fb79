// The messages that a search finds, page after page as one scrolls.

import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get } from '../../api';
import { opened } from '../../store';
import type { MessageHit, MessageHits } from '../../types';
import { announce } from '../../ui/Announcer';
import { Problem } from '../../ui/Await';
import { Avatar } from '../../ui/Avatar';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Empty, Failed } from '../../ui/Empty';
import { List, Row } from '../../ui/Row';
import { Spinner } from '../../ui/Spinner';
import { nameFor } from '../Person';
import { whoIs } from '../room/who';
import { rich, t } from '../../words';
import { findKept } from './kept';
import { linkTo } from '../rooms/jump';
import { askedOf, partsOf, type Wanted } from './query';

interface Found {
  hits: MessageHit[];
  next: string | null;
  kept: boolean; // of what is on this device
  upTo?: string | null; // the index has taken in what was sent until then
}

export function FoundMessages({ wanted }: { wanted: Wanted }) {
  const [found, setFound] = useState<Found | null>(null);
  const [problem, setProblem] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const end = useRef(new AbortController());
  const more = async (from: Found | null) => {
    setBusy(true);
    setProblem(undefined);
    try {
      const page = await ask(wanted, from?.next ?? null, end.current.signal);
      const hits = [...(from?.hits ?? []), ...page.hits];
      if (end.current.signal.aborted) return;
      setFound({ ...page, hits });
      announce(t('search.count', { n: hits.length }));
    } catch (wrong) {
      if (!end.current.signal.aborted) setProblem(wrong);
    }
    if (!end.current.signal.aborted) setBusy(false);
  };
  useEffect(() => {
    end.current = new AbortController();
    void more(null);
    return () => end.current.abort();
  }, []);
  if (!found) return problem ? <Failed problem={problem} onRetry={() => void more(null)} /> : <Spinner />;
  return (
    <section class="hits" aria-label={t('search.messages')}>
      {found.kept && (
        <p class="notice" role="status">
          {t('search.kept')}
        </p>
      )}
      {found.upTo !== undefined && <p class="notice">{found.upTo ? rich('search.indexing', { time: <Time at={found.upTo} as="clock" /> }) : t('search.indexing.all')}</p>}
      {found.hits.length === 0 ? (
        <Empty icon="search" title={t('search.none')}>
          <p>{t('search.none.help')}</p>
        </Empty>
      ) : (
        <List label={t('search.list')}>
          {found.hits.map((hit) => (
            <Hit key={hit.entry_id} hit={hit} />
          ))}
        </List>
      )}
      <Problem of={problem} />
      {found.next && <More busy={busy} onMore={() => void more(found)} />}
    </section>
  );
}

// ask asks the server, or this device where that can't be reached.
async function ask(wanted: Wanted, cursor: string | null, signal: AbortSignal): Promise<Found> {
  try {
    const { hits, next_cursor: next, indexing } = await get<MessageHits>(askedOf(wanted, cursor), { signal });
    return { hits, next, kept: false, ...(indexing && { upTo: indexing.complete_up_to }) };
  } catch (problem) {
    if (cursor || !(problem instanceof ApiError && problem.code === 'offline')) throw problem;
    return { hits: await findKept(await opened(), wanted), next: null, kept: true };
  }
}

function Hit({ hit }: { hit: MessageHit }) {
  const { place, author_id: by } = hit;
  return (
    <Row
      to={linkTo(place)}
      start={<Avatar id={by} name={nameFor(by)} icon={whoIs(by).agent ? 'tool' : undefined} />}
      title={nameFor(by)}
      meta={
        <>
          <bdi>{hit.room_name}</bdi> · <Time at={hit.sent_at} />
        </>
      }
      below={partsOf(hit.snippet, hit.highlights).map((part, i) => (part.hit ? <mark key={i}>{part.text}</mark> : part.text))}
    />
  );
}

// More brings the next page when it comes into view, or is pressed.
function More({ busy, onMore }: { busy: boolean; onMore: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (busy) return;
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && onMore());
    seen.observe(box.current!);
    return () => seen.disconnect();
  });
  return (
    <div class="more" ref={box}>
      <Button busy={busy} onClick={onMore}>
        {t('search.more')}
      </Button>
    </div>
  );
}
