// One agent: what it may do, since when and until when, and how that is changed or ended.

import { useState } from 'preact/hooks';
import { newKey } from '../../api';
import { Link, type ScreenProps } from '../../router';
import { isOwner, me } from '../../session';
import type { Call, ServiceToken } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Badge, Facts, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask, Dialog } from '../../ui/Dialog';
import { Empty } from '../../ui/Empty';
import { Screen, Section } from '../../ui/Screen';
import { failed } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { Person } from '../Person';
import { servers } from '../servers/api';
import * as api from './api';
import { agreementOf, choicesOf, grants, isLiving, mandateOf, problemOf, say, type Grant } from './mandate';
import { MandateForm } from './MandateForm';
import { Ready, type Made } from './NewAgent';
import { usePlaces, type Place } from './places';
import './agents.css';

export default function Agent({ params: { id = '' } }: ScreenProps) {
  const list = useLoad(api.agents);
  const tools = useLoad(servers);
  const found = list.data?.tokens.find((t) => t.client_id === id);
  return (
    <Screen title={found?.name ?? 'Agent'} above="/ui/agents" sub={found && (found.client ? 'Let in by signing in' : 'With a token')}>
      <Await of={list}>
        {({ calls }) =>
          found ? (
            <Shown of={found} calls={calls} grants={grants(tools.data?.servers)} onChanged={list.reload} />
          ) : (
            <Empty icon="tool" title="There is no such agent">
              <p>It may have been removed, or is kept by somebody else.</p>
            </Empty>
          )
        }
      </Await>
    </Screen>
  );
}

interface Props {
  of: ServiceToken;
  grants: readonly Grant[];
  onChanged: () => void;
}

function Shown({ of, calls, grants, onChanged }: Props & { calls: readonly Call[] | null }) {
  const [changing, setChanging] = useState(false);
  const [made, setMade] = useState<Made | null>(null);
  const { places, called } = usePlaces();
  const living = isLiving(of, new Date().toISOString());
  const { can, where, bounds } = say(of.mandate, grants, called);
  const last = api.lastCall(of, calls);
  const keeps = isOwner.value || of.kept_by === me.value?.identity.user_id;
  return (
    <>
      <Section title="What it may do" actions={<Badge kind={living ? 'good' : 'bad'}>{living ? 'in force' : of.revoked_at ? 'revoked' : 'expired'}</Badge>}>
        <div class="stack">
          <Facts
            of={[
              ['It can', can.map((one) => <p key={one}>{one}</p>)],
              ['Where', where],
              ...(bounds.length > 0 ? [['Limits', bounds.map((one) => <p key={one}>{one}</p>)] as const] : []),
            ]}
          />
          {of.mandate && (
            <p>
              The ledger has it as an <Link to={`/ui/agreements/${agreementOf(of)}`}>Agreement</Link>.
            </p>
          )}
          {living && keeps && (
            <div class="line">
              <Button icon="edit" onClick={() => setChanging(true)}>
                Change what it may do
              </Button>
            </div>
          )}
        </div>
      </Section>
      <Section title="Who lets it in">
        <div class="stack">
          <Facts
            of={[
              ['Kept by', <Person id={of.kept_by ?? of.created_by} />],
              ['Since', <Time at={of.created_at} as="full" />],
              ['Until', <Ends of={of} />],
              ['Last tool call', last ? <Time at={last.at} as="full" /> : calls ? 'None among the newest 200 of the organisation' : 'Not known: the log can’t be read now'],
            ]}
          />
          {living && keeps && (
            <div class="line">
              {isOwner.value && (
                <Button icon="refresh" onClick={() => void renew(of, onChanged)}>
                  Renew
                </Button>
              )}
              {!of.client && of.created_by === me.value?.identity.user_id && isOwner.value && (
                <Button icon="key" onClick={() => void another(of, setMade)}>
                  Another token
                </Button>
              )}
              <Button icon="trash" onClick={() => void end(of, onChanged)}>
                Revoke
              </Button>
            </div>
          )}
        </div>
      </Section>
      {changing && <Change of={of} grants={grants} places={places} onClose={() => setChanging(false)} onChanged={onChanged} />}
      {made && <Ready of={made} onClose={() => setMade(null)} />}
    </>
  );
}

// Change gives an agent another mandate, and adds it to the places that are new.
function Change({ of, grants, places, onClose, onChanged }: Props & { places: readonly Place[]; onClose: () => void }) {
  const [choices, setChoices] = useState(() => choicesOf(of.mandate, grants));
  const [wrong, setWrong] = useState<string | null>(null);
  const act = useAct();
  const save = async () => {
    const problem = problemOf(choices);
    setWrong(problem);
    if (problem) return;
    const mandate = mandateOf(choices, grants);
    if (!mandate) return setWrong('Choose at least one limit: what it may do, where, or how often');
    let missing: string[] = [];
    const done = await act.run(async () => {
      await api.setMandate(of, mandate, newKey());
      missing = await api.addTo(mandate.places.filter((id) => !of.mandate?.places.includes(id)), of.user_id);
    });
    if (!done) return;
    if (missing.length > 0) failed(new Error(`it couldn’t be added to ${missing.join('; ')}`));
    onChanged();
    onClose();
  };
  return (
    <Dialog
      title={`What ${of.name} may do`}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy}>
            Save
          </Button>
        </>
      }
    >
      <MandateForm value={choices} onValue={setChoices} grants={grants} places={places} />
      <Problem of={wrong && new Error(wrong)} />
      <Problem of={act.problem} />
    </Dialog>
  );
}

// Ends is until when a token holds. Where a person's leaving ended it, its keeper makes another.
function Ends({ of }: { of: ServiceToken }) {
  const [left] = of.ends_with ?? [];
  if (of.revoked_at && left) {
    const heir = of.kept_by && of.kept_by !== left ? of.kept_by : null;
    return <>Ended when <Person id={left} /> left{heir && <>; <Person id={heir} /> kept it and can make another</>}</>;
  }
  if (of.revoked_at) return <>Ended <Time at={of.revoked_at} as="ago" /></>;
  return of.expires_at ? <Time at={of.expires_at} as="full" /> : <>No end yet</>;
}

async function renew(t: ServiceToken, onDone: () => void) {
  const sure = await ask({ title: `Renew ${t.name}?`, text: 'It holds for 90 days from now. You answer for the agent from then on: it ends when you leave the organisation. It also ends when its maker leaves, who has its secret.', action: 'Renew' });
  if (sure) await api.renew(t, false, newKey()).then(onDone, failed);
}

async function another(t: ServiceToken, onMade: (made: Made) => void) {
  const sure = await ask({ title: `Another token for ${t.name}?`, text: 'The token that it has now is refused at once. What it may do stays the same.', action: 'Make it' });
  if (sure) await api.renew<Made>(t, true, newKey()).then(onMade, failed);
}

async function end(t: ServiceToken, onDone: () => void) {
  const sure = await ask({ title: `Revoke ${t.name}?`, text: 'The agent is refused at once, and its streams end. What it wrote stays.', action: 'Revoke', danger: true });
  if (sure) await api.end(t).then(onDone, failed);
}
