import { useEffect, useMemo, useState } from 'preact/hooks';
import { go, place } from '../../router';
import { count } from '../../text';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Empty, Failed } from '../../ui/Empty';
import { Select } from '../../ui/Field';
import { Screen } from '../../ui/Screen';
import { Spinner } from '../../ui/Spinner';
import { VirtualList } from '../../ui/VirtualList';
import { t } from '../../words';
import { AtomRow } from './AtomRow';
import { Feed } from './feed';
import './ledger.css';
import { dids, inWords } from './words';

const acts = [{ value: '', label: 'All acts' }, ...dids.map((did) => ({ value: did, label: `${did}: ${inWords(did)}` }))];

// Ledger is the list of atoms, the newest first, which grows while one watches.
export default function Ledger() {
  const feed = useMemo(() => new Feed(), []);
  const [did, setDid] = useState('');
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, []);
  const atoms = feed.atoms.value;
  const shown = useMemo(() => (did ? atoms.filter((p) => p.action?.did === did) : atoms), [atoms, did]);
  return (
    <Screen title={t('section.ledger')} sub={feed.ready.value ? count(feed.head.value, 'atom') : undefined} fixed actions={<Verify />}>
      <div class="atoms-filter">
        <Select label="Show" value={did} options={acts} onValue={setDid} />
      </div>
      {feed.ready.value && <Problem of={feed.problem.value} />}
      {!feed.ready.value && feed.problem.value ? (
        <Failed problem={feed.problem.value} onRetry={() => void feed.again()} />
      ) : !feed.ready.value ? (
        <Spinner />
      ) : shown.length === 0 && feed.atGenesis ? (
        <Empty icon="ledger" title={did ? 'No such act yet' : 'The ledger is empty'} />
      ) : (
        <VirtualList key={did} items={shown} keyOf={(p) => String(p.seq)} estimate={60} label="Atoms, the newest first" onNearEnd={() => void feed.older()}>
          {(p) => <AtomRow of={p} current={place.value.path === `/ui/ledger/${p.seq}`} />}
        </VirtualList>
      )}
      {did && feed.ready.value && !feed.atGenesis && (
        <p class="atoms-state" role="status">
          Looked back to {(atoms.at(-1)?.seq ?? 0).toLocaleString()}
        </p>
      )}
    </Screen>
  );
}

function Verify() {
  return (
    <Button kind="quiet" icon="check" onClick={() => go('/ui/ledger/verify')}>
      Verify
    </Button>
  );
}
