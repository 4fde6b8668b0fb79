// The text of a document while one writes it, and what it looks like: beside it where there is room,
// else in its place.

import { useEffect, useState } from 'preact/hooks';
import { Choice, Field } from '../../ui/Field';
import Formatted from '../../ui/markdown/Formatted';
import { t } from '../../words';
import { leftOf, most } from './left';

// pause is how long one has stopped writing before the preview follows, in ms: keys come first.
const pause = 150;

const wide = matchMedia('(min-width: 75rem)');

export function Writing({ text, onText }: { text: string; onText: (text: string) => void }) {
  const both = useWide();
  const [chosen, setChosen] = useState<'text' | 'preview'>('text');
  const left = leftOf(text);
  return (
    <>
      {!both && (
        <Choice
          label={t('editor.view')}
          value={chosen}
          onValue={setChosen}
          options={[
            { value: 'text', label: t('editor.text') },
            { value: 'preview', label: t('editor.preview') },
          ]}
        />
      )}
      <div class={both ? 'sides' : undefined}>
        <div hidden={!both && chosen !== 'text'}>
          <Field label={t('editor.text')} lines={16} value={text} onValue={onText} maxLength={most} hint={left === null ? undefined : t('editor.left', { n: left })} />
        </div>
        {(both || chosen === 'preview') && <Preview text={text} alone={!both} />}
      </div>
    </>
  );
}

// alone it was chosen by its name, and needs no other title.
function Preview({ text, alone }: { text: string; alone: boolean }) {
  const [shown, setShown] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setShown(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <section class="rendered" aria-label={t('editor.preview')}>
      <h2 class={alone ? 'hidden' : undefined}>{t('editor.preview')}</h2>
      {shown.trim() === '' ? <p class="soft">{t('editor.empty')}</p> : <div class="text"><Formatted text={shown} kind="document" /></div>}
    </section>
  );
}

// useWide tells whether there is room for both.
function useWide(): boolean {
  const [is, setIs] = useState(wide.matches);
  useEffect(() => {
    const changed = () => setIs(wide.matches);
    wide.addEventListener('change', changed);
    return () => wide.removeEventListener('change', changed);
  }, []);
  return is;
}
