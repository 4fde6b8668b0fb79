import { useState } from 'preact/hooks';
import { get } from '../../api';
import { Problem } from '../../ui/Await';
import { Facts } from '../../ui/Bits';
import { Button } from '../../ui/Button';
import { Section } from '../../ui/Screen';
import { useAct } from '../../ui/useAct';
import { t } from '../../words';

// About is what runs here. The version stands in the API's document, which is large:
// it is fetched when one asks.
export function About() {
  const [version, setVersion] = useState('');
  const act = useAct();
  const ask = () => act.run(async () => setVersion((await get<{ info: { version: string } }>('/api/openapi.json')).info.version));
  return (
    <Section title={t('about.title')}>
      <div class="stack">
        {version && <Facts of={[[t('about.version'), version]]} />}
        <Problem of={act.problem} />
        <div class="line">
          {!version && (
            <Button icon="info" busy={act.busy} onClick={ask}>
              {t('about.show')}
            </Button>
          )}
          <a class="button plain" href="/api/docs" target="_blank" rel="noopener">
            {t('about.api')}
          </a>
        </div>
      </div>
    </Section>
  );
}
