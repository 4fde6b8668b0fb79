import { useEffect, useState } from 'preact/hooks';
import { Await } from '../ui/Await';
import { Screen } from '../ui/Screen';
import { useLoad } from '../ui/useLoad';
import { ways, Ways, watch } from './ConfirmAsk';
import Confirmed from './Confirmed';
import { t } from '../words';

// ConfirmNow is where a page without scripts sends whom it wants to confirm that it is them, in a
// tab of its own.
export default function ConfirmNow() {
  const known = useLoad(ways);
  const [done, setDone] = useState(false);
  const confirmed = () => setDone(true);
  const waits = !done && known.data?.fresh === false;
  useEffect(() => (waits ? watch(confirmed) : undefined), [waits]);
  if (done || known.data?.fresh) return <Confirmed />;
  return (
    <Screen title={t('confirm.title')} above="/ui/more">
      <section class="section">
        <Await of={known}>{(w) => <Ways of={w} onDone={confirmed} />}</Await>
      </section>
    </Screen>
  );
}
