import type { ComponentChildren } from 'preact';
import { said } from '../said';
import { Button } from './Button';
import { Icon, type IconName } from './Icon';
import { t } from '../words';

// Empty stands where nothing is yet, and says what can be done about it.
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={40} />
      <p class="title">{title}</p>
      {children}
    </div>
  );
}

// Failed stands where something couldn't be had.
export function Failed({ problem, onRetry }: { problem: unknown; onRetry?: () => void }) {
  return (
    <div class="empty" role="alert">
      <Icon name="warning" size={40} />
      <p class="title">{said(problem)}</p>
      {onRetry && (
        <Button icon="refresh" onClick={onRetry}>
          {t('do.retry')}
        </Button>
      )}
    </div>
  );
}
