import { useState } from 'preact/hooks';
import { Link, type ScreenProps } from '../../router';
import { bytes } from '../../text';
import type { Document } from '../../types';
import { Await } from '../../ui/Await';
import { Badge, Time } from '../../ui/Bits';
import { Diff } from '../../ui/Diff';
import { Empty } from '../../ui/Empty';
import { Select } from '../../ui/Field';
import { List, Row } from '../../ui/Row';
import { Screen, Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { Person } from '../Person';
import { Was } from '../Was';
import { ReceiptLink } from '../ReceiptLink';
import { read, versions } from './api';
import './documents.css';
import { t } from '../../words';

// Versions is how a document came to be: who wrote which version, and what changed
// between any two.
export default function Versions({ params: { w = '', d = '' } }: ScreenProps) {
  const all = useLoad((signal) => versions(w, d, signal), [w, d]);
  const here = `/ui/workspaces/${w}/${d}`;
  const newest = all.data?.[0];
  return (
    <Screen title={t('versions.title')} sub={newest && <Link to={here}>{newest.title}</Link>} above={here}>
      <Await of={all}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon="clock" title={t('document.none')} />
          ) : (
            <>
              <Section title={t('versions.all')}>
                <List label={t('versions.title')}>
                  {list.map((v, i) => (
                    <Row
                      key={v.version}
                      to={i === 0 && !v.deleted ? here : `${here}?version=${v.version}`}
                      start={<Badge kind={i === 0 ? 'accent' : 'neutral'}>{v.version}</Badge>}
                      title={v.title}
                      sub={
                        <>
                          <Person id={v.updated_by} /> · {v.deleted ? t('versions.deleted') : bytes(v.bytes)}
                        </>
                      }
                      below={v.imported_from && <Was of={v.imported_from} />}
                      meta={<Time at={v.updated_at} />}
                      end={<ReceiptLink of={v.receipt} what={t('versions.receipt', { n: v.version })} />}
                    />
                  ))}
                </List>
              </Section>
              {list.length > 1 && <Compare w={w} d={d} list={list} />}
            </>
          )
        }
      </Await>
    </Screen>
  );
}

// Compare reads two versions when one asks for it: each reading is receipted. It
// stands last, since what was changed takes a while to come and any room.
function Compare({ w, d, list }: { w: string; d: string; list: Document[] }) {
  const [after, setAfter] = useState(String(list[0]!.version));
  const [before, setBefore] = useState(String(list[1]!.version));
  const options = list.map((v) => ({ value: String(v.version), label: t('document.version', { n: v.version }) }));
  const both = useLoad(async (signal) => {
    const [old, now] = await Promise.all([before, after].map((v) => read(w, d, Number(v), signal)));
    return { old: old?.document, now: now?.document };
  }, [before, after]);
  return (
    <Section title={t('versions.changed')}>
      <div class="stack">
        <div class="pair">
          <Select label={t('versions.from')} value={before} options={options} onValue={setBefore} />
          <Select label={t('versions.to')} value={after} options={options} onValue={setAfter} />
        </div>
        <Await of={both}>
          {({ old, now }) => (
            <>
              {old?.title !== now?.title && <Diff before={old?.title ?? ''} after={now?.title ?? ''} label={t('versions.changed.title')} />}
              <Diff before={old?.content ?? ''} after={now?.content ?? ''} label={t('versions.between', { before, after })} />
            </>
          )}
        </Await>
      </div>
    </Section>
  );
}
