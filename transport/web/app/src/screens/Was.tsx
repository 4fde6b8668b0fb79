import { nameOf } from '../text';
import type { ImportedFrom } from '../types';
import { Time } from '../ui/Bits';
import { rich, t } from '../words';

export const wasName = (of: ImportedFrom) => nameOf({ user_id: of.author_id, name: of.author_name });

// Was says beside who has imported something who did it first, and when.
export function Was({ of, as = 'date' }: { of?: ImportedFrom; as?: 'date' | 'full' }) {
  if (!of) return null;
  return (
    <span class="soft small">
      {rich('talk.was', { who: <bdi title={t('talk.was.of', { id: of.author_id, tenant: of.tenant_id })}>{wasName(of)}</bdi>, at: <Time at={of.at} as={as} /> })}
    </span>
  );
}
