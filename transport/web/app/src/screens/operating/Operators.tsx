import type { ComponentChildren } from 'preact';
import { isOperator } from '../../session';
import { Empty } from '../../ui/Empty';
import { Screen } from '../../ui/Screen';
import { t } from '../../words';

// Operators is a screen for who runs the platform; others are told whom to ask.
export function Operators({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Screen title={title} above="/ui/settings">
      {isOperator.value ? (
        children
      ) : (
        <Empty icon="lock" title={t('operating.only')}>
          <p>{t('operating.only.hint')}</p>
        </Empty>
      )}
    </Screen>
  );
}
