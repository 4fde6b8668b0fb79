import { nameOf } from '../../text';
import type { Member } from '../../types';

// heirs are the people of the tenant as a choice.
export const heirs = (members: Iterable<Member>) =>
  [...members]
    .filter((m) => !m.is_service)
    .map((m) => ({ value: m.user_id, label: m.email && m.email !== nameOf(m) ? `${nameOf(m)} (${m.email}${m.unproven ? ', unproven' : ''})` : nameOf(m) }))
    .sort((a, b) => a.label.localeCompare(b.label));
