// What happened to a wallet, as the record has it, the newest first.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { bare } from '../../text';
import type { Action, Effect } from '../../types';
import { isAction } from '../../types';
import { Problem } from '../../ui/Await';
import { Badge, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Icon, type IconName } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { Spinner } from '../../ui/Spinner';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { rich, t } from '../../words';
import { Feed, type Placed } from '../ledger/feed';
import { Person } from '../Person';
import { wallets } from './api';

// pages is how many pages of the record one press looks back through.
const pages = 5;

interface Move {
  seq: number;
  action: Action;
  // end is absent while credits are on their way.
  end?: Effect;
}

// onNews is called when something happens while one watches.
export function History({ of, onNews }: { of: string; onNews: () => void }) {
  const feed = useMemo(() => new Feed(), [of]);
  const known = useLoad(wallets, [of]);
  const act = useAct();
  useEffect(() => {
    feed.start();
    return () => feed.stop();
  }, [feed]);
  const atoms = feed.atoms.value;
  const moves = useMemo(() => movesOf(of, atoms), [of, atoms]);
  const newest = `${moves[0]?.seq} ${moves[0]?.end?.cid}`;
  const seen = useRef('');
  useEffect(() => {
    if (!feed.ready.value) return;
    if (seen.current && seen.current !== newest) onNews();
    seen.current = newest;
  }, [newest, feed.ready.value]);
  const called = (id: string) => known.data?.find((one) => one.container_id === id)?.name ?? bare(id);
  const back = () =>
    act.run(async () => {
      for (let i = 0; i < pages && !feed.atGenesis; i++) await feed.older();
    });
  const oldest = atoms.at(-1)?.atom.when;
  return (
    <Section title={t('wallets.history')}>
      <Problem of={feed.problem.value} />
      {!feed.ready.value ? (
        feed.problem.value ? null : <Spinner />
      ) : (
        <div class="stack">
          {moves.length === 0 && feed.atGenesis && <p class="soft">{t('wallets.history.none')}</p>}
          {moves.length > 0 && (
            <List label={t('wallets.history')}>
              {moves.map((move) => (
                <Row key={move.seq} to={`/ui/ledger/${move.seq}`} start={<Icon name={icons[move.action.did] ?? 'wallet'} />} title={<bdi>{amountIn(of, move.action)}</bdi>} below={said(of, move.action, called)} meta={<>{standing(move)} <Time at={move.action.when} /></>} />
              ))}
            </List>
          )}
          {!feed.atGenesis && (
            <div class="line">
              <Button icon="clock" busy={act.busy} onClick={() => void back()}>
                {t('wallets.history.more')}
              </Button>
              {oldest && <span class="soft small">{rich('wallets.history.since', { when: <Time at={oldest} as="date" /> })}</span>}
            </div>
          )}
        </div>
      )}
    </Section>
  );
}

const icons: Record<string, IconName> = { 'container.transfer': 'up', 'container.receive': 'down', 'credits.issue': 'plus' };

// movesOf are the acts that are about a wallet's credits, and its making.
function movesOf(wallet: string, atoms: readonly Placed[]): Move[] {
  const ends = new Map<string, Effect>();
  for (const { atom } of atoms) if (!isAction(atom)) ends.set(atom.ref_action_cid, atom);
  return atoms.flatMap(({ seq, atom }) => (isAction(atom) && isAbout(wallet, atom) ? [{ seq, action: atom, end: ends.get(atom.cid) }] : []));
}

function isAbout(wallet: string, { did, this: what }: Action): boolean {
  switch (did) {
    case 'container.create':
    case 'credits.issue':
      return what.container_id === wallet;
    case 'container.transfer':
      return what.from === wallet;
    case 'container.receive':
      return what.to === wallet;
  }
  return false;
}

// amountIn is by how much an act changes what the wallet holds.
function amountIn(wallet: string, { this: what }: Action): string {
  const n = typeof what.amount === 'number' ? what.amount : 0;
  return n === 0 ? t('wallets.did.made') : t(what.from === wallet ? 'wallets.less' : 'wallets.plus', { n });
}

function said(wallet: string, { did, this: what, who }: Action, called: (id: string) => string): ComponentChildren {
  const by = <Person id={String(who.user_id)} />;
  if (did === 'container.create') return rich('wallets.did.by', { who: by });
  if (did === 'credits.issue') return rich('wallets.did.issued', { who: by });
  return what.from === wallet ? rich('wallets.did.sent', { who: by, name: called(String(what.to)) }) : rich('wallets.did.came', { who: by, name: called(String(what.from)) });
}

// standing says what isn't as it should be.
function standing({ action, end }: Move) {
  if (action.status === 'denied') return <Badge kind="bad">{t('wallets.refused')}</Badge>;
  if (end?.outcome === 'error') return <Badge kind="bad">{t('wallets.back')}</Badge>;
  return end ? null : <Badge kind="warn">{t('wallets.way')}</Badge>;
}
