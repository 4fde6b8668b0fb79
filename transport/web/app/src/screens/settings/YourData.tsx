import { useState } from 'preact/hooks';
import { download } from '../../download';
import { Problem } from '../../ui/Await';
import { Button } from '../../ui/Button';
import { Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';

// YourData is where a person takes home what is theirs, as one file.
export function YourData() {
  const act = useAct();
  const [begun, setBegun] = useState(false);
  const take = () => {
    setBegun(false);
    void act.run(() => download('/api/me/export', 'ubl-my-data.zip')).then(setBegun);
  };
  return (
    <Section title={t('yourdata.title')}>
      <div class="stack">
        <p>{t('yourdata.text')}</p>
        <Problem of={act.problem} />
        {begun && <p role="status">{t('yourdata.begun')}</p>}
        <div class="line">
          <Button icon="save" busy={act.busy} onClick={take}>
            {t('yourdata.action')}
          </Button>
        </div>
      </div>
    </Section>
  );
}
