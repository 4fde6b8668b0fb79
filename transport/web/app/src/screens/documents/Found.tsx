import { useEffect } from 'preact/hooks';
import { Await } from '../../ui/Await';
import { announce } from '../../ui/Announcer';
import { Time } from '../../ui/Bits';
import { Empty } from '../../ui/Empty';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { useLoad } from '../../ui/useLoad';
import { rich, t } from '../../words';
import { ReceiptLink } from '../ReceiptLink';
import { partsOf } from '../search/query';
import { findBest, type Hits } from './api';
import { marks, type Piece } from './marks';

// Found is what a search finds, the best first, with what it matched marked.
export function Found({ w, wanted }: { w: string; wanted: string }) {
  const hits = useLoad((signal) => findBest(w, wanted, signal), [w, wanted]);
  return <Await of={hits}>{(found) => <Answer w={w} wanted={wanted} found={found} />}</Await>;
}

function Answer({ w, wanted, found }: { w: string; wanted: string; found: Hits }) {
  const n = found.documents.length;
  useEffect(() => announce(t('document.found', { n })), []);
  if (found.documents.length === 0) {
    return (
      <Empty icon="search" title={t('search.none')}>
        {found.indexing && <Behind upTo={found.indexing.complete_up_to} />}
        <p>{t('document.found.none')}</p>
      </Empty>
    );
  }
  return (
    <>
      {found.indexing && <Behind upTo={found.indexing.complete_up_to} />}
      {found.some && <p class="found">{t('search.some')}</p>}
      <p class="found">
        {t('document.count', { n })} · <ReceiptLink of={found.receipt} what={t('document.found.receipt')} />
      </p>
      <List label={t('document.found.list')}>
        {found.documents.map((d) => (
          <Row
            key={d.document_id}
            to={`/ui/workspaces/${w}/${d.document_id}`}
            start={<Icon name="document" />}
            title={<Marked pieces={marks(d.title, wanted)} />}
            sub={
              <span class="snippet" dir="auto">
                <Marked pieces={partsOf(d.snippet, d.highlights ?? [])} />
              </span>
            }
            meta={<Time at={d.updated_at} />}
          />
        ))}
      </List>
    </>
  );
}

// Behind says what a search may have missed.
function Behind({ upTo }: { upTo: string | null }) {
  return (
    <p class="found">
      {upTo ? rich('document.indexing', { time: <Time at={upTo} /> }) : t('document.indexing.all')}
    </p>
  );
}

function Marked({ pieces }: { pieces: Piece[] }) {
  return <>{pieces.map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}</>;
}
