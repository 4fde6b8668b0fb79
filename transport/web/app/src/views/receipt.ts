// The view ui://ubl/receipt: an act and what came of it, as receipt.get answered them, with their
// hashes computed in the page.

import { canVerify, cidOf, nextHead, type Json } from '../chain';
import { saidOf } from '../screens/ledger/words';
import { bare, short } from '../text';
import { full } from '../time';
import { isAction, type Atom, type ReceiptLookup } from '../types';
import { start } from './host';
import { check, clear, el } from './page';

start('ubl-receipt', async (data) => {
  const { seq, atoms } = data as ReceiptLookup;
  const parts = await Promise.all(atoms.map((atom) => part(atom)));
  clear(document.body, el('h1', {}, `Receipt ${seq}`), ...parts, await verdict(atoms));
});

async function part(atom: Atom): Promise<HTMLElement> {
  const facts: [string, string][] = isAction(atom)
    ? [['Who', short(bare(String(atom.who.user_id)))], ['Did', `${saidOf(atom)} (${atom.did})`], ['Status', atom.status], ['When', full(atom.when)], ['Under', atom.agreement_id]]
    : [['Outcome', atom.outcome], ['When', full(atom.when)]];
  return el(
    'section', {},
    el('h2', {}, isAction(atom) ? 'Action' : 'Effect'),
    el('dl', {}, ...[...facts, ['Hash', short(atom.cid)] as const].map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', { dir: 'auto' }, value)))),
  );
}

// verdict is what the page has computed for itself.
async function verdict(atoms: readonly Atom[]): Promise<HTMLElement> {
  if (!canVerify()) return el('p', {}, 'This client lends pages no SHA-256, so nothing is checked here. “ubl verify” checks the whole ledger anywhere.');
  const [action, effect] = atoms;
  const lines: HTMLElement[] = [];
  for (const atom of atoms) {
    const name = isAction(atom) ? 'action' : 'effect';
    lines.push(check((await hashOf(atom)) === atom.cid, `The ${name} has the hash that it bears`, `The ${name} doesn’t have the hash that it bears`));
  }
  if (action && effect && isAction(action) && !isAction(effect)) {
    lines.push(check(effect.ref_action_cid === action.cid, 'The effect is that of the action', 'The effect is not that of the action'));
    // What was done outside ends later, behind other acts.
    if (action.status === 'executed') {
      const head = await nextHead(action.prev_hash, action.cid);
      lines.push(check(effect.prev_hash === head, 'The effect follows the action in the chain', 'The effect doesn’t follow the action in the chain'));
    }
  }
  const good = lines.every((line) => line.className === 'ok');
  return el('section', { class: good ? 'good' : 'bad', 'aria-live': 'polite' }, el('h2', {}, good ? 'Checked in this page' : 'This does not add up'), el('ul', {}, ...lines));
}

// hashOf is "" for what can't be hashed.
async function hashOf(atom: Atom): Promise<string> {
  try {
    return await cidOf(atom as unknown as Json);
  } catch {
    return '';
  }
}
