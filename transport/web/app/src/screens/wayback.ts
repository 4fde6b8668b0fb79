// wayback.ts is about signing out, and whether one can come back. Who came by an invitation
// can't without a passkey: its link works once, and no provider knows them before they have
// proven their address.

import { ApiError, get } from '../api';
import { passkeys } from '../passkey';
import { me } from '../session';
import { signOut } from '../store';
import { ask, type Question } from '../ui/Dialog';
import { failed, toast } from '../ui/Toast';
import { t } from '../words';

// lacksWayBack tells that who is signed in has no way to sign in again.
export const lacksWayBack = async () => me.peek()?.identity.unproven === true && (await passkeys()).passkeys.length === 0;

// leave asks whether the person means to sign out, and has it done. Where the server can't
// be reached it says so instead of asking.
export async function leave(question: Question, everywhere = false): Promise<void> {
  if (!(await answers())) return toast(t('wayback.stuck'), { kind: 'bad' });
  const sure = await ask({ ...question, text: question.text + (await warning()) });
  if (sure) await signOut(everywhere).catch((problem: unknown) => (isOffline(problem) ? toast(t('wayback.stuck'), { kind: 'bad' }) : failed(problem)));
}

// answers tells whether the server can be reached, in a few seconds at most.
const answers = () =>
  get('/auth/ways', { as: null, timeout: 5000 }).then(
    () => true,
    (problem: unknown) => !isOffline(problem),
  );

const isOffline = (problem: unknown) => problem instanceof ApiError && problem.code === 'offline';

// warning is what signing out means for who lacks a way back, '' for all others.
export const warning = async () => ((await lacksWayBack().catch(() => false)) ? ` ${t('wayback.warning')}` : '');
