// The documents that a search finds, of all workspaces: each is asked, and what one of them
// can't answer is said.

import type { Container, DocumentHit } from '../../types';
import { Await } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Empty } from '../../ui/Empty';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { useLoad } from '../../ui/useLoad';
import { find as ask, listWorkspaces, mayAsk } from '../documents/api';
import { t } from '../../words';
import { partsOf } from './query';

const most = 50; // workspaces that are asked

export function FoundDocuments({ words }: { words: string }) {
  const found = useLoad((signal) => find(words, signal), [words]);
  return (
    <Await of={found}>
      {({ hits, silent, some }) => (
        <section class="hits" aria-label={t('search.documents')}>
          {silent > 0 && <p class="notice">{t('search.silent', { n: silent })}</p>}
          {some && hits.length > 0 && <p class="some">{t('search.some')}</p>}
          {hits.length === 0 ? (
            <Empty icon="search" title={t('search.none')}>
              <p>{t('search.none.help')}</p>
            </Empty>
          ) : (
            <List label={t('search.documents')}>
              {hits.map(({ document: d, workspace }) => (
                <Row
                  key={d.document_id}
                  to={`/ui/workspaces/${workspace.container_id}/${d.document_id}`}
                  start={<Icon name="document" />}
                  title={d.title}
                  meta={
                    <>
                      <bdi>{workspace.name}</bdi> · <Time at={d.updated_at} />
                    </>
                  }
                  below={partsOf(d.snippet, d.highlights ?? []).map((p, i) => (p.hit ? <mark key={i}>{p.text}</mark> : p.text))}
                />
              ))}
            </List>
          )}
        </section>
      )}
    </Await>
  );
}

interface Found {
  hits: { document: DocumentHit; workspace: Container }[];
  silent: number; // workspaces that couldn't be searched
  some: boolean; // no document has all of the words, and these have some of them
}

async function find(words: string, signal: AbortSignal): Promise<Found> {
  const { workspaces } = await listWorkspaces(signal);
  const asked = workspaces.slice(0, most);
  const look = async (match: 'all' | 'any'): Promise<Found> => {
    const answers = await Promise.allSettled(asked.map((w) => ask(w.container_id, words, match, signal)));
    if (answers.length > 0 && answers.every((a) => a.status === 'rejected')) throw (answers[0] as PromiseRejectedResult).reason;
    const hits = answers.flatMap((a, i) => (a.status === 'fulfilled' ? a.value.documents.map((document) => ({ document, workspace: asked[i]! })) : []));
    return { hits, silent: answers.filter((a) => a.status === 'rejected').length + workspaces.length - asked.length, some: match === 'any' };
  };
  const all = await look('all');
  if (all.hits.length > 0 || !mayAsk(words)) return all;
  const some = await look('any');
  return { ...some, hits: some.hits.sort((a, b) => b.document.score - a.document.score) };
}
