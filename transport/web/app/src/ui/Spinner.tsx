import { t } from '../words';

// Spinner says that something is on its way. A small one stands inside a button,
// which says so itself.
export function Spinner({ label, small = false }: { label?: string; small?: boolean }) {
  if (small) return <span class="spinner small" aria-hidden="true" />;
  return (
    <div class="waiting" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="hidden">{label ?? t('do.loading')}</span>
    </div>
  );
}
