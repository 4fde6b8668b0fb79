// Searching all that one may read. What is looked for stands in the address, so that one comes
// back to it. Each look leaves a receipt: the server is asked on Enter, not at every letter.

import './search.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go, place } from '../../router';
import { store } from '../../store';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Choice } from '../../ui/Field';
import { Screen } from '../../ui/Screen';
import { t } from '../../words';
import { Chips } from './Chips';
import { FoundDocuments } from './FoundDocuments';
import { FoundMessages } from './FoundMessages';
import { addressOf, isEmpty, read, sorts, type Sort, type Wanted } from './query';

type Tab = 'messages' | 'documents';

export default function Search() {
  const wanted = read(place.value.query);
  const address = addressOf(wanted);
  const [words, setWords] = useState(wanted.words);
  const [times, setTimes] = useState(0); // the same search may find more a minute later
  const [tab, setTab] = useState<Tab>('messages');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setWords(wanted.words), [address]);
  useEffect(() => field.current?.focus(), []);
  useEffect(() => void store.peek()?.people.refresh(), []);
  const look = (change: Partial<Wanted>) => go(addressOf({ ...wanted, words, ...change }), { replace: true });
  const tabs = (['messages', 'documents'] as const).map((value) => ({ value, label: t(`search.${value}`) }));
  return (
    <Screen title={t('search.title')} above="/ui/">
      <form
        class="seek"
        role="search"
        aria-label={t('search.title')}
        onSubmit={(e) => {
          e.preventDefault();
          look({});
          setTimes(times + 1);
        }}
      >
        <div class="line">
          <input ref={field} class="input" type="search" dir="auto" aria-label={t('search.field')} placeholder={t('search.field')} value={words} maxLength={400} autoComplete="off" onInput={(e) => setWords(e.currentTarget.value)} />
          <Button kind="primary" type="submit">
            {t('search.action')}
          </Button>
        </div>
        <Choice<Tab> label={t('search.what')} value={tab} options={tabs} onValue={setTab} />
        {tab === 'messages' && (
          <>
            <Chips of={wanted} onChange={look} />
            <Choice<Sort> label={t('search.sort')} value={wanted.sort} options={sorts.map((value) => ({ value, label: t(`search.sort.${value}`) }))} onValue={(sort) => look({ sort })} />
          </>
        )}
      </form>
      {tab === 'documents' && wanted.words.trim() !== '' && <FoundDocuments key={wanted.words} words={wanted.words} />}
      {tab === 'messages' && !isEmpty(wanted) && <FoundMessages key={`${address} ${times}`} wanted={wanted} />}
      {(tab === 'documents' ? wanted.words.trim() === '' : isEmpty(wanted)) && (
        <Empty icon="search" title={t('search.begin')}>
          <p>{t('search.help')}</p>
        </Empty>
      )}
    </Screen>
  );
}
