import { Badge } from '../../ui/Bits';
import type { Who } from './who';
import { t } from '../../words';

// Standing is what to know of somebody beside their name.
export function Standing({ of }: { of: Who }) {
  return (
    <>
      {of.agent && <Badge>{t('person.agent')}</Badge>} {of.unproven && <Badge kind="warn">{t('person.unproven')}</Badge>} {of.left && <Badge>{t('person.gone')}</Badge>}
    </>
  );
}
