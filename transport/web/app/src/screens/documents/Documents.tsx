import { useEffect, useState } from 'preact/hooks';
import { query } from '../../api';
import { go, place, type ScreenProps } from '../../router';
import type { Document } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Screen } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { Since, useKept } from '../kept';
import { Person } from '../Person';
import { Was } from '../Was';
import { list, type Page } from './api';
import './documents.css';
import { Found } from './Found';
import { useName } from './names';
import { rich, t } from '../../words';

// Documents is a workspace: its documents, and the search through their text. What is
// looked for is in the address, so that going back finds it again.
export default function Documents({ params: { w = '' } }: ScreenProps) {
  const wanted = place.value.query.get('q') ?? '';
  const name = useName(w);
  const fresh = `/ui/workspaces/${w}/new`;
  const actions = (
    <>
      <Button kind="quiet" icon="people" label={t('members.title')} onClick={() => go(`/ui/workspaces/${w}/members`)} />
      <Button kind="quiet" icon="plus" label={t('document.new')} onClick={() => go(fresh)} />
    </>
  );
  return (
    <Screen title={name} above="/ui/workspaces" actions={actions}>
      <Search w={w} wanted={wanted} />
      {wanted ? <Found key={wanted} w={w} wanted={wanted} /> : <All w={w} fresh={fresh} />}
    </Screen>
  );
}

// Search looks only when one asks for it: each look has a receipt.
function Search({ w, wanted }: { w: string; wanted: string }) {
  const [text, setText] = useState(wanted);
  useEffect(() => setText(wanted), [wanted]);
  const look = (words: string) => go(`/ui/workspaces/${w}${query({ q: words.trim() })}`, { replace: wanted !== '' });
  return (
    <form
      role="search"
      class="find"
      onSubmit={(e) => {
        e.preventDefault();
        look(text);
      }}
    >
      <Icon name="search" size={20} />
      <input class="input" type="search" aria-label={t('document.search')} placeholder={t('document.search.hint')} enterkeyhint="search" dir="auto" maxLength={500} value={text} onInput={(e) => setText(e.currentTarget.value)} />
      {text.trim() && text.trim() !== wanted && <Button type="submit">{t('search.action')}</Button>}
      {wanted && <Button kind="quiet" icon="close" label={t('document.search.end')} onClick={() => look('')} />}
    </form>
  );
}

function All({ w, fresh }: { w: string; fresh: string }) {
  const first = useKept(`documents ${w}`, (signal) => list(w, null, signal));
  const more = useAct();
  const next = (page: Page) =>
    more.run(async () => {
      const then = await list(w, page.next_cursor);
      first.set({ documents: [...page.documents, ...then.documents], next_cursor: then.next_cursor });
    });
  return (
    <Await of={first}>
      {(page) =>
        page.documents.length === 0 ? (
          <Empty icon="document" title={t('document.first')}>
            <p>{t('document.first.text')}</p>
            <Button kind="primary" icon="plus" onClick={() => go(fresh)}>
              {t('document.new')}
            </Button>
          </Empty>
        ) : (
          <>
            <Since at={first.since} />
            <List label={t('section.documents')}>
              {newest(page.documents).map((d) => (
                <Row key={d.document_id} to={`/ui/workspaces/${w}/${d.document_id}`} start={<Icon name="document" />} title={d.title} sub={<Written d={d} />} below={d.imported_from && <Was of={d.imported_from} />} meta={<Time at={d.updated_at} />} />
              ))}
            </List>
            <Problem of={more.problem} />
            {page.next_cursor && (
              <div class="more">
                <Button busy={more.busy} onClick={() => next(page)}>
                  {t('document.more')}
                </Button>
              </div>
            )}
          </>
        )
      }
    </Await>
  );
}

const newest = (documents: Document[]) => [...documents].sort((a, b) => b.updated_at.localeCompare(a.updated_at));

function Written({ d }: { d: Document }) {
  const who = <Person id={d.updated_by} />;
  return <>{d.version > 1 ? rich('document.written', { n: d.version, who }) : rich('document.writtenby', { who })}</>;
}
