// Words that make a message one for oneself.

import { useState } from 'preact/hooks';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';
import { change } from './Disturb';
import '../search/search.css';

const most = 50;

export function Keywords({ of, onChanged }: { of: readonly string[]; onChanged: () => void }) {
  const [word, setWord] = useState('');
  const act = useAct();
  const set = async (keywords: readonly string[]) => {
    if (!(await act.run(() => change({ keywords })))) return false;
    onChanged();
    return true;
  };
  const add = async () => {
    const next = word.trim();
    if (next !== '' && !of.includes(next) && (await set([...of, next]))) setWord('');
  };
  return (
    <Section title={t('keywords.title')}>
      <form
        class="stack narrow"
        onSubmit={(e) => {
          e.preventDefault();
          void add();
        }}
      >
        {of.length > 0 && (
          <div class="chips" role="group" aria-label={t('keywords.title')}>
            {of.map((one) => (
              <button key={one} type="button" class="chip on" aria-label={t('keywords.without', { word: one })} onClick={() => void set(of.filter((w) => w !== one))}>
                <bdi>{one}</bdi> <Icon name="close" size={16} />
              </button>
            ))}
          </div>
        )}
        <Field label={t('keywords.field')} hint={t('keywords.hint')} value={word} onValue={setWord} maxLength={60} autoComplete="off" />
        <Problem of={act.problem} />
        <Button type="submit" busy={act.busy} disabled={word.trim() === '' || of.length >= most}>
          {t('do.add')}
        </Button>
      </form>
    </Section>
  );
}
