import { Empty } from '../../ui/Empty';
import { t } from '../../words';

// NotIn stands in place of a room that one is in no longer, or never was.
export function NotIn() {
  return (
    <Empty icon="lock" title={t('notin.title')}>
      <p>{t('notin.text')}</p>
    </Empty>
  );
}
