// A new message: to whom, one or several. It opens as the direct messages with them.

import { useEffect, useState } from 'preact/hooks';
import { place } from '../../router';
import { store } from '../../store';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Icon } from '../../ui/Icon';
import { Screen } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { nameFor } from '../Person';
import { t } from '../../words';
import { most, openDirect } from './direct';
import { Picker, people } from './Picker';
import '../search/search.css';

export default function NewMessage() {
  const [chosen, setChosen] = useState<readonly string[]>(place.value.query.getAll('with'));
  const act = useAct();
  useEffect(() => void store.peek()?.people.refresh(), []);
  const without = (id: string) => setChosen(chosen.filter((one) => one !== id));
  return (
    <Screen title={t('newmessage.title')} above="/ui/">
      <section class="section">
        <div class="stack">
          {chosen.length > 0 && (
            <div class="chips" role="group" aria-label={t('newmessage.to')}>
              {chosen.map((id) => (
                <button key={id} type="button" class="chip on" aria-label={t('newmessage.without', { name: nameFor(id) })} onClick={() => without(id)}>
                  <bdi>{nameFor(id)}</bdi> <Icon name="close" size={16} />
                </button>
              ))}
            </div>
          )}
          {chosen.length < most && (
            <Picker label={t('newmessage.who')} of={people({ others: true }).filter(({ id }) => !chosen.includes(id))} onPick={(id) => setChosen([...chosen, id])} onBack={() => setChosen(chosen.slice(0, -1))} />
          )}
          <p class="hint">{t('newmessage.hint', { n: most })}</p>
          <Problem of={act.problem} />
          <Button kind="primary" busy={act.busy} disabled={chosen.length === 0} onClick={() => void act.run(() => openDirect(chosen))}>
            {t('newmessage.action')}
          </Button>
        </div>
      </section>
    </Screen>
  );
}
