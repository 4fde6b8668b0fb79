import { nameOf } from '../text';
import type { ImportedFrom } from '../types';
import { Time } from '../ui/Bits';

export const wasName = (of: ImportedFrom) => nameOf({ user_id: of.author_id, name: of.author_name });

// Was says beside who has imported something who did it first, and when.
export function Was({ of, as = 'date' }: { of?: ImportedFrom; as?: 'date' | 'full' }) {
  if (!of) return null;
  return (
    <span class="soft small">
      (imported, was <bdi title={`${of.author_id} of ${of.tenant_id}`}>{wasName(of)}</bdi>, <Time at={of.at} as={as} />)
    </span>
  );
}
