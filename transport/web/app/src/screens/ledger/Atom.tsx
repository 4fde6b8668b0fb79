import type { ComponentChildren } from 'preact';
import { at, get } from '../../api';
import { canVerify, cidOf, nextHead, type Json as Parsed } from '../../chain';
import { go, Link, type ScreenProps } from '../../router';
import { isAction, type Action, type Effect, type Atom as Record, type ReceiptLookup } from '../../types';
import { Await } from '../../ui/Await';
import { Badge, Copy, Facts, Hash, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Empty } from '../../ui/Empty';
import { Json } from '../../ui/Json';
import { Screen, Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { Person } from '../Person';
import { Act } from './AtomRow';
import './ledger.css';

// Atom is one act with what came of it: the action and its effect, each with its
// hashes checked here.
export default function Atom({ params }: ScreenProps) {
  const seq = Number(params.seq);
  return Number.isSafeInteger(seq) && seq > 0 ? <Pair seq={seq} /> : <Nowhere />;
}

const Nowhere = () => (
  <Screen title="Atom" above="/ui/ledger">
    <Empty icon="ledger" title="There is no such atom">
      <p>The address of an atom ends in its number.</p>
    </Empty>
  </Screen>
);

function Pair({ seq }: { seq: number }) {
  const pair = useLoad((signal) => get<ReceiptLookup>(at`/api/receipts/${seq}`, { signal }), [seq]);
  return (
    <Screen
      title={`Atom ${seq.toLocaleString()}`}
      sub={pair.data && headline(pair.data)}
      above="/ui/ledger"
      actions={
        <>
          <Button kind="quiet" icon="up" label="The atom after it" onClick={() => go(`/ui/ledger/${seq + 1}`)} />
          <Button kind="quiet" icon="down" label="The atom before it" disabled={seq <= 1} onClick={() => go(`/ui/ledger/${seq - 1}`)} />
        </>
      }
    >
      <Await of={pair}>
        {({ seq: first, atoms }) =>
          atoms.map((atom) => {
            const place = placeOf(atom, first, seq);
            return <One key={atom.cid} atom={atom} seq={place} asked={place === seq} />;
          })
        }
      </Await>
    </Screen>
  );
}

const headline = ({ atoms: [first] }: ReceiptLookup) => first && isAction(first) && <Act of={first} />;

// placeOf is an atom's seq. What an action had done outside ends at any later seq,
// which only who asked for it knows.
function placeOf(atom: Record, action: number, asked: number): number | null {
  if (isAction(atom)) return action;
  return asked === action ? null : asked;
}

function One({ atom, seq, asked }: { atom: Record; seq: number | null; asked: boolean }) {
  const name = isAction(atom) ? 'Action' : 'Effect';
  return (
    <Section
      title={seq === null ? name : `${name} · ${seq.toLocaleString()}`}
      actions={
        <span class="line">
          {asked && <Badge kind="accent">this atom</Badge>}
          <Copy text={JSON.stringify(atom, null, 2)} label="Copy JSON" />
        </span>
      }
    >
      <Facts of={isAction(atom) ? ofAction(atom) : ofEffect(atom)} />
      <Json value={atom} label={`${name} as JSON`} />
    </Section>
  );
}

const ofAction = (atom: Action): [string, ComponentChildren][] => [
  ['Who', <Person id={String(atom.who.user_id)} />],
  [
    'Did',
    <span class="line">
      <code>{atom.did}</code>
      {atom.status !== 'executed' && <Badge kind={atom.status === 'denied' ? 'bad' : 'warn'}>{atom.status}</Badge>}
    </span>,
  ],
  ['When', <Time at={atom.when} as="full" />],
  ['Under the Agreement', <code>{atom.agreement_id}</code>],
  ['Hash', <Checked atom={atom} />],
];

const ofEffect = (atom: Effect): [string, ComponentChildren][] => [
  ['Outcome', <Badge kind={atom.outcome === 'ok' ? 'good' : 'bad'}>{atom.outcome}</Badge>],
  ['When', <Time at={atom.when} as="full" />],
  ['Hash', <Checked atom={atom} />],
];

// Checked computes an atom's hash, and the head that follows from it.
function Checked({ atom }: { atom: Record }) {
  const sums = useLoad(async () => {
    if (!canVerify()) return null;
    const cid = await cidOf(atom as unknown as Parsed);
    return { cid, head: await nextHead(atom.prev_hash, cid) };
  }, [atom]);
  if (!sums.data) return <Hash value={atom.cid} />;
  const good = sums.data.cid === atom.cid;
  return (
    <span class="hashes">
      <span class="line">
        <Hash value={atom.cid} />
        <Badge kind={good ? 'good' : 'bad'}>{good ? 'matches its content' : 'doesn’t match its content'}</Badge>
      </span>
      <span class="line soft small">
        head before <Hash value={atom.prev_hash} /> after <Hash value={sums.data.head} />
      </span>
      <Link to="/ui/ledger/verify">Verify the whole chain</Link>
    </span>
  );
}
