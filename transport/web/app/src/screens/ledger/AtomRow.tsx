import { Link } from '../../router';
import { isAction, type Action } from '../../types';
import { Badge, Time } from '../../ui/Bits';
import { Icon, type IconName } from '../../ui/Icon';
import { Person } from '../Person';
import type { Placed } from './feed';
import { saidOf } from './words';

// AtomRow is one line of the ledger: for an action who did what, for an effect how
// the action ended.
export function AtomRow({ of: { seq, atom, action }, current }: { of: Placed; current: boolean }) {
  const effect = isAction(atom) ? null : atom;
  return (
    <div class="row atom">
      <Link class="body" to={`/ui/ledger/${seq}`} aria-current={current ? 'page' : undefined}>
        <Icon name={effect ? 'check' : iconOf(action?.did ?? '')} size={20} />
        <span class="words">
          <span class="title said" dir="auto">
            {effect ? <span class="soft">{effect.outcome === 'ok' ? 'Done' : 'Failed'}</span> : action && <Act of={action} />}
          </span>
          <span class="sub">
            <span class="what">
              <span class="seq">{seq.toLocaleString()}</span> {effect ? `effect of ${action?.did ?? 'an earlier act'}` : action?.did}
            </span>
            {effect?.outcome === 'error' && <Badge kind="bad">error</Badge>}
            {!effect && action?.status === 'denied' && <Badge kind="bad">denied</Badge>}
            {!effect && action?.status === 'intended' && <Badge kind="warn">intended</Badge>}
            <Time at={atom.when} />
          </span>
        </span>
      </Link>
    </div>
  );
}

// Act is what an action says, in words.
export function Act({ of }: { of: Action }) {
  return (
    <>
      <span class="who">
        <Person id={String(of.who.user_id)} />
      </span>{' '}
      <span class="verb">{saidOf(of)}</span>
    </>
  );
}

const icons: [begin: string, icon: IconName][] = [
  ['messenger.', 'room'],
  ['room.', 'room'],
  ['office.document.', 'document'],
  ['office.workspace.', 'document'],
  ['office.', 'tool'],
  ['portal.server.', 'server'],
  ['portal.budget.', 'budget'],
  ['portal.', 'tool'],
  ['tool.', 'lock'],
  ['token.', 'key'],
  ['passkey.', 'key'],
  ['platform.token.', 'key'],
  ['platform.link.', 'link'],
  ['platform.', 'server'],
  ['tenant.invitation.', 'link'],
  ['tenant.', 'people'],
];

const iconOf = (did: string): IconName => icons.find(([begin]) => did.startsWith(begin))?.[1] ?? 'ledger';
