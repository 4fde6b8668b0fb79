import type { Call } from '../../types';
import { Badge, Time } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import { Person } from '../Person';

// CallRow is one call in the log.
export function CallRow({ of, onOpen }: { of: Call; onOpen: () => void }) {
  return (
    <div class="row call">
      <button type="button" class="body" onClick={onOpen}>
        <Icon name={of.server === 'model' ? 'model' : 'tool'} size={20} />
        <span class="words">
          <span class="first">
            <span class="title">
              <code>{of.capability}</code>
            </span>
            <span class="meta">
              <Time at={of.at} />
            </span>
          </span>
          <span class="sub">
            <span class="what">
              <Person id={of.user_id} /> · {of.server}
              {of.status !== 'intended' && ` · ${took(of.duration_ms)}`}
            </span>
            <Status of={of} />
          </span>
        </span>
      </button>
    </div>
  );
}

// Status is how a call ended.
export function Status({ of }: { of: Call }) {
  switch (of.status) {
    case 'ok':
      return <Badge kind="good">ok</Badge>;
    case 'intended':
      return <Badge kind="warn">running</Badge>;
    case 'denied':
      return <Badge kind="bad">denied</Badge>;
    case 'error':
      return <Badge kind="bad">{of.code ?? 'error'}</Badge>;
  }
}

// took is a time span, in milliseconds or seconds.
export const took = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`);
