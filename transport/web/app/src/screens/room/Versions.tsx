// What an edited message said before, oldest first, and what it says now.

import type { Message } from '../../types';
import { Time } from '../../ui/Bits';
import { Dialog } from '../../ui/Dialog';
import { Failed } from '../../ui/Empty';
import { Spinner } from '../../ui/Spinner';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import type { Talk } from './talk';

export default function Versions({ talk, message }: { talk: Talk; message: Message }) {
  const { data, problem, reload } = useLoad(() => talk.store.versions(message), [message.msg_id, message.edited?.room_seq]);
  return (
    <Dialog title={t('talk.before')} onClose={() => (talk.versions.value = null)}>
      {!data && (problem ? <Failed problem={problem} onRetry={reload} /> : <Spinner />)}
      {data && (
        <ol class="versions">
          {data.map((version, i) => (
            <li key={version.msg_id}>
              <p class="soft small">
                <Time at={version.sent_at} as="full" /> {i === data.length - 1 && t('versions.now')}
              </p>
              <p class="prose" dir="auto">
                {version.type === 'text' ? version.body.text : t('versions.gone')}
              </p>
            </li>
          ))}
        </ol>
      )}
    </Dialog>
  );
}
