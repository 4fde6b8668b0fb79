import { at, del } from '../../api';
import { me } from '../../session';
import { signOut } from '../../store';
import { bare } from '../../text';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { t } from '../../words';

// Leave is the way out of the tenant, which no tenant can close.
export function Leave() {
  return (
    <Section title={t('leave.title')}>
      <div class="line">
        <Button icon="signout" onClick={() => void leave()}>
          {t('leave.action', { name: bare(me.value?.tenant_id ?? '') })}
        </Button>
      </div>
    </Section>
  );
}

async function leave() {
  const who = me.peek();
  if (!who) return;
  const sure = await ask({
    title: t('leave.ask', { name: bare(who.tenant_id) }),
    text: t('leave.text'),
    action: t('leave.yes'),
    danger: true,
  });
  if (!sure) return;
  try {
    await del(at`/api/tenant/members/${who.identity.user_id}`);
    await signOut();
  } catch (problem) {
    failed(problem);
  }
}
