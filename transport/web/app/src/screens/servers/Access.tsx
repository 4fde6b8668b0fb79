import { useState } from 'preact/hooks';
import { nameOf } from '../../text';
import type { Tool, ToolAccess } from '../../types';
import { announce } from '../../ui/Announcer';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Check, Choice, Field } from '../../ui/Field';
import { Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { AskFirst } from '../agents/AskFirst';
import type { Asks } from '../agents/mandate';
import { members } from '../members/api';
import { ReceiptLink } from '../ReceiptLink';
import { allow, ruleOf } from './api';

const choices = [
  { value: 'nobody', label: 'Nobody' },
  { value: 'everyone', label: 'Everyone' },
  { value: 'some', label: 'Chosen' },
] as const;

type Who = (typeof choices)[number]['value'];

// Access says who may use a tool, and how often each may.
export function Access({ of, onSaved }: { of: Tool; onSaved: (access: ToolAccess) => void }) {
  const rule = ruleOf(of);
  const [who, setWho] = useState<Who>(!rule.allowed ? 'nobody' : rule.users.length + rule.groups.length > 0 ? 'some' : 'everyone');
  const [users, setUsers] = useState(rule.users);
  const [groups, setGroups] = useState(rule.groups.join(', '));
  const [limit, setLimit] = useState(rule.per_minute ? String(rule.per_minute) : '');
  const [confirm, setConfirm] = useState<Asks>(rule.confirm ?? 'never');
  const act = useAct();
  const perMinute = Number(limit || 0);
  const named = groups.split(',').map((g) => g.trim()).filter(Boolean);
  const wrong = !Number.isInteger(perMinute) || perMinute < 0 || perMinute > 100_000;
  const nobody = who === 'some' && users.length + named.length === 0; // would be everyone
  const save = () =>
    act.run(async () => {
      const some = who === 'some';
      onSaved((await allow(of.tool, { allowed: who !== 'nobody', users: some ? users : [], groups: some ? named : [], per_minute: perMinute, confirm })).access);
      announce('Saved');
    });
  return (
    <Section title="Who may use it" actions={of.access && <ReceiptLink of={of.access.receipt} />}>
      <form
        class="stack narrow"
        onSubmit={(e) => {
          e.preventDefault();
          if (!wrong && !nobody) void save();
        }}
      >
        <Choice label="Who" value={who} options={choices} onValue={setWho} />
        {who === 'some' && (
          <>
            <People chosen={users} onChange={setUsers} />
            <Field label="Groups" value={groups} onValue={setGroups} autocapitalize="off" autocomplete="off" hint="Names that your sign-in provider gives people, with commas between them." />
          </>
        )}
        {who !== 'nobody' && <Field label="Calls a minute, each" inputMode="numeric" placeholder="No limit" value={limit} onValue={setLimit} error={wrong ? 'A whole number up to 100,000, or nothing' : undefined} />}
        {who !== 'nobody' && <AskFirst label="Agents ask a person first" value={confirm} onValue={setConfirm} />}
        {nobody && <p class="hint">Choose somebody, or a group.</p>}
        <Problem of={act.problem} />
        <div class="line">
          <Button kind="primary" type="submit" busy={act.busy} disabled={wrong || nobody}>
            Save
          </Button>
        </div>
      </form>
    </Section>
  );
}

function People({ chosen, onChange }: { chosen: string[]; onChange: (users: string[]) => void }) {
  const list = useLoad(members);
  return (
    <fieldset class="choice people">
      <legend>People and agents</legend>
      <Await of={list}>
        {({ members }) => {
          const left = chosen.filter((id) => !members.some((m) => m.user_id === id));
          return [...members, ...left.map((user_id) => ({ user_id }))].map((m) => (
            <Check
              key={m.user_id}
              label={nameOf(m)}
              checked={chosen.includes(m.user_id)}
              onValue={(on) => onChange(on ? [...chosen, m.user_id] : chosen.filter((id) => id !== m.user_id))}
            />
          ));
        }}
      </Await>
    </fieldset>
  );
}
