import type { ComponentChildren } from 'preact';
import { Link } from '../../router';
import type { Call, Usage } from '../../types';
import { Facts, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { count } from '../../text';
import { Person } from '../Person';
import { ReceiptLink } from '../ReceiptLink';
import { Status, took } from './CallRow';

// CallDetails is all that the log knows of a call. What was said stands nowhere, only
// its hash does, in the ledger.
export function CallDetails({ of, onClose }: { of: Call; onClose: () => void }) {
  const facts: [string, ComponentChildren][] = [
    ['Outcome', <Status of={of} />],
    ['By', <><Person id={of.user_id} />{of.is_service && ', an agent'}</>],
    ['Server', of.server === 'ubl' ? 'This one' : of.server],
    ['When', <Time at={of.at} as="full" />],
  ];
  if (of.status !== 'intended') facts.push(['Took', took(of.duration_ms)]);
  if (of.usage) facts.push(['Model', model(of.usage)]);
  facts.push(['Request', <code>{of.request_id}</code>]);
  if (of.parent) facts.push(['Made for the request', <code>{of.parent}</code>]);
  facts.push(['Receipt', of.receipt ? <ReceiptLink of={of.receipt} /> : <>None of its own: what it changed has one in <Link to="/ui/ledger">the ledger</Link></>]);
  return (
    <Dialog title={of.capability} onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
      <Facts of={facts} />
    </Dialog>
  );
}

function model(u: Usage): string {
  const tokens = `${u.model} of ${u.provider}, ${count(u.prompt_tokens, 'token')} in and ${u.completion_tokens.toLocaleString()} out`;
  return tokens + (u.estimated ? ', estimated' : '') + (u.cached ? ', from the cache' : '');
}
