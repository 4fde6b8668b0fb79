import { useState } from 'preact/hooks';
import type { ScreenProps } from '../../router';
import { isOwner } from '../../session';
import { bare } from '../../text';
import type { Tool as Known } from '../../types';
import { announce } from '../../ui/Announcer';
import { Await, Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Diff } from '../../ui/Diff';
import { Empty } from '../../ui/Empty';
import { Json } from '../../ui/Json';
import { Screen, Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { Access } from './Access';
import { approve, own, tools } from './api';
import './servers.css';
import { whoMay } from './Tools';

// Tool is one tool: what it says of itself, what it says lately, and who may use it.
export default function Tool({ params: { id = '', tool: place = '' } }: ScreenProps) {
  const tool = bare(place);
  const list = useLoad((signal) => tools(id, signal), [id, tool]);
  const found = list.data?.find((t) => t.tool === tool);
  const put = (now: Partial<Known>) => list.set(list.data!.map((t) => (t.tool === tool ? { ...t, ...now } : t)));
  return (
    <Screen title={found?.upstream ?? tool} sub={found && whoMay(found)} above={`/ui/servers/${id}`}>
      <Await of={list}>
        {() =>
          !found || !isOwner.value ? (
            <Empty icon="tool" title="There is no such tool" />
          ) : (
            <>
              {found.gone && <p class="notice">The server no longer has this tool.</p>}
              {found.held && <Held of={found} onApproved={({ definition, hash }) => put({ definition, hash, held: undefined, held_hash: undefined })} />}
              <Access key={JSON.stringify(found.access)} of={found} onSaved={(access) => put({ access })} />
              <About of={found} />
            </>
          )
        }
      </Await>
    </Screen>
  );
}

const text = (definition: Known['definition']) => JSON.stringify(definition ?? {}, null, 2);

// Held is a definition that came later than the one that an owner has seen. What a
// tool says of itself is what agents act by, so it waits until somebody has read it.
function Held({ of, onApproved }: { of: Known; onApproved: (now: Known) => void }) {
  const act = useAct();
  const take = () =>
    act.run(async () => {
      onApproved((await approve(of.tool, of.held_hash ?? '')).tool);
      announce('Approved');
    });
  return (
    <Section title="It describes itself differently now">
      <div class="stack">
        <p class="notice">Agents read this description and act by it. Until you approve the new one, nobody can use the tool.</p>
        <div class="definition">
          <Diff before={text(of.definition)} after={text(of.held ?? null)} label="What changed in its description" />
        </div>
        <Problem of={act.problem} />
        <div class="line">
          <Button kind="primary" icon="check" busy={act.busy} onClick={take}>
            Approve the new description
          </Button>
        </div>
      </div>
    </Section>
  );
}

function About({ of }: { of: Known }) {
  const [open, setOpen] = useState(false);
  if (!of.definition) return null;
  const { description } = of.definition;
  const ours = of.server_id === own; // the API's page has its schema
  return (
    <Section
      title={ours ? 'What it does' : 'What it says of itself'}
      actions={
        !ours && <Button kind="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Hide the schema' : 'Show the schema'}
        </Button>
      }
    >
      {typeof description === 'string' && (
        <p class="prose" dir="auto">
          {description}
        </p>
      )}
      {open && <Json value={of.definition} label="Definition" />}
    </Section>
  );
}
