import { Empty } from '../ui/Empty';
import { Screen } from '../ui/Screen';
import { t } from '../words';

// Confirmed is where a provider's page leads back to, in a tab of its own.
export default function Confirmed() {
  return (
    <Screen title={t('confirm.done')} above="/ui/more">
      <Empty icon="key" title={t('confirm.thanks')}>
        <p>{t('confirm.back')}</p>
      </Empty>
    </Screen>
  );
}
