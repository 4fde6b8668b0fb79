import { query } from '../../api';
import { ways } from '../../session';
import { Await } from '../../ui/Await';
import { Section } from '../../ui/Screen';
import { useLoad } from '../../ui/useLoad';

// Prove lets somebody who came by an invitation show that its address is theirs.
export function Prove({ email }: { email: string }) {
  const known = useLoad(ways);
  return (
    <Section title="Your address is unproven">
      <p>
        You came by an invitation for <bdi>{email}</bdi>. A link proves no address, so others see you as unproven.
      </p>
      <Await of={known}>
        {({ oidc }) =>
          oidc.length === 0 ? (
            <p class="soft">This server knows no provider that could verify it, and sends no mail.</p>
          ) : (
            <div class="line">
              {oidc.map(({ id, name }) => (
                <a key={id} class="button plain" href={`/auth/oidc/${encodeURIComponent(id)}/start${query({ prove: '1', return: '/ui/settings' })}`}>
                  Prove it at {name}
                </a>
              ))}
            </div>
          )
        }
      </Await>
    </Section>
  );
}
