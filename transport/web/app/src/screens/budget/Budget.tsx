import { useState } from 'preact/hooks';
import { get, newKey, patch } from '../../api';
import { isOwner } from '../../session';
import { count } from '../../text';
import type { Budget as Bounds } from '../../types';
import { announce } from '../../ui/Announcer';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import './budget.css';

type Answer = { budget: Bounds };

// Budget is what the tenant may spend on models, and what it has spent today.
export default function Budget() {
  const budget = useLoad<Answer>((signal) => get<Answer>('/api/portal/budget', { signal }));
  return (
    <Screen title="Budget for models" above="/ui/more">
      <Await of={budget}>
        {(answer) => (
          <>
            <Usage of={answer.budget} />
            {isOwner.value ? <Change key={JSON.stringify(answer.budget)} of={answer.budget} onSaved={budget.set} /> : <Said of={answer.budget} />}
          </>
        )}
      </Await>
    </Screen>
  );
}

function Usage({ of: { used_today, tokens_per_day } }: { of: Bounds }) {
  const share = tokens_per_day > 0 ? used_today / tokens_per_day : 0;
  return (
    <Section title="Used today">
      <p class="amount">{used_today.toLocaleString()}</p>
      <p class="soft">{tokens_per_day > 0 ? `of ${count(tokens_per_day, 'token')}, counted from midnight UTC` : 'tokens, counted from midnight UTC; there is no limit'}</p>
      {tokens_per_day > 0 && <meter class="spent" aria-label="Used today" min={0} max={1} high={0.8} low={0.8} optimum={0} value={Math.min(share, 1)} />}
      {share >= 1 && <p class="notice">The budget is used up: models answer again after midnight UTC.</p>}
    </Section>
  );
}

const bound = (n: number, what: string) => (n === 0 ? `No limit on ${what}` : `${n.toLocaleString()} ${what}`);

function Said({ of }: { of: Bounds }) {
  return (
    <Section title="Limits">
      <p>{bound(of.tokens_per_day, 'tokens a day')}.</p>
      <p>{bound(of.requests_per_minute, 'requests a minute')}.</p>
      <p class="hint">Owners of the organisation set them.</p>
    </Section>
  );
}

// whole is a number of at most so many, undefined for anything else. Nothing is no bound.
function whole(text: string, most: number): number | undefined {
  const n = text.trim() === '' ? 0 : Number(text.replace(/[\s,._’]/g, ''));
  return Number.isInteger(n) && n >= 0 && n <= most ? n : undefined;
}

function Change({ of, onSaved }: { of: Bounds; onSaved: (answer: Answer) => void }) {
  const [tokens, setTokens] = useState(of.tokens_per_day ? String(of.tokens_per_day) : '');
  const [requests, setRequests] = useState(of.requests_per_minute ? String(of.requests_per_minute) : '');
  const act = useAct();
  const [perDay, perMinute] = [whole(tokens, Number.MAX_SAFE_INTEGER), whole(requests, 100_000)];
  const good = perDay !== undefined && perMinute !== undefined;
  const changed = perDay !== of.tokens_per_day || perMinute !== of.requests_per_minute;
  const save = () =>
    act.run(async () => {
      onSaved(await patch<Answer>('/api/portal/budget', { tokens_per_day: perDay, requests_per_minute: perMinute }, { key: newKey() }));
      announce('Saved');
    });
  return (
    <Section title="Limits">
      <form
        class="stack narrow"
        onSubmit={(e) => {
          e.preventDefault();
          if (good && changed) void save();
        }}
      >
        <Field label="Tokens a day" inputMode="numeric" placeholder="No limit" value={tokens} onValue={setTokens} hint="Of all models together." error={perDay === undefined ? 'A whole number, or nothing' : undefined} />
        <Field label="Requests a minute" inputMode="numeric" placeholder="No limit" value={requests} onValue={setRequests} error={perMinute === undefined ? 'A whole number up to 100,000, or nothing' : undefined} />
        <Problem of={act.problem} />
        <div class="line">
          <Button kind="primary" type="submit" busy={act.busy} disabled={!good || !changed}>
            Save
          </Button>
        </div>
      </form>
    </Section>
  );
}
