import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, newKey } from '../../api';
import type { Document } from '../../types';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Screen } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { create, read, write, type One } from './api';
import { Conflict } from './Conflict';
import { draftOf, forget, keep, keptOf, warn } from './drafts';
import { Writing } from './Writing';
import { t } from '../../words';

interface Props {
  w: string;
  // of is the document as one has read it, missing for a new one.
  of?: Document;
  above: string;
  onSaved: (saved: One) => void;
  // onCancel tells whether a newer version was seen, which is to be read.
  onCancel: (newer: boolean) => void;
}

// Editor writes a document, or its next version. What others saved meanwhile is shown
// beside one's own text, and neither is lost.
export function Editor({ w, of, above, onSaved, onCancel }: Props) {
  const d = of?.document_id ?? '';
  const [draft, setDraft] = useState(() => draftOf(w, d) ?? { title: of?.title ?? '', content: of?.content ?? '', known: of?.version ?? 0 });
  // before is what the browser had kept from before: unknown until it was asked.
  const [before, setBefore] = useState(draftOf(w, d) ? 'none' : 'unknown');
  const [theirs, setTheirs] = useState<Document | null>(null);
  const key = useRef(newKey());
  const act = useAct();
  const changed = draft.title !== (of?.title ?? '') || draft.content !== (of?.content ?? '');
  useEffect(() => {
    if (changed) keep(w, d, draft);
    else if (before !== 'unknown') forget(w, d);
  }, [draft, changed]);
  useEffect(() => {
    if (before === 'unknown')
      void keptOf(w, d).then((kept) => {
        const found = kept !== undefined && !draftOf(w, d); // and nothing was typed meanwhile
        if (found) setDraft(kept);
        setBefore(found ? 'some' : 'none');
      });
  }, []);
  useEffect(() => {
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, []);

  const change = (now: Partial<typeof draft>) => {
    key.current = newKey(); // other words are another act
    setDraft({ ...draft, ...now });
  };
  const end = (newer: boolean) => {
    forget(w, d);
    onCancel(newer);
  };
  const save = (known = draft.known) =>
    act.run(async () => {
      const now = { title: draft.title.trim(), content: draft.content };
      try {
        const saved = of ? await write(w, d, known, now, key.current) : await create(w, now, key.current);
        forget(w, d);
        onSaved(saved);
      } catch (problem) {
        if (!of || !(problem instanceof ApiError) || problem.code !== 'conflict') throw problem;
        key.current = newKey(); // under the same one the answer would stay the same
        setTheirs((await read(w, d)).document);
      }
    });
  const cancel = async (newer = false) => {
    if (!changed || (await ask({ title: t('editor.discard.title'), text: t('editor.discard.text'), action: t('editor.discard'), danger: true }))) end(newer);
  };

  const ready = draft.title.trim() !== '' && (changed || !of);
  return (
    <Screen
      title={t(of ? 'talk.edit' : 'document.new')}
      sub={of?.title}
      above={above}
      actions={
        <>
          <Button kind="quiet" onClick={() => cancel()}>
            {t('do.cancel')}
          </Button>
          <Button kind="primary" busy={act.busy} disabled={!ready || theirs !== null} onClick={() => save()}>
            {t('do.save')}
          </Button>
        </>
      }
    >
      <div class="editor">
        <Problem of={act.problem} />
        {before === 'some' && <p class="notice">{t('editor.before')}</p>}
        {theirs && (
          <Conflict
            theirs={theirs}
            mine={draft.content}
            busy={act.busy}
            onTheirs={() => void cancel(true)}
            onMine={() => {
              const { version } = theirs;
              setTheirs(null);
              change({ known: version });
              void save(version);
            }}
            onEdit={() => {
              change({ known: theirs.version });
              setTheirs(null);
            }}
          />
        )}
        <Field label={t('editor.title')} value={draft.title} onValue={(title) => change({ title })} maxLength={256} autocomplete="off" />
        <Writing text={draft.content} onText={(content) => change({ content })} />
      </div>
    </Screen>
  );
}
