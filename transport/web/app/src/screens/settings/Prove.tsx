import { query } from '../../api';
import { ways } from '../../session';
import { Await } from '../../ui/Await';
import { Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';
import { rich, t } from '../../words';

// Prove lets somebody who came by an invitation show that its address is theirs.
export function Prove({ email }: { email: string }) {
  const known = useLoad(ways);
  return (
    <Section title={t('prove.title')}>
      <p>
        {rich('prove.text', { email: <bdi>{email}</bdi> })}
      </p>
      <Await of={known}>
        {({ oidc }) =>
          oidc.length === 0 ? (
            <p class="soft">{t('prove.none')}</p>
          ) : (
            <div class="line">
              {oidc.map(({ id, name }) => (
                <a key={id} class="button plain" href={`/auth/oidc/${encodeURIComponent(id)}/start${query({ prove: '1', return: '/ui/settings' })}`}>
                  {t('prove.at', { name })}
                </a>
              ))}
            </div>
          )
        }
      </Await>
    </Section>
  );
}
