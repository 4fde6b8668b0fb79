import { at, del } from '../../api';
import { me } from '../../session';
import { signOut } from '../../store';
import { bare } from '../../text';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';

// Leave is the way out of the tenant, which no tenant can close.
export function Leave() {
  return (
    <Section title="Leave this tenant">
      <div class="line">
        <Button icon="signout" onClick={() => void leave()}>
          Leave {bare(me.value?.tenant_id ?? '')}
        </Button>
      </div>
    </Section>
  );
}

async function leave() {
  const who = me.peek();
  if (!who) return;
  const sure = await ask({
    title: `Leave ${bare(who.tenant_id)}?`,
    text: 'You lose its rooms at once, and only an owner lets you in again. Your sessions, tokens, passkeys and agents here end. What you wrote stays.',
    action: 'Leave',
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
