import { useState } from 'preact/hooks';
import { at, del, get, newKey, post } from '../../api';
import type { Domain } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Badge, Copy, Time } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask, Dialog } from '../../ui/Dialog';
import { Field } from '../../ui/Field';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';

// Domains are the mail domains whose people join the tenant, and the claims that wait
// for their DNS record.
export function Domains() {
  const list = useLoad((signal) => get<{ domains: Domain[] }>('/api/domains', { signal }));
  const [claiming, setClaiming] = useState(false);
  return (
    <Section title="Mail domains">
      <div class="stack">
        <p class="soft">New people with a verified address of one of these domains join this tenant. Prove that a domain is yours with a record in its DNS.</p>
        <Await of={list}>
          {({ domains }) => (
            <div class="stack">
              <Joining of={domains.filter((d) => d.state === 'configured' || d.state === 'verified')} onChange={list.reload} />
              {domains.filter((d) => d.state === 'unconfirmed').map((d) => (
                <Unconfirmed key={d.domain} of={d} onChange={list.reload} />
              ))}
              {domains.filter((d) => d.state === 'pending').map((d) => (
                <Pending key={d.domain} of={d} onChange={list.reload} />
              ))}
            </div>
          )}
        </Await>
        <div class="line">
          <Button icon="plus" onClick={() => setClaiming(true)}>
            Claim a domain
          </Button>
        </div>
      </div>
      {claiming && <Claim onClose={() => setClaiming(false)} onMade={list.reload} />}
    </Section>
  );
}

function Joining({ of, onChange }: { of: Domain[]; onChange: () => void }) {
  if (of.length === 0) return null;
  return (
    <List label="Mail domains">
      {of.map((d) => (
        <Row
          key={`${d.domain} ${d.tenant_id} ${d.state}`}
          start={<Icon name="link" />}
          title={d.domain}
          sub={d.verified_at ? <>Since <Time at={d.verified_at} /></> : 'Given by the server’s operator'}
          meta={<Badge kind="good">{d.state}</Badge>}
          end={d.state === 'verified' ? <Button kind="quiet" icon="trash" label={`Release ${d.domain}`} onClick={() => void release(d, onChange)} /> : undefined}
        />
      ))}
    </List>
  );
}

// useVerify verifies a claim, or confirms one.
function useVerify(d: Domain, onChange: () => void) {
  const act = useAct();
  const verify = () =>
    act.run(async () => {
      await post(at`/api/domains/${d.domain}/verify`);
      toast(`${d.domain} is verified`);
      onChange();
    });
  return { ...act, verify };
}

// Unconfirmed asks for an owner who stands for the domain in place of one who has left.
function Unconfirmed({ of: d, onChange }: { of: Domain; onChange: () => void }) {
  const act = useVerify(d, onChange);
  return (
    <div class="claim stack">
      <h3>
        <bdi>{d.domain}</bdi> <Badge kind="warn">unconfirmed</Badge>
      </h3>
      <p>The owner who stood for this domain is no owner any more, so nobody new joins by it. Confirm it if the domain is yours, or release it. Members stay.</p>
      <Problem of={act.problem} />
      <div class="line">
        <Button kind="primary" icon="check" busy={act.busy} onClick={() => void act.verify()}>
          Confirm
        </Button>
        <Button icon="trash" onClick={() => void release(d, onChange)}>
          Release
        </Button>
      </div>
    </div>
  );
}

// Pending shows what to publish, and looks for it when asked.
function Pending({ of: d, onChange }: { of: Domain; onChange: () => void }) {
  const act = useVerify(d, onChange);
  return (
    <div class="claim stack">
      <h3>
        <bdi>{d.domain}</bdi> <Badge kind="warn">pending</Badge>
      </h3>
      <p>
        Publish this TXT record where the domain’s DNS is kept, then check. The claim gives nothing before, and ends {d.expires_at && <Time at={d.expires_at} as="end" />}.
      </p>
      {d.record && (
        <>
          <Part label="Name" of={d.domain} text={d.record.name} />
          <Part label="Value" of={d.domain} text={d.record.value} />
        </>
      )}
      <Problem of={act.problem} />
      <div class="line">
        <Button kind="primary" icon="refresh" busy={act.busy} onClick={() => void act.verify()}>
          Check now
        </Button>
        <Button icon="trash" onClick={() => void release(d, onChange)}>
          Release
        </Button>
      </div>
    </div>
  );
}

function Part({ label, of, text }: { label: string; of: string; text: string }) {
  return (
    <div class="secret">
      <pre tabIndex={0} aria-label={`${label} of the record for ${of}`}>
        {text}
      </pre>
      <Copy text={text} label={`Copy the ${label.toLowerCase()}`} />
    </div>
  );
}

async function release(d: Domain, onDone: () => void) {
  const sure = await ask({
    title: `Release ${d.domain}?`,
    text: d.state === 'pending' ? 'The claim ends, and its record proves nothing any more.' : 'New people of this domain don’t join any more, and another tenant may claim it. Members stay.',
    action: 'Release',
    danger: true,
  });
  if (sure) await del(at`/api/domains/${d.domain}`).then(onDone, failed);
}

function Claim({ onClose, onMade }: { onClose: () => void; onMade: () => void }) {
  const [domain, setDomain] = useState('');
  const [key, setKey] = useState(newKey);
  const act = useAct();
  const claim = async () => {
    if (await act.run(() => post('/api/domains', { domain: domain.trim() }, { key }))) {
      onMade();
      onClose();
    }
  };
  return (
    <Dialog
      title="Claim a domain"
      onClose={onClose}
      onSubmit={() => domain.trim() && void claim()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={act.busy} disabled={!domain.trim()}>
            Claim
          </Button>
        </>
      }
    >
      <Field
        label="Mail domain"
        value={domain}
        onValue={(value) => {
          setDomain(value);
          setKey(newKey()); // another claim
        }}
        maxLength={254}
        inputMode="url"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        hint="As in people’s addresses: example.com. Domains below it are claimed apart."
      />
      <Problem of={act.problem} />
    </Dialog>
  );
}
