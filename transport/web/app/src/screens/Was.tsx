import type { ImportedFrom } from '../types';
import { Time } from '../ui/Bits';

export const wasName = (of: ImportedFrom) => of.author_name || of.author_id;

// Was says beside who has imported something who did it first, and when.
export function Was({ of }: { of?: ImportedFrom }) {
  if (!of) return null;
  return (
    <span class="soft small">
      (imported, was <bdi title={`${of.author_id} of ${of.tenant_id}`}>{wasName(of)}</bdi>, <Time at={of.at} as="full" />)
    </span>
  );
}
