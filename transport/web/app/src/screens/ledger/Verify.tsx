import { useEffect, useRef, useState } from 'preact/hooks';
import { canVerify, fromGenesis, isHead, type Mark } from '../../chain';
import { download } from '../../download';
import { me } from '../../session';
import { count } from '../../text';
import { announce } from '../../ui/Announcer';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Field } from '../../ui/Field';
import { Screen, Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import './ledger.css';
import { Outcome } from './Outcome';
import { foundIn, holds, remember, remembered, titles, verify, type Progress, type Verdict } from './verify';

// Verify checks the chain from the first atom to the last in this browser, which
// trusts hashes and not the server.
export default function Verify() {
  const tenant = me.value?.tenant_id ?? '';
  const [noted, setNoted] = useState('');
  const [progress, setProgress] = useState<Progress | null>(null);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const before = useRef(remembered(tenant)).current;
  const act = useAct();
  const taking = useAct();
  const end = useRef(new AbortController());
  useEffect(() => () => end.current.abort(), []);

  const check = (from: Mark) =>
    act.run(async () => {
      if (noted.trim() && !isHead(noted.trim())) throw new Error('that isn’t a head: a head is h: and 64 letters and digits. Copy all of it');
      setVerdict(null);
      const result = await verify(from, noted.trim(), setProgress, end.current.signal);
      setProgress(null);
      setVerdict(result);
      const found = foundIn(result);
      if (holds(found)) remember(result.at);
      announce(titles[found]);
    });

  return (
    <Screen title="Verify" sub="Every atom, checked in this browser" above="/ui/ledger">
      <Section title="The chain">
        <div class="stack">
          {!canVerify() ? (
            <p class="problem">This browser can’t compute hashes here: it lends them only to pages from https or from this machine. Export the ledger and verify it offline.</p>
          ) : (
            <>
              {verdict && <Outcome of={verdict} />}
              <Problem of={act.problem} />
              {act.busy && <Bar of={progress} />}
              {!act.busy && (
                <>
                  <Field label="A head that you noted before" hint="Optional. If it is in the chain, nothing before it has changed since." placeholder="h:…" value={noted} onValue={setNoted} spellcheck={false} autocapitalize="off" autocomplete="off" dir="ltr" />
                  <div class="line">
                    <Button kind="primary" icon="check" onClick={() => check(fromGenesis(tenant))}>
                      {verdict ? 'Verify again' : 'Verify all atoms'}
                    </Button>
                    {before && !verdict && <Button onClick={() => check(before)}>Continue from {before.seq.toLocaleString()}</Button>}
                  </div>
                  {before && !verdict && <p class="hint">This device has checked {count(before.seq, 'atom')} before, and remembers the head behind them.</p>}
                </>
              )}
            </>
          )}
        </div>
      </Section>
      <Section title="Without this server">
        <div class="stack">
          <p>Don’t trust the page that the server gave you? Take the ledger with you, and check it on another machine:</p>
          <pre class="json" tabIndex={0} role="region" aria-label="Command">
            ubl verify ledger.ndjson
          </pre>
          <Problem of={taking.problem} />
          <div class="line">
            <Button busy={taking.busy} onClick={() => void taking.run(() => download('/api/export', 'ledger.ndjson'))}>
              Export the ledger
            </Button>
          </div>
        </div>
      </Section>
    </Screen>
  );
}

function Bar({ of }: { of: Progress | null }) {
  return (
    <div class="verifying">
      <progress aria-label="Atoms checked" max={of?.goal ?? 1} value={of?.at.seq ?? 0} />
      <p class="soft small">{of ? `${of.at.seq.toLocaleString()} of ${count(of.goal, 'atom')}` : 'Asking for the head'}</p>
    </div>
  );
}
