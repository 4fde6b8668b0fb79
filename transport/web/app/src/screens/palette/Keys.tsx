// All keys of the app, as "?" shows them.

import './palette.css';
import { commands, others, type Chord } from '../../commands';
import { Dialog } from '../../ui/Dialog';
import { t, type Key } from '../../words';
import { Chords } from './Chords';

export default function Keys({ onClose }: { onClose: () => void }) {
  const everywhere = commands.flatMap(({ label, chord }) => (chord ? [{ label, chords: [chord] }] : []));
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <Group title="keys.everywhere" keys={everywhere} />
      {others.map((group) => (
        <Group key={group.title} {...group} />
      ))}
    </Dialog>
  );
}

function Group({ title, keys }: { title: Key; keys: readonly { label: Key; chords: readonly Chord[] }[] }) {
  return (
    <section class="keys">
      <h3>{t(title)}</h3>
      <dl>
        {keys.map(({ label, chords }) => (
          <div key={label}>
            <dt>{t(label)}</dt>
            <dd>
              <Chords of={chords} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
