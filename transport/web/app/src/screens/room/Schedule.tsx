// When the message is sent that was written for later.

import { t } from '../../words';
import { PlanDialog } from '../scheduled/Plan';
import { plan } from './Later';
import type { Later, Talk } from './talk';

export default function Schedule({ talk, of }: { talk: Talk; of: Later }) {
  return <PlanDialog title={t('scheduled.later')} action={t('scheduled.action')} onSave={(when) => plan(talk, of, when)} onClose={() => (talk.planning.value = null)} />;
}
