// When the platform was last backed up, and how that is done, for who runs it.

import { useEffect, useRef } from 'preact/hooks';
import { ApiError, post } from '../../api';
import { bytes } from '../../text';
import { ago, full } from '../../time';
import type { ClusterStatus } from '../../types';
import { Await, Problem } from '../../ui/Await';
import { Secret } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Section } from '../../ui/Screen';
import { toast } from '../../ui/Toast';
import { useAct } from '../../ui/useAct';
import { useLoad } from '../../ui/useLoad';
import { t } from '../../words';
import { Operators } from './Operators';
import { status } from './status';

// old is the age from which on a backup is worth a warning, in ms.
const old = 7 * 24 * 3600 * 1000;

// The commands by which one makes a backup, and has it back.
const making = () => ['ubl', 'backup', 'ubl-backup.tar', '--url', location.origin].join(' ');
const restoring = ['ubl', 'restore', 'ubl-backup.tar', '--data', 'NEWDIR'].join(' ');

export default function Backup() {
  return (
    <Operators title={t('backup.title')}>
      <Parts />
    </Operators>
  );
}

function Parts() {
  const loaded = useLoad(status);
  return (
    <>
      <Section title={t('backup.last')}>
        <Await of={loaded}>{(cluster) => <Last of={cluster} />}</Await>
      </Section>
      <Download onMade={loaded.reload} />
      <Section title={t('backup.command')}>
        <div class="stack">
          <p class="soft">{t('backup.command.text')}</p>
          <Secret label={t('backup.command')} text={making()} />
          <p class="soft">{t('backup.restore')}</p>
          <Secret label={t('backup.restore.command')} text={restoring} />
        </div>
      </Section>
    </>
  );
}

function Last({ of: { nodes, cluster_id } }: { of: ClusterStatus }) {
  const newest = nodes.filter((n) => n.backup_at).sort((a, b) => b.backup_at!.localeCompare(a.backup_at!))[0];
  if (!newest?.backup_at) return <p class="notice">{t('backup.never')}</p>;
  const at = newest.backup_at;
  return (
    <div class="stack">
      <p>
        <time dateTime={at}>{cluster_id ? t('backup.when.by', { ago: ago(at), when: full(at), node: newest.node_id }) : t('backup.when', { ago: ago(at), when: full(at) })}</time>
      </p>
      {Date.now() - Date.parse(at) > old && <p class="notice">{t('backup.old')}</p>}
    </div>
  );
}

// Download takes a backup whole, and only then hands it to the browser: one that was cut off is none.
function Download({ onMade }: { onMade: () => void }) {
  const act = useAct();
  const left = useRef(new AbortController()); // nobody is there to whom it could be given
  useEffect(() => () => left.current.abort(), []);
  const broken = act.problem instanceof ApiError && act.problem.code === 'offline';
  const make = async () => {
    await act.run(async () => {
      const file = (await post<Blob>('/api/platform/backup', null, { file: true, signal: left.current.signal })) as Blob;
      save(file, `ubl-${new Date().toISOString().slice(0, 10)}.tar`);
      toast(t('backup.made', { size: bytes(file.size) }));
      onMade();
    });
  };
  return (
    <Section title={t('backup.now')}>
      <div class="stack">
        <p>{t('backup.text')}</p>
        <p class="soft">{t('backup.key')}</p>
        <Problem of={broken ? new Error(t('backup.broken')) : act.problem} />
        {act.busy && <p role="status">{t('backup.busy')}</p>}
        <div class="line">
          <Button kind="primary" icon="save" busy={act.busy} onClick={() => void make()}>
            {t('backup.action')}
          </Button>
        </div>
      </div>
    </Section>
  );
}

// save has the browser keep a file under a name.
function save(file: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
