// How the nodes stand, for who runs the platform: what "ubl cluster status" shows, kept fresh.

import { useEffect } from 'preact/hooks';
import { at, del } from '../../api';
import { listed, number } from '../../text';
import type { ClusterNode, ClusterStatus } from '../../types';
import { Await } from '../../ui/Await';
import { Badge, Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { ask } from '../../ui/Dialog';
import { Icon } from '../../ui/Icon';
import { List, Row } from '../../ui/Row';
import { Section } from '../../ui/Screen';
import { failed, toast } from '../../ui/Toast';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import './operating.css';
import { Operators } from './Operators';
import { status } from './status';

const rest = 5000; // ms between two looks, while somebody watches
const fewest = 3; // nodes that a cluster keeps
const farBehind = 1000; // entries by which a copy is worth a word, as the alert UBLApplyLag has it: a few are on their way
const farOff = 10_000; // ms by which a clock is worth a word

export default function Cluster() {
  return (
    <Operators title={t('cluster.title')}>
      <Parts />
    </Operators>
  );
}

function Parts() {
  const loaded = useLoad(status);
  useEffect(() => {
    if (loaded.busy) return; // a look that takes long isn't cut short by the next
    const look = () => document.visibilityState === 'visible' && loaded.reload();
    const timer = setInterval(look, rest);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [loaded.busy]);
  return (
    <Await of={loaded}>
      {(of) => (
        <>
          {of.cluster_id ? <Nodes of={of} onRemoved={loaded.reload} /> : <Alone of={of} />}
          <Partitions of={of} />
        </>
      )}
    </Await>
  );
}

// Alone says so of a server without a cluster.
function Alone({ of: { nodes } }: { of: ClusterStatus }) {
  const node = nodes[0];
  if (!node) return null;
  return (
    <Section title={t('cluster.alone')}>
      <div class="stack">
        <p>{t('cluster.alone.text')}</p>
        <Facts
          of={[
            [t('cluster.node'), node.node_id],
            [t('cluster.state'), t(`cluster.is.${node.state}`)],
            ...(node.version ? [[t('cluster.version'), node.version] as const] : []),
          ]}
        />
        {troubles(node).map((text) => (
          <p key={text} class="problem">
            {text}
          </p>
        ))}
      </div>
    </Section>
  );
}

function Nodes({ of, onRemoved }: { of: ClusterStatus; onRemoved: () => void }) {
  const spare = of.nodes.length > fewest;
  const going = of.nodes.some((n) => n.leaving);
  return (
    <Section title={t('cluster.nodes', { n: of.nodes.length })}>
      <div class="stack">
        <p class="soft">{t('cluster.seen', { node: of.node_id })}</p>
        <List label={t('cluster.list')}>
          {of.nodes.map((node) => (
            <Row
              key={node.node_id}
              start={<Icon name="server" />}
              title={node.node_id}
              meta={<Badge kind={node.leaving ? 'warn' : kinds[node.state]}>{t(node.leaving ? 'cluster.is.leaving' : `cluster.is.${node.state}`)}</Badge>}
              sub={[t('cluster.leads', { n: node.leads, all: of.partitions.length }), node.version && t('cluster.runs', { version: node.version })].filter(Boolean).join(' · ')}
              below={
                <>
                  <bdi>{node.address}</bdi>
                  {[...troubles(node), ...behind(of, node)].map((text) => (
                    <span key={text} class="trouble">
                      <Icon name="warning" size={16} /> {text}
                    </span>
                  ))}
                </>
              }
              end={spare && !going ? <Button kind="quiet" icon="trash" label={t('cluster.remove', { node: node.node_id })} onClick={() => void remove(node, onRemoved)} /> : undefined}
            />
          ))}
        </List>
        <p class="hint">{t(going ? 'cluster.going' : spare ? 'cluster.spare' : 'cluster.fewest', { n: fewest })}</p>
      </div>
    </Section>
  );
}

const kinds = { alive: 'good', suspect: 'warn', dead: 'bad', left: 'neutral' } as const;

// troubles are what is wrong with a node itself.
function troubles({ disk_full, clock_offset_ms: off = 0 }: ClusterNode): string[] {
  return [disk_full && t('cluster.full'), Math.abs(off) > farOff && t(off > 0 ? 'cluster.fast' : 'cluster.slow', { n: Math.round(Math.abs(off) / 1000) })].filter((text) => text !== false && text !== undefined);
}

// behind says how a node's copies stand.
function behind({ partitions }: ClusterStatus, { node_id }: ClusterNode): string[] {
  const copies = partitions.flatMap((p) => p.replicas.filter((r) => r.node_id === node_id));
  const lag = Math.max(0, ...copies.map((r) => r.lag));
  const lost = copies.filter((r) => r.log_lost).length;
  const damaged = copies.filter((r) => (r.scrub?.damages ?? 0) > 0).length;
  const differ = partitions.filter((p) => p.differ?.includes(node_id)).length;
  return [
    lag > farBehind && t('cluster.lag', { n: number(lag) }),
    lost > 0 && t('cluster.lost', { n: lost }),
    damaged > 0 && t('cluster.damaged', { n: damaged }),
    differ > 0 && t('cluster.differs', { n: differ }),
  ].filter((text) => text !== false);
}

// Partitions says whether every part of the data is led: one that isn't takes no requests.
function Partitions({ of: { partitions } }: { of: ClusterStatus }) {
  const without = partitions.filter((p) => p.leader === '').map((p) => String(p.partition));
  return (
    <Section title={t('cluster.partitions')}>
      {without.length === 0 ? (
        <p>
          <Icon name="check" size={16} /> {t('cluster.led', { n: partitions.length })}
        </p>
      ) : (
        <p class="problem" role="alert">
          {t('cluster.unled', { n: without.length, which: listed(without) })}
        </p>
      )}
    </Section>
  );
}

async function remove({ node_id: node }: ClusterNode, onRemoved: () => void) {
  const sure = await ask({ title: t('cluster.remove.title', { node }), text: t('cluster.remove.text'), action: t('cluster.remove.action'), danger: true });
  if (!sure) return;
  await del(at`/api/platform/cluster/nodes/${node}`).then(() => toast(t('cluster.removed', { node })), failed);
  onRemoved();
}
