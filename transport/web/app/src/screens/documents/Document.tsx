import { useRef, useState } from 'preact/hooks';
import { go, Link, place, type ScreenProps } from '../../router';
import { newKey } from '../../api';
import type { Document as Version, Receipt } from '../../types';
import { announce } from '../../ui/Announcer';
import { Await } from '../../ui/Await';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import Formatted from '../../ui/markdown/Formatted';
import { ticked } from '../../ui/markdown/parse';
import { Menu } from '../../ui/Menu';
import { Screen } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { rich, t } from '../../words';
import { Since, useKept } from '../kept';
import { Person } from '../Person';
import { Was } from '../Was';
import { ReceiptLink } from '../ReceiptLink';
import { read, remove, write, type One } from './api';
import './documents.css';
import { draftOf } from './drafts';
import { Editor } from './Editor';
import { useName } from './names';

// Document is one document to read, to write on, and to delete. "?version=3" reads an
// earlier version.
export default function Document({ params: { w = '', d = '' } }: ScreenProps) {
  const version = Number(place.value.query.get('version')) || undefined;
  const one = useKept(`document ${w} ${d} ${version ?? ''}`, (signal) => read(w, d, version, signal));
  const [editing, setEditing] = useState(draftOf(w, d) !== undefined);
  const ticking = useRef(Promise.resolve(0)); // the version that was ticked last, 0 for that which was read
  const name = useName(w);
  const found = one.data?.document;
  const above = `/ui/workspaces/${w}`;
  const here = `${above}/${d}`;
  if (editing && found && !version) {
    const saved = (answer: One) => {
      one.set(answer);
      setEditing(false);
      announce(t('do.saved'));
    };
    const cancelled = (newer: boolean) => {
      setEditing(false);
      if (newer) one.reload();
    };
    return <Editor w={w} of={found} above={above} onSaved={saved} onCancel={cancelled} />;
  }
  // tick saves the next version with a task ticked, one after another. Where somebody saved
  // another one first, that is shown, and nothing is overwritten.
  const tick = (content: string) => {
    if (!found || !one.data) return;
    one.set({ ...one.data, document: { ...found, content } });
    const key = newKey();
    const saved: Promise<number> = ticking.current.then(async (known) => {
      const answer = await write(w, d, known || found.version, { title: found.title, content }, key);
      if (ticking.current === saved) one.set(answer);
      return answer.document?.version ?? 0;
    });
    ticking.current = saved;
    saved.catch((problem: unknown) => {
      if (ticking.current !== saved) return; // the last one tells
      ticking.current = Promise.resolve(0);
      failed(problem);
      one.reload();
    });
  };
  return (
    <Screen
      title={found?.title ?? t('document.one')}
      sub={<Link to={above}>{name}</Link>}
      above={above}
      actions={
        found &&
        !found.deleted && (
          <>
            {!version && !found.published && <Button kind="quiet" icon="edit" label={t('talk.edit')} onClick={() => setEditing(true)} />}
            <Menu
              label={t('document.one')}
              items={[
                { label: t('versions.title'), icon: 'clock', onSelect: () => go(`${here}/versions`) },
                { label: t('talk.delete'), icon: 'trash', danger: true, onSelect: () => void removeAsked(w, found) },
              ]}
            />
          </>
        )
      }
    >
      <Since at={one.since} />
      <Await of={one}>{({ document, receipt }) => (document ? <Text of={document} look={receipt} here={here} old={version !== undefined} onTick={version || document.deleted || document.published ? undefined : tick} /> : <Gone w={w} />)}</Await>
    </Screen>
  );
}

interface TextProps {
  of: Version;
  look: Receipt;
  here: string;
  old: boolean;
  // onTick gets the content with a task ticked, or no more; missing where nothing may be written.
  onTick?: (content: string) => void;
}

function Text({ of, look, here, old, onTick }: TextProps) {
  return (
    <article class="document">
      {old && (
        <p class="notice">
          {t('document.old', { n: of.version })} <Link to={here}>{t('document.newest')}</Link>
        </p>
      )}
      <p class="about">
        <span>
          {rich('document.by', {
            version: <Link to={`${here}/versions`}>{t('document.version', { n: of.version })}</Link>,
            who: <><Person id={of.updated_by} /> <Was of={of.imported_from} /></>,
            at: <Time at={of.updated_at} />,
          })}
        </span>
        <span>
          <ReceiptLink of={of.receipt} what={t('document.receipt')} />
        </span>
      </p>
      {of.published && <p class="soft">{t('document.published', { path: of.published.path })}</p>}
      {look.seq !== of.receipt.seq && <Looks own={look} />}
      {of.content ? (
        <div class="text">
          <Formatted text={of.content} kind="document" onTick={onTick && ((line, done) => onTick(ticked(of.content!, line, done)))} />
        </div>
      ) : (
        <p class="soft">{t('document.empty')}</p>
      )}
    </article>
  );
}

// Looks is who looked; after one has saved there was no look of one's own.
function Looks({ own }: { own: Receipt }) {
  return (
    <details class="looks">
      <summary>{t('document.looks')}</summary>
      <p>
        {t('document.looks.own')} <ReceiptLink of={own} what={t('document.looks.receipt')} />
      </p>
      <p>
        <Link to="/ui/ledger">{t('document.looks.others')}</Link>
      </p>
    </details>
  );
}

function Gone({ w }: { w: string }) {
  return (
    <Empty icon="document" title={t('document.none')}>
      <p>{t('document.none.text')}</p>
      <div class="line">
        <Button onClick={() => go(`/ui/workspaces/${w}`)}>{t('document.all')}</Button>
      </div>
    </Empty>
  );
}

async function removeAsked(w: string, d: Version) {
  const sure = await ask({
    title: t('document.delete.title', { title: d.title }),
    text: t('document.delete.text', { n: d.version }),
    action: t('talk.delete'),
    danger: true,
  });
  if (!sure) return;
  try {
    await remove(w, d.document_id);
    go(`/ui/workspaces/${w}`, { replace: true });
    toast(t('document.deleted', { title: d.title }));
  } catch (problem) {
    failed(problem);
  }
}
