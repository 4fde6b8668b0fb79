// A poll in its message: what is asked, a button for each option, and how it stands. Counts are the
// server's, which is asked again soon after somebody has voted.

import './Poll.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Message, PollState } from '../../types';
import { Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Icon } from '../../ui/Icon';
import { failed } from '../../ui/Toast';
import { number } from '../../text';
import { t } from '../../words';
import { endNow, stateOf, vote } from './polls';
import type { Talk } from './talk';
import { whoIs } from './who';

// soon is how long votes are gathered before the poll is read again, in ms.
const soon = 300;

export default function Poll({ message, talk }: { message: Message; talk: Talk }) {
  const poll = message.poll!;
  const [state, reload] = useStanding(message);
  const [chosen, setChosen] = useState<number[] | null>(null); // while that is on its way
  const ended = state.ended ?? poll.result;
  const closed = Boolean(ended) || (poll.ends_at !== undefined && Date.parse(poll.ends_at) <= Date.now());
  const counts = state.counts ?? poll.result?.counts ?? (poll.anonymous ? undefined : poll.options.map(() => 0));
  const voters = poll.result?.voters ?? state.voters;
  const mine = chosen ?? state.mine ?? [];
  const choose = (n: number) => {
    const rest = poll.multiple ? mine.filter((m) => m !== n) : [];
    const next = mine.includes(n) ? rest : [...rest, n];
    setChosen(next);
    vote(message, next)
      .then(reload)
      .catch(failed)
      .finally(() => setChosen(null));
  };
  const stop = async () => {
    if (await ask({ title: t('poll.end.title'), text: t('poll.end.text'), action: t('poll.end') })) await endNow(message).then(reload).catch(failed);
  };
  return (
    <div class="poll">
      <p class="question" dir="auto">
        {poll.question}
      </p>
      <p class="small soft">{[t(poll.multiple ? 'poll.several' : 'poll.one'), ...(poll.anonymous ? [t('poll.secret')] : [])].join(' · ')}</p>
      <ul>
        {poll.options.map((option, i) => {
          const count = counts?.[i];
          const picked = mine.includes(i + 1);
          return (
            <li key={i}>
              <button type="button" class="option" aria-pressed={picked} disabled={closed || chosen !== null || !talk.rights.value.act} onClick={() => choose(i + 1)}>
                <span class="tick">{picked && <Icon name="check" size={16} />}</span>
                <span class="what" dir="auto">
                  {option}
                </span>
                {count !== undefined && <span class="count">{number(count)}</span>}
                {count !== undefined && <span class="share" aria-hidden="true" style={{ inlineSize: `${voters > 0 ? (100 * count) / voters : 0}%` }} />}
              </button>
            </li>
          );
        })}
      </ul>
      <p class="small soft">
        {t('poll.voters', { n: voters })}
        {(closed || poll.ends_at) && ' · '}
        {closed ? t('poll.ended') : poll.ends_at && t('poll.ends')} {!closed && poll.ends_at && <Time at={poll.ends_at} as="full" />}
      </p>
      {poll.anonymous && !counts && <p class="small soft">{t('poll.secret.until')}</p>}
      {state.by && voters > 0 && <Voters by={state.by} options={poll.options} counts={counts!} />}
      {!closed && talk.rights.value.act && message.sender_id === talk.store.who.user_id && (
        <Button kind="quiet" onClick={() => void stop()}>
          {t('poll.end')}
        </Button>
      )}
    </div>
  );
}

// Voters are who chose what, which a named poll tells.
function Voters({ by, options, counts }: { by: string[][]; options: string[]; counts: number[] }) {
  return (
    <details class="small">
      <summary>{t('poll.who')}</summary>
      <dl>
        {by.map((who, i) => who.length > 0 && (
          <div key={i}>
            <dt dir="auto">{options[i]}</dt>
            <dd>
              {who.map((id) => whoIs(id).name).join(', ')}
              {counts[i]! > who.length && ' …'}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

// useStanding is how a poll stands: as its message came, and read anew since somebody voted.
function useStanding(message: Message): [PollState, () => Promise<void>] {
  const [read, setRead] = useState<PollState>();
  const latest = useRef(message);
  latest.current = message;
  const gone = useRef(new AbortController());
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null);
  const reload = () => stateOf(latest.current, gone.current.signal).then(setRead);
  useEffect(() => {
    if (!message.pollAt || waiting.current) return;
    waiting.current = setTimeout(() => {
      waiting.current = null;
      reload().catch(() => undefined); // what was known stays, and the next vote asks again
    }, soon);
  }, [message.pollAt]);
  useEffect(
    () => () => {
      clearTimeout(waiting.current ?? undefined);
      gone.current.abort();
    },
    [],
  );
  return [read ?? message.polled ?? { voters: 0 }, reload];
}
