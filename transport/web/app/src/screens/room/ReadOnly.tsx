// What stands in the place of the field where one may only read: why, and who writes.

import './ReadOnly.css';
import { at, get } from '../../api';
import type { Agreement } from '../../types';
import { Time } from '../../ui/Bits';
import { Icon } from '../../ui/Icon';
import { listed } from '../../text';
import { rich, t } from '../../words';
import { useKept } from '../kept';
import { agreementOf } from '../rooms/archive';
import { factsOf } from './facts';
import type { Talk } from './talk';
import { whoIs } from './who';

// few are named of those who write.
const few = 5;

export default function ReadOnly({ talk }: { talk: Talk }) {
  return (
    <p class="read-only" role="note">
      <Icon name="lock" size={20} />
      <span>{talk.rights.value.act ? <Announced talk={talk} /> : <Archived roomId={talk.roomId} />}</span>
    </p>
  );
}

function Announced({ talk }: { talk: Talk }) {
  const { keepers = [] } = factsOf(talk.roomId) ?? {};
  const names = keepers.length > few ? '' : listed(keepers.map((id) => whoIs(id).name));
  return (
    <>
      {names ? t('readonly.keepers.named', { names }) : t('readonly.keepers')} {talk.rights.value.answer && t('readonly.threads')}
    </>
  );
}

// Archived says who ended the room, as soon as that is known.
function Archived({ roomId }: { roomId: string }) {
  const { data } = useKept(agreementOf(roomId), (signal) => get<{ agreement: Agreement }>(at`/api/agreements/${agreementOf(roomId)}`, { signal }));
  const end = data?.agreement.history?.findLast(({ did }) => did === 'agreement.end');
  if (!end) return <>{t('readonly.archived')}</>;
  const { mine, name } = whoIs(end.by);
  const when = <Time at={end.at} as="date" />;
  return <>{mine ? rich('readonly.archived.self', { when }) : rich('readonly.archived.by', { who: <bdi>{name}</bdi>, when })}</>;
}
